import { mergeConfig } from 'vitest/config'
import suite from '../../vitest.config.ts'

/**
 * The suite without what touches no store: `lib`, git, the CI agent, transport, scripts, benchmarks, and tests of programs
 * that are started with a database of their own. Tests of processor time say the same on either store.
 */
export default mergeConfig(suite, {
  test: {
    exclude: [
      'src/{git,lib,ci,transport,mail,directory,outbound}/**',
      'src/store/blobs/**',
      'src/features/ci/local/**',
      'src/features/instance/{docs,templates,version}/**',
      'src/features/instance/help/documentation.test.ts',
      'src/features/merge-requests/**/{shadow,large-changes,processes}.test.ts',
      'src/features/planning/markdown/**',
      'test/{bounds,doubling,doubling-pages}.test.ts',
      'test/start/{build,docs,verbs,runner,removal,serve,openssh,push-crash,fork-crash,merge-crash-more,secrets,full-disk,check,ci,ci-crash,merge-crash}.test.ts',
      '{bench,scripts}/**',
    ],
  },
})
