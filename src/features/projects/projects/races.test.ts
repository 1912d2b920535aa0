/** Concurrent operations must have the result of one of the two orders. */
import { expect, test } from 'vitest'
import { whileLocked } from '../../../../test/at-once.ts'
import { addMember } from '../../../../test/cast.ts'
import { groupOf } from '../../../../test/groups.ts'
import { projectBy } from '../../../../test/projects.ts'
import type { TransactionApp } from '../../../context.ts'
import { startForge } from '../../../forge.ts'
import { isWider, type Visibility } from '../../../lib/levels.ts'
import { lockProject } from './queries.ts'

const ROUNDS = [1, 2, 3, 4, 5]

test('changes of different attributes do not undo each other', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const { id } = await projectBy(user, 'p', { visibility: 'public' })
  for (const n of ROUNDS) {
    const visibility = n % 2 ? 'private' : 'public'
    const changes = [
      { name: `N${n}` },
      { path: `p${n}` },
      { visibility },
      { description: `d${n}` },
      { topics: [`t${n}`] },
    ]
    const answers = await Promise.all(changes.map((change) => user.put(`/projects/${id}`, change)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const { body } = await user.get(`/projects/${id}`)
    expect(body).toMatchObject({ name: `N${n}`, path: `p${n}`, visibility, description: `d${n}`, topics: [`t${n}`] })
  }
})

test('of many who want one path one gets it, and every path it had leads on', async () => {
  await using forge = await startForge()
  const user = await forge.user({ username: 'jane' })
  const ids = await Promise.all(['a', 'b', 'c', 'd'].map(async (path) => (await projectBy(user, path)).id))
  const answers = await Promise.all(ids.map((id) => user.put(`/projects/${id}`, { path: 'wanted' })))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(3)

  const { id } = await projectBy(user, 'start')
  await Promise.all(['one', 'two', 'three'].map((path) => user.put(`/projects/${id}`, { path })))
  const { path } = (await user.get(`/projects/${id}`)).body
  const left = await forge.app.db.selectFrom('redirects').select('path').where('project_id', '=', id).execute()
  const had = ['start', 'one', 'two', 'three'].filter((one) => one !== path).map((one) => `jane/${one}`)
  expect(left.map((redirect) => redirect.path).sort()).toEqual(had.sort())
})

test('deleting wins over whatever comes with it, and is told once', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  for (const n of ROUNDS) {
    const { id } = await projectBy(user, `p${n}`)
    const at = `/projects/${id}`
    const answers = await Promise.all([
      user.put(at, { path: `moved${n}` }),
      user.delete(at),
      user.post(`${at}/archive`),
      user.delete(at),
      user.put(at, { visibility: 'public' }),
    ])
    const statuses = answers.map(({ status }) => status)
    expect(new Set([statuses[1], statuses[3]])).toEqual(new Set([204, 404]))
    for (const status of statuses) expect([200, 204, 404]).toContain(status)
    expect((await user.get(at)).status).toBe(404)
  }
  await forge.settle()
  expect((await forge.events()).filter((name) => name === 'project.deleted')).toHaveLength(ROUNDS.length)
  expect(await forge.app.db.selectFrom('projects').select('id').execute()).toEqual([])
})

test('archiving many times is told once', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const { id } = await projectBy(user, 'p')
  const answers = await Promise.all([1, 2, 3, 4].map(() => user.post(`/projects/${id}/archive`)))
  expect(answers.map(({ status, body }) => [status, body.archived])).toEqual(Array(4).fill([200, true]))
  expect((await forge.events()).filter((name) => name === 'project.updated')).toHaveLength(1)
})

test('rights given and taken in several ways at once come to what the rows say', async () => {
  await using forge = await startForge()
  const { administrator: root, app } = forge
  const home = await groupOf(forge, 'home')
  const guests = await groupOf(forge, 'guests')
  const { id } = await projectBy(root, 'p', { namespace_id: home.id })
  const person = await forge.user()
  await addMember(forge, { group_id: guests.id }, person.id, 30)
  const level = async () => (await root.get(`/projects/${id}/access`, { user_id: person.id })).body.access_level
  for (const n of ROUNDS) {
    const calls = [
      root.post(`/projects/${id}/share`, { group_id: guests.id, group_access: 20 }),
      root.post(`/projects/${id}/members`, { user_id: person.id, access_level: 10 }),
      root.put(`/groups/${guests.id}/members/${person.id}`, { access_level: n % 2 ? 10 : 30 }),
      root.put(`/groups/${home.id}`, { share_with_group_lock: n % 2 === 0 }),
      root.delete(`/projects/${id}/share/${guests.id}`),
      root.delete(`/projects/${id}/members/${person.id}`),
      root.post('/projects', { path: `other${n}`, namespace_id: home.id }),
    ]
    for (const { status } of await Promise.all(calls)) expect(status).toBeLessThan(500)
    const row = await app.db
      .selectFrom('project_authorizations')
      .select('access_level')
      .where('user_id', '=', person.id)
      .where('project_id', '=', id)
      .executeTakeFirst()
    expect(row?.access_level ?? 0).toBe(await level())
  }
})

test('nothing opens to more people than its group and its source while these close', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  for (const n of ROUNDS) {
    const group = await groupOf(forge, `g${n}`, { visibility: 'public' })
    const closed = await groupOf(forge, `closed${n}`)
    const inside = await projectBy(root, `inside${n}`, { namespace_id: group.id, visibility: 'private' })
    const source = await projectBy(root, `source${n}`, { visibility: 'public' })
    const moved = await projectBy(root, `moved${n}`)
    const answers = await Promise.all([
      root.post('/projects', { path: `new${n}`, namespace_id: group.id, visibility: 'public' }),
      root.put(`/groups/${group.id}`, { visibility: 'private' }),
      root.put(`/projects/${inside.id}`, { visibility: 'public' }),
      root.post(`/projects/${source.id}/fork`, { path: `fork${n}` }),
      root.put(`/projects/${source.id}`, { visibility: 'private' }),
      root.post(`/groups/${closed.id}/projects/${moved.id}`),
      root.put(`/projects/${moved.id}`, { visibility: 'public' }),
    ])
    for (const { status } of answers) expect([200, 201, 400, 409]).toContain(status)
    const { visibility, projects } = (await root.get(`/groups/${group.id}`)).body
    expect(projects.filter((one: { visibility: Visibility }) => isWider(one.visibility, visibility))).toEqual([])
    const { body: forks } = await root.get(`/projects/${source.id}/forks`)
    for (const fork of forks) expect(fork.visibility).toBe('private')
    expect((await root.get(`/projects/${moved.id}`)).body.visibility).toBe('private')
  }
})

test('a fork opens only after its source, which a refusal does not wait for', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const source = await projectBy(root, 'source', { visibility: 'public' })
  const { id } = (await root.post(`/projects/${source.id}/fork`, { path: 'fork', name: 'Fork', visibility: 'private' }))
    .body
  await forge.settle()
  const open = () => root.put(`/projects/${id}`, { visibility: 'public' })
  const close = ({ db }: TransactionApp) =>
    db.updateTable('projects').set({ visibility: 'private' }).where('id', '=', source.id).execute()
  const refused = { status: 400, body: { message: { visibility_level: [expect.stringContaining('fork source')] } } }
  expect(await whileLocked(forge, close, open)).toMatchObject(refused)
  const lock = async (app: TransactionApp) => {
    await lockProject(app, source.id)
    expect(await open()).toMatchObject(refused)
  }
  await whileLocked(forge, lock, open)
  expect((await root.get(`/projects/${id}`)).body.visibility).toBe('private')
})
