/**
 * Whether commits can be merged, many pairs in one process. What git writes on the way goes to a folder of its own and
 * vanishes with it: nobody wants the trees, and nobody waits for a disk to keep them.
 */
import { MINUTE } from '../../clock.ts'
import { rev } from '../process/arguments.ts'
import { git, GitFailed } from '../process/command.ts'
import { openQuarantine } from '../push/quarantine.ts'
import { conflictsOf, MERGING } from './merging.ts'

export interface Pair {
  readonly ours: string
  readonly theirs: string
}

/** Paths the two sides do not agree on; null where they agree. Of what can never be merged no path is named. */
export type Tried = { readonly conflicts: readonly string[] | null }

const MAX_OUTPUT = 64 * 1024 * 1024
/** For as long as one process may take; tests do not wait that long. */
export const patience = { ms: 2 * MINUTE }
const DIED = 128
/** What git says of those it will not merge another time either; a full disk, say, is none of them. */
const HOPELESS = /unrelated histories|attempting to allocate/

/** In the order of the pairs; null for one that git could not answer, `overran` where it took or said too much. */
export async function tryMerges(
  dir: string,
  pairs: readonly Pair[],
  { signal, deadline = patience.ms }: { signal?: AbortSignal | undefined; deadline?: number } = {},
): Promise<(Tried | 'overran' | null)[]> {
  if (pairs.length === 0) return []
  await using scratch = await openQuarantine(dir)
  const tried: (Tried | 'overran' | null)[] = []
  while (tried.length < pairs.length) {
    const rest = pairs.slice(tried.length)
    const { records, stderr, overran } = await run(dir, rest, { ...scratch, signal, deadline })
    tried.push(...records)
    // One pair it does not like ends git; the others are still to be asked.
    if (records.length < rest.length) tried.push(overran ? 'overran' : HOPELESS.test(stderr) ? { conflicts: [] } : null)
  }
  return tried
}

interface Bounds {
  readonly environment: Readonly<Record<string, string>>
  readonly signal: AbortSignal | undefined
  readonly deadline: number
}

async function run(
  dir: string,
  pairs: readonly Pair[],
  options: Bounds,
): Promise<{ records: Tried[]; stderr: string; overran?: boolean }> {
  const { environment, signal, deadline } = options
  let stderr = ''
  try {
    const output = await git(dir, ['merge-tree', '--write-tree', '--stdin', '--no-messages'], {
      input: pairs.map(({ ours, theirs }) => `${rev(ours)} ${rev(theirs)}\n`).join(''),
      environment: { ...environment, ...MERGING.environment },
      config: { 'core.fsync': 'none' },
      deadline,
      maxOutput: MAX_OUTPUT,
      answers: [DIED],
      signal,
      onStderr: (text) => void (stderr = (stderr + text).slice(-1000)),
    })
    return { records: recordsIn(output), stderr }
  } catch (error) {
    if (!(error instanceof GitFailed) || error.reason === 'start') throw error
    // Which one took too long, or said too much, only each alone can tell.
    if (pairs.length === 1) return { records: [], stderr: '', overran: error.reason !== 'exit' }
    const records = []
    for (const pair of pairs) {
      const alone = await run(dir, [pair], options)
      if (alone.records.length === 0) return { ...alone, records }
      records.push(...alone.records)
    }
    return { records, stderr: '' }
  }
}

/** `<status>\0<tree>\0`, a line for each side of each conflict, and an empty one. */
function recordsIn(output: string): Tried[] {
  const records: Tried[] = []
  let lines: string[] = []
  for (const line of output.split('\0')) {
    if (line !== '') lines.push(line)
    else if (lines.length > 0) {
      const [status, , ...files] = lines
      records.push({ conflicts: status === '1' ? null : conflictsOf(files).map(({ path }) => path) })
      lines = []
    }
  }
  return records
}
