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
  readonly cases: TestCase[]
  readonly build_ids: number[]
  error: string | null
}

export async function testReportOf(app: App, pipeline: Pipeline): Promise<TestReport> {
  const suites = new Map<string, Suite>()
  let left = LARGEST_SUM
  for (const report of await reportsOf(app, pipeline)) {
    const name = suiteName(report.name)
    const suite = suites.get(name) ?? { cases: [], build_ids: [], error: null }
    suites.set(name, suite)
    suite.build_ids.push(report.job_id)
    const { cases, size, error } = await readReport(app, report, left)
    left -= size
    for (const one of cases) suite.cases.push(one)
    if (error !== null) suite.error = `JUnit data parsing failed: ${error}`
  }
  const test_suites = Array.from(suites, ([name, { cases, build_ids, error }]) => ({
    name,
    ...countsOf(cases),
    suite_error: error,
    test_cases: cases.map((one) => ({ ...one, stack_trace: null, recent_failures: null })),
    build_ids,
  }))
  return { ...sumOf(test_suites), test_suites }
}

interface Read {
  readonly cases: readonly TestCase[]
  /** Unpacked. */
  readonly size: number
  readonly error: string | null
}

/** By their digest: what it names never changes. Objects of a text are some times its size. */
const known = new Lru<Read>(32 * 1024 * 1024, ({ size }) => size + 1000)

async function readReport(app: App, report: Found, left: number): Promise<Read> {
  const key = `${report.digest} ${report.file_format}`
  const kept = known.get(key)
  if (kept) return kept.size <= left ? kept : { cases: [], size: 0, error: TOO_LARGE }
  try {
    const text = await textOf(app, report, Math.min(LARGEST_REPORT, left))
    const read = await readJunit(text).then(
      (cases) => ({ cases, size: text.length, error: null }),
      (error: unknown) => ({ cases: [], size: text.length, error: faultOf(error) }),
    )
    known.set(key, read)
    return read
  } catch (error) {
    return { cases: [], size: 0, error: faultOf(error) }
  }
}

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

function countsOf(cases: readonly TestCase[]) {
  const by = Map.groupBy(cases, ({ status }) => status)
  const number = (status: TestCase['status']) => by.get(status)?.length ?? 0
  return {
    total_time: cases.reduce((sum, { execution_time }) => sum + execution_time, 0),
    total_count: cases.length,
    success_count: number('success'),
    failed_count: number('failed'),
    skipped_count: number('skipped'),
    error_count: number('error'),
  }
}

type Counts = ReturnType<typeof countsOf>

function sumOf(suites: readonly Counts[]): Counts {
  const sum = (name: keyof Counts) => suites.reduce((total, suite) => total + suite[name], 0)
  return {
    total_time: sum('total_time'),
    total_count: sum('total_count'),
    success_count: sum('success_count'),
    failed_count: sum('failed_count'),
    skipped_count: sum('skipped_count'),
    error_count: sum('error_count'),
  }
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
