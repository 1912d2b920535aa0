/**
 * Starts the files that take minutes first. A fresh clone knows no durations, and then vitest starts the largest files
 * first: a short file with long tests would begin last, and run while the other worker has nothing to do.
 */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONGEST = [
  'test/roles.test.ts',
  'src/backup/backup.test.ts',
  'test/security-generated.test.ts',
  'test/limits-generated.test.ts',
  'test/start/backup.test.ts',
  'test/start/backup-destinations.test.ts',
  'test/start/verbs.test.ts',
  'src/web/abilities.test.ts',
  'test/start/kill-trials.test.ts',
  'test/doubling.test.ts',
  'test/upgrade/upgrade.test.ts',
  'test/read-only.test.ts',
  'test/web/every-page.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      LONGEST.includes(relative(this.ctx.config.root, moduleId).replaceAll('\\', '/'))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
