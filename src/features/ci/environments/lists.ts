/** Lists of the deployments of a project. */
import { sql } from 'kysely'
import { longList } from '../../../store/lists.ts'

export const DEPLOYMENT_ORDERS = ['id', 'iid', 'created_at', 'updated_at', 'finished_at', 'ref'] as const
type Order = (typeof DEPLOYMENT_ORDERS)[number]

/** An absent field means no condition. */
interface Filter {
  project: number
  environment?: number
  status?: string
  updated_before?: string
  updated_after?: string
  finished_before?: string
  finished_after?: string
}

export const listDeployments = longList<Filter, 'deployments', Order>({
  table: 'deployments',
  facets: true,
  counted: [],
  followed: { scope: 'project' },
  always: (w, { column }) => [sql`${column('project_id')} = ${w.project}`],
  conditions: {
    environment: {
      test: (w, { hidden }) => sql`${hidden('environment_id')} = ${w.environment}`,
      set: (w) => sql`select id from deployments where environment_id = ${w.environment}`,
    },
    status: { facet: true, test: (w) => sql`deployments.status = ${w.status}` },
    updated_before: { test: (w) => sql`deployments.updated_at <= ${w.updated_before}` },
    updated_after: { test: (w) => sql`deployments.updated_at >= ${w.updated_after}` },
    finished_before: { test: (w) => sql`deployments.finished_at <= ${w.finished_before}` },
    finished_after: { test: (w) => sql`deployments.finished_at >= ${w.finished_after}` },
  },
  orders: {
    id: null,
    iid: () => sql.ref('deployments.iid'),
    created_at: () => sql.ref('deployments.created_at'),
    updated_at: () => sql.ref('deployments.updated_at'),
    finished_at: () => sql.ref('deployments.finished_at'),
    ref: () => sql.ref('deployments.ref'),
  },
  usual: () => ['id', 'asc'],
})
