import { defineConfig } from 'vitest/config'

/** Apart from the suite, because it fetches what the package needs and every Node that it runs on. */
export default defineConfig({
  test: {
    include: ['test/package/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 600_000,
  },
})
