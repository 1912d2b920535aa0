// Sums vitest's JSON reports into one closing line: `node scripts/sum-tests.ts <suite>...`, where `<suite>.json` is the
// report of a suite and `<suite>.again.json` that of its files that ran once more. A missing report, and a run that
// executed no test, count as one failure each.
import { basename, relative } from 'node:path'
import { ledgerFaults, readLedger } from './flaky-ledger.ts'
import { readSuite } from './test-reports.ts'

const ledger = readLedger('test/flaky.json')

/**
 * The counts of one suite. A test file that failed without a failed test, because it did not load, counts as one
 * failure.
 */
function count(path: string): { passed: number; failed: number } {
  let suite: ReturnType<typeof readSuite>
  try {
    suite = readSuite(path)
  } catch (error) {
    console.log(`${basename(path)}: no report (${error instanceof Error ? error.message : String(error)})`)
    return { passed: 0, failed: 1 }
  }
  const unlisted = suite.mended
    .map((name) => relative('.', name))
    .filter((name) => {
      const entry = ledger.find(({ file }) => file === name)
      const known = entry ? `, as ${entry.reason}` : ', which is a failure'
      console.log(`${basename(path)}: ${name} passed only when run alone${known}`)
      return !entry
    })
  const tests = suite.files.flatMap(({ assertionResults }) => assertionResults)
  const of = (status: string) => tests.filter((test) => test.status === status).length
  const broken = suite.files.filter(
    ({ status, assertionResults: of }) => status === 'failed' && !of.some((test) => test.status === 'failed'),
  )
  const passed = of('passed')
  const failed = of('failed') + broken.length + unlisted.length
  if (passed + failed > 0) return { passed, failed }
  console.log(`${basename(path)}: no test was executed`)
  return { passed: 0, failed: 1 }
}

const runs = process.argv.slice(2).map(count)
const passed = runs.reduce((sum, run) => sum + run.passed, 0)
const faults = ledgerFaults(ledger, new Date())
for (const fault of faults) console.log(`test/flaky.json: ${fault}`)
const failed = runs.reduce((sum, run) => sum + run.failed, faults.length)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
