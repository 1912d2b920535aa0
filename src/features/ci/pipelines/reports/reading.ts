/** Reads one report into plain data, so that a worker thread can do the work. */
import { BadReport, readJunit, type TestCase } from '../../../../lib/text/junit.ts'

export interface Read {
  readonly counts: Counts
  /** The cases that fit into the limit of the list. */
  readonly cases: readonly TestCase[]
  /** Uncompressed size in bytes. */
  readonly size: number
  readonly error: string | null
}

export function perform(bytes: Uint8Array): Read {
  const size = bytes.length
  try {
    const cases = readJunit(Buffer.from(bytes.buffer, bytes.byteOffset, size).toString('utf8'))
    return { counts: countsOf(cases), cases: [...listed(cases, newListBudget())], size, error: null }
  } catch (error) {
    if (error instanceof BadReport) return unread(error.message, size)
    throw error
  }
}

export const unread = (error: string, size = 0): Read => ({ counts: noCounts(), cases: [], size, error })

interface ListBudget {
  cases: number
  characters: number
}

/** The limits of a pipeline's list of cases: their number and their characters. The totals count all cases. */
export const newListBudget = (): ListBudget => ({ cases: 20_000, characters: 8 * 1024 * 1024 })

export const lengthOf = ({ name, classname, file, system_output }: TestCase) =>
  100 + name.length + classname.length + (file?.length ?? 0) + (system_output?.length ?? 0)

/** The first cases that fit into the limit. */
export function* listed(cases: readonly TestCase[], budget: ListBudget): Generator<TestCase> {
  for (const one of cases) {
    if (budget.cases <= 0 || budget.characters <= 0) return
    budget.cases--
    budget.characters -= lengthOf(one)
    yield one
  }
}

export const noCounts = () => ({
  total_time: 0,
  total_count: 0,
  success_count: 0,
  failed_count: 0,
  skipped_count: 0,
  error_count: 0,
})

export type Counts = ReturnType<typeof noCounts>

function countsOf(cases: readonly TestCase[]): Counts {
  const counts = noCounts()
  for (const { status, execution_time } of cases) {
    counts.total_time += execution_time
    counts.total_count++
    counts[`${status}_count`]++
  }
  return counts
}

export function addCounts(to: Counts, more: Counts): void {
  for (const name of Object.keys(to) as (keyof Counts)[]) to[name] += more[name]
}
