/** Lists of the pipelines of a project. */
import { sql } from 'kysely'
import type { App } from '../../../context.ts'
import { inTextList, textList } from '../../../store/dialect.ts'
import { longList } from '../../../store/lists.ts'
import type { Db } from '../../../store/database.ts'
import type { Cut, Page } from '../../../store/pages.ts'
import type { Pipeline } from './model.ts'

export const PIPELINE_ORDERS = ['id', 'status', 'ref', 'updated_at', 'user_id'] as const
export type PipelineOrder = (typeof PIPELINE_ORDERS)[number]

/** An absent field means no condition. */
interface Filter {
  project: number
  statuses?: string
  ref?: string
  sha?: string
  source?: string
  name?: string
  user?: number
  broken?: true
  whole?: true
  /** Excludes child pipelines. */
  own?: true
  /** The newest pipeline of each of these branches or tags. */
  ofBranches?: string
  ofTags?: string
  updated_before?: string
  updated_after?: string
  created_before?: string
  created_after?: string
}

const list = longList<Filter, 'pipelines', PipelineOrder>({
  table: 'pipelines',
  facets: true,
  counted: [],
  followed: { scope: 'project' },
  always: (w, { column }) => [sql`${column('project_id')} = ${w.project}`],
  conditions: {
    sha: {
      test: (w, { hidden }) => sql`${hidden('sha')} = ${w.sha}`,
      set: (w) => sql`select id from pipelines where project_id = ${w.project} and sha = ${w.sha}`,
    },
    ofBranches: { set: (w, { db }) => newestOf(db, w.project, false, w.ofBranches!) },
    ofTags: { set: (w, { db }) => newestOf(db, w.project, true, w.ofTags!) },
    ref: {
      test: (w, { hidden }) => sql`${hidden('ref')} = ${w.ref}`,
      set: (w) => sql`select id from pipelines where project_id = ${w.project} and ref = ${w.ref}`,
    },
    user: {
      test: (w, { hidden }) => sql`${hidden('user_id')} = ${w.user}`,
      set: (w) => sql`select id from pipelines where project_id = ${w.project} and user_id = ${w.user}`,
    },
    name: { test: (w) => sql`pipelines.name = ${w.name}` },
    source: {
      test: (w, { hidden }) => sql`${hidden('source')} = ${w.source}`,
      set: (w) => sql`select id from pipelines where project_id = ${w.project} and source = ${w.source}`,
    },
    statuses: {
      facet: true,
      test: (w, { db, hidden }) => inTextList(db, hidden('status'), w.statuses!),
      set: (w, { db }) => sql`select id from pipelines where project_id = ${w.project}
        and ${inTextList(db, 'status', w.statuses!)}`,
    },
    own: { test: (_, { hidden }) => sql`${hidden('source')} <> 'parent_pipeline'` },
    // Two filters, because a prepared statement is cached by the names of its filters and not by their values.
    broken: { test: () => sql`pipelines.yaml_errors is not null` },
    whole: { test: () => sql`pipelines.yaml_errors is null` },
    updated_before: { test: (w, { hidden }) => sql`${hidden('updated_at')} <= ${w.updated_before}` },
    updated_after: { test: (w, { hidden }) => sql`${hidden('updated_at')} >= ${w.updated_after}` },
    created_before: { test: (w, { hidden }) => sql`${hidden('created_at')} <= ${w.created_before}` },
    created_after: { test: (w, { hidden }) => sql`${hidden('created_at')} >= ${w.created_after}` },
  },
  orders: {
    id: null,
    status: () => sql.ref('pipelines.status'),
    ref: () => sql.ref('pipelines.ref'),
    updated_at: () => sql.ref('pipelines.updated_at'),
    user_id: () => sql.ref('pipelines.user_id'),
  },
  usual: () => ['id', 'desc'],
})

const newestOf = (db: Db, project: number, tag: boolean, refs: string) => sql<number>`
  select max(id) from pipelines where project_id = ${project} and tag = ${sql.lit(tag)}
    and source <> 'parent_pipeline' and ${inTextList(db, 'ref', refs)} group by ref`

export interface PipelineFilter {
  readonly statuses?: readonly string[] | undefined
  /** Branch names: the newest pipeline of each branch. */
  readonly branches?: readonly string[] | undefined
  readonly tags?: readonly string[] | undefined
  readonly ref?: string | null | undefined
  readonly sha?: string | null | undefined
  readonly source?: string | null | undefined
  readonly name?: string | null | undefined
  readonly user?: number | undefined
  readonly yaml_errors?: boolean | null | undefined
  readonly updated_before?: string | null | undefined
  readonly updated_after?: string | null | undefined
  readonly created_before?: string | null | undefined
  readonly created_after?: string | null | undefined
  readonly order_by?: PipelineOrder | null | undefined
  readonly sort?: 'asc' | 'desc' | null | undefined
}

export function listPipelines({ db }: App, project: number, filter: PipelineFilter, cut: Cut): Promise<Page<Pipeline>> {
  const { statuses, branches, tags, yaml_errors, user, source } = filter
  const values: Filter = {
    project,
    ...(statuses && { statuses: textList(db, statuses) }),
    ...(branches && { ofBranches: textList(db, branches) }),
    ...(tags && { ofTags: textList(db, tags) }),
    ...(user !== undefined && { user }),
    ...(!source && { own: true }),
    ...(typeof yaml_errors === 'boolean' && (yaml_errors ? { broken: true } : { whole: true })),
    ...given(filter, [
      'ref',
      'sha',
      'source',
      'name',
      'updated_before',
      'updated_after',
      'created_before',
      'created_after',
    ]),
  }
  return list(db, values, cut, filter)
}

/** The filters that have a value. */
const given = <F extends object, const K extends keyof F & string>(filter: F, names: readonly K[]) =>
  Object.fromEntries(names.flatMap((name) => (filter[name] ? [[name, filter[name]]] : []))) as {
    [name in K]?: NonNullable<F[name]>
  }
