import { sql, type Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'

const COLUMNS = { issues: ['iid'], milestones: ['iid'], iid_counters: ['last'] }

/** A lookup by any number must find nothing; a number beyond the range of the column was an error. */
export async function up(db: Kysely<never>): Promise<void> {
  if (isSqlite(db)) return // integers have 64 bits already
  for (const [table, columns] of Object.entries(COLUMNS))
    for (const column of columns)
      await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} type bigint`.execute(db)
}
