import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/clients/*.test.ts'],
    pool: 'threads',
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
  },
})
