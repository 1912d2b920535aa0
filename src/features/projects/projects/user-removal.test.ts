import { expect, test } from 'vitest'
import { groupOf } from '../../../../test/groups.ts'
import { projectBy, repositoriesOf } from '../../../../test/projects.ts'
import { HOUR } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { removalKey, removeLater } from './removal.ts'

/** A user with personal projects (one being deleted), a group project, a fork, stars and a membership. */
async function leaving(forge: TestForge) {
  const { administrator: root, app } = forge
  const jane = await forge.user({ username: 'jane' })
  const group = await groupOf(forge, 'group', { visibility: 'public' })
  await root.post(`/groups/${group.id}/members`, { user_id: jane.id, access_level: 40 })
  const own = await projectBy(jane, 'own', { visibility: 'public' })
  const going = await projectBy(jane, 'going')
  const shared = await projectBy(jane, 'shared', { namespace_id: group.id })
  const source = await projectBy(root, 'source', { visibility: 'public' })
  const fork = await projectBy(root, 'fork', { visibility: 'public' })
  const set = (id: number, change: object) => app.db.updateTable('projects').set(change).where('id', '=', id).execute()
  await set(fork.id, { forked_from_id: own.id })
  await set(own.id, { forked_from_id: source.id })
  await set(source.id, { forks_count: 1 })
  await jane.post(`/projects/${source.id}/star`)
  await root.post(`/projects/${source.id}/star`)
  await root.post(`/projects/${own.id}/star`)
  await set(going.id, { deleting: true })
  await enqueue(app, removeLater, { id: going.id }, { key: removalKey(going.id), delay: HOUR })
  return { jane, own, going, shared, source, fork }
}

test.each([
  ['softly, the ghost takes over what stays', false],
  ['hard, nobody does', true],
])('the projects of a deleted user: %s', async (_how, hard_delete) => {
  await using forge = await startForge()
  const { administrator: root, app } = forge
  const { jane, own, going, shared, source, fork } = await leaving(forge)
  const before = await forge.events()
  expect((await root.delete(`/users/${jane.id}`, { hard_delete })).status).toBe(204)

  for (const { id } of [own, going]) expect((await root.get(`/projects/${id}`)).status).toBe(404)
  const { body } = await root.get(`/projects/${shared.id}`)
  const ghost = await app.db.selectFrom('users').select('id').where('ghost', '=', true).executeTakeFirst()
  expect(body.creator_id).toBe(hard_delete ? null : ghost!.id)
  expect((await root.get(`/projects/${source.id}`)).body).toMatchObject({ star_count: 1, forks_count: 0 })
  expect((await root.get(`/projects/${fork.id}`)).body.forked_from_project).toBeUndefined()
  const event = (await forge.events()).slice(before.length)
  expect(event.filter((name) => name === 'project.deleted')).toHaveLength(1) // the event of the other one was emitted before

  await forge.settle()
  const rows = await app.db.selectFrom('projects').select(['id', 'disk_path', 'forked_from_id']).execute()
  expect(rows.map(({ id }) => id).sort((a, b) => a - b)).toEqual([shared.id, source.id, fork.id])
  expect(rows.every((row) => row.forked_from_id === null)).toBe(true)
  expect(await repositoriesOf(forge)).toEqual(rows.map((row) => row.disk_path).sort())
  for (const table of ['stars', 'members', 'project_authorizations'] as const) {
    expect(await app.db.selectFrom(table).selectAll().where('user_id', '=', jane.id).execute(), table).toEqual([])
  }
})
