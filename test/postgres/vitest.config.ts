import { mergeConfig } from 'vitest/config'
import suite from '../../vitest.config.ts'

/** The suite on PostgreSQL: all files, except those that use no store, or always SQLite. */
export default mergeConfig(suite, {
  test: {
    exclude: [
      // Libraries and tools that know no store.
      'src/{cli,directory,git,lib,mail,outbound}/**',
      '{bench,scripts}/**',
      // Functions of families that know no store.
      'src/{config,api/params}.test.ts',
      'src/store/{coalesce,id-set}.test.ts',
      'src/transport/ssh/{commands,key-pair}.test.ts',
      'src/features/ci/{pipelines/processing,schedules/cron}.test.ts',
      'src/features/identity/{gpg-keys/pgp-key,sessions/return-address,sign-up/email-domains}.test.ts',
      'src/features/instance/templates/recognition.test.ts',
      'src/features/integrations/{deliveries/templates,feeds/addresses,notifications/levels,services/docs}.test.ts',
      'src/features/integrations/messages/{absolute-images,push-options}.test.ts',
      'src/features/merge-requests/{merging/shadow,suggestions/parsing}.test.ts',
      'src/features/planning/{titles,issues/absolute-references,issues/upload-addresses}.test.ts',
      'src/features/planning/quick-actions/natural-date.test.ts',
      'src/features/projects/{repositories/inspection,uploads/names}.test.ts',
      'src/features/repository/{code-owners/parsing,commits/trailers,protected-branches/matching}.test.ts',
      'src/features/repository/signatures/ssh-signature.test.ts',
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
    ],
  },
})
