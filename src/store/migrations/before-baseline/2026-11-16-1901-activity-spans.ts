import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../helpers/columns.ts'

/**
 * The number of activities per user, kind, day and month, for lists between two days. Maintained by triggers; on
 * PostgreSQL every change inserts its own rows, and a job merges them.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref, boolean } = columnTypes(db)
  const run = (text: string) => sql.raw(text).execute(db)
  const kind = ['author_id', 'unit', 'start', 'project_id', 'kind', 'reserved']
  let creation = db.schema
    .createTable('activity_spans')
    .addColumn('author_id', ref, (c) => c.notNull())
    .addColumn('unit', 'text', (c) => c.notNull())
    .addColumn('start', 'text', (c) => c.notNull())
    .addColumn('project_id', ref, (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('reserved', boolean, (c) => c.notNull())
    .addColumn('total', ref, (c) => c.notNull())
  if (isSqlite(db)) creation = creation.addPrimaryKeyConstraint('activity_spans_unique', kind as never[])
  await creation.execute()
  const list = kind.join(', ')
  const units = { day: 'YYYY-MM-DD', month: 'YYYY-MM' }
  const startOf = (row: string, format: string) =>
    isSqlite(db)
      ? `substr(${row}.created_at, 1, ${format.length})`
      : `to_char(${row}.created_at at time zone 'UTC', '${format}')`
  for (const [unit, format] of Object.entries(units)) {
    await run(`insert into activity_spans (${list}, total) select a.author_id, '${unit}', ${startOf('a', format)},
      a.project_id, a.kind, a.reserved, count(*) from activities a group by 1, 2, 3, 4, 5, 6`)
  }
  if (!isSqlite(db)) {
    await run(`create index activity_spans_author on activity_spans (author_id, unit, start)
      include (project_id, kind, reserved, total)`)
  }
  await run('create index activity_spans_project on activity_spans (project_id)')

  const values = (row: string, by: number) =>
    Object.entries(units).map(
      ([unit, format]) => `(${row}.author_id, '${unit}', ${startOf(row, format)},
        ${row}.project_id, ${row}.kind, ${row}.reserved, ${by})`,
    )
  const add = (row: string, by: number) =>
    `insert into activity_spans (${list}, total) values ${values(row, by).join(', ')}`
  const gone = (column: string) => `delete from activity_spans where ${column} = old.id;`
  if (isSqlite(db)) {
    const or = ` on conflict (${list}) do update set total = total + excluded.total;`
    const [more, less] = [add('new', 1) + or, add('old', -1) + or]
    await run(`create trigger activity_spans_i after insert on activities begin ${more} end`)
    await run(`create trigger activity_spans_d after delete on activities begin ${less} end`)
    await run(`create trigger activity_spans_u after update of author_id, created_at, reserved on activities
      begin ${less} ${more} end`)
    await run(`create trigger activity_spans_project after delete on projects begin ${gone('project_id')} end`)
    await run(`create trigger activity_spans_author after delete on users begin ${gone('author_id')} end`)
  } else {
    await run(`create function activity_spans_kept() returns trigger language plpgsql as $$ begin
      if tg_op <> 'INSERT' then ${add('old', -1)}; end if;
      if tg_op <> 'DELETE' then ${add('new', 1)}; end if;
      return null;
    end $$`)
    await run(`create trigger activity_spans_kept after insert or delete or update of author_id, created_at, reserved
      on activities
      for each row execute function activity_spans_kept()`)
    for (const [table, column] of [
      ['projects', 'project_id'],
      ['users', 'author_id'],
    ] as const) {
      await run(`create function activity_spans_${table}() returns trigger language plpgsql as $$ begin
        ${gone(column)} return null;
      end $$`)
      await run(`create trigger activity_spans_${table} after delete on ${table}
        for each row execute function activity_spans_${table}()`)
    }
  }
  // Counting the activities of a user no longer reads their rows.
  await run('drop index activities_author_id_created_at_id')
  await run('create index activities_author_id_created_at_id on activities (author_id, created_at, id)')
  // Reserved activities of snippets, and of confidential issues by their authors: few.
  await run(`create index activities_reserved_snippets on activities (kind, project_id)
    where reserved and kind = 'snippet.commented'`)
  await run('create index issues_confidential_author on issues (author_id) where confidential')
}
