import type { Page, PageWish } from '../../../api/pages.ts'
import type { Db } from '../../../store/database.ts'
import { inTextList, textList } from '../../../store/dialect.ts'
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
  return (await commitsStatuses(db, project, [sha])).get(sha) ?? null
}

/** The same for several, by their ids, in one query. */
export async function commitsStatuses(
  db: Db,
  project: number,
  shas: readonly string[],
): Promise<Map<string, CommitStatus['status']>> {
  const rows = await db
    .selectFrom('commit_statuses')
    .select(['sha', 'status', 'allow_failure'])
    .where('project_id', '=', project)
    .where(inTextList(db, 'sha', textList(db, shas)))
    .where('retried', '=', false)
    .execute()
  return new Map(
    Array.from(
      Map.groupBy(rows, ({ sha }) => sha),
      ([sha, said]) => [sha, sumOf(said)],
    ),
  )
}

export function sumOf(rows: readonly Pick<CommitStatus, 'status' | 'allow_failure'>[]): CommitStatus['status'] {
  const counted = rows.map(({ status, allow_failure }) => (allow_failure && status === 'failed' ? 'success' : status))
  const has = (status: CommitStatus['status']) => counted.includes(status)
  const isDone = !has('pending') && !has('running')
  if (!isDone) return counted.every((status) => status === 'pending') ? 'pending' : 'running'
  if (has('failed')) return 'failed'
  if (has('canceled')) return 'canceled'
  return has('success') ? 'success' : 'skipped'
}
