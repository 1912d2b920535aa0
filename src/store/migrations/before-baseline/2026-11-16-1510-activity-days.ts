import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../helpers/columns.ts'

/**
 * The number of activities per project, kind and day, for lists between two days. Maintained by triggers; on PostgreSQL
 * every change inserts its own row, and a job merges them.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref, boolean, date } = columnTypes(db)
  const kind = ['project_id', 'day', 'kind', 'reserved']
  let creation = db.schema
    .createTable('activity_days')
    .addColumn('project_id', ref, (c) => c.notNull())
    .addColumn('day', date, (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('reserved', boolean, (c) => c.notNull())
    .addColumn('total', ref, (c) => c.notNull())
  if (isSqlite(db)) creation = creation.addPrimaryKeyConstraint('activity_days_unique', kind as never[])
  await creation.execute()
  if (!isSqlite(db)) {
    await sql`create index activity_days_project on activity_days (project_id, day)
      include (kind, reserved, total)`.execute(db)
  }
  const dayOf = (row: string) =>
    isSqlite(db) ? `substr(${row}.created_at, 1, 10)` : `cast(${row}.created_at at time zone 'UTC' as date)`
  await sql`insert into activity_days (project_id, day, kind, reserved, total)
    select a.project_id, ${sql.raw(dayOf('a'))}, a.kind, a.reserved, count(*) from activities a
    group by 1, 2, 3, 4`.execute(db)

  const run = (text: string) => sql.raw(text).execute(db)
  // With all columns that counting the activities of a user needs.
  await run('drop index activities_author_id_created_at_id')
  await run(`create index activities_author_id_created_at_id
    on activities (author_id, created_at, id, project_id, kind, reserved)`)
  const add = (row: string, by: number) => `insert into activity_days (project_id, day, kind, reserved, total)
    values (${row}.project_id, ${dayOf(row)}, ${row}.kind, ${row}.reserved, ${by})`
  if (isSqlite(db)) {
    const or = ' on conflict (project_id, day, kind, reserved) do update set total = total + excluded.total;'
    const [more, less] = [add('new', 1) + or, add('old', -1) + or]
    await run(`create trigger activity_days_i after insert on activities begin ${more} end`)
    await run(`create trigger activity_days_d after delete on activities begin ${less} end`)
    await run(`create trigger activity_days_u after update of reserved on activities begin ${less} ${more} end`)
    await run(`create trigger activity_days_project after delete on projects
      begin delete from activity_days where project_id = old.id; end`)
    return
  }
  await run(`create function activity_days_kept() returns trigger language plpgsql as $$ begin
    if tg_op <> 'INSERT' then ${add('old', -1)}; end if;
    if tg_op <> 'DELETE' then ${add('new', 1)}; end if;
    return null;
  end $$`)
  await run(`create trigger activity_days_kept after insert or delete or update of reserved on activities
    for each row execute function activity_days_kept()`)
  await run(`create function activity_days_gone() returns trigger language plpgsql as $$ begin
    delete from activity_days where project_id = old.id;
    return null;
  end $$`)
  await run(`create trigger activity_days_gone after delete on projects
    for each row execute function activity_days_gone()`)
}
