/**
 * Lists the files that each of several commits added, modified and removed, with one process for all commits and with
 * limits.
 */
import { MINUTE } from '../../clock.ts'
import type { Commit } from '../objects/commits.ts'
import { gitStream } from '../process/command.ts'

export interface ChangedFiles {
  readonly added: string[]
  readonly modified: string[]
  readonly removed: string[]
}

export interface FileLimits {
  /** The limits per commit: number of names, and their bytes. The rest is omitted. */
  readonly files: number
  readonly bytes: number
}

/** The limit of git's output. Later commits have no files then. */
const MOST_READ = 64 * 1024 * 1024

/** Compared with the first parent; a root commit with an empty tree. A rename counts as added. */
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

/** Reads git's output word by word: an id, or a letter followed by one or two paths. */
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
