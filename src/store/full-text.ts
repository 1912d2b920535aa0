/**
 * Full-text search: the only way to find records by words. A word matches as a prefix, a single letter only as a whole
 * word. `"words in quotes"` match as whole words in that order. All words must match. Words are letters and digits,
 * regardless of case. SQLite uses FTS5. PostgreSQL uses a separate table of `tsvector`, which is looked up by its index
 * for a rare word and read in order of ids for a frequent one. Triggers maintain both.
 *
 * A migration creates the index of a table (`createTextIndex`). `findByWords()` searches it for the result of
 * `textQuery()`. Results are sorted by id and limited in number, because a word may be frequent: neither database reads
 * all index entries of a word. For substrings see `dialect.ts`.
 */
import { setImmediate } from 'node:timers/promises'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { StoreUnavailable, type Db, type Tables } from './database.ts'
import { idList, inIdList, isSqlite, isTimeout } from './dialect.ts'
import type { Sort } from './lists.ts'

// oxlint-disable-next-line no-explicit-any -- a migration's database has no type yet
type AnyDb = Kysely<any>

/** Pages merged at a time; other writers run in between. */
const MERGED_AT_A_TIME = 200

/**
 * FTS5 stores entries written at different times in separate segments, and each search reads all of them. It merges
 * four segments of equal size while writing. This merges two, in small steps, until nothing is left to do.
 */
export async function mergeTextIndexes(db: Db): Promise<void> {
  if (!isSqlite(db)) return
  const { rows } = await sql<{ name: string }>`select name from sqlite_master
    where type = 'table' and sql like '%using fts5(%' order by name`.execute(db)
  for (const { name } of rows) {
    const index = sql.ref(name)
    const { rows: known } = await sql`select 1 from ${sql.ref(`${name}_config`)} where k = 'usermerge'`.execute(db)
    if (known.length === 0) await sql`insert into ${index}(${index}, rank) values ('usermerge', 2)`.execute(db)
    while (await didMerge(db, index)) await setImmediate()
  }
}

/** Detected by the number of changes: a merge without work makes exactly one. */
const didMerge = (db: Db, index: RawBuilder<unknown>): Promise<boolean> =>
  db.transaction().execute(async (db) => {
    const changes = async () => (await sql<{ n: number }>`select total_changes() as n`.execute(db)).rows[0]!.n
    const before = await changes()
    await sql`insert into ${index}(${index}, rank) values ('merge', ${sql.lit(MERGED_AT_A_TIME)})`.execute(db)
    return (await changes()) - before >= 2
  })

/**
 * More words, or longer words, would not narrow a search further. A phrase is looked up at every position of its words.
 */
const MOST_WORDS = 16
const LONGEST_WORD = 100
/**
 * First character of the words that encode the scope of a text. For FTS5 it is a letter; for people it is none.
 */
const MARK = '\ue000'
// oxlint-disable-next-line no-control-regex -- control characters separate words too
const BETWEEN_WORDS = /[\0-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f\s\ue000]+/

/**
 * Prefix lengths that FTS5 indexes like words, so that their rows are read in order. For a longer prefix, the matching
 * words are looked up and searched instead. If there are many, FTS5 first merges their rows. Single letters would take
 * up half the index.
 */
const PREFIXES = [2, 3]
const MOST_TERMS = 32

const wordsOf = (table: string) => `${table}_words`

