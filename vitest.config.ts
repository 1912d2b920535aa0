import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'],
    exclude: ['test/{clients,package,web}/**', 'node_modules/**'],
    // Starting git costs what the process that starts it weighs: two small ones are quicker than one large.
    pool: 'forks',
    isolate: false,
    // Node reads the sources itself: a module that Vite has rewritten runs slower, because it looks up every import.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // By default one core stays idle, which on two is half the machine.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // For what hangs, not for what is slow: a busy machine needs many times what a test takes alone.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
