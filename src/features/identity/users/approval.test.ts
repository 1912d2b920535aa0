import { expect, test } from 'vitest'
import { mailsOf } from '../../../../test/mailbox.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PENDING = 'blocked_pending_approval'

async function pending(forge: TestForge) {
  const jane = await forge.user({ username: 'jane', password: 'correct horse' })
  await forge.settle()
  await forge.app.db.updateTable('users').set({ state: PENDING }).where('id', '=', jane.id).execute()
  return jane
}

const rowOf = (forge: TestForge, id: number) =>
  forge.app.db.selectFrom('users').select(['state', 'updated_at']).where('id', '=', id).executeTakeFirst()

test('an approved user can sign in, and gets a mail', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const jane = await pending(forge)
  const before = await forge.events()
  expect(await root.post(`/users/${jane.id}/approve`)).toMatchObject({ status: 201, body: { message: 'Success' } })
  expect((await jane.get('/user')).body.state).toBe('active')
  expect(await forge.events()).toEqual([...before, 'user.approved'])
  expect(await root.post(`/users/${jane.id}/approve`)).toMatchObject({
    status: 409,
    body: { message: 'The user you are trying to approve is not pending approval' },
  })
  expect(await mailsOf(forge)).toMatchObject([{ to: jane.email, subject: 'Account approved' }])
})

test('the account of a rejected user is deleted, and the user gets a mail', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const jane = await pending(forge)
  expect(await root.post(`/users/${jane.id}/reject`)).toMatchObject({ status: 200, body: { message: 'Success' } })
  expect((await root.get(`/users/${jane.id}`)).status).toBe(404)
  expect((await root.get('/namespaces', { search: 'jane' })).body).toEqual([])
  expect((await root.post(`/users/${jane.id}/reject`)).status).toBe(404)
  expect(await mailsOf(forge)).toMatchObject([{ to: jane.email, subject: 'Account rejected' }])
})

test('an invitation to their address is accepted with the approval', async () => {
  await using forge = await startForge()
  const group = await forge.group({ path: 'wheels' })
  const jane = await pending(forge)
  const { email } = await forge.app.db
    .selectFrom('users')
    .select('email')
    .where('id', '=', jane.id)
    .executeTakeFirstOrThrow()
  await forge.app.db.updateTable('users').set({ email: 'other@example.com' }).where('id', '=', jane.id).execute()
  await forge.administrator.post(`/groups/${group.id}/invitations`, { email, access_level: 30 })
  await forge.app.db.updateTable('users').set({ email }).where('id', '=', jane.id).execute()
  await forge.administrator.post(`/users/${jane.id}/approve`)
  await forge.settle()
  expect((await forge.administrator.get(`/groups/${group.id}/members/${jane.id}`)).body.access_level).toBe(30)
})

test('refusals leave everybody as they were', async () => {
  await using forge = await startForge()
  const { administrator: root, visitor } = forge
  const stranger = await forge.user()
  const blocked = await forge.user({ blocked: true })
  const jane = await pending(forge)
  const people = async () => Promise.all([stranger, blocked, jane].map(({ id }) => rowOf(forge, id)))
  const before = [await people(), await forge.events(), await mailsOf(forge)]
  const notPending = 'The user you are trying to approve is not pending approval'
  const refusals = [
    [visitor, jane.id, 'approve', 401, '401 Unauthorized'],
    [visitor, jane.id, 'reject', 401, '401 Unauthorized'],
    [jane, jane.id, 'approve', 401, '401 Unauthorized'],
    [stranger, jane.id, 'approve', 403, 'You are not allowed to approve a user'],
    [stranger, jane.id, 'reject', 403, 'You are not allowed to reject a user'],
    [root, stranger.id, 'approve', 409, notPending],
    [root, blocked.id, 'approve', 409, notPending],
    [root, stranger.id, 'reject', 409, 'User does not have a pending request'],
    [root, blocked.id, 'reject', 409, 'User does not have a pending request'],
    [root, root.id, 'reject', 409, 'User does not have a pending request'],
    [root, 999_999, 'approve', 404, '404 User Not Found'],
    [root, 999_999, 'reject', 404, '404 User Not Found'],
    [root, jane.id, 'activate', 403, '403 Forbidden - A blocked user must be unblocked to be activated'],
    [root, jane.id, 'deactivate', 403, '403 Forbidden - A blocked user cannot be deactivated by the API'],
    [root, jane.id, 'ban', 403, `You cannot ban ${PENDING} users.`],
    [root, jane.id, 'unban', 403, `You cannot unban ${PENDING} users.`],
  ] as const
  for (const [by, id, verb, status, message] of refusals) {
    expect(await by.post(`/users/${id}/${verb}`), `${verb} ${status}`).toMatchObject({ status, body: { message } })
  }
  expect(await root.post(`/users/${jane.id}/unblock`)).toMatchObject({ status: 201, body: false })
  expect([await people(), await forge.events(), await mailsOf(forge)]).toEqual(before)
})

test('of an approval and a rejection at once one holds', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const jane = await pending(forge)
  const both = await Promise.all([root.post(`/users/${jane.id}/approve`), root.post(`/users/${jane.id}/reject`)])
  const row = await rowOf(forge, jane.id)
  const statuses = both.map(({ status }) => status)
  expect(
    row
      ? [[201, 409]]
      : [
          [404, 200],
          [409, 200],
        ],
  ).toContainEqual(statuses)
})

test('they are listed for administrators, and neither among the active nor the blocked', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const stranger = await forge.user()
  const jane = await pending(forge)
  const names = async (input: object) =>
    (await root.get('/users', { ...input })).body.map((one: { username: string }) => one.username)
  const waiting = await root.get('/users', { pending_approval: true })
  expect(waiting.body).toMatchObject([{ username: 'jane', state: PENDING }])
  expect(waiting.headers.get('x-total')).toBe('1')
  expect(await names({ blocked: true })).not.toContain('jane')
  expect(await names({ active: true })).not.toContain('jane')
  expect(await names({})).toContain('jane')
  expect((await stranger.get('/users', { pending_approval: true })).status).toBe(403)
  expect((await forge.visitor.get('/users', { pending_approval: true, username: 'jane' })).status).toBe(401)
  expect(await root.post(`/users/${jane.id}/block`)).toMatchObject({ status: 201, body: true })
  expect(await names({ blocked: true })).toContain('jane')
  expect(await names({ pending_approval: true })).toEqual([])
})
