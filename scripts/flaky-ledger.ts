/**
 * `test/flaky.json` lists the test files that may pass only when run alone, each with its entry date and the known
 * cause: `[{ "file": "src/a.test.ts", "date": "2026-11-18", "reason": "…" }]`. An entry lasts a week.
 */
import { readFileSync } from 'node:fs'

const DAY = 86_400_000
const LONGEST_DAYS = 7

export interface Entry {
  readonly file: string
  readonly date: string
  readonly reason: string
}

export const readLedger = (path: string): Entry[] => JSON.parse(readFileSync(path, 'utf8')) as Entry[]

/** Errors of the ledger itself, one per line. */
export function ledgerFaults(ledger: readonly Entry[], now: Date): string[] {
  return ledger.flatMap(({ file, date, reason }) => {
    const age = (now.getTime() - Date.parse(date)) / DAY
    if (!file || !reason || !(age >= 0)) return [`${file || 'an entry'} needs a file, a date that is past and a reason`]
    return age > LONGEST_DAYS + 1 ? [`${file} was entered on ${date}, over ${LONGEST_DAYS} days ago`] : []
  })
}
