import { sql, type Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'

/**
 * Spans replace the days of projects: a viewer of many projects adds up years and months of each. The rows of a project
 * have author 0.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  const list = 'author_id, unit, start, project_id, kind, reserved'
  const units = { day: 'YYYY-MM-DD', month: 'YYYY-MM', year: 'YYYY' }
  const startOf = (row: string, format: string) =>
    isSqlite(db)
      ? `substr(${row}.created_at, 1, ${format.length})`
      : `to_char(${row}.created_at at time zone 'UTC', '${format}')`
  const fill = (author: string, unit: keyof typeof units) =>
    run(`insert into activity_spans (${list}, total) select ${author}, '${unit}', ${startOf('a', units[unit])},
      a.project_id, a.kind, a.reserved, count(*) from activities a group by 1, 2, 3, 4, 5, 6`)
  await fill('a.author_id', 'year')
  for (const unit of ['day', 'month', 'year'] as const) await fill('0', unit)
  await run('drop index activity_spans_project')
  await run(`create index activity_spans_project on activity_spans
    (project_id, author_id, unit, start, kind, reserved, total)`)

  const values = (row: string, by: number) =>
    [`${row}.author_id`, '0'].flatMap((author) =>
      Object.entries(units).map(
        ([unit, format]) => `(${author}, '${unit}', ${startOf(row, format)},
          ${row}.project_id, ${row}.kind, ${row}.reserved, ${by})`,
      ),
    )
  const add = (row: string, by: number) =>
    `insert into activity_spans (${list}, total) values ${values(row, by).join(', ')}`
  if (isSqlite(db)) {
    for (const event of ['i', 'd', 'u']) {
      await run(`drop trigger activity_spans_${event}`)
      await run(`drop trigger activity_days_${event}`)
    }
    await run('drop trigger activity_days_project')
    const or = ` on conflict (${list}) do update set total = total + excluded.total;`
    const [more, less] = [add('new', 1) + or, add('old', -1) + or]
    await run(`create trigger activity_spans_i after insert on activities begin ${more} end`)
    await run(`create trigger activity_spans_d after delete on activities begin ${less} end`)
    await run(`create trigger activity_spans_u after update of author_id, created_at, reserved on activities
      begin ${less} ${more} end`)
  } else {
    await run('drop trigger activity_days_kept on activities')
    await run('drop trigger activity_days_gone on projects')
    await run('drop function activity_days_kept()')
    await run('drop function activity_days_gone()')
    await run(`create or replace function activity_spans_kept() returns trigger language plpgsql as $$ begin
      if tg_op <> 'INSERT' then ${add('old', -1)}; end if;
      if tg_op <> 'DELETE' then ${add('new', 1)}; end if;
      return null;
    end $$`)
  }
  await run('drop table activity_days')
}
