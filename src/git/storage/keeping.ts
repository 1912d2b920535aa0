/** Keeps commits that must outlive their branches. */
import { Readable } from 'node:stream'
import { HOUR } from '../../clock.ts'
import { isObjectId } from '../objects/ids.ts'
import { objectInfos } from '../objects/objects.ts'
import { LONG_LISTING, git, gitStream } from '../process/command.ts'
import { pieces } from '../process/streams.ts'
import { keepCommit } from '../refs/pointing.ts'
import { ALL_BUT_UNDO } from '../refs/undo-refs.ts'

/**
 * Creates refs for commits that no ref reaches, before unreachable objects are deleted. A commit below another one
 * needs no ref, and a commit that no longer exists is skipped.
 */
export async function keepUnreachable(
  dir: string,
  pages: AsyncIterable<readonly { readonly sha: string }[]>,
  signal?: AbortSignal,
): Promise<void> {
  async function* ids() {
    for await (const page of pages) {
      const proper = page.filter(({ sha }) => isObjectId(sha))
      if (proper.length > 0) yield proper.map(({ sha }) => `${sha}\n`).join('')
    }
  }
  // `--stdin` must come first, because `--not` applies to what follows it.
  const listing = await git(dir, ['rev-list', '--ignore-missing', '--parents', '--stdin', '--not', '--all'], {
    input: Readable.from(ids(), { highWaterMark: 1 }),
    maxOutput: LONG_LISTING,
    deadline: HOUR,
    signal,
  })
  const lines = listing.split('\n').map((line) => line.split(' '))
  const parents = new Set(lines.flatMap((line) => line.slice(1)))
  for (const [commit] of lines) if (commit && !parents.has(commit)) await keepCommit(dir, commit)
}

const NEWLINE = 10

/**
 * Of the ids that exist and that no ref reaches, those that the others are below. Tags and other objects that are no
 * commits are always among them, because git lists only commits quickly.
 */
export async function unreachableAmong(
  dir: string,
  values: readonly { readonly ref: string; readonly before: string }[],
  signal?: AbortSignal,
): Promise<Set<string>> {
  const ids = new Set(values.map(({ before }) => before).filter(isObjectId))
  const listing = gitStream(dir, ['rev-list', '--ignore-missing', '--parents', '--stdin', '--not', ...ALL_BUT_UNDO], {
    input: Array.from(ids, (id) => `${id}\n`).join(''),
    deadline: HOUR,
    signal,
  })
  const found = new Set<string>()
  const below = new Set<string>()
  for await (const lines of pieces(listing, NEWLINE))
    for (const line of lines) {
      const [commit = '', ...parents] = line.toString('latin1').split(' ')
      if (ids.has(commit)) found.add(commit)
      for (const parent of parents) if (ids.has(parent)) below.add(parent)
    }
  for (const id of below) found.delete(id)
  const others = new Set(values.filter(({ ref }) => !ref.startsWith('refs/heads/')).map(({ before }) => before))
  for (const info of await objectInfos(dir, [...others].filter(isObjectId)))
    if (info && info.type !== 'commit') found.add(info.id)
  return found
}
