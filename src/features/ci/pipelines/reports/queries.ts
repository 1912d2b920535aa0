/** What tests found, read from the reports that jobs have kept. */
import { createGunzip } from 'node:zlib'
import type { z } from 'zod'
import type { App } from '../../../../context.ts'
import { BadReport, readJunit, type TestCase } from '../../../../lib/junit.ts'
import { Lru } from '../../../../lib/lru.ts'
import { isLive } from '../../jobs/artifacts.ts'
import type { Pipeline } from '../model.ts'
import type { TestReport, TestSummaryEntity } from './entity.ts'

const MOST_JOBS = 1000
/** Unpacked, of one report and of all together. */
const LARGEST_REPORT = 20 * 1024 * 1024
const LARGEST_SUM = 100 * 1024 * 1024
/** Of the cases of a pipeline, how many are listed and how many characters they have; all of them are counted. */
const MOST_LISTED = 20_000
const LARGEST_LIST = 8 * 1024 * 1024

interface Found {
  readonly job_id: number
  readonly name: string
  readonly digest: string
  readonly file_format: string
}

function reportsOf(app: App, { id }: Pipeline): Promise<Found[]> {
  return app.db
    .selectFrom('ci_artifacts as a')
    .innerJoin('ci_jobs as j', 'j.id', 'a.job_id')
    .select(['a.job_id', 'j.name', 'a.digest', 'a.file_format'])
    .where('j.pipeline_id', '=', id)
    .where('j.retried', '=', false)
    .where('a.file_type', '=', 'junit')
    .where(isLive(app, 'a'))
    .orderBy('j.stage_position')
    .orderBy('j.id')
    .limit(MOST_JOBS)
    .execute()
}

/** Parallel jobs of one name are one suite. */
const suiteName = (name: string) => name.replace(/:? (?:\d+\/\d+|\[.*\])$/, '')

interface Suite {
  readonly counts: Counts
  readonly cases: TestCase[]
  readonly build_ids: number[]
  error: string | null
}

export async function testReportOf(app: App, pipeline: Pipeline): Promise<TestReport> {
  const suites = new Map<string, Suite>()
  const room = { cases: MOST_LISTED, characters: LARGEST_LIST }
  let left = LARGEST_SUM
  for (const report of await reportsOf(app, pipeline)) {
    const name = suiteName(report.name)
    const suite = suites.get(name) ?? { counts: noCounts(), cases: [], build_ids: [], error: null }
    suites.set(name, suite)
    suite.build_ids.push(report.job_id)
    const { counts, cases, size, error } = await readReport(app, report, left)
    left -= size
    addCounts(suite.counts, counts)
    for (const one of listed(cases, room)) suite.cases.push(one)
    if (error !== null) suite.error = `JUnit data parsing failed: ${error}`
  }
  const test_suites = Array.from(suites, ([name, { counts, cases, build_ids, error }]) => ({
    name,
    ...counts,
    suite_error: error,
    test_cases: cases.map((one) => ({ ...one, stack_trace: null, recent_failures: null })),
    build_ids,
  }))
  const total = noCounts()
  for (const suite of test_suites) addCounts(total, suite)
  return { ...total, test_suites }
}

const lengthOf = ({ name, classname, file, system_output }: TestCase) =>
  100 + name.length + classname.length + (file?.length ?? 0) + (system_output?.length ?? 0)

/** The first ones, as many as there is room for. */
function* listed(cases: readonly TestCase[], room: { cases: number; characters: number }): Generator<TestCase> {
  for (const one of cases) {
    if (room.cases <= 0 || room.characters <= 0) return
    room.cases--
    room.characters -= lengthOf(one)
    yield one
  }
}

interface Read {
  readonly counts: Counts
  /** Those that may be listed. */
  readonly cases: readonly TestCase[]
  /** Unpacked. */
  readonly size: number
  readonly error: string | null
}

const unread = (error: string, size = 0): Read => ({ counts: noCounts(), cases: [], size, error })

/** By their digest: what it names never changes. */
const known = new Lru<Read>(32 * 1024 * 1024, ({ cases }) => cases.reduce((sum, one) => sum + lengthOf(one), 1000))

async function readReport(app: App, report: Found, left: number): Promise<Read> {
  const key = `${report.digest} ${report.file_format}`
  const kept = known.get(key)
  if (kept) return kept.size <= left ? kept : unread(TOO_LARGE)
  try {
    const text = await textOf(app, report, Math.min(LARGEST_REPORT, left))
    const read = await readJunit(text).then(
      (cases): Read => ({ counts: countsOf(cases), cases: mostOf(cases), size: text.length, error: null }),
      (error: unknown) => unread(faultOf(error), text.length),
    )
    known.set(key, read)
    return read
  } catch (error) {
    return unread(faultOf(error))
  }
}

const mostOf = (cases: readonly TestCase[]) => [...listed(cases, { cases: MOST_LISTED, characters: LARGEST_LIST })]

function faultOf(error: unknown): string {
  if (error instanceof BadReport) return error.message
  throw error
}

const TOO_LARGE = 'the report is too large'

async function textOf(app: App, { digest, file_format }: Found, most: number): Promise<string> {
  const blob = await app.blobs.open(digest)
  if (!blob) throw new BadReport('the report is gone')
  const source = file_format === 'gzip' ? blob.stream.pipe(createGunzip()) : blob.stream
  blob.stream.on('error', (error) => source.destroy(error))
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > most) throw new BadReport(TOO_LARGE)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      throw new BadReport('the report is not well compressed')
    throw error
  } finally {
    blob.stream.destroy()
  }
  return Buffer.concat(chunks).toString('utf8')
}

const noCounts = () => ({
  total_time: 0,
  total_count: 0,
  success_count: 0,
  failed_count: 0,
  skipped_count: 0,
  error_count: 0,
})

type Counts = ReturnType<typeof noCounts>

function countsOf(cases: readonly TestCase[]): Counts {
  const counts = noCounts()
  for (const { status, execution_time } of cases) {
    counts.total_time += execution_time
    counts.total_count++
    counts[`${status}_count`]++
  }
  return counts
}

function addCounts(to: Counts, more: Counts): void {
  for (const name of Object.keys(to) as (keyof Counts)[]) to[name] += more[name]
}

export function summaryOf(report: TestReport): z.infer<typeof TestSummaryEntity> {
  return {
    total: {
      time: report.total_time,
      count: report.total_count,
      success: report.success_count,
      failed: report.failed_count,
      skipped: report.skipped_count,
      error: report.error_count,
      suite_error: report.test_suites.find(({ suite_error }) => suite_error !== null)?.suite_error ?? null,
    },
    test_suites: report.test_suites.map(({ test_cases: _cases, ...suite }) => suite),
  }
}
