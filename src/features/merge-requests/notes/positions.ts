/** Positions in the diffs of a merge request. */
import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { findCommit, resolveCommit } from '../../../git/objects/commits.ts'
import { storedPosition, type PositionInput, type StoredPosition } from '../../planning/notes/positions.ts'
import type { MergeRequestSubject } from '../merge-requests/policy.ts'
import { changesBetween } from '../versions/measure.ts'
import { tracer } from './tracing.ts'

/** A commit of any version of the merge request, by its full or short id. */
export async function findOwnCommit(
  { db }: App,
  { dir, mergeRequest }: MergeRequestSubject,
  sha: string,
): Promise<string> {
  const id = await resolveCommit(dir, sha)
  const found =
    id !== null &&
    (await db
      .selectFrom('merge_request_commits')
      .select('sha')
      .where('merge_request_id', '=', mergeRequest.id)
      .where('sha', '=', id)
      .executeTakeFirst())
  if (!found) throw notFound('Commit')
  return found.sha
}

/** A position in the diff of a commit against its first parent. It never moves. */
async function positionOnCommit(dir: string, commit: string, given: PositionInput): Promise<StoredPosition | null> {
  const base = (await findCommit(dir, commit))?.parents[0]
  if (base === undefined || given.head_sha !== commit || given.base_sha !== base) return null
  const diff = await changesBetween(dir, base, commit)
  const stored = storedPosition(diff?.files ?? [], { base, head: commit }, given)
  return stored && { ...stored, original: stored.position }
}

/** A position in the diff of any version, or between two versions. Null: no such line. */
export async function positionIn(
  { db }: App,
  { dir, mergeRequest }: MergeRequestSubject,
  given: PositionInput,
  commit: string | null,
): Promise<StoredPosition | null> {
  if (commit !== null) return positionOnCommit(dir, commit, given)
  const versions = db.selectFrom('merge_request_versions').where('merge_request_id', '=', mergeRequest.id)
  const version = await versions
    .select(['base_sha', 'start_sha'])
    .where('head_sha', '=', given.head_sha)
    .where('base_sha', '=', given.base_sha)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  if (!version || version.base_sha === null) return null
  const earlier = await versions
    .select('id')
    .where('head_sha', '=', given.start_sha)
    .where('head_sha', '!=', given.head_sha)
    .executeTakeFirst()
  const diff = await changesBetween(dir, earlier ? given.start_sha : version.base_sha, given.head_sha)
  const ends = { base: version.base_sha, start: earlier ? given.start_sha : version.start_sha, head: given.head_sha }
  const stored = storedPosition(diff?.files ?? [], ends, given)
  if (!stored) return null
  const { position: original } = stored
  const isNewest = original.head_sha === mergeRequest.head_sha && original.base_sha === mergeRequest.base_sha
  if (isNewest) return { ...stored, original }
  const from = { ...version, head_sha: given.head_sha }
  return { ...((await tracer(dir, from, mergeRequest)(original)) ?? stored), original }
}
