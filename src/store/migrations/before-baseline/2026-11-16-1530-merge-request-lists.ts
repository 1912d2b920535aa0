import { sql, type Kysely } from 'kysely'
import { countChanges, dropChanges, logChanges } from '../helpers/counts.ts'
import { isSqlite } from '../helpers/columns.ts'

/** Indexes and counts for lists of merge requests. */
export async function up(db: Kysely<never>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  // `locked` lasts for a moment; lists show it as open.
  const told = `(case when state = 'locked' then 'opened' else state end)`
  const [latest, earliest] = isSqlite(db)
    ? [`'9999-12-31'`, `'0000-01-01'`]
    : [`'infinity'::timestamptz`, `'-infinity'::timestamptz`]
  await run('drop index merge_requests_project_state')
  await run('drop index merge_requests_state')
  const orders = {
    told_state: `${told}, created_at`,
    // Unmerged ones come last in either direction.
    merged_at: `(coalesce(merged_at, ${latest}))`,
    merged_at_desc: `(coalesce(merged_at, ${earliest}))`,
  }
  for (const [name, order] of Object.entries(orders)) {
    await run(`create index merge_requests_project_${name} on merge_requests (project_id, ${order}, id)`)
    await run(`create index merge_requests_${name} on merge_requests (${order}, id)`)
  }
  await run('create index merge_requests_source_branch on merge_requests (source_branch, project_id)')
  await run('create index merge_requests_target_branch on merge_requests (target_branch, project_id)')
  await run('create index merge_requests_drafts on merge_requests (project_id) where draft')
  // Merge requests whose creation date is after their last change: very few.
  for (const columns of ['project_id, created_at', 'created_at']) {
    const name = `merge_requests_odd_${columns.split(',', 1)}`
    await run(`create index ${name} on merge_requests (${columns}) where updated_at < created_at`)
  }

  await logChanges(db, 'merge_requests', {
    scope: 'project_id',
    columns: [
      'state',
      'draft',
      'author_id',
      'title',
      'description',
      'milestone_id',
      'source_branch',
      'target_branch',
      'source_project_id',
      'merge_user_id',
      'created_at',
      'updated_at',
    ],
    links: {
      merge_request_assignees: { by: 'merge_request_id', columns: ['user_id'] },
      merge_request_reviewers: { by: 'merge_request_id', columns: ['user_id'] },
      merge_request_approvals: { by: 'merge_request_id', columns: ['user_id'] },
      merge_request_labels: { by: 'merge_request_id', columns: ['label_id'] },
      award_emoji: { by: 'merge_request_id', columns: ['name'] },
    },
  })
  await dropChanges(db, 'merge_requests', 'merge_request_updates')
  await dropChanges(db, 'merge_request_labels')
  await dropChanges(db, 'merge_request_approvals')

  // Their visibility also depends on the repository setting.
  await dropChanges(db, 'projects')
  await countChanges(db, 'projects', [
    'visibility',
    'archived',
    'deleting',
    'issues_access_level',
    'merge_requests_access_level',
    'repository_access_level',
    'namespace_id',
    'name',
    'path',
    'forked_from_id',
  ])
}
