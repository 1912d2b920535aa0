import type { Kysely } from 'kysely'

/** Lists of milestones walk their order. */
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
