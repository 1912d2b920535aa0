/** Triggers that count rows and log changes, for the totals of lists (`store/counts.ts` reads them). */
import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from './columns.ts'

/**
 * Inserts, deletes and updates of `columns` count as changes of `subject`. If rows belong to a scope,
 * such as a project, they also count as changes of the subject `<subject>/<scope>`.
 */
export async function countChanges(
  db: Kysely<never>,
  table: string,
  columns: string[],
  subject = table,
  { scope }: { scope?: string } = {},
): Promise<void> {
  await sql`insert into changes (subject, version) values (${sql.lit(subject)}, 0)`.execute(db)
  const bump = isSqlite(db)
    ? `update changes set version = version + 1 where subject = '${subject}';`
    : `insert into changes (subject, version) values ('${subject}', 1);`
  const or = isSqlite(db) ? ' on conflict (subject) do update set version = version + 1;' : ';'
  const scoped = (row: string) =>
    `${bump} insert into changes (subject, version) values ('${subject}/' || coalesce(${row}.${scope}, 0), 1)${or}`
  const ways = scope ? { insert: scoped('new'), remove: scoped('old') } : { insert: bump, remove: bump }
  await onChange(db, { name: `${subject}_changed`, table, columns, each: scope ? 'row' : 'statement', ...ways })
}

interface LogPlan {
  /** The column with the scope of a row. */
  scope: string
  columns: string[]
  /**
   * Tables whose rows belong to a row of this table by a column: their inserts and deletes, and updates of the given
   * columns, are logged too.
   */
  links?: Record<string, { by: string; columns: string[] }>
}

/** Creates `<table>_changes`, a log of the changed rows of `table`. */
export async function logChanges(db: Kysely<never>, table: string, { scope, columns, links = {} }: LogPlan) {
  const { ref } = columnTypes(db)
  const log = `${table}_changes`
  await db.schema
    .createTable(log)
    // On PostgreSQL, the transaction id: ids are assigned in one order and become visible in another.
    .addColumn('at', ref, (c) => (isSqlite(db) ? c.primaryKey().autoIncrement() : c.defaultTo(sql`txid_current()`)))
    .addColumn('scope', ref, (c) => c.notNull())
    .addColumn('row_id', ref, (c) => c.notNull())
    .execute()
  await db.schema.createIndex(`${log}_scope`).on(log).columns(['scope', 'at']).execute()
  if (!isSqlite(db)) await db.schema.createIndex(`${log}_at`).on(log).column('at').execute()
  const add = (row: string) => `insert into ${log} (scope, row_id) values (${row}.${scope}, ${row}.id);`
  await onChange(db, {
    name: log,
    table,
    columns: [scope, ...columns],
    insert: add('new'),
    remove: add('old'),
    // One row, or two if the row moved to another scope.
    update: `insert into ${log} (scope, row_id) select old.${scope}, old.id union select new.${scope}, new.id;`,
    each: 'row',
  })
  for (const [link, plan] of Object.entries(links)) await logLinkChanges(db, table, { link, scope, ...plan })
}

/** Adds one more linked table to an existing log. */
export async function logLinkChanges(
  db: Kysely<never>,
  table: string,
  { link, scope, by, columns }: { link: string; scope: string; by: string; columns: string[] },
): Promise<void> {
  const log = `${table}_changes`
  const add = (row: string) =>
    `insert into ${log} (scope, row_id) select ${scope}, id from ${table} where id = ${row}.${by};`
  await onChange(db, {
    name: `${log}_${link}`,
    table: link,
    columns,
    insert: add('new'),
    remove: add('old'),
    each: 'row',
  })
}

/**
 * Creates `<table>_facets`, with the number of rows for each combination of `columns`, or with the sum
 * of another column.
 */
export async function countFacets(
  db: Kysely<never>,
  table: string,
  columns: Record<string, 'text' | 'boolean' | 'integer'>,
  summed?: string,
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
  const add = (row: string, sign: '' | '-') => {
    const total = sign + (summed === undefined ? '1' : `${row}.${summed}`)
    return `insert into ${facets} (${list}, total) values (${names.map((name) => `${row}.${name}`).join(', ')}, ${total})`
  }
  const or = isSqlite(db) ? ` on conflict (${list}) do update set total = total + excluded.total;` : ';'
  await onChange(db, {
    name: `${facets}_kept`,
    table,
    columns: summed === undefined ? names : [...names, summed],
    insert: add('new', '') + or,
    remove: add('old', '-') + or,
    each: 'row',
  })
  await sql`insert into ${sql.raw(facets)} (${sql.raw(list)}, total)
    select ${sql.raw(list)}, ${sql.raw(summed === undefined ? 'count(*)' : `sum(${summed})`)} from ${sql.raw(table)} group by ${sql.raw(list)}`.execute(
    db,
  )
}

/** Before facets with other columns replace them. */
export async function dropFacets(db: Kysely<never>, table: string): Promise<void> {
  await dropReaction(db, `${table}_facets_kept`, table)
  await sql`drop table ${sql.table(`${table}_facets`)}`.execute(db)
}

/** Before other columns are counted. */
export async function dropChanges(db: Kysely<never>, table: string, subject = table): Promise<void> {
  await dropReaction(db, `${subject}_changed`, table)
  await sql`delete from changes where subject = ${sql.lit(subject)}`.execute(db)
}

interface Reaction {
  name: string
  table: string
  /** An update of these counts as a delete and an insert, unless `update` is given. */
  columns: string[]
  insert: string
  remove: string
  update?: string
  each: 'row' | 'statement'
}

async function onChange(db: Kysely<never>, reaction: Reaction): Promise<void> {
  const { name, table, columns, insert, remove, each } = reaction
  const run = (text: string) => sql.raw(text).execute(db)
  const update = reaction.update ?? (insert === remove ? insert : `${remove} ${insert}`)
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
