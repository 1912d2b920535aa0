import { mergeConfig } from 'vitest/config'
import suite from '../../vitest.config.ts'

/**
 * The suite without what touches no store: `lib`, git, pages, scripts, benchmarks, and tests of programs that are started.
 * The families of identity, access, groups and projects run whole, and so do tests of locks and races. Of the other
 * contexts, folders whose statements all come from the query builder are left out, because a family takes three to five
 * seconds of processor time per file, half of it in the server.
 */
export default mergeConfig(suite, {
  test: {
    exclude: [
      'src/{git,lib,ci,transport,mail,directory,outbound,web}/**',
      'src/{app,forge}.test.ts',
      'src/api/**',
      'src/store/blobs/**',
      'src/features/ci/local/**',
      'src/features/repository/{files,commits,repositories,wikis,changelogs,languages,snapshots,signatures,templates}/**',
      'src/features/merge-requests/{versions,suggestions}/**',
      'src/features/{merge-requests,planning}/quick-actions/**',
      'src/features/merge-requests/merging/{merging,hostile}.test.ts',
      'src/features/merge-requests/{approvals/resets,merge-requests/collaboration}.test.ts',
      'src/features/merge-requests/{draft-notes,code-owners}/**',
      'src/features/instance/{docs,templates,broadcast-messages,version,features,plan-limits,spool}/**',
      'src/features/instance/help/documentation.test.ts',
      'src/features/planning/{commit-comments,markdown,time-tracking}/**',
      'src/features/merge-requests/{todos,notes,pipelines,merge-refs,commit-merge-requests,time-tracking}/**',
      'src/features/repository/{tags,protected-tags,gate,deploy-tokens}/**',
      'src/features/ci/{lint,badges,resource-groups}/**',
      'src/features/integrations/{services,chat-commands,feeds}/**',
      'src/features/integrations/messages/**',
      'src/features/merge-requests/**/{shadow,large-changes,processes}.test.ts',
      'test/{limits-generated,security-generated,security-requests,bounds,security,secrets,doubling,doubling-pages}.test.ts',
      'test/start/{build,docs,verbs,runner,removal,serve,openssh,push-crash,fork-crash,merge-crash-more,secrets,full-disk,check,ci,ci-crash,merge-crash}.test.ts',
      'src/forge/**',
      'src/features/repository/{branches,releases,protected-branches,code-owners}/**',
      'src/features/planning/{notes,discussions,award-emoji,references}/**',
      'src/features/merge-requests/pushes/**',
      'src/features/ci/{schedules,statuses}/**',
      'src/features/ci/runner-protocol/agent.test.ts',
      'src/features/ci/jobs/trace-parts.test.ts',
      'src/features/ci/pipelines/includes.test.ts',
      'src/features/integrations/notifications/occasions.test.ts',
      '{bench,scripts}/**',
    ],
  },
})
