/** Lists of jobs, newest first. */
import { sql } from 'kysely'
import type { App } from '../../../context.ts'
import { inTextList, textList, textsIn } from '../../../store/dialect.ts'
import { longList } from '../../../store/lists.ts'
import { pageOfQuery, type Cut, type Page } from '../../../store/pages.ts'
import type { Job, JobKind } from './model.ts'

interface Wanted {
  project: number
  kind: JobKind
  statuses?: string
}

const ofProject = longList<Wanted, 'ci_jobs', 'id'>({
  table: 'ci_jobs',
  facets: true,
  counted: [],
  followed: { scope: 'project' },
  always: (w, { column }) => [sql`${column('project_id')} = ${w.project}`],
  conditions: {
    kind: { facet: true, test: (w, { hidden }) => sql`${hidden('kind')} = ${w.kind}` },
    statuses: { facet: true, test: (w, { db, hidden }) => sql`${hidden('status')} in (${textsIn(db, w.statuses!)})` },
  },
  orders: { id: null },
  usual: () => ['id', 'desc'],
})

export function listProjectJobs(
  { db }: App,
  project: number,
  statuses: readonly string[] | undefined,
  cut: Cut,
): Promise<Page<Job>> {
  return ofProject(db, { project, kind: 'job', ...(statuses && { statuses: JSON.stringify(statuses) }) }, cut)
}

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
