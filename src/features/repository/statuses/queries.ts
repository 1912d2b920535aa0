import type { Page, PageWish } from '../../../api/pages.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { CommitStatus } from './entity.ts'

export interface StatusFilter {
  readonly ref?: string | null | undefined
  readonly stage?: string | null | undefined
  readonly name?: string | null | undefined
  /** Also those that a newer one of the same name stands for. */
  readonly all?: boolean | null | undefined
  readonly order_by?: 'id' | null | undefined
  readonly sort?: 'asc' | 'desc' | null | undefined
}

const statusesOf = (db: Db, project: number, sha: string) =>
  db.selectFrom('commit_statuses').where('project_id', '=', project).where('sha', '=', sha)

export function listStatuses(
  db: Db,
  project: number,
  sha: string,
  filter: StatusFilter,
  page: PageWish,
): Promise<Page<CommitStatus>> {
  let found = statusesOf(db, project, sha)
  for (const name of ['ref', 'stage', 'name'] as const) {
    const value = filter[name]
    if (value) found = found.where(name, '=', value)
  }
  if (!filter.all) found = found.where('retried', '=', false)
  return pageOfQuery(found.selectAll().orderBy('id', filter.sort ?? 'asc'), page)
}

/** What all that was said of a commit last comes to; null when nothing was. */
export async function commitStatus(db: Db, project: number, sha: string): Promise<CommitStatus['status'] | null> {
  const rows = await statusesOf(db, project, sha)
    .select(['status', 'allow_failure'])
    .where('retried', '=', false)
    .execute()
  const counted = rows.map(({ status, allow_failure }) => (allow_failure && status === 'failed' ? 'success' : status))
  if (counted.length === 0) return null
  const has = (status: CommitStatus['status']) => counted.includes(status)
  const isDone = !has('pending') && !has('running')
  if (!isDone) return counted.every((status) => status === 'pending') ? 'pending' : 'running'
  if (has('failed')) return 'failed'
  if (has('canceled')) return 'canceled'
  return has('success') ? 'success' : 'skipped'
}
