/** Finds the coverage that a job prints in its log. */
import type { App } from '../../../context.ts'
import type { LimitedCaller } from '../../../lib/async/limiter.ts'
import { PatternTooSlow, lastMatches, projectCaller } from '../../../lib/text/patterns.ts'
import type { Job } from './model.ts'
import { optionsOf } from './options.ts'
import { endOfTrace } from './traces.ts'

const LAST_BYTES = 1024 * 1024
const LINES_AT_ONCE = 500
const MOST_LINES = 10_000
const LONGEST_LINE = 2000

/** Takes the last line that matches the pattern. */
export async function coverageOf(app: App, job: Job): Promise<number | null> {
  const { coverage: pattern } = optionsOf(job)
  if (!pattern || job.kind !== 'job') return null
  const lines = linesOf((await endOfTrace(app, job, LAST_BYTES)).toString('utf8'))
  try {
    return await coverageIn(pattern, lines, projectCaller(job.project_id))
  } catch (error) {
    if (error instanceof PatternTooSlow) return null
    throw error
  }
}

async function coverageIn(pattern: string, lines: readonly string[], caller?: LimitedCaller): Promise<number | null> {
  const latest = lines.slice(-MOST_LINES).toReversed()
  for (let n = 0; n < latest.length; n += LINES_AT_ONCE) {
    const found = await lastMatches(pattern, latest.slice(n, n + LINES_AT_ONCE), caller)
    for (const text of found) {
      const number = text === null ? null : /\d+(?:\.\d+)?/.exec(text)
      if (number) return Number(number[0])
    }
  }
  return null
}

/** `2025-01-31T10:00:00.123456Z 00O `: current runners put this header before every line, or before none. */
const HEADER = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [\da-f]{2}[OE][ +]/
// oxlint-disable-next-line no-control-regex -- colours of terminals
const COLOURS = /\u001b\[[\d;]{0,50}[A-Za-z]/g

function linesOf(log: string): string[] {
  return log.split('\n').map((line) => line.replace(HEADER, '').slice(0, LONGEST_LINE).replace(COLOURS, '').trimEnd())
}
