/**
 * The content of a push: commits that no ref reached before, with their changes. Read before the refs move, from the
 * quarantine if there is one. Needs two processes for any number of commits, and a third for sizes.
 */
import { HOUR } from '../../clock.ts'
import { git, gitStream, LONG_LISTING, type GitOptions } from '../process/command.ts'
import { pieces } from '../process/streams.ts'
import { isObjectId } from '../objects/ids.ts'
import { NO_OBJECT } from '../refs/update.ts'
import { ALL_BUT_UNDO } from '../refs/undo-refs.ts'

export interface IncomingChange {
  /** Added, copied, deleted, modified, renamed, type changed. */
  readonly status: 'A' | 'C' | 'D' | 'M' | 'R' | 'T'
  /** The path after the change. */
  readonly path: string
  /** The old path of a renamed file. */
  readonly from?: string
  /** The content after the change. Null for a deletion or a submodule. */
  readonly blob: string | null
}

export interface IncomingCommit {
  readonly id: string
  /** Cut if it is longer than the limit. */
  readonly message: string
  readonly isMessageCut: boolean
  readonly authorEmail: string
  readonly committerEmail: string
  readonly signed: boolean
  readonly changes: readonly IncomingChange[]
}

type Where = Pick<GitOptions, 'environment' | 'signal'>

const SUBMODULE = '160000'
/** In characters: a small push can contain messages of hundreds of megabytes. */
const LONGEST_MESSAGE = 64 * 1024

/** Oldest first. `tips` are full ids: of commits, of tags of commits, or of other objects without commits. */
export async function incomingCommits(dir: string, tips: readonly string[], where: Where): Promise<IncomingCommit[]> {
  if (tips.length === 0) return []
  const options = { ...where, maxOutput: LONG_LISTING, deadline: HOUR }
  const records = gitStream(dir, ['rev-list', '--reverse', '--header', '--stdin', '--not', ...ALL_BUT_UNDO], {
    ...where,
    deadline: HOUR,
    input: tips.join('\n') + '\n',
  })
  const commits: Omit<IncomingCommit, 'changes'>[] = []
  for await (const some of pieces(records, 0))
    for (const record of some) if (record.length > 0) commits.push(parseRecord(record.toString()))
  const changes = await changesOf(
    dir,
    commits.map(({ id }) => id),
    options,
  )
  return commits.map((commit) => ({ ...commit, changes: changes.get(commit.id) ?? [] }))
}

/** The id, the stored headers, an empty line, and the message indented by four columns. */
function parseRecord(record: string): Omit<IncomingCommit, 'changes'> {
  const [head, ...rest] = record.split('\n\n')
  const lines = head!.split('\n')
  const message = rest.join('\n\n')
  const emailOf = (role: string) => emailIn(lines.find((line) => line.startsWith(role)) ?? '')
  return {
    id: lines[0]!,
    authorEmail: emailOf('author '),
    committerEmail: emailOf('committer '),
    signed: lines.some((line) => /^gpgsig(-sha256)? /.test(line)),
    message: message.slice(0, LONGEST_MESSAGE).replace(/^ {4}/gm, ''),
    isMessageCut: message.length > LONGEST_MESSAGE,
  }
}

/** The text in the last angle brackets. */
function emailIn(line: string): string {
  const closing = line.indexOf('>', line.lastIndexOf('<'))
  const opening = closing < 0 ? -1 : line.indexOf('<', line.lastIndexOf('>', closing - 1) + 1)
  return opening < 0 ? '' : line.slice(opening + 1, closing)
}

/** For merges, only changes against every parent. The others were listed with the parent's commits. */
async function changesOf(
  dir: string,
  ids: readonly string[],
  options: GitOptions,
): Promise<Map<string, IncomingChange[]>> {
  const found = new Map<string, IncomingChange[]>()
  if (ids.length === 0) return found
  const raw = await git(dir, ['diff-tree', '--stdin', '-r', '-M', '--root', '-c', '--raw', '--no-abbrev', '-z'], {
    ...options,
    input: ids.join('\n') + '\n',
  })
  const parts = raw.split('\0')
  let current: IncomingChange[] = []
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!
    if (isObjectId(part)) found.set(part, (current = []))
    const entry = /^(:+)([0-7 ]+) ([0-9a-f ]+) ([A-Z]+)\d*$/.exec(part)
    if (!entry) continue
    const parents = entry[1]!.length
    const status = entry[4]!.at(-1) as IncomingChange['status']
    const mode = entry[2]!.split(' ').at(-1)
    const blob = entry[3]!.split(' ').at(-1)!
    // Renames and copies in an ordinary commit have two paths.
    const isPair = parents === 1 && (status === 'R' || status === 'C')
    const from = isPair ? { from: parts[++at]! } : {}
    const path = parts[++at]!
    current.push({ status, path, ...from, blob: blob === NO_OBJECT || mode === SUBMODULE ? null : blob })
  }
  return found
}

/** The sizes of these blobs in bytes. */
export async function sizesOf(dir: string, blobs: readonly string[], where: Where): Promise<Map<string, number>> {
  if (blobs.length === 0) return new Map()
  const lines = await git(dir, ['cat-file', '--batch-check=%(objectname) %(objectsize)', '--buffer'], {
    ...where,
    maxOutput: LONG_LISTING,
    deadline: HOUR,
    input: [...new Set(blobs)].join('\n') + '\n',
  })
  return new Map(
    lines
      .split('\n')
      .filter((line) => /^[0-9a-f]{40} \d+$/.test(line))
      .map((line) => [line.slice(0, 40), Number(line.slice(41))]),
  )
}
