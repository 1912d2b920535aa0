/**
 * Totals of lists that do not grow with the table, in two ways.
 *
 * Facets: a table keeps beside itself how many rows it has of each combination of a few short-valued columns; a list
 * that filters by those alone adds up a handful of rows.
 *
 * Kept totals: whatever else a list filters by is counted once. A counted table bumps its version in the transaction of
 * every change that can alter a count, and a total stays true while the versions it depends on stand.
 *
 * On SQLite, where writers take turns, both are numbers that go up and down. On PostgreSQL every change adds a row of
 * its own, so that writers never wait for each other's counts, nor in a circle; whoever reads adds them up, and puts
 * them together once there are many.
 */
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely'
import type { Db } from './database.ts'
import { columnTypes, inTextList, isSqlite, textList } from './dialect.ts'
import { hotQuery } from './hot.ts'

declare module './database.ts' {
  interface Tables {
    changes: { subject: string; version: number }
  }
}

const TOTALS_KEPT = 10_000
const LONGEST_KEPT = 2000
/** Rows of single changes that reading adds up without noticing. */
const MOST_LOOSE = 2000

/** For migrations: makes inserts, deletes and updates of `columns` count as changes of `subject`. */
export async function countChanges(
  db: Kysely<never>,
  table: string,
  columns: string[],
  subject = table,
): Promise<void> {
  await sql`insert into changes (subject, version) values (${sql.lit(subject)}, 0)`.execute(db)
  const bump = isSqlite(db)
    ? `update changes set version = version + 1 where subject = '${subject}';`
    : `insert into changes (subject, version) values ('${subject}', 1);`
  await onChange(db, { name: `${subject}_changed`, table, columns, insert: bump, remove: bump, each: 'statement' })
}

/** For migrations: keeps `<table>_facets`, the number of rows of each combination of `columns`. */
export async function countFacets(
  db: Kysely<never>,
  table: string,
  columns: Record<string, 'text' | 'boolean' | 'integer'>,
): Promise<void> {
  const names = Object.keys(columns)
  const facets = `${table}_facets`
  const { ref } = columnTypes(db)
  let creation = db.schema.createTable(facets).addColumn('total', ref, (c) => c.notNull())
  for (const [name, type] of Object.entries(columns))
    creation = creation.addColumn(name, sql.raw(type), (c) => c.notNull())
  if (isSqlite(db)) creation = creation.addPrimaryKeyConstraint(`${facets}_unique`, names as never[])
  await creation.execute()

  const list = names.join(', ')
  const add = (row: string, by: number) =>
    `insert into ${facets} (${list}, total) values (${names.map((name) => `${row}.${name}`).join(', ')}, ${by})`
  const or = isSqlite(db) ? ` on conflict (${list}) do update set total = total + excluded.total;` : ';'
  await onChange(db, {
    name: `${facets}_kept`,
    table,
    columns: names,
    insert: add('new', 1) + or,
    remove: add('old', -1) + or,
    each: 'row',
  })
  await sql`insert into ${sql.raw(facets)} (${sql.raw(list)}, total)
    select ${sql.raw(list)}, count(*) from ${sql.raw(table)} group by ${sql.raw(list)}`.execute(db)
}

/** For migrations: before facets of other columns take their place. */
export async function dropFacets(db: Kysely<never>, table: string): Promise<void> {
  await dropReaction(db, `${table}_facets_kept`, table)
  await sql`drop table ${sql.table(`${table}_facets`)}`.execute(db)
}

/** For migrations: before other columns count. */
export async function dropChanges(db: Kysely<never>, table: string, subject = table): Promise<void> {
  await dropReaction(db, `${subject}_changed`, table)
  await sql`delete from changes where subject = ${sql.lit(subject)}`.execute(db)
}

interface Reaction {
  name: string
  table: string
  /** An update of these counts as a removal and an insertion. */
  columns: string[]
  insert: string
  remove: string
  each: 'row' | 'statement'
}

