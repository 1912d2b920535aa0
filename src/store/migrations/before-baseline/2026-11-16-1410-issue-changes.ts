import { sql, type Kysely } from 'kysely'
import { countChanges, dropChanges, logChanges } from '../helpers/counts.ts'
import { isSqlite } from '../helpers/columns.ts'
import { keepVersions } from '../helpers/versions.ts'

export async function up(db: Kysely<never>): Promise<void> {
  if (!isSqlite(db)) await sql`create index changes_subject on changes (subject)`.execute(db)
  await logChanges(db, 'issues', {
    scope: 'project_id',
    columns: [
      'state',
      'confidential',
      'author_id',
      'title',
      'description',
      'milestone_id',
      'due_date',
      'issue_type',
      'closed_by_id',
      'weight',
      'created_at',
      'updated_at',
    ],
    links: {
      issue_assignees: { by: 'issue_id', columns: ['user_id'] },
      issue_labels: { by: 'issue_id', columns: ['label_id'] },
      award_emoji: { by: 'issue_id', columns: ['name'] },
    },
  })
  await dropChanges(db, 'issues', 'issue_updates')
  await dropChanges(db, 'issue_labels')
  await dropChanges(db, 'award_emoji')
  for (const [table, columns] of [
    ['labels', ['title']],
    ['milestones', ['title', 'state', 'start_date', 'due_date']],
  ] as const) {
    await dropChanges(db, table)
    await countChanges(db, table, [...columns], table, { scope: 'project_id' })
    await keepVersions(db, table)
  }
}
