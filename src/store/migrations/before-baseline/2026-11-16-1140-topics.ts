import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, timestamp, boolean, no } = columnTypes(db)
  await withId(db.schema.createTable('topics'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('title', 'text')
    .addColumn('description', 'text')
    /** Described by an administrator, and so listed even if no project has it. */
    .addColumn('curated', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await sql`create unique index topics_name_unique on topics (lower(name))`.execute(db)
  await sql`insert into topics (name, created_at)
    select min(name), ${new Date().toISOString()} from project_topics group by lower(name)`.execute(db)
}
