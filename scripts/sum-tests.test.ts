import { spawnSync } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeTemporaryFolder } from '../src/lib/files/temporary-folder.ts'

const FILE = 'src/a.test.ts'
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
const entry = (days: number, reason = 'two writers meet') => ({ file: FILE, date: daysAgo(days), reason })

type Status = 'passed' | 'failed'

/** The closing lines for a suite with one file, which has this status in the first run and, if any, in the second. */
async function closing(ledger: unknown[], first: Status, again?: Status) {
  const folder = await makeTemporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'test'))
  await writeFile(join(folder, 'test/flaky.json'), JSON.stringify(ledger))
  const report = (status: Status) =>
    JSON.stringify({ testResults: [{ name: join(folder, FILE), status, assertionResults: [{ status }] }] })
  await writeFile(join(folder, 'suite.json'), report(first))
  if (again) await writeFile(join(folder, 'suite.again.json'), report(again))
  const script = join(import.meta.dirname, 'sum-tests.ts')
  const { status, stdout } = spawnSync(process.execPath, [script, join(folder, 'suite')], { cwd: folder })
  return { code: status, last: stdout.toString().trim().split('\n').at(-1), text: stdout.toString() }
}

test.each<[string, unknown[], Status, Status | undefined, number, string]>([
  ['a file that passes', [], 'passed', undefined, 0, '1 passed, 0 failed'],
  ['a file that fails', [], 'failed', undefined, 1, '0 passed, 1 failed'],
  ['a file that fails twice', [entry(0)], 'failed', 'failed', 1, '0 passed, 1 failed'],
  ['a file that passes only alone', [], 'failed', 'passed', 1, '1 passed, 1 failed'],
  ['the same, listed today', [entry(0)], 'failed', 'passed', 0, '1 passed, 0 failed'],
  ['the same, listed a week ago', [entry(7)], 'failed', 'passed', 0, '1 passed, 0 failed'],
  ['the same, listed long ago', [entry(9)], 'failed', 'passed', 1, '1 passed, 1 failed'],
  ['another is listed', [{ ...entry(0), file: 'src/b.test.ts' }], 'failed', 'passed', 1, '1 passed, 1 failed'],
  ['an entry that is too old, of a file that passes', [entry(9)], 'passed', undefined, 1, '1 passed, 1 failed'],
  ['an entry of a day to come', [entry(-2)], 'passed', undefined, 1, '1 passed, 1 failed'],
  ['an entry without a reason', [entry(0, '')], 'passed', undefined, 1, '1 passed, 1 failed'],
  ['an entry without a date', [{ ...entry(0), date: 'soon' }], 'passed', undefined, 1, '1 passed, 1 failed'],
])('%s', async (_what, ledger, first, again, code, last) => {
  expect(await closing(ledger, first, again)).toMatchObject({ code, last })
})

test('the file and the reason are named', async () => {
  expect((await closing([entry(1)], 'failed', 'passed')).text).toContain(`${FILE} passed only when run alone, as two`)
  expect((await closing([], 'failed', 'passed')).text).toContain(
    `${FILE} passed only when run alone, which is a failure`,
  )
})
