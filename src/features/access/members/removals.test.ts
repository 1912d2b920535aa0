import { describe, expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { KINDS, openSource } from '../../../../test/sources.ts'
import { DAY, HOUR, MINUTE } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { purgeRemoved } from './jobs.ts'

/** Jane is a member with an expiry date, and assigned to an issue of a project there. */
async function stage(forge: TestForge, kind: 'groups' | 'projects') {
  const source = await openSource(forge, kind)
  const { owner, url } = source
  const jane = await forge.user({ username: 'jane' })
  const project =
    kind === 'projects' ? source.id : (await owner.post('/projects', { path: 'p', namespace_id: source.id })).body.id
  await owner.post(`${url}/members`, { user_id: jane.id, access_level: 20, expires_at: '2100-01-02' })
  const issue = (title: string) =>
    owner.post(`/projects/${project}/issues`, { title, assignee_ids: [jane.id] }).then(({ body }) => body.iid as number)
  const assignees = async (iid: number) =>
    (await owner.get(`/projects/${project}/issues/${iid}`)).body.assignees.map(({ id }: { id: number }) => id)
  const member = async () => (await owner.get(`${url}/members/${jane.id}`)).body
  const remove = (by: Person = owner) => by.delete(`${url}/members/${jane.id}`)
  const restore = (by: Person = owner) => by.post(`${url}/members/${jane.id}/restore`)
  return { ...source, jane, project, issue, assignees, member, remove, restore }
}

describe.each(KINDS)('removed members of %s', (kind) => {
  test('come back with the same fields and their open items', async () => {
    await using forge = await startForge()
    const { owner, jane, project, issue, assignees, member, remove, restore } = await stage(forge, kind)
    const [open, closed, taken] = [await issue('open'), await issue('closed'), await issue('taken')]
    const before = await member()
    expect((await remove()).status).toBe(204)
    await forge.settle()
    expect([await assignees(open), await assignees(closed)]).toEqual([[], []])
    await owner.put(`/projects/${project}/issues/${closed}`, { state_event: 'close' })
    await owner.put(`/projects/${project}/issues/${taken}`, { assignee_ids: [owner.id] })

    const { status, body } = await restore()
    expect([status, body]).toEqual([201, before])
    expect(await member()).toEqual(before)
    await forge.settle()
    expect(await assignees(open)).toEqual([jane.id])
    expect(await assignees(closed)).toEqual([])
    expect(new Set(await assignees(taken))).toEqual(new Set([owner.id, jane.id]))
    expect((await restore()).status).toBe(404)
  })

  test('keep their items if the removal is undone at once', async () => {
    await using forge = await startForge()
    const { jane, issue, assignees, remove, restore } = await stage(forge, kind)
    const iid = await issue('open')
    await remove()
    expect((await restore()).status).toBe(201)
    await forge.settle()
    expect(await assignees(iid)).toEqual([jane.id])
  })

  test('do not come back by other users, later, twice, or when something changed', async () => {
    await using forge = await startForge()
    const { owner, url, jane, member, remove, restore } = await stage(forge, kind)
    const missing = { message: '404 Not found' }
    expect((await restore()).status).toBe(404)
    await remove()
    // Another manager, the administrator, the removed user.
    expect((await restore(forge.administrator)).status).toBe(404)
    expect((await restore(jane)).status).toBe(404)
    expect(await member()).toEqual(missing)

    await forge.administrator.post(`/users/${jane.id}/block`)
    expect(await restore()).toMatchObject({ status: 400, body: { message: 'The user is not active' } })
    await forge.administrator.post(`/users/${jane.id}/unblock`)
    expect(await member()).toEqual(missing)

    // A member anew keeps the new level.
    await owner.post(`${url}/members`, { user_id: jane.id, access_level: 10 })
    expect(await restore()).toMatchObject({ status: 409, body: { message: 'Member already exists' } })
    expect(await member()).toMatchObject({ access_level: 10, expires_at: null })

    // The latest removal counts: the level before that does not come back.
    await remove()
    const answers = await atOnce(forge, restore, restore)
    expect(answers.map(({ status }) => status)).toEqual([201, 404])
    expect(await member()).toMatchObject({ access_level: 10 })

    await remove()
    forge.clock.advance(HOUR)
    expect((await restore()).status).toBe(404)
    expect(await member()).toEqual(missing)
  })

  test('who lost the right to manage members cannot undo a removal', async () => {
    await using forge = await startForge()
    const { url, owner, jane, member, remove, restore } = await stage(forge, kind)
    const manager = await forge.user()
    await owner.post(`${url}/members`, { user_id: manager.id, access_level: kind === 'groups' ? 50 : 40 })
    await remove(manager)
    await owner.put(`${url}/members/${manager.id}`, { access_level: 30 })
    expect((await restore(manager)).status).toBe(403)
    expect((await member()).message).toBe('404 Not found')
    await owner.put(`${url}/members/${manager.id}`, { access_level: kind === 'groups' ? 50 : 40 })
    expect((await restore(manager)).status).toBe(201)
    expect(await member()).toMatchObject({ id: jane.id, access_level: 20, expires_at: '2100-01-02' })
  })

  test('who left cannot come back alone', async () => {
    await using forge = await startForge()
    const { jane, member, remove, restore } = await stage(forge, kind)
    const rows = () => forge.app.db.selectFrom('removed_members').select('id').execute()
    await remove(jane)
    expect(await rows()).toEqual([])
    expect((await restore(jane)).status).toBe(404)
    expect((await member()).message).toBe('404 Not found')
  })
})

test('items are unassigned after a stop of more than a day, too', async () => {
  await using forge = await startForge()
  const { issue, assignees, remove } = await stage(forge, 'projects')
  const iid = await issue('open')
  await forge.stopWorker()
  await remove()
  forge.clock.advance(25 * HOUR)
  await purgeRemoved.handle(forge.app, {})
  // Starts the worker again.
  await forge.whileStopped(async () => {})
  await forge.settle()
  expect(await assignees(iid)).toEqual([])
})

test('a membership that has expired since the removal does not come back', async () => {
  await using forge = await startForge()
  const { owner, url, jane, member, remove, restore } = await stage(forge, 'projects')
  const now = forge.clock.now().getTime()
  const midnight = now + DAY - (now % DAY)
  // A quarter to twelve, so that an undo is possible after midnight.
  forge.clock.advance(midnight - now - 15 * MINUTE)
  const expires_at = new Date(midnight).toISOString().slice(0, 10)
  expect((await owner.put(`${url}/members/${jane.id}`, { access_level: 20, expires_at })).status).toBe(200)
  expect((await remove()).status).toBe(204)
  forge.clock.advance(30 * MINUTE)
  expect(await restore()).toMatchObject({ status: 400, body: { message: 'The membership has expired' } })
  expect((await member()).message).toBe('404 Not found')
})

test('rows of removed members are deleted after a day', async () => {
  await using forge = await startForge()
  const { remove, restore } = await stage(forge, 'projects')
  const rows = () => forge.app.db.selectFrom('removed_members').select('id').execute()
  await remove()
  forge.clock.advance(23 * HOUR)
  await purgeRemoved.handle(forge.app, {})
  expect(await rows()).toHaveLength(1)
  forge.clock.advance(HOUR + MINUTE)
  await purgeRemoved.handle(forge.app, {})
  expect(await rows()).toEqual([])
  expect((await restore()).status).toBe(404)
})