/** The index query for a text that a user typed; null if the text has no word. */
export function textQuery(db: Pick<AnyDb, 'getExecutor'>, text: string): string | null {
  const terms: string[] = []
  let room = MOST_WORDS
  for (const [term, quoted] of text.matchAll(/"([^"]*)"|\S+/g)) {
    const all = (quoted ?? term).split(BETWEEN_WORDS).filter((word) => word !== '')
    const words = all.slice(0, room).map((word) => Array.from(word).slice(0, LONGEST_WORD).join(''))
    const isCut = words.join(' ') !== all.join(' ')
    const isPrefix = isCut || (quoted === undefined && (words.at(-1)?.length ?? 0) >= PREFIXES[0]!)
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

/** The maximum number of results for a frequent word, unless the caller asks for more. */
export const MOST_MATCHES = 1000
/** Rows are checked in batches, so that other queries can run in between. */
const LOOKED_AT = 10_000
/** Extra rows beyond the estimate, to avoid a third batch. */
const LOOKED_BEYOND = 100
/** For words in so few rows, FTS5 does not filter by scope: checking the row itself is faster. */
const RARE = 200
const DEADLINE_MS = 3000
/**
 * The GIN index of PostgreSQL has no order: all rows with a word are read. If a sample shows that many rows match, rows
 * are read in order of ids instead.
 */
const INDEXED = 200_000
const SAMPLES = 10
const ROWS_A_SAMPLE = 100

export interface TextIndex {
  readonly table: keyof Tables
  readonly columns: readonly string[]
  /** The column that the index was created with. */
  readonly within?: string
}

export interface TextQuery {
  /** The result of `textQuery`. */
  readonly words: string
  /** Values of the column `within` to search in; not many. */
  readonly within?: readonly number[] | undefined
  /** Conditions on the row. */
  readonly tests?: readonly RawBuilder<boolean>[]
  readonly sort?: Sort | null | undefined
  readonly most?: number
  readonly deadlineMs?: number
}

/**
 * Ids of the first rows that contain the words and pass the tests, newest first by default. A search that takes too
 * long throws.
 */
export async function findByWords(db: Db, index: TextIndex, input: TextQuery): Promise<number[]> {
  const most = input.most ?? MOST_MATCHES
  const words = isSqlite(db) ? await spelledOut(db, index.table, input.words) : input.words
  if (words === null) return []
  const query = isSqlite(db) && input.within && (await areRare(db, index, words)) ? tested(db, index, input) : input
  return withDeadline(db, input.deadlineMs ?? DEADLINE_MS, async (db, assertTime) => {
    const found: number[] = []
    const walked = !isSqlite(db) && (await isCommon(db, index, { ...input, most }))
    const many = isSqlite(db) || walked ? LOOKED_AT : INDEXED
    // If nearly all checked rows pass, the first batch is enough; if few pass, the next batch is larger.
    let looked = Math.min(Math.ceil(most * 1.1), many)
    for (let from: number | null = null; ;) {
      const { ids, last, rows } = await take(db, index, { ...query, words, from, looked, walked })
      found.push(...ids)
      if (found.length >= most || rows < looked) return found.slice(0, most)
      await assertTime()
      const estimate = ((most - found.length) * rows) / Math.max(ids.length, 1)
      looked = Math.min(many, Math.ceil(estimate) + LOOKED_BEYOND)
      from = last
    }
  })
}

async function areRare(db: Db, index: TextIndex, words: string): Promise<boolean> {
  const fts = sql.raw(`${index.table}_search_words`)
  const { rows } = await sql<{ found: number }>`select count(*) as found from (select 1 from ${fts}
    where ${fts} match ${matchOf(index, words, undefined)} limit ${sql.lit(RARE + 1)})`.execute(db)
  return rows[0]!.found <= RARE
}

/** Filters by scope with a test on the row. */
function tested(db: Db, index: TextIndex, { within, tests = [], ...input }: TextQuery): TextQuery {
  return { ...input, tests: [inIdList(db, `${index.table}.${index.within!}`, idList(db, within!)), ...tests] }
}

interface Tick extends TextQuery {
  /** The last row that was checked. */
  readonly from: number | null
  readonly looked: number
  /** Whether all rows are read in order and tested for the words. */
  readonly walked: boolean
}

/** The next rows to check. */
function rowsOf(db: Db, index: TextIndex, tick: Tick): RawBuilder<{ id: number }> {
  const { words, within, sort, from, looked, walked } = tick
  const [way, isBeyond] = [sql.raw(sort ?? 'desc'), sql.raw(sort === 'asc' ? '>' : '<')]
  const end = sql`${way} limit ${sql.lit(looked)}`
  if (isSqlite(db)) {
    const fts = sql.raw(`${index.table}_search_words`)
    const beyond = from === null ? sql`` : sql`and rowid ${isBeyond} ${from}`
    return sql`select rowid as id from ${fts} where ${fts} match ${matchOf(index, words, within)} ${beyond}
      order by id ${end}`
  }
  const beyond = from === null ? sql`` : sql`and id ${isBeyond} ${from}`
  const rows = sql`from ${sql.table(wordsOf(index.table))} where ${isInScope(index, within)} ${beyond}`
  if (walked) return sql`select id, id as place, words ${rows} order by place ${end}`
  // Sorted by an expression that no index has: otherwise the planner may overestimate a word and scan by id.
  return sql`select id, id + 0 as place ${rows} and ${hasWords(words)} order by place ${end}`
}

const isInScope = ({ within: column }: TextIndex, within: readonly number[] | undefined) =>
  within ? sql<boolean>`${sql.ref(column!)} = any(${`{${within.join()}}`}::bigint[])` : sql<boolean>`true`

const hasWords = (words: string) => sql<boolean>`words @@ to_tsquery('simple', ${words})`

interface Taken {
  readonly ids: number[]
  /** The last checked row, and the number of checked rows. */
  readonly last: number
  readonly rows: number
}

/**
 * One batch is one statement. Ids come as one text, because creating an object for each takes longer than finding it.
 */
async function take(db: Db, index: TextIndex, tick: Tick): Promise<Taken> {
  const { tests = [], sort, walked, words } = tick
  const hasThem = walked ? [hasWords(words)] : []
  const passes = [...hasThem, ...tests]
  const passesAll = passes.length === 0 ? sql`true` : sql`coalesce((${sql.join(passes, sql`) and (`)}), false)`
  const [at, id] = [sql.table(index.table), sql.ref(`${index.table}.id`)]
  // Joined from the words to the rows, in the order of the words.
  const row = isSqlite(db)
    ? sql`left join ${at} on ${id} = found.id`
    : sql`left join lateral (select * from ${at}
        where ${sql.join([...hasThem, sql`${id} = found.id`], sql` and `)} offset 0) as ${at} on true`
  const list = sql.raw(isSqlite(db) ? 'json_group_array' : 'json_agg')
  const last = sql.raw(sort === 'asc' ? 'max' : 'min')
  const { rows } = await sql<{ ids: string | null; last: number; rows: number }>`select
      cast(${list}(found.id) filter (where ${passesAll}) as text) as ids, ${last}(found.id) as last, count(*) as rows
    from (${rowsOf(db, index, tick)}) as found ${tests.length === 0 ? sql`` : row}`.execute(db)
  const [looked] = rows as [(typeof rows)[0]]
  const ids = JSON.parse(looked.ids ?? '[]') as number[]
  const inOrder = ids.sort(sort === 'asc' ? (a, b) => a - b : (a, b) => b - a)
  return { ids: inOrder, last: Number(looked.last), rows: Number(looked.rows) }
}

/** Whether reading rows in order until enough matches are found reads fewer rows than contain the words. */
async function isCommon(
  db: Db,
  index: TextIndex,
  { words, within, most }: TextQuery & { most: number },
): Promise<boolean> {
  const table = sql.table(wordsOf(index.table))
  const { rows } = await sql<{ newest: number; share: number }>`select newest, (
      select coalesce(avg(case when ${hasWords(words)} then 1.0 else 0 end), 0) from (
        select words from generate_series(0, ${sql.lit(SAMPLES - 1)}) as nth cross join lateral (
          select words from ${table} where ${isInScope(index, within)} and id >= newest * nth / ${sql.lit(SAMPLES)}
          order by id limit ${sql.lit(ROWS_A_SAMPLE)}) as sample) as sampled) as share
    from (select max(id) as newest from ${table}) as all_of_them`.execute(db)
  const { newest, share } = rows[0]!
  return share * share * newest > most
}

/** Replaces a long prefix by the words that begin with it, if these are few; null if there is none. */
async function spelledOut(db: Db, table: keyof Tables, words: string): Promise<string | null> {
  let query = ''
  let end = 0
  for (const match of words.matchAll(/"([^"]*)" \*/g)) {
    const spelled = await spell(db, table, match[1]!)
    if (spelled === null) return null
    query += words.slice(end, match.index) + spelled
    end = match.index + match[0].length
  }
  return query + words.slice(end)
}

