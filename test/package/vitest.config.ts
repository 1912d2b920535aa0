import { defineConfig } from 'vitest/config'

/** Separate from the suite, because it downloads the dependencies of the package and every Node version. */
export default defineConfig({
  test: {
    include: ['test/package/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 600_000,
  },
})
