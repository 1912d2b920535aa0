/** Lists of jobs, newest first. */
import { sql } from 'kysely'
import type { App } from '../../../context.ts'
import { Master } from '../../../lib/levels.ts'
import { inTextList, textList } from '../../../store/dialect.ts'
import { longList, type Sort } from '../../../store/lists.ts'
import { pageOfQuery, type Cut, type Page } from '../../../store/pages.ts'
import type { Job, JobKind, JobStatus } from './model.ts'

interface Filter {
  project: number
  kind: JobKind
  statuses?: string
}

const ofProject = longList<Filter, 'ci_jobs', 'id'>({
  table: 'ci_jobs',
  facets: true,
  counted: [],
  followed: { scope: 'project' },
  always: (w, { column }) => [sql`${column('project_id')} = ${w.project}`],
  conditions: {
    kind: { facet: true, test: (w, { hidden }) => sql`${hidden('kind')} = ${w.kind}` },
    statuses: {
      facet: true,
      test: (w, { db, hidden }) => inTextList(db, hidden('status'), w.statuses!),
      set: (w, { db }) => sql`select id from ci_jobs where project_id = ${w.project}
        and ${inTextList(db, 'status', w.statuses!)}`,
    },
  },
  orders: { id: null },
  usual: () => ['id', 'desc'],
})

export function listProjectJobs(
  { db }: App,
  project: number,
  statuses: readonly string[] | undefined,
  cut: Cut,
  sort?: Sort | null,
): Promise<Page<Job>> {
  return ofProject(db, { project, kind: 'job', ...(statuses && { statuses: textList(db, statuses) }) }, cut, { sort })
}

interface RunnerJobFilter {
  runner: number
  /** A viewer who sees only jobs of their own projects. */
  viewer?: number
  status?: JobStatus
  system_id?: string
}

const ofRunner = longList<RunnerJobFilter, 'ci_jobs', 'id'>({
  table: 'ci_jobs',
  counted: ['projects'],
  followed: {},
  always: (w, { column }) => [
    sql`${column('runner_id')} = ${w.runner}`,
    sql`coalesce((select not p.deleting from projects p where p.id = ci_jobs.project_id), false)`,
  ],
  conditions: {
    status: {
      test: (w, { hidden }) => sql`${hidden('status')} = ${w.status}`,
      set: (w) => sql`select id from ci_jobs where runner_id = ${w.runner} and status = ${w.status}`,
    },
    system_id: {
      test: (w, { hidden }) => sql`${hidden('manager_id')} in (select id from runner_managers
        where runner_id = ${w.runner} and system_id = ${w.system_id})`,
    },
    viewer: {
      test: (w) => sql`exists (select 1 from project_authorizations as a where a.project_id = ci_jobs.project_id
        and a.user_id = ${w.viewer} and a.access_level >= ${sql.lit(Master)})`,
      counted: ['project_authorizations'],
    },
  },
  orders: { id: null },
  usual: () => ['id', 'desc'],
})

export const listRunnerJobs = (
  { db }: App,
  filter: RunnerJobFilter,
  cut: Cut,
  sort: Sort | null | undefined,
): Promise<Page<Job>> => ofRunner(db, filter, cut, { sort })

export interface PipelineJobsFilter {
  readonly kind: JobKind
  readonly statuses?: readonly string[] | undefined
  readonly include_retried?: boolean | null | undefined
}

export function listPipelineJobs(
  { db }: App,
  pipeline: number,
  { kind, statuses, include_retried }: PipelineJobsFilter,
  cut: Cut,
): Promise<Page<Job>> {
  const found = db
    .selectFrom('ci_jobs')
    .selectAll()
    .where('pipeline_id', '=', pipeline)
    .where('kind', '=', kind)
    .$if(!include_retried, (query) => query.where('retried', '=', false))
    .$if(statuses !== undefined, (query) => query.where(inTextList(db, 'status', textList(db, statuses!))))
    .orderBy('id', 'desc')
  return pageOfQuery(found, cut)
}
