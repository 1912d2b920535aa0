import { mergeConfig } from 'vitest/config'
import suite from '../../vitest.config.ts'

/** Files that use the store and have not passed on PostgreSQL yet. Delete a line once its files pass. */
const NOT_YET = [
  'src/features/merge-requests/merging/processes.test.ts',
  'src/features/repository/commits/marked-diffs.test.ts',
  'test/{secrets,security}.test.ts',
  'test/start/{merge-crash,removal}.test.ts',
]

/** The suite on PostgreSQL: all files, except those that use no store, or always SQLite. */
export default mergeConfig(suite, {
  test: {
    exclude: [
      // Libraries and tools that know no store.
      'src/{cli,directory,git,lib,mail,outbound}/**',
      '{bench,scripts}/**',
      // Contents of blobs are files or objects in a bucket.
      'src/store/blobs/**',
      // Pages and the log of a SQLite file.
      'src/backup/{scale,sqlite}.test.ts',
      // Runners know the server by its API only.
      'src/{ci,features/ci/local}/**',
      // Processor time of functions, and of pages without a server.
      'test/{doubling,doubling-pages}.test.ts',
      // Programs that are started without a database, which then use SQLite.
      'test/start/{attacks,build,check,ci,docs,fork-crash,full-disk,locked-database,missing-pages,openssh,push-crash,read-only,runner,secrets,serve,verbs}.test.ts',
      ...NOT_YET,
    ],
  },
})
