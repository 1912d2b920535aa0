/**
 * Totals of lists whose cost does not grow with the table. There are three ways.
 *
 * Facets: a second table contains the number of rows for each combination of a few columns with few values. A list that
 * filters only by these columns adds up a handful of rows.
 *
 * Cached totals: any other filter is counted once. A counted table increments its version in the transaction of every
 * change that can alter a count. A total stays valid while the versions it depends on are unchanged.
 *
 * Followed totals: a table that is long and changes all the time also has a log of changed rows (`<table>_changes`). A
 * total that is needed again remembers the ids it counted, and checks only the rows that changed since. Checking a row
 * twice does no harm.
 *
 * On SQLite, where one writer runs at a time, counts and versions are single numbers. On PostgreSQL every change
 * inserts its own row, so that writers never wait for each other's counts and cannot deadlock. Readers add the rows up,
 * and merge them once there are many.
 */
import { sql, type SelectQueryBuilder } from 'kysely'
import { IdSet } from './id-set.ts'
import { Lru } from '../lib/async/lru.ts'
import type { Db } from './database.ts'
import { inTextList, isSqlite, textList } from './dialect.ts'
import { hotQuery } from './hot.ts'

declare module './database.ts' {
  interface Tables {
    changes: { subject: string; version: number }
  }
}

const LONGEST_KEPT = 2000
/** The number of unmerged rows that a read can add up without noticeable cost. */
const MOST_LOOSE = 2000

/** Rows without a scope have scope 0. */
export const scopedSubject = (subject: string, scope: number): string => `${subject}/${scope}`

/** Versions only grow, so their sum changes whenever one of them does. */
const readVersion = hotQuery((db, p: { subjects: string }) =>
  db
    .selectFrom('changes')
    .select([
      sql<number>`cast(coalesce(sum(version), 0) as bigint)`.as('version'),
      sql<number>`count(*)`.as('version_rows'),
    ])
    .where(inTextList(db, 'subject', p.subjects)),
)

/** The combined version of some subjects, and the number of rows it was read from. */
export interface Version {
  readonly version: number
  readonly version_rows: number
}

/** The version of fixed subjects, as columns of another query. */
export function versionColumns(subjects: readonly string[]) {
  // PostgreSQL does not accept an empty list.
  const named = subjects.length === 0 ? sql`null` : sql.join(subjects.map((one) => sql.lit(one)))
  const matching = sql`changes where subject in (${named})`
  return [
    sql<number>`(select cast(coalesce(sum(version), 0) as bigint) from ${matching})`.as('version'),
    sql<number>`(select count(*) from ${matching})`.as('version_rows'),
  ] as const
}

async function versionOf(db: Db, subjects: readonly string[] | Version): Promise<number> {
  if ('version' in subjects) return noted(db, subjects)
  if (subjects.length === 0) return 0
  const [found] = await readVersion(db, { subjects: textList(db, subjects) })
  return noted(db, found!)
}

function noted(db: Db, { version, version_rows }: Version): number {
  noticeLoose(db, 'changes', Number(version_rows))
  return Number(version)
}

/** If more rows changed, they are not checked one by one. */
const MOST_CHANGES = 1000
/** Length of the log: changes on SQLite, transactions on PostgreSQL. */
const LOG_KEPT = 50_000
const NEVER = Number.MAX_SAFE_INTEGER

export interface RowUpdates {
  /** Changes from this position on are new at the next read. */
  readonly horizon: number
  /** The changed rows; null if there are too many, or the log no longer has them. */
  readonly changed: number[] | null
}

export type ChangeLog = (db: Db, since: number | undefined, scope: number | undefined) => Promise<RowUpdates>

/** Reads the changes of a table, of all rows or of one scope. */
export function changeLog(table: string): ChangeLog {
  const log = sql.table(`${table}_changes`)
  const read = hotQuery((db, p: { since: number; scope?: number }, given) => {
    const horizon = isSqlite(db)
      ? sql`coalesce((select max(at) from ${log}), 0) + 1`
      : sql`txid_snapshot_xmin(txid_current_snapshot())`
    const ofScope = given('scope') ? sql`and scope = ${p.scope}` : sql``
    return db
      .selectFrom(
        sql<{ row_id: number; oldest: number; horizon: number }>`(
          select 0 as row_id, coalesce((select min(at) from ${log}), 0) as oldest, ${horizon} as horizon
          union all select * from (select row_id, 0, 0 from ${log} where at >= ${p.since} ${ofScope}
            limit ${sql.lit(MOST_CHANGES + 1)}) as found)`.as('log'),
      )
      .select(['row_id', 'oldest', 'horizon'])
  })
  return async (db, since = NEVER, scope) => {
    const rows = await read(db, { since, ...(scope !== undefined && { scope }) })
    const { oldest, horizon } = rows.find(({ row_id }) => row_id === 0)!
    if (horizon - oldest > 2 * LOG_KEPT) void trimLog(db, table, horizon - LOG_KEPT)
    if (since < oldest || rows.length > MOST_CHANGES) return { horizon, changed: null }
    return { horizon, changed: [...new Set(rows.flatMap(({ row_id }) => (row_id === 0 ? [] : [row_id])))] }
  }
}

