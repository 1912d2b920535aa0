/**
 * Checks whether commits can be merged, many pairs in one process. Git writes its objects to a temporary folder that is
 * deleted afterwards, because the trees are not needed and the check does not wait for the disk.
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

/** The conflicting paths. Null without conflicts. A pair that can never be merged has an empty list. */
export type Tried = { readonly conflicts: readonly string[] | null }

const MAX_OUTPUT = 64 * 1024 * 1024
/** The time limit of one process. Tests lower it. */
export const patience = { ms: 2 * MINUTE }
const DIED = 128
/** Git's messages for pairs that can never be merged. A full disk is not among them. */
const HOPELESS = /unrelated histories|attempting to allocate/

/**
 * In the order of the pairs. Null for a pair that git could not answer; `overran` if it exceeded the time or the output
 * limit.
 */
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
    // One invalid pair ends git. The remaining pairs need another process.
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
    // Only a single run per pair shows which one exceeded the limit.
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

/** `<status>\0<tree>\0`, one line for each side of each conflict, and an empty line. */
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
