import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../../store/database.ts'

const COUNTED = {
  forks: sql`projects where forked_from_id is not null and not deleting`,
  issues: sql`issues`,
  /** There are none yet. */
  merge_requests: null,
  notes: sql`notes where not system`,
  snippets: sql`snippets`,
  ssh_keys: sql`keys`,
  milestones: sql`milestones`,
  users: sql`users where not ghost`,
  groups: sql`namespaces where kind = 'group' and not deleting`,
  projects: sql`projects where not deleting`,
  active_users: sql`users where state = 'active' and not ghost`,
}

export type Statistics = Record<keyof typeof COUNTED, number>

/** How much there is of everything, in one query. */
export async function countEverything(db: Db): Promise<Statistics> {
  const counts = Object.entries(COUNTED).map(([name, rows]: [string, RawBuilder<unknown> | null]) => {
    const total = rows ? sql`(select count(*) from ${rows})` : sql`0`
    return sql`${total} as ${sql.ref(name)}`
  })
  const { rows } = await sql<Record<string, unknown>>`select ${sql.join(counts)}`.execute(db)
  return Object.fromEntries(Object.entries(rows[0]!).map(([name, total]) => [name, Number(total)])) as Statistics
}
