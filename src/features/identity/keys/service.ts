import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { invalid, notFound } from '../../../errors.ts'
import type { Row } from '../../../store/database.ts'
import { uniqueViolation } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import type { UsageType } from './model.ts'
import { readKey } from './validation.ts'

export interface NewKey {
  title: string
  key: string
  expires_at?: string | null
  usage_type?: UsageType | null
}

export async function createKey(app: App, owner: User, wish: NewKey): Promise<Row<'keys'>> {
  const parsed = readKey(wish, await currentSettings(app))
  const now = timestamp(app.clock)
  if (wish.expires_at && wish.expires_at <= now) throw invalid({ key: ['has expired'] })
  try {
    return await transact(app, async (app) => {
      const key = await app.db
        .insertInto('keys')
        .values({
          user_id: owner.id,
          kind: 'user',
          title: wish.title,
          key: parsed.text,
          fingerprint: parsed.md5,
          fingerprint_sha256: parsed.sha256,
          usage_type: wish.usage_type ?? 'auth_and_signing',
          expires_at: wish.expires_at ?? null,
          last_used_at: null,
          created_at: now,
          updated_at: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      await emit(app, 'key.created', { id: key.id, user_id: owner.id })
      return key
    })
  } catch (error) {
    // A key opens one account: whoever else holds it, it cannot be held twice.
    if (uniqueViolation(error) !== 'keys_fingerprint_unique') throw error
    throw invalid({ fingerprint: ['has already been taken'], key: ['has already been taken'] })
  }
}

export async function deleteKey(app: App, owner: User, { id, key }: Row<'keys'>): Promise<void> {
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('keys').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('Key') // somebody was faster
    await emit(app, 'key.deleted', { id, user_id: owner.id, key })
  })
}
