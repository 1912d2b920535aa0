// The test files that failed, one per line: `node scripts/failed-files.ts <report.json>`. If many failed, it prints
// none: that is no random failure of the machine.
import { relative } from 'node:path'
import { readReport } from './test-reports.ts'

const MOST = 5

const failed = readReport(process.argv[2]!).filter(({ status }) => status === 'failed')
if (failed.length <= MOST) for (const { name } of failed) console.log(relative('.', name))
