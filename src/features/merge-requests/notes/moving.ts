/** On a new version, moves threads to the new position of their lines, or marks them as outdated. */
import { pageBelow } from '../../../lib/net/page-below.ts'
import { sql } from 'kysely'
import type { App, TransactionApp, User } from '../../../context.ts'
import { projectPaths } from '../../planning/items/load.ts'
import { moveThreads, type ThreadMove } from '../../planning/notes/moving.ts'
import type { Position } from '../../planning/notes/positions.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { Measured } from '../versions/measure.ts'
import type { Version } from '../versions/model.ts'
import { tracer } from './tracing.ts'

/** Only the newest threads; older ones stay where they are. */
const MOST_THREADS = 500

/** Queries git before the transaction that adds the version. */
export async function traceThreads(app: App, dir: string, seen: MergeRequest, now: Measured): Promise<ThreadMove[]> {
  const threads = await app.db
    .selectFrom('notes')
    .select(['discussion_id', 'position', 'line_code', 'internal'])
    .where('merge_request_id', '=', seen.id)
    .where('type', '=', 'DiffNote')
    .where('system', '=', false)
    .where('position', 'is not', null)
    // Threads on a commit never move.
    .where('thread_commit_sha', 'is', null)
    .groupBy(['discussion_id', 'position', 'line_code', 'internal'])
    .orderBy(sql`max(id)`, 'desc')
    .limit(MOST_THREADS)
    .execute()
  const trace = tracer(dir, seen, now)
  const moves: ThreadMove[] = []
  for (const { discussion_id, position: from, line_code, internal } of threads) {
    const position = JSON.parse(from!) as Position
    // A position of an older version: the thread was outdated already.
    if (position.head_sha !== seen.head_sha || position.base_sha !== seen.base_sha) continue
    moves.push({ discussion_id, internal, from: from!, line_code, to: await trace(position) })
  }
  return moves
}

export async function followThreads(
  app: TransactionApp,
  actor: User | null,
  locked: MergeRequest,
  version: Version,
  moves: readonly ThreadMove[],
): Promise<void> {
  if (moves.length === 0) return
  const { db } = app
  const [project, { number }, paths] = await Promise.all([
    db
      .selectFrom('projects')
      .select('resolve_outdated_diff_discussions')
      .where('id', '=', locked.project_id)
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('merge_request_versions')
      .select(sql<number>`count(*)`.as('number'))
      .where('merge_request_id', '=', locked.id)
      .where('id', '<=', version.id)
      .executeTakeFirstOrThrow(),
    projectPaths(db, [locked.project_id]),
  ])
  const web = pageBelow(`${app.url}/${paths.get(locked.project_id)}`, `merge_requests/${locked.iid}/diffs`)
  const outdated = ({ line_code }: ThreadMove) => {
    const url = `${web}?diff_id=${version.id}&start_sha=${locked.head_sha}${line_code === null ? '' : `#${line_code}`}`
    return `changed this line in [version ${Number(number)} of the diff](${url})`
  }
  const noteable = { project_id: locked.project_id, merge_request_id: locked.id }
  await moveThreads(app, actor, noteable, moves, { outdated, resolves: project.resolve_outdated_diff_discussions })
}
