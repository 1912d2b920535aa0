import type { Kysely } from 'kysely'
import { countChanges } from '../helpers/counts.ts'

/** Lists of users, groups and projects are filtered by custom attributes. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.createIndex('custom_attributes_key_value').on('custom_attributes').columns(['key', 'value']).execute()
  await countChanges(db, 'custom_attributes', ['value'])
}
