import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** Notes and reactions for snippets, and references from their texts. */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  const add = (table: string, column: string) =>
    db.schema
      .alterTable(table)
      .addColumn(column, ref, (c) => c.references('snippets.id').onDelete('cascade'))
      .execute()
  const index = (name: string, on: string, columns: string[]) =>
    db.schema.createIndex(name).on(on).columns(columns).execute()

  await add('notes', 'snippet_id')
  await index('notes_snippet_created_at', 'notes', ['snippet_id', 'created_at', 'id'])
  await index('notes_snippet_updated_at', 'notes', ['snippet_id', 'updated_at', 'id'])

  await add('award_emoji', 'snippet_id')
  await db.schema
    .createIndex('award_emoji_snippet_id_user_id_name_unique')
    .unique()
    .on('award_emoji')
    .columns(['snippet_id', 'user_id', 'name'])
    .execute()

  for (const table of ['text_references', 'text_mentions']) {
    await add(table, 'source_snippet_id')
    await index(`${table}_source_snippet`, table, ['source_snippet_id', 'source_note_id'])
  }
}
