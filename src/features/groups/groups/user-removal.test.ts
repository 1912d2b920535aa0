import { expect, test } from 'vitest'
import { whileLocked } from '../../../../test/at-once.ts'
import { addMember } from '../../../../test/cast.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { Owner } from '../../../lib/levels.ts'
import { findMember } from '../../access/members/queries.ts'
import { removeMember } from '../../access/members/service.ts'
import { syncGroup } from '../directory-links/sync.ts'

test('a group keeps its last owner, or goes with them', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const ann = await forge.user({ username: 'ann' })
  const group = (await ann.post('/groups', { name: 'Alone', path: 'alone' })).body
  const inner = (await ann.post('/groups', { name: 'Inner', path: 'inner', parent_id: group.id })).body
  const project = (await ann.post('/projects', { name: 'work', namespace_id: inner.id })).body
  const before = await forge.events()

  const refused = await root.delete(`/users/${ann.id}`)
  expect(refused).toMatchObject({ status: 409, body: { message: 'The user is the only owner of the group alone' } })
  expect((await root.get(`/users/${ann.id}`)).status).toBe(200)
  expect((await root.get(`/projects/${project.id}`)).status).toBe(200)
  expect(await forge.events()).toEqual(before)

  expect((await root.delete(`/users/${ann.id}`, { hard_delete: true })).status).toBe(204)
  expect((await root.get(`/groups/${group.id}`)).status).toBe(404)
  await forge.settle()
  const left = await forge.app.db.selectFrom('namespaces').select('full_path').execute()
  expect(left.map(({ full_path }) => full_path)).toEqual(['root'])
})

test('where another owner stays, also of a group above, the groups stay too', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const [ann, ben] = [await forge.user({ username: 'ann' }), await forge.user({ username: 'ben' })]
  const group = (await ann.post('/groups', { name: 'Both', path: 'both' })).body
  const inner = (await ann.post('/groups', { name: 'Inner', path: 'inner', parent_id: group.id })).body
  const project = (await ann.post('/projects', { name: 'work', namespace_id: inner.id })).body
  await addMember(forge, { group_id: group.id }, ben.id, 50)

  expect((await root.delete(`/users/${ann.id}`)).status).toBe(204)
  expect((await ben.get(`/groups/${inner.id}`)).status).toBe(200)
  const ghost = (await root.get('/users', { username: 'ghost' })).body[0]
  expect((await ben.get(`/projects/${project.id}`)).body.creator_id).toBe(ghost.id)
})

/** Each removes the given owner from the group, if allowed. */
const waysOut = {
  'who is deleted': async ({ administrator: root }: TestForge, { id }: Person) =>
    void (await root.delete(`/users/${id}`)),
  'whom the directory no longer names': async ({ app }: TestForge, _ann: Person, group: number) =>
    syncGroup({ ...app, directories: [] }, group),
}

test.each(Object.entries(waysOut))(
  'of two owners that go at the same time one stays: one who is removed, and one %s',
  async (_name, leave) => {
    await using forge = await startForge()
    const { app } = forge
    const [ann, ben] = [await forge.user(), await forge.user()]
    const group = (await ben.post('/groups', { name: 'Both', path: 'both' })).body
    const at = { group_id: group.id as number, project_id: null }
    await addMember(forge, { group_id: group.id }, ann.id, Owner)
    await app.db.updateTable('members').set({ from_directory: true }).where('user_id', '=', ann.id).execute()

    await whileLocked(
      forge,
      async (inside) => removeMember(inside, (await findMember(inside.db, at, ben.id))!, ben.id),
      () => leave(forge, ann, group.id),
    )
    const owners = await app.db
      .selectFrom('members')
      .select('user_id')
      .where('group_id', '=', group.id)
      .where('access_level', '=', Owner)
      .execute()
    expect(owners).toEqual([{ user_id: ann.id }])
  },
)
