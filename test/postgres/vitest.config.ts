import { mergeConfig } from 'vitest/config'
import suite from '../../vitest.config.ts'

/** Files that use the store and have not passed on PostgreSQL yet. Delete a line once its files pass. */
const NOT_YET = [
  'src/app.test.ts',
  'src/api/{api,long-pages,openapi,scopes}.test.ts',
  'src/features/ci/lint/{lint,long-files}.test.ts',
  'src/features/ci/pipelines/includes.test.ts',
  'src/features/ci/resource-groups/resource-groups.test.ts',
  'src/features/ci/runner-protocol/agent.test.ts',
  'src/features/ci/schedules/schedules.test.ts',
  'src/features/ci/statuses/statuses.test.ts',
  'src/features/instance/docs/docs.test.ts',
  'src/features/instance/help/documentation.test.ts',
  'src/features/integrations/feeds/feeds.test.ts',
  'src/features/integrations/messages/{ci,sending}.test.ts',
  'src/features/integrations/notifications/occasions.test.ts',
  'src/features/merge-requests/approvals/resets.test.ts',
  'src/features/merge-requests/code-owners/code-owners.test.ts',
  'src/features/merge-requests/commit-merge-requests/commit-merge-requests.test.ts',
  'src/features/merge-requests/draft-notes/draft-notes.test.ts',
  'src/features/merge-requests/merge-refs/merge-refs.test.ts',
  'src/features/merge-requests/merge-requests/collaboration.test.ts',
  'src/features/merge-requests/merging/{hostile,merging,processes}.test.ts',
  'src/features/merge-requests/notes/{moving,notes}.test.ts',
  'src/features/merge-requests/pipelines/{pipelines,protection}.test.ts',
  'src/features/merge-requests/pushes/pushes.test.ts',
  'src/features/merge-requests/quick-actions/quick-actions.test.ts',
  'src/features/merge-requests/suggestions/suggestions.test.ts',
  'src/features/merge-requests/versions/{comparison,large-changes,release,renewal,versions}.test.ts',
  'src/features/planning/commit-comments/commit-comments.test.ts',
  'src/features/planning/discussions/discussions.test.ts',
  'src/features/planning/markdown/hostile.test.ts',
  'src/features/planning/quick-actions/quick-actions.test.ts',
  'src/features/planning/references/{merge-requests,references}.test.ts',
  'src/features/repository/changelogs/changelogs.test.ts',
  'src/features/repository/code-owners/pushes.test.ts',
  'src/features/repository/commits/{commits,long-messages,marked-diffs,picks}.test.ts',
  'src/features/repository/files/{actions,files,start,writers}.test.ts',
  'src/features/repository/gate/{gate,large-files,recovery}.test.ts',
  'src/features/repository/protected-branches/protected-branches.test.ts',
  'src/features/repository/releases/releases.test.ts',
  'src/features/repository/repositories/{archives,large-files,repositories}.test.ts',
  'src/features/repository/signatures/{pushed,ssh-signature}.test.ts',
  'src/features/repository/templates/templates.test.ts',
  'src/features/repository/wikis/wikis.test.ts',
  'src/transport/{access,deploy-credentials,git-http,push-limit,ssh,stalls,web}.test.ts',
  'src/transport/lfs/{bucket,locks}.test.ts',
  'src/web/{abilities,large-pages,moved,pages}.test.ts',
  'test/{bounds,limits-generated,secrets,security-generated,security-requests,security}.test.ts',
  'test/start/{ci-crash,merge-crash-more,merge-crash,removal}.test.ts',
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
