/**
 * Full text: the one way to find records by words. A word matches from its beginning, `"words in quotes"` match as they
 * follow each other, each of them whole; all that is asked for must be there. Words are letters and digits, in any
 * case. FTS5 on SQLite, kept by triggers, and an index of `tsvector` on PostgreSQL.
 *
 * A table gets its index in a migration (`createTextIndex`), a list has `words: hasWords(table, columns)` among its
 * conditions, and the value is `textQuery()`. Substrings are another matter (`dialect.ts`).
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Db, Tables } from './database.ts'
import { isSqlite } from './dialect.ts'
import type { Condition } from './lists.ts'

// oxlint-disable-next-line no-explicit-any -- a migration's database has no type yet
type AnyDb = Kysely<any>

/** More words, and more of a word, narrow a search no further. A phrase is looked for at every place of its words. */
const MOST_WORDS = 16
const LONGEST_WORD = 100
/** Characters that PostgreSQL is given: a `tsvector` holds a megabyte at most. */
const LONGEST_INDEXED = 100_000

const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'
// oxlint-disable-next-line no-control-regex -- they part words too
const BETWEEN_WORDS = /[\0-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f\s]+/

export async function createTextIndex(db: AnyDb, table: string, columns: readonly string[]): Promise<void> {
  const t = sql.raw(table)
  const index = sql.raw(`${table}_search_words`)
  if (!isSqlite(db)) {
    await sql`create index ${index} on ${t} using gin ((${vectorOf(columns)})) with (fastupdate = off)`.execute(db)
    return
  }
  const list = sql.raw(columns.join(', '))
  const at = (row: string) => sql.raw(columns.map((column) => `${row}.${column}`).join(', '))
  await sql`create virtual table ${index} using fts5(${list}, content=${t}, content_rowid=id, prefix='2 3',
    tokenize="unicode61 remove_diacritics 0")`.execute(db)
  await sql`insert into ${index}(${index}) values ('rebuild')`.execute(db)
  const remove = sql`insert into ${index}(${index}, rowid, ${list}) values ('delete', old.id, ${at('old')});`
  const add = sql`insert into ${index}(rowid, ${list}) values (new.id, ${at('new')});`
  await sql`create trigger ${sql.raw(`${table}_search_words_i`)} after insert on ${t} begin ${add} end`.execute(db)
  await sql`create trigger ${sql.raw(`${table}_search_words_d`)} after delete on ${t} begin ${remove} end`.execute(db)
  await sql`create trigger ${sql.raw(`${table}_search_words_u`)} after update of ${list} on ${t}
    begin ${remove} ${add} end`.execute(db)
}

/** The engine's own parser would see addresses, hosts and numbers with signs: it is given words only. */
function vectorOf(columns: readonly string[]): RawBuilder<unknown> {
  const text = columns.map((column) => `coalesce(${column}, '')`).join(` || ' ' || `)
  const marks = PUNCTUATION.replaceAll("'", "''")
  const words = `translate(left(${text}, ${LONGEST_INDEXED}), '${marks}', '${' '.repeat(PUNCTUATION.length)}')`
  return sql.raw(`to_tsvector('simple'::regconfig, ${words})`)
}

/** What the index is asked for a text that somebody typed; null where it holds no word. */
export function textQuery(db: Pick<AnyDb, 'getExecutor'>, text: string): string | null {
  const terms: string[] = []
  let room = MOST_WORDS
  for (const [term, quoted] of text.matchAll(/"([^"]*)"|\S+/g)) {
    const all = (quoted ?? term).split(BETWEEN_WORDS).filter((word) => word !== '')
    const words = all.slice(0, room).map((word) => Array.from(word).slice(0, LONGEST_WORD).join(''))
    const isPrefix = quoted === undefined || words.join(' ') !== all.join(' ')
    if (words.length > 0) terms.push(termOf(db, words, isPrefix))
    room -= words.length
    if (room === 0) break
  }
  if (terms.length === 0) return null
  return terms.join(isSqlite(db) ? ' AND ' : ' & ')
}

function termOf(db: Pick<AnyDb, 'getExecutor'>, words: readonly string[], isPrefix: boolean): string {
  if (isSqlite(db)) return `"${words.join(' ')}"${isPrefix ? ' *' : ''}`
  return `(${words.map((word) => `'${word}'`).join(' <-> ')}${isPrefix ? ':*' : ''})`
}

/** As a condition on the row at hand. */
export function matches(db: Db, table: keyof Tables, columns: readonly string[], query: string): RawBuilder<boolean> {
  if (!isSqlite(db)) {
    return sql`${vectorOf(columns.map((column) => `${table}.${column}`))} @@ to_tsquery('simple', ${query})`
  }
  const index = sql.raw(`${table}_search_words`)
  return sql`exists (select 1 from ${index} where ${index} match ${query} and rowid = ${sql.ref(`${table}.id`)})`
}

/** Ids of the rows, as a subquery. */
export function matchingIds(
  db: Db,
  table: keyof Tables,
  columns: readonly string[],
  query: string,
): RawBuilder<number> {
  const index = sql.raw(`${table}_search_words`)
  if (isSqlite(db)) return sql`select rowid from ${index} where ${index} match ${query}`
  return sql`select id from ${sql.table(table)} where ${matches(db, table, columns, query)}`
}

/** The condition on `words`, a query as `textQuery` makes it. */
export const hasWords = (table: keyof Tables, columns: readonly string[]): Condition<{ words?: string }> => ({
  test: ({ words }, { db }) => matches(db, table, columns, words!),
  set: ({ words }, { db }) => matchingIds(db, table, columns, words!),
})
