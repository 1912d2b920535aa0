/** Which files each of some commits added, modified and removed: one process for all of them, and no more than asked. */
import { MINUTE } from '../../clock.ts'
import type { Commit } from '../objects/commits.ts'
import { gitStream } from '../process/command.ts'

export interface ChangedFiles {
  readonly added: string[]
  readonly modified: string[]
  readonly removed: string[]
}

export interface FileLimits {
  /** Names of each commit, and bytes of these; more are left out. */
  readonly files: number
  readonly bytes: number
}

/** Of all that git says; commits that come later have nothing then. */
const MOST_READ = 64 * 1024 * 1024

/** Against the first parent; a root against nothing. A rename counts as added. */
export async function changedFiles(
  dir: string,
  commits: readonly Pick<Commit, 'id' | 'parents'>[],
  limits: FileLimits,
): Promise<Map<string, ChangedFiles>> {
  const found = new Map<string, ChangedFiles>(commits.map(({ id }) => [id, { added: [], modified: [], removed: [] }]))
  if (commits.length === 0) return found
  const args = ['diff-tree', '--stdin', '-r', '--root', '-M', '-l200', '--name-status', '-z'] as const
  const stream = gitStream(dir, args, {
    input: commits.map(({ id, parents }) => `${[id, ...parents.slice(0, 1)].join(' ')}\n`).join(''),
    deadline: MINUTE / 2,
  })
  const take = taker(found, limits)
  let rest: Buffer[] = []
  let read = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    read += chunk.length
    if (read > MOST_READ) break
    let from = 0
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, from)) {
      take(Buffer.concat([...rest, chunk.subarray(from, end)]).toString())
      rest = []
      from = end + 1
    }
    if (from < chunk.length) rest.push(chunk.subarray(from))
  }
  return found
}

/** Takes git's words one by one: an id, or a letter and the one or two paths that follow it. */
function taker(found: ReadonlyMap<string, ChangedFiles>, { files, bytes }: FileLimits): (word: string) => void {
  let at: ChangedFiles | undefined
  let [names, size] = [0, 0]
  let status = ''
  let left = 0
  return (word) => {
    if (left === 0) {
      if (/^[0-9a-f]{40}$/.test(word)) {
        at = found.get(word)
        names = size = 0
      } else {
        status = word[0] ?? ''
        left = status === 'R' || status === 'C' ? 2 : 1
      }
      return
    }
    left--
    if (left > 0 || !at) return
    names++
    size += Buffer.byteLength(word)
    if (names > files || size > bytes) return
    const list =
      status === 'A' || status === 'R' || status === 'C' ? at.added : status === 'D' ? at.removed : at.modified
    list.push(word)
  }
}
