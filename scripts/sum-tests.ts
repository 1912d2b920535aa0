// Sums vitest's JSON reports into one closing line: `node scripts/sum-tests.ts <report.json>...`.
// A report that is missing, and a run that executed no test, count as one failure each: silence is no success.
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

type Report = {
  numPassedTests: number
  numFailedTests: number
  testResults: { status: string; assertionResults: unknown[] }[]
}

/** The counts of one run; a test file that did not load has no tests to count, so it counts itself. */
function count(path: string): { passed: number; failed: number } {
  let report: Report
  try {
    report = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    console.log(`${basename(path)}: no report (${error instanceof Error ? error.message : String(error)})`)
    return { passed: 0, failed: 1 }
  }
  const broken = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
  const passed = report.numPassedTests
  const failed = report.numFailedTests + broken.length
  if (passed + failed > 0) return { passed, failed }
  console.log(`${basename(path)}: no test was executed`)
  return { passed: 0, failed: 1 }
}

const runs = process.argv.slice(2).map(count)
const passed = runs.reduce((sum, run) => sum + run.passed, 0)
const failed = runs.reduce((sum, run) => sum + run.failed, 0)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
