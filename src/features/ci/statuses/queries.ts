import type { Page, PageRequest } from '../../../api/pages.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { Job } from '../jobs/model.ts'

export interface StatusFilter {
  readonly ref?: string | null | undefined
  readonly stage?: string | null | undefined
  readonly name?: string | null | undefined
  /** Includes statuses that a newer one of the same name replaces. */
  readonly all?: boolean | null | undefined
  readonly pipeline_id?: number | null | undefined
  readonly order_by?: 'id' | null | undefined
  readonly sort?: 'asc' | 'desc' | null | undefined
}

/** Lists jobs of this server and statuses that tools report. */
export function listStatuses(
  db: Db,
  project: number,
  sha: string,
  filter: StatusFilter,
  page: PageRequest,
): Promise<Page<Job>> {
  let found = db.selectFrom('ci_jobs').where('project_id', '=', project).where('sha', '=', sha)
  for (const name of ['ref', 'stage', 'name'] as const) {
    const value = filter[name]
    if (value) found = found.where(name, '=', value)
  }
  if (filter.pipeline_id) found = found.where('pipeline_id', '=', filter.pipeline_id)
  if (!filter.all) found = found.where('retried', '=', false)
  return pageOfQuery(found.selectAll().orderBy('id', filter.sort ?? 'asc'), page)
}
