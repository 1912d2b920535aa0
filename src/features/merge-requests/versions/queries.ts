import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import { HARD_LIMITS, diffBetween, type Diff, type DiffLimits } from '../../../git/history/diffs.ts'
import { listCommitIds, listHistory } from '../../../git/history/history.ts'
import { knownCommits, type Commit } from '../../../git/objects/commits.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { mergeRequest } from '../merge-requests/queries.ts'
import { MOST_COMMITS, rangeOf, type Ends } from './measure.ts'
import type { Version } from './model.ts'

export const version = child(mergeRequest, {
  key: 'version',
  params: { version_id: id },
  find: ({ db }, { mergeRequest }, { version_id }) => findVersion(db, mergeRequest.id, version_id),
})

export async function findVersion(db: Db, mergeRequest: number, id: number): Promise<Version | null> {
  const found = await db
    .selectFrom('merge_request_versions')
    .selectAll()
    .where('id', '=', id)
    .where('merge_request_id', '=', mergeRequest)
    .executeTakeFirst()
  return found ?? null
}

/** Newest first. */
export function listVersions(db: Db, mergeRequest: number, page: PageRequest): Promise<Page<Version>> {
  const versions = db
    .selectFrom('merge_request_versions')
    .selectAll()
    .where('merge_request_id', '=', mergeRequest)
    .orderBy('id', 'desc')
  return pageOfQuery(versions, page)
}

/** The commits between these ends, newest first. */
export async function pageOfCommits(
  dir: string,
  ends: Ends,
  { offset, limit }: Pick<PageRequest, 'offset' | 'limit'>,
): Promise<Page<Commit>> {
  const range = rangeOf(ends)
  if (!range) return { items: [], total: 0 }
  const { commits, total } = await listHistory(dir, range.commits, { skip: offset, limit })
  return { items: commits, total }
}

const AT_ONCE = 50
const MOST_WORDS = 5_000_000

/** All commits at once, newest first, up to a limit of number and text. */
export async function allCommits(dir: string, ends: Ends): Promise<{ commits: Commit[]; isCut: boolean }> {
  const range = rangeOf(ends)
  const ids = range ? await listCommitIds(dir, { ...range.commits, limit: MOST_COMMITS }) : []
  const commits: Commit[] = []
  let words = 0
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    for (const commit of await knownCommits(dir, ids.slice(at, at + AT_ONCE))) {
      if (!commit) continue
      words += commit.message.length
      if (words > MOST_WORDS) return { commits, isCut: true }
      commits.push(commit)
    }
  }
  return { commits, isCut: ids.length === MOST_COMMITS }
}

const NOTHING: Diff = { files: [], overflow: false }

/** Any size of file, as long as all files together are within the limits. */
export const WHOLE_FILES: DiffLimits = { ...HARD_LIMITS, fileBytes: HARD_LIMITS.bytes }

export async function changesOf(
  dir: string,
  ends: Ends,
  { limits = HARD_LIMITS, ignoreSpaces = false }: { limits?: DiffLimits; ignoreSpaces?: boolean } = {},
): Promise<Diff> {
  const range = rangeOf(ends)
  return (range && (await diffBetween(dir, range.base, range.head, { limits, ignoreSpaces }))) ?? NOTHING
}
