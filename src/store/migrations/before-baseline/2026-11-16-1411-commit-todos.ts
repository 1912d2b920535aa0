import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../helpers/columns.ts'

/** A todo may be about a commit too, in the project of the row. */
export async function up(db: Kysely<never>): Promise<void> {
  await (isSqlite(db) ? makeOptional(db) : sql`alter table todos alter column issue_id drop not null`.execute(db))
  await db.schema.alterTable('todos').addColumn('commit_sha', 'text').execute()
  await sql`create unique index todos_user_id_project_id_commit_sha_unique on todos (user_id, project_id, commit_sha)
    where state = 'pending' and commit_sha is not null`.execute(db)
}

/** SQLite cannot alter a constraint: the column and its indexes are recreated. */
async function makeOptional(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  const { rows: indexes } = await sql<{ name: string; sql: string }>`select name, sql from sqlite_master
    where type = 'index' and tbl_name = 'todos' and sql like '%issue_id%'`.execute(db)
  for (const { name } of indexes) await db.schema.dropIndex(name).execute()
  await sql`alter table todos rename column issue_id to issue_before`.execute(db)
  await db.schema
    .alterTable('todos')
    .addColumn('issue_id', ref, (c) => c.references('issues.id').onDelete('cascade'))
    .execute()
  await sql`update todos set issue_id = issue_before`.execute(db)
  await sql`alter table todos drop column issue_before`.execute(db)
  for (const index of indexes) await sql.raw(index.sql).execute(db)
}
