import { sql, type Kysely } from 'kysely'
import { isSqlite } from '../dialect.ts'

const COLUMNS = { issues: ['iid'], milestones: ['iid'], iid_counters: ['last'] }

/** Whatever number is asked for is looked for in vain; one beyond the column's range was a fault. */
export async function up(db: Kysely<never>): Promise<void> {
  if (isSqlite(db)) return // as wide as they come
  for (const [table, columns] of Object.entries(COLUMNS))
    for (const column of columns)
      await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} type bigint`.execute(db)
}
