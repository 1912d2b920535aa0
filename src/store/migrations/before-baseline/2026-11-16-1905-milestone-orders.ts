import type { Kysely } from 'kysely'

/** Indexes for the orders of milestone lists. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const place of ['project', 'group']) {
    for (const columns of [['id'], ['state', 'id']]) {
      await db.schema
        .createIndex(`milestones_${place}_${columns.join('_')}`)
        .on('milestones')
        .columns([`${place}_id`, ...columns])
        .execute()
    }
  }
}
