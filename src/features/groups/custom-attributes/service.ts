import type { App } from '../../../context.ts'
import { invalid } from '../../../errors.ts'
import type { Db } from '../../../store/database.ts'
import type { CustomAttribute, Whose } from '../../identity/custom-attributes.ts'

export interface AttributeOwner {
  readonly whose: Whose
  readonly id: number
}

const MOST_ATTRIBUTES = 100

/** Sorted by key. */
export const listAttributes = (db: Db, { whose, id }: AttributeOwner): Promise<CustomAttribute[]> =>
  db
    .selectFrom('custom_attributes')
    .select(['key', 'value'])
    .where(whose, '=', id)
    .orderBy('key')
    .limit(MOST_ATTRIBUTES)
    .execute()

export async function setAttribute(
  { db }: App,
  owner: AttributeOwner,
  input: CustomAttribute,
): Promise<CustomAttribute> {
  const { whose, id } = owner
  const known = await listAttributes(db, owner)
  if (known.length >= MOST_ATTRIBUTES && !known.some(({ key }) => key === input.key)) {
    throw invalid({ base: [`there are ${MOST_ATTRIBUTES} already`] })
  }
  return db
    .insertInto('custom_attributes')
    .values({ user_id: null, group_id: null, project_id: null, [whose]: id, key: input.key, value: input.value })
    .onConflict((conflict) => conflict.columns([whose, 'key']).doUpdateSet({ value: input.value }))
    .returning(['key', 'value'])
    .executeTakeFirstOrThrow()
}

export async function deleteAttribute({ db }: App, { whose, id }: AttributeOwner, key: string): Promise<void> {
  await db.deleteFrom('custom_attributes').where(whose, '=', id).where('key', '=', key).execute()
}
