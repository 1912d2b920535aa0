import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../helpers/columns.ts'

/** Todos that are not visible to everybody who sees the project's issues; all others are counted by project. */
export async function up(db: Kysely<never>): Promise<void> {
  const { boolean, no } = columnTypes(db)
  const run = (text: string) => sql.raw(text).execute(db)
  await db.schema
    .alterTable('todos')
    .addColumn('reserved', boolean, (c) => c.notNull().defaultTo(no))
    .execute()
  const isReserved = (row: string) =>
    `(not exists (select 1 from issues i where i.id = ${row}.issue_id and not i.confidential)
      or exists (select 1 from notes n where n.id = ${row}.note_id and n.internal))`
  await run(`update todos set reserved = ${isReserved('todos')}`)
  await run(`create index todos_counted on todos (user_id, state, reserved, project_id, action, author_id)`)

  const among = (column: string, row: string) =>
    `update todos set reserved = ${isReserved('todos')} where ${column} = ${row}.id;`
  if (isSqlite(db)) {
    await run(`create trigger todos_reserved_i after insert on todos when ${isReserved('new')}
      begin update todos set reserved = 1 where id = new.id; end`)
    await run(`create trigger todos_reserved_issue after update of confidential on issues
      when new.confidential <> old.confidential begin ${among('issue_id', 'new')} end`)
    await run(`create trigger todos_reserved_note after update of internal on notes
      when new.internal <> old.internal begin ${among('note_id', 'new')} end`)
    return
  }
  await run(`create function todos_reserved() returns trigger language plpgsql as $$ begin
    new.reserved := ${isReserved('new')};
    return new;
  end $$`)
  await run('create trigger todos_reserved before insert on todos for each row execute function todos_reserved()')
  for (const [table, column, by] of [
    ['issues', 'confidential', 'issue_id'],
    ['notes', 'internal', 'note_id'],
  ] as const) {
    const name = `todos_reserved_${table}`
    await run(`create function ${name}() returns trigger language plpgsql as $$ begin
      ${among(by, 'new')}
      return null;
    end $$`)
    await run(`create trigger ${name} after update of ${column} on ${table} for each row
      when (new.${column} <> old.${column}) execute function ${name}()`)
  }
}