async function onChange(db: Kysely<never>, { name, table, columns, insert, remove, each }: Reaction): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  const update = insert === remove ? insert : `${remove} ${insert}`
  const list = columns.join(', ')
  if (isSqlite(db)) {
    await run(`create trigger ${name}_i after insert on ${table} begin ${insert} end`)
    await run(`create trigger ${name}_d after delete on ${table} begin ${remove} end`)
    await run(`create trigger ${name}_u after update of ${list} on ${table} begin ${update} end`)
    return
  }
  await run(`create function ${name}() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then ${insert} elsif tg_op = 'DELETE' then ${remove} else ${update} end if;
    return null;
  end $$`)
  await run(`create trigger ${name} after insert or delete or update of ${list} on ${table}
    for each ${each} execute function ${name}()`)
}

async function dropReaction(db: Kysely<never>, name: string, table: string): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  if (isSqlite(db)) for (const event of ['i', 'd', 'u']) await run(`drop trigger ${name}_${event}`)
  else {
    await run(`drop trigger ${name} on ${table}`)
    await run(`drop function ${name}()`)
  }
}

/** Versions only grow, so their sum is another whenever one of them is. */
const readVersion = hotQuery((db, p: { subjects: string }) =>
  db
    .selectFrom('changes')
    .select(
      sql<number>`cast(sum(case when ${inTextList(db, 'subject', p.subjects)} then version else 0 end) as bigint)`.as(
        'version',
      ),
    )
    .select((eb) => eb.fn.countAll<number>().as('rows')),
)
const totals = new WeakMap<object, Map<string, { version: number; total: number }>>()

/** The total known under `key`, counted anew only if one of the `subjects` changed since. */
export async function keptTotal(
  db: Db,
  subjects: readonly string[],
  key: string,
  count: () => Promise<number>,
): Promise<number> {
  // A version of its own may never come to be, and then be given to another state.
  if (db.isTransaction) return count()
  const { adapter } = db.getExecutor()
  const kept = totals.get(adapter) ?? new Map<string, { version: number; total: number }>()
  if (kept.size === 0) totals.set(adapter, kept)

  const [changes] = await readVersion(db, { subjects: textList(db, subjects) })
  const { version, rows } = changes!
  if (Number(rows) > MOST_LOOSE) void putTogether(db)
  const known = kept.get(key)
  if (known?.version === version) return known.total

  const total = await count()
  if (key.length > LONGEST_KEPT) return total
  if (kept.size >= TOTALS_KEPT) kept.clear()
  kept.set(key, { version, total })
  return total
}

const atWork = new WeakSet<object>()

/** One row a subject and a facet again. What is added meanwhile stays as it is; one who tidies at a time is enough. */
async function putTogether(db: Db): Promise<void> {
  const { adapter } = db.getExecutor()
  if (atWork.has(adapter)) return
  atWork.add(adapter)
  try {
    const { rows } = await sql<{ table: string; kinds: string }>`
      select table_name as "table", string_agg(quote_ident(column_name), ', ') as kinds
      from information_schema.columns
      where table_schema = current_schema() and column_name <> 'total' and table_name like '%\_facets'
      group by table_name`.execute(db)
    const all = [
      ...rows.map((row) => ({ ...row, count: 'total' })),
      { table: 'changes', kinds: 'subject', count: 'version' },
    ]
    for (const { table, kinds, count } of all) {
      await sql
        .raw(
          `with loose as (delete from ${table} returning *)
          insert into ${table} (${kinds}, ${count}) select ${kinds}, sum(${count}) from loose group by ${kinds}`,
        )
        .execute(db)
    }
  } catch {
    // The next reader tries again.
  } finally {
    atWork.delete(adapter)
  }
}

/** How many rows `query` has. Conditions on the current moment have no place in it: the total would never age. */
export async function totalOf<DB, TB extends keyof DB, O>(
  db: Db,
  subjects: readonly string[],
  query: SelectQueryBuilder<DB, TB, O>,
): Promise<number> {
  const counting = query
    .clearSelect()
    .clearOrderBy()
    .select((eb) => eb.fn.countAll<number>().as('total'))
  const { sql: text, parameters } = counting.compile()
  return keptTotal(db, subjects, `${text}\n${JSON.stringify(parameters)}`, async () => {
    const { total } = (await counting.executeTakeFirstOrThrow()) as { total: number }
    return Number(total)
  })
}