async function spell(db: Db, table: keyof Tables, phrase: string): Promise<string | null> {
  const [before, last] = [phrase.slice(0, phrase.lastIndexOf(' ') + 1), phrase.slice(phrase.lastIndexOf(' ') + 1)]
  const prefix = last.toLowerCase()
  const asIs = `"${phrase}" *`
  // FTS5 folds other letters in its own way.
  if (prefix.length <= PREFIXES.at(-1)! || !/^[a-z0-9]+$/.test(prefix)) return asIs
  // Looking up the first of them would read past all positions of the word before.
  const fts = sql.raw(`${table}_search_words`)
  const { rows: begun } = await sql`select 1 from ${fts}
    where ${fts} match ${`"${prefix.slice(0, PREFIXES.at(-1))}" *`} limit 1`.execute(db)
  if (begun.length === 0) return null
  const terms = sql.table(`${table}_search_terms`)
  const after = `${prefix}\u{10ffff}`
  // Skips from one word to the next, because each word has a row for every position.
  const { rows } = await sql<{ term: string }>`with recursive words(term) as (
    select (select term from ${terms} where term >= ${prefix} limit 1) union all
    select (select t.term from ${terms} t where t.term >= words.term || char(1) limit 1) from words
      where words.term < ${after} limit ${sql.lit(MOST_TERMS + 1)})
    select term from words where term >= ${prefix} and term < ${after}`.execute(db)
  if (rows.length === 0) return null
  if (rows.length > MOST_TERMS) return asIs
  return `(${rows.map(({ term }) => `"${before}${term}"`).join(' OR ')})`
}

function matchOf({ columns, within: column }: TextIndex, words: string, within: readonly number[] | undefined): string {
  if (!column) return words
  const match = `{${columns.join(' ')}} : (${words})`
  return within ? `${column} : (${within.map((id) => `"${MARK}${id}"`).join(' OR ') || '""'}) AND ${match}` : match
}

/** Throws if the deadline has passed; lets other work run. */
type AssertTime = () => Promise<void>

/**
 * Plans for these exact words, and by indexes: the planner underestimates the cost of reading texts and of scanning
 * tables.
 */
async function withDeadline<T>(
  db: Db,
  deadlineMs: number,
  run: (db: Db, assertTime: AssertTime) => Promise<T>,
): Promise<T> {
  const end = performance.now() + deadlineMs
  const assertTime = async () => {
    await setImmediate()
    if (performance.now() > end) throw new StoreUnavailable(new Error('the search took too long'))
  }
  if (isSqlite(db) || db.isTransaction) return run(db, assertTime)
  const running = db.transaction().execute(async (db) => {
    await sql`select set_config('statement_timeout', ${String(deadlineMs)}, true),
      set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'off', true),
      set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)`.execute(db)
    return run(db, assertTime)
  })
  return running.catch((error: unknown) => {
    throw isTimeout(error) ? new StoreUnavailable(error) : error
  })
}
