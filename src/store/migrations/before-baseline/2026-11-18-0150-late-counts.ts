/**
 * On PostgreSQL, changes of open issues lock the row of their project only at commit. Locking it from the insert on
 * caused deadlocks with transactions that lock in another order.
 */
import { sql, type Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  if (isSqlite(db)) return
  await sql`drop trigger open_issues on issues`.execute(db)
  await sql`create constraint trigger open_issues after insert or delete or update of state, confidential on issues
    deferrable initially deferred for each row execute function open_issues()`.execute(db)
}