/** How a total follows the changes of its table. */
export interface Follow {
  readonly log: ChangeLog
  readonly scope: number | undefined
  /** Ids of the counted rows: all of them, or only the ones among the given ids. */
  ids(among?: readonly number[]): Promise<number[]>
}

interface Known {
  readonly version: number
  total: number
  horizon: number
  /** Set when the total was needed again after a change. */
  counted?: IdSet
}

const ENTRY_BYTES = 200
/** More ids would use too much memory. */
const MOST_FOLLOWED = 500_000

const totals = new WeakMap<object, Lru<Known>>()

function keptIn(db: Db): Lru<Known> {
  const { adapter } = db.getExecutor()
  const kept =
    totals.get(adapter) ??
    new Lru<Known>('totals', ({ counted }, key) => ENTRY_BYTES + 2 * key.length + (counted?.bytes ?? 0))
  totals.set(adapter, kept)
  return kept
}

/** For a store that closes. */
export const forgetTotals = (db: Db): void => totals.get(db.getExecutor().adapter)?.clear()

/**
 * The total cached under `key`. It is recounted only if one of the `subjects` changed; the caller may already know
 * their version. For a followed table, the changed rows are checked one by one.
 */
export async function cachedTotal(
  db: Db,
  subjects: readonly string[] | Version,
  key: string,
  count: () => Promise<number>,
  follow?: Follow,
): Promise<number> {
  // A version inside a transaction may be rolled back and later name another state.
  if (db.isTransaction) return count()
  const kept = keptIn(db)
  const known = kept.get(key)
  const [version, { horizon, changed }] = await Promise.all([
    versionOf(db, subjects),
    follow ? follow.log(db, known?.horizon, follow.scope) : NO_UPDATES,
  ])
  const isKnown = known?.version === version
  if (isKnown && changed?.length === 0) {
    known.horizon = horizon
    return known.total
  }
  if (isKnown && changed && known.counted) {
    const now = new Set(await follow!.ids(changed))
    for (const id of changed) known.counted.put(id, now.has(id))
    // Another call may have done the same concurrently: changes after our position are checked again.
    known.horizon = horizon
    return (known.total = known.counted.size)
  }
  const isFollowed = isKnown && follow !== undefined && known.total <= MOST_FOLLOWED
  const counted = isFollowed ? new IdSet(await follow.ids()) : undefined
  const total = counted ? counted.size : await count()
  if (key.length <= LONGEST_KEPT) kept.set(key, { version, total, horizon, ...(counted && { counted }) })
  return total
}

const NO_UPDATES: RowUpdates = { horizon: 0, changed: [] }

/** The newest entry stays: readers compare with the oldest remaining entry to detect what they missed. */
const trimLog = (db: Db, table: string, before: number): Promise<void> =>
  tidying(db, () => {
    const log = sql.table(`${table}_changes`)
    return sql`delete from ${log} where at < ${before} and at < (select max(at) from ${log})`.execute(db)
  })

/** The number of rows of a table after its last merge. */
const settled = new WeakMap<object, Map<string, number>>()

/** Called by a reader with the number of rows it read. SQLite has no unmerged rows. */
export function noticeLoose(db: Db, table: string, rows: number): void {
  if (isSqlite(db)) return
  if (rows > MOST_LOOSE + (settled.get(db.getExecutor().adapter)?.get(table) ?? 0)) void putTogether(db)
}

const atWork = new WeakSet<object>()

/** Runs one cleanup at a time. */
async function tidying(db: Db, work: () => Promise<unknown>): Promise<void> {
  const { adapter } = db.getExecutor()
  if (atWork.has(adapter)) return
  atWork.add(adapter)
  try {
    await work()
  } catch {
    // The next reader tries again.
  } finally {
    atWork.delete(adapter)
  }
}

/**
 * Merges the rows of each subject and each facet into one. Rows that are added or merged concurrently stay unchanged.
 */
export const putTogether = (db: Db): Promise<void> =>
  tidying(db, async () => {
    const { rows } = await sql<{ table: string; kinds: string }>`
      select table_name as "table", string_agg(quote_ident(column_name), ', ') as kinds
      from information_schema.columns
      where table_schema = current_schema() and column_name <> 'total' and table_name like '%\_facets'
      group by table_name`.execute(db)
    const all = [
      ...rows.map((row) => ({ ...row, count: 'total' })),
      { table: 'changes', kinds: 'subject', count: 'version' },
    ]
    const left = new Map<string, number>()
    settled.set(db.getExecutor().adapter, left)
    for (const { table, kinds, count } of all) {
      const { numAffectedRows = 0n } = await sql
        .raw(
          `with loose as (delete from ${table}
            where ctid = any (array(select ctid from ${table} for update skip locked)) returning *)
          insert into ${table} (${kinds}, ${count}) select ${kinds}, sum(${count}) from loose group by ${kinds}`,
        )
        .execute(db)
      left.set(table, Number(numAffectedRows))
    }
  })

/** The number of rows of `query`. It must not depend on the current time, because a cached total would never expire. */
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
  return cachedTotal(db, subjects, `${text}\n${JSON.stringify(parameters)}`, async () => {
    const { total } = (await counting.executeTakeFirstOrThrow()) as { total: number }
    return Number(total)
  })
}
