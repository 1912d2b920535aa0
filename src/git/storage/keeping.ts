/** Keeps commits that must outlive their branches. */
import { Readable } from 'node:stream'
import { HOUR } from '../../clock.ts'
import { isObjectId } from '../objects/ids.ts'
import { LONG_LISTING, git } from '../process/command.ts'
import { keepCommit } from '../refs/pointing.ts'

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
