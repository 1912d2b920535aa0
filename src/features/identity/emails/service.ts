import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { invalid, notFound } from '../../../errors.ts'
import type { Row } from '../../../store/database.ts'
import { holdName, uniqueViolation } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { assertValidUser } from '../users/validation.ts'

const taken = () => invalid({ email: ['has already been taken'] })

export async function createEmail(app: App, owner: User, wish: { email: string }): Promise<Row<'emails'>> {
  const email = wish.email.trim().toLowerCase()
  assertValidUser({ email })
  try {
    return await transact(app, async (app) => {
      await holdName(app.db, `email ${email}`)
      const primary = await app.db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst()
      if (primary) throw taken()
      const now = timestamp(app.clock)
      const created = await app.db
        .insertInto('emails')
        .values({ user_id: owner.id, email, created_at: now, updated_at: now })
        .returningAll()
        .executeTakeFirstOrThrow()
      await emit(app, 'email.created', { id: created.id, user_id: owner.id })
      return created
    })
  } catch (error) {
    throw uniqueViolation(error) === 'emails_email_unique' ? taken() : error
  }
}

export async function deleteEmail(app: App, owner: User, { id, email }: Row<'emails'>): Promise<void> {
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('emails').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('Email') // somebody was faster
    await emit(app, 'email.deleted', { id, user_id: owner.id, email })
  })
}

/** A primary that was the user's own secondary changes places with it. */
export async function exchangeEmail(app: App, user: User, email: string): Promise<void> {
  await app.db
    .updateTable('emails')
    .set({ email: user.email, updated_at: timestamp(app.clock) })
    .where('user_id', '=', user.id)
    .where('email', '=', email)
    .execute()
}
