import { defineConfig } from 'vitest/config'
import { LongestFirst } from '../longest-first.ts'

/** Pages in a real browser: separate from the suite, because it needs a browser. */
export default defineConfig({
  test: {
    include: ['test/web/*.test.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    globalSetup: 'test/web/build.ts',
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
