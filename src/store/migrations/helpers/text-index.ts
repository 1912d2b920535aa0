/** Full-text indexes; `store/full-text.ts` searches them. */
import { sql } from 'kysely'
import { isSqlite, type AnyDb } from './columns.ts'

/** Length limit for PostgreSQL: a `tsvector` can have at most one megabyte. */
const LONGEST_INDEXED = 100_000

const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'
/**
 * First character of the words that encode the scope of a text. For FTS5 it is a letter; for people it is none.
 */
const PLACE = '\ue000'
/**
 * Prefix lengths that FTS5 indexes like words, so that their rows are read in order. For a longer prefix, the matching
 * words are looked up and searched instead. If there are many, FTS5 first merges their rows. Single letters would take
 * up half the index.
 */
const PREFIXES = [2, 3]

/** `within` is an id column; a search can be limited to some of its values by the index. */
export async function createTextIndex(
  db: AnyDb,
  table: string,
  columns: readonly string[],
  within?: string,
): Promise<void> {
  if (!isSqlite(db)) return createWords(db, table, columns, within)
  const t = sql.raw(table)
  const index = sql.raw(`${table}_search_words`)
  const list = sql.raw([...(within ? [within] : []), ...columns].join(', '))
  const place = (row: string) => (within ? [`'${PLACE}' || ${row}.${within} as ${within}`] : [])
  const of = (row: string) => sql.raw([...place(row), ...columns.map((column) => `${row}.${column}`)].join(', '))
  const content = sql.raw(within ? `${table}_search_texts` : table)
  if (within) await sql`create view ${content} as select ${t}.id, ${of(table)} from ${t}`.execute(db)
  await sql`create virtual table ${index} using fts5(${list}, content=${content}, content_rowid=id,
    prefix=${sql.lit(PREFIXES.join(' '))},
    tokenize="unicode61 remove_diacritics 0")`.execute(db)
  await sql`create virtual table ${sql.raw(`${table}_search_terms`)} using fts5vocab(${index}, instance)`.execute(db)
  await sql`insert into ${index}(${index}) values ('rebuild')`.execute(db)
  const remove = sql`insert into ${index}(${index}, rowid, ${list}) select 'delete', old.id, ${of('old')};`
  const add = sql`insert into ${index}(rowid, ${list}) select new.id, ${of('new')};`
  await sql`create trigger ${sql.raw(`${table}_search_words_i`)} after insert on ${t} begin ${add} end`.execute(db)
  await sql`create trigger ${sql.raw(`${table}_search_words_d`)} after delete on ${t} begin ${remove} end`.execute(db)
  await sql`create trigger ${sql.raw(`${table}_search_words_u`)} after update of ${list} on ${t}
    begin ${remove} ${add} end`.execute(db)
}

async function createWords(db: AnyDb, table: string, columns: readonly string[], within?: string): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  const words = wordsOf(table)
  const place = within ? [within] : []
  await run(
    `create table ${words} (id bigint primary key, ${within ? `${within} bigint, ` : ''}words tsvector not null)`,
  )
  const list = ['id', ...place, 'words'].join(', ')
  const of = (row: string) => [...['id', ...place].map((name) => `${row}.${name}`), vectorOf(row, columns)].join(', ')
  await run(`insert into ${words} (${list}) select ${of(table)} from ${table}`)
  await run(`create index ${words}_words on ${words} using gin (words) with (fastupdate = off)`)
  if (within) await run(`create index ${words}_${within} on ${words} (${within}, id)`)
  await run(`create function ${words}() returns trigger language plpgsql as $$ begin
    if tg_op <> 'INSERT' then delete from ${words} where id = old.id; end if;
    if tg_op <> 'DELETE' then insert into ${words} (${list}) values (${of('new')}); end if;
    return null;
  end $$`)
  await run(`create trigger ${words} after insert or delete or update of ${[...place, ...columns].join(', ')} on ${table}
    for each row execute function ${words}()`)
}

const wordsOf = (table: string) => `${table}_words`

/** Before another index replaces it. */
export async function dropTextIndex(db: AnyDb, table: string): Promise<void> {
  if (!isSqlite(db)) {
    await sql`drop function if exists ${sql.ref(wordsOf(table))} cascade`.execute(db)
    await sql`drop table if exists ${sql.ref(wordsOf(table))}`.execute(db)
    return
  }
  const index = `${table}_search_words`
  for (const event of ['i', 'd', 'u']) await sql`drop trigger ${sql.ref(`${index}_${event}`)}`.execute(db)
  await sql`drop table if exists ${sql.ref(`${table}_search_terms`)}`.execute(db)
  await sql`drop table ${sql.ref(index)}`.execute(db)
  await sql`drop view if exists ${sql.ref(`${table}_search_texts`)}`.execute(db)
}

/** The parser of PostgreSQL would recognise addresses, hosts and signed numbers, so it gets plain words only. */
function vectorOf(row: string, columns: readonly string[]): string {
  const text = columns.map((column) => `coalesce(${row}.${column}, '')`).join(` || ' ' || `)
  const marks = PUNCTUATION.replaceAll("'", "''")
  const words = `translate(left(${text}, ${LONGEST_INDEXED}), '${marks}', '${' '.repeat(PUNCTUATION.length)}')`
  return `to_tsvector('simple'::regconfig, ${words})`
}
