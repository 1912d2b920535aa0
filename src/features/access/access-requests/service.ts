import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { invalid, notFound } from '../../../errors.ts'
import type { Row } from '../../../store/database.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import type { SourceColumns } from '../members/model.ts'
import { sourceOf, type SourceSubject } from '../scopes.ts'

type AccessRequest = Row<'access_requests'>

export async function requestAccess(app: App, { at }: SourceSubject, user: User) {
  return transact(app, async (app): Promise<AccessRequest> => {
    const request = await app.db
      .insertInto('access_requests')
      .values({ ...sourceOf(at), user_id: user.id, requested_at: timestamp(app.clock) })
      .onConflict((c) => c.doNothing())
      .returningAll()
      .executeTakeFirst()
    if (!request) throw invalid({ user_id: ['already exists in source'] })
    const { requested_at } = request
    await emit(app, 'access_request.made', { ...sourceOf(at), user_id: user.id, requested_at })
    return request
  })
}

/** The requester withdraws the request, or a manager denies it. */
export async function endRequest(app: App, { user_id, requested_at, ...at }: AccessRequest, by: User): Promise<void> {
  await transact(app, async (app) => {
    if (!(await takeRequest(app, at, user_id))) throw notFound() // another request deleted the row first
    const event = { ...sourceOf(at), user_id, requested_at }
    if (by.id === user_id) await emit(app, 'access_request.withdrawn', event)
    else await emit(app, 'access_request.denied', { ...event, by: by.id })
  })
}

/** Returns false if there was no request. */
export async function takeRequest(app: App, { group_id, project_id }: SourceColumns, user: number): Promise<boolean> {
  const requests = app.db.deleteFrom('access_requests').where('user_id', '=', user)
  const { numDeletedRows } = await (
    group_id !== null ? requests.where('group_id', '=', group_id) : requests.where('project_id', '=', project_id)
  ).executeTakeFirst()
  return numDeletedRows > 0n
}
