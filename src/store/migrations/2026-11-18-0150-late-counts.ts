/**
 * On PostgreSQL the row of a project is locked by its open issues only as the transaction commits: held from the
 * insertion on, it made those who came by another way wait in a circle.
 */
import { sql, type Kysely } from 'kysely'
import { isSqlite } from '../dialect.ts'

export async function up(db: Kysely<never>): Promise<void> {
  if (isSqlite(db)) return
  await sql`drop trigger open_issues on issues`.execute(db)
  await sql`create constraint trigger open_issues after insert or delete or update of state, confidential on issues
    deferrable initially deferred for each row execute function open_issues()`.execute(db)
}
