/** Test results, read from the JUnit reports of jobs. */
import { createGunzip } from 'node:zlib'
import type { z } from 'zod'
import type { App } from '../../../../context.ts'
import { BadReport, type TestCase } from '../../../../lib/text/junit.ts'
import { Lru } from '../../../../lib/async/lru.ts'
import { OutOfTime } from '../../../../lib/threads/errors.ts'
import { rendering } from '../../../../lib/threads/rendering.ts'
import { isLive } from '../../jobs/artifacts.ts'
import type { Pipeline } from '../model.ts'
import type { TestReport, TestSummaryEntity } from './entity.ts'
import {
  addCounts,
  lengthOf,
  newListBudget,
  listed,
  noCounts,
  perform,
  unread,
  type Counts,
  type Read,
} from './reading.ts'

const MOST_JOBS = 1000
/** The uncompressed limit, for one report and for all reports of a pipeline together. */
const LARGEST_REPORT = 20 * 1024 * 1024
const LARGEST_SUM = 100 * 1024 * 1024
/** In bytes. Reading that many takes a few milliseconds at most. */
const SHORT = 16_384
/** Milliseconds of CPU time. The largest report needs a tenth of it. */
const DEADLINE = 10_000

// Next to this source file, or in the folder of the bundle.
const MODULE = new URL(import.meta.url.endsWith('.ts') ? './reading.ts' : './junit-report.js', import.meta.url)

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

/** Parallel jobs of one name form one suite. */
const suiteName = (name: string) => name.replace(/:? (?:\d+\/\d+|\[.*\])$/, '')

interface Suite {
  readonly counts: Counts
  readonly cases: TestCase[]
  readonly build_ids: number[]
  error: string | null
}

export async function testReportOf(app: App, pipeline: Pipeline): Promise<TestReport> {
  const suites = new Map<string, Suite>()
  const budget = newListBudget()
  let left = LARGEST_SUM
  for (const report of await reportsOf(app, pipeline)) {
    const name = suiteName(report.name)
    const suite = suites.get(name) ?? { counts: noCounts(), cases: [], build_ids: [], error: null }
    suites.set(name, suite)
    suite.build_ids.push(report.job_id)
    const { counts, cases, size, error } = await readReport(app, report, left)
    left -= size
    addCounts(suite.counts, counts)
    for (const one of listed(cases, budget)) suite.cases.push(one)
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

/** Cached by digest, because the content of a digest never changes. */
const known = new Lru<Read>('test reports', ({ cases }) => cases.reduce((sum, one) => sum + lengthOf(one), 1000))

async function readReport(app: App, report: Found, left: number): Promise<Read> {
  const key = `${report.digest} ${report.file_format}`
  const kept = known.get(key)
  if (kept) return kept.size <= left ? kept : unread(TOO_LARGE)
  try {
    const read = await readBytes(app, await bytesOf(app, report, Math.min(LARGEST_REPORT, left)))
    known.set(key, read)
    return read
  } catch (error) {
    if (error instanceof BadReport) return unread(error.message)
    throw error
  }
}

/** Reads long reports in a worker thread. */
async function readBytes({ caller }: App, bytes: Buffer): Promise<Read> {
  if (bytes.length <= SHORT) return perform(bytes)
  try {
    return await rendering.run<Read>(MODULE, bytes, { caller, deadline: DEADLINE })
  } catch (error) {
    if (error instanceof OutOfTime) return unread('the report takes too long to read', bytes.length)
    throw error
  }
}

const TOO_LARGE = 'the report is too large'

async function bytesOf(app: App, { digest, file_format }: Found, most: number): Promise<Buffer> {
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
  return Buffer.concat(chunks)
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
