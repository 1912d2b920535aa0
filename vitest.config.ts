import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'],
    exclude: ['test/clients/**', 'node_modules/**'],
    // Starting git costs what the process that starts it weighs: two small ones are quicker than one large.
    pool: 'forks',
    isolate: false,
    // By default one core stays idle, which on two is half the machine.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
})
