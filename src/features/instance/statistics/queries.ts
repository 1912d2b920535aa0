import { setImmediate as immediate } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import type { Db, Tables } from '../../../store/database.ts'
import { isSqlite } from '../../../store/dialect.ts'

/** Sums are computed in batches, so that other queries can run in between. */
const BATCH = 20_000

/** The sums of the terms over all rows of a table. */
async function sumsOver<N extends string>(
  db: Db,
  table: keyof Tables,
  terms: Readonly<Record<N, RawBuilder<unknown>>>,
): Promise<Record<N, number>> {
  const named = Object.entries(terms) as [N, RawBuilder<unknown>][]
  const each = sql.join(named.map(([name, term]) => sql`${term} as ${sql.ref(name)}`))
  const all = sql.join(named.map(([name]) => sql`coalesce(sum(${sql.ref(name)}), 0) as ${sql.ref(name)}`))
  const sums = Object.fromEntries(named.map(([name]) => [name, 0])) as Record<N, number>
  for (let after = 0; ;) {
    const { rows } = await sql<Record<N | 'last' | 'seen', unknown>>`
      select ${all}, max(id) as last, count(*) as seen from (
        select id, ${each} from ${sql.table(table)} where id > ${after} order by id limit ${sql.lit(BATCH)}) as turn`.execute(
      db,
    )
    const [batch] = rows
    for (const [name] of named) sums[name] += Number(batch![name])
    if (Number(batch!.seen) < BATCH) return sums
    after = Number(batch!.last)
    await immediate()
  }
}

const ALL = sql`1`
const where = (condition: RawBuilder<unknown>) => sql`case when ${condition} then 1 else 0 end`

export interface Statistics {
  readonly forks: number
  readonly issues: number
  readonly merge_requests: number
  readonly notes: number
  readonly snippets: number
  readonly ssh_keys: number
  readonly milestones: number
  readonly users: number
  readonly groups: number
  readonly projects: number
  readonly active_users: number
}

/** Counts the records of every kind. */
export async function countEverything(db: Db): Promise<Statistics> {
  return {
    ...(await sumsOver(db, 'projects', {
      forks: where(sql`forked_from_id is not null and not deleting`),
      projects: where(sql`not deleting`),
    })),
    ...(await sumsOver(db, 'issues', { issues: ALL })),
    ...(await sumsOver(db, 'merge_requests', { merge_requests: ALL })),
    ...(await sumsOver(db, 'notes', { notes: where(sql`not system`) })),
    ...(await sumsOver(db, 'snippets', { snippets: ALL })),
    ...(await sumsOver(db, 'keys', { ssh_keys: ALL })),
    ...(await sumsOver(db, 'milestones', { milestones: ALL })),
    ...(await sumsOver(db, 'users', {
      users: where(sql`not ghost`),
      active_users: where(sql`state = 'active' and not ghost`),
    })),
    ...(await sumsOver(db, 'namespaces', { groups: where(sql`kind = 'group' and not deleting`) })),
  }
}

export interface Sizes {
  readonly repository_size: number
  readonly lfs_objects_size: number
  readonly job_artifacts_size: number
  readonly database_size: number
}

/** The storage of projects as last measured, and of the database, in bytes. */
export async function measureEverything(db: Db): Promise<Sizes> {
  const size = isSqlite(db)
    ? sql`(select page_count * page_size from pragma_page_count(), pragma_page_size())`
    : sql`pg_database_size(current_database())`
  const { rows } = await sql<{ size: unknown }>`select ${size} as size`.execute(db)
  const sizes = await sumsOver(db, 'projects', {
    repository_size: sql`repository_size`,
    lfs_objects_size: sql`lfs_objects_size`,
    job_artifacts_size: sql`(select coalesce(sum(f.total), 0) from ci_artifacts_facets f where f.project_id = projects.id)`,
  })
  return { ...sizes, database_size: Number(rows[0]!.size) }
}
