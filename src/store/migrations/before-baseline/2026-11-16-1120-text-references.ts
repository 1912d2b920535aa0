import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp } = columnTypes(db)
  const index = (name: string, on: string, columns: string[]) =>
    db.schema.createIndex(name).on(on).columns(columns).execute()
  /** The text that refers: of an issue, of a note on that issue, or of a commit. */
  const fromText = (name: string) =>
    withId(db.schema.createTable(name))
      .addColumn('source_issue_id', ref, (c) => c.references('issues.id').onDelete('cascade'))
      .addColumn('source_note_id', ref, (c) => c.references('notes.id').onDelete('cascade'))
      .addColumn('source_project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('source_sha', 'text')
      .addColumn('created_at', timestamp, (c) => c.notNull())

  await fromText('text_references')
    .addColumn('target_issue_id', ref, (c) => c.references('issues.id').onDelete('cascade'))
    .addColumn('target_project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('target_sha', 'text')
    /** The system note about the reference; one for each pair. */
    .addColumn('note_id', ref, (c) => c.references('notes.id').onDelete('set null'))
    .execute()
  await fromText('text_mentions')
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .execute()
  for (const table of ['text_references', 'text_mentions']) {
    await index(`${table}_source_issue`, table, ['source_issue_id', 'source_note_id'])
    await index(`${table}_source_note`, table, ['source_note_id'])
    await index(`${table}_source_commit`, table, ['source_project_id', 'source_sha'])
  }
  await index('text_references_target_issue', 'text_references', ['target_issue_id', 'source_issue_id'])
  await index('text_references_target_commit', 'text_references', ['target_project_id', 'target_sha'])
  await index('text_references_note', 'text_references', ['note_id'])
  await index('text_mentions_user', 'text_mentions', ['user_id'])
}
