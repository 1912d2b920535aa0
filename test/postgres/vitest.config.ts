import { mergeConfig } from 'vitest/config'
import suite from '../../vitest.config.ts'

/**
 * The suite without what touches no store, or tells of one what it tells of the other: families that leave all
 * statements to the builder are asked for every endpoint by the tables of roles.
 */
export default mergeConfig(suite, {
  test: {
    exclude: [
      'src/{git,lib,ci,transport,mail,directory,outbound}/**',
      'src/store/blobs/**',
      'src/features/projects/imports/**',
      'src/features/ci/local/**',
      'src/features/repository/{files,commits,repositories,wikis,changelogs,languages,snapshots,signatures,templates}/**',
      'src/features/projects/forks/pools.test.ts',
      'src/features/merge-requests/{versions,suggestions}/**',
      'src/features/{merge-requests,planning}/quick-actions/**',
      'src/features/access/{invitations,access-requests,memberships}/**',
      'src/features/groups/{directory-links,custom-attributes}/**',
      'src/features/identity/{impersonation-tokens,credentials,follows,avatar}/**',
      'src/features/instance/{docs,templates,broadcast-messages,version}/**',
      'src/features/planning/{commit-comments,markdown,time-tracking}/**',
      'src/features/merge-requests/{todos,talk,pipelines,merge-refs,commit-merge-requests,references,time-tracking}/**',
      'src/features/repository/{tags,protected-tags}/**',
      'src/features/ci/{lint,badges}/**',
      'src/features/merge-requests/**/{shadow,large-changes,processes}.test.ts',
      'test/{limits-generated,security-generated,bounds,security,secrets}.test.ts',
      'test/start/{build,verbs,runner,removal,serve,openssh,push-crash,fork-crash,merge-crash-more,secrets,full-disk,check,ci}.test.ts',
      '{bench,scripts}/**',
    ],
  },
})
