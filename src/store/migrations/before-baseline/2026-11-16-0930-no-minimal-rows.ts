import { sql, type Kysely } from 'kysely'

/** Minimal access to a group (5) gives no access inside it: no project has an authorization below Guest (10). */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`delete from project_authorizations where access_level < 10`.execute(db)
}
