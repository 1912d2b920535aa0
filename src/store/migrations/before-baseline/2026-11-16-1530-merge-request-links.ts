import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../helpers/columns.ts'
import { createTextIndex, dropTextIndex } from '../helpers/text-index.ts'

/** A todo may be about a merge request; texts of merge requests mention groups, and are found by project. */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  const run = (text: string) => sql.raw(text).execute(db)
  for (const [table, column] of [
    ['todos', 'merge_request_id'],
    ['text_group_mentions', 'source_merge_request_id'],
  ] as const) {
    await db.schema
      .alterTable(table)
      .addColumn(column, ref, (c) => c.references('merge_requests.id').onDelete('cascade'))
      .execute()
  }
  await run('create index text_group_mentions_source_merge_request on text_group_mentions (source_merge_request_id)')
  await run('create index todos_merge_request_id on todos (merge_request_id)')
  await run(`create unique index todos_user_id_merge_request_id_unique on todos (user_id, merge_request_id)
    where state = 'pending' and merge_request_id is not null`)
  // With all columns that counting needs.
  await run('drop index todos_counted')
  await run(`create index todos_counted
    on todos (user_id, state, reserved, project_id, action, author_id, merge_request_id)`)

  // Notes on merge requests are never internal, so the triggers on issues and notes stay unchanged.
  const isReserved = `((new.merge_request_id is null
      and not exists (select 1 from issues i where i.id = new.issue_id and not i.confidential))
    or exists (select 1 from notes n where n.id = new.note_id and n.internal))`
  if (isSqlite(db)) {
    await dropTextIndex(db, 'merge_requests')
    await createTextIndex(db, 'merge_requests', ['title', 'description'], 'project_id')
    await run('drop trigger todos_reserved_i')
    await run(`create trigger todos_reserved_i after insert on todos when ${isReserved}
      begin update todos set reserved = 1 where id = new.id; end`)
    return
  }
  await run(`create or replace function todos_reserved() returns trigger language plpgsql as $$ begin
    new.reserved := ${isReserved};
    return new;
  end $$`)
}
