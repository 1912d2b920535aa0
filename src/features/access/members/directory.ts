/** Changes that a directory makes to the members of a group. The caller refreshes the authorizations. */
import { timestamp } from '../../../clock.ts'
import type { TransactionApp } from '../../../context.ts'
import { emit } from '../../../store/outbox.ts'
import { takeRequest } from '../access-requests/service.ts'
import { memberEvent, type Member } from './service.ts'

export async function letInByDirectory(
  app: TransactionApp,
  group_id: number,
  user_id: number,
  access_level: number,
): Promise<void> {
  const now = timestamp(app.clock)
  const at = { group_id, project_id: null }
  const member = await app.db
    .insertInto('members')
    .values({
      ...at,
      user_id,
      access_level,
      from_directory: true,
      expires_at: null,
      created_by_id: null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await takeRequest(app, at, user_id)
  await emit(app, 'member.added', memberEvent(member))
}

/** Stores the level that a person had granted: the membership returns to that level when the directory link ends. */
export async function setLevelByDirectory(app: TransactionApp, member: Member, access_level: number): Promise<void> {
  const given = member.from_directory ? null : (member.hand_level ?? member.access_level)
  const updated = await app.db
    .updateTable('members')
    .set({ access_level, hand_level: given === access_level ? null : given, updated_at: timestamp(app.clock) })
    .where('id', '=', member.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await emit(app, 'member.changed', memberEvent(updated))
}

export async function removeByDirectory(app: TransactionApp, member: Member): Promise<void> {
  await app.db.deleteFrom('members').where('id', '=', member.id).execute()
  await emit(app, 'member.removed', { ...memberEvent(member), expired: false })
}
