import { DAY, HOUR, MINUTE, after } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import type { Availability } from './model.ts'
import { findStatus, type UserStatus } from './queries.ts'

const LASTING = {
  '30_minutes': 30 * MINUTE,
  '3_hours': 3 * HOUR,
  '8_hours': 8 * HOUR,
  '1_day': DAY,
  '3_days': 3 * DAY,
  '7_days': 7 * DAY,
  '30_days': 30 * DAY,
}
export type Lasting = keyof typeof LASTING
export const LASTINGS = Object.keys(LASTING) as [Lasting, ...Lasting[]]

const USUAL_EMOJI = 'speech_balloon'

export interface StatusInput {
  emoji?: string | null | undefined
  message?: string | null | undefined
  availability?: Availability | null | undefined
  clear_status_after?: Lasting | null | undefined
}

/** Absent fields are cleared. A status with no content is deleted. */
export async function setStatus(app: App, user: User, input: StatusInput): Promise<UserStatus | null> {
  const emoji = input.emoji || USUAL_EMOJI
  const message = input.message ?? ''
  const availability = input.availability ?? 'not_set'
  const isEmpty = !input.emoji && message === '' && availability === 'not_set'
  const clear_at = input.clear_status_after ? after(app.clock, LASTING[input.clear_status_after]) : null
  const status = { emoji, message, availability, clear_at }
  return transact(app, async (app) => {
    if (isEmpty) await app.db.deleteFrom('user_statuses').where('user_id', '=', user.id).execute()
    else
      await app.db
        .insertInto('user_statuses')
        .values({ user_id: user.id, ...status })
        .onConflict((c) => c.column('user_id').doUpdateSet(status))
        .execute()
    await emit(app, 'user.status_changed', { id: user.id })
    return isEmpty ? null : { user_id: user.id, ...status }
  })
}

/** Absent fields stay unchanged, except the duration, which starts now. */
export async function changeStatus(app: App, user: User, input: StatusInput): Promise<UserStatus | null> {
  const { emoji, message, availability } = (await findStatus(app, user)) ?? {}
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
  return setStatus(app, user, { emoji, message, availability, ...given })
}
