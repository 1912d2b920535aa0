import { expect, test } from 'vitest'
import { castFor, groupOf, projectIn, statuses } from '../../../../test/groups.ts'
import { formOf, picture, projectBy, repositoriesOf, stateOf } from '../../../../test/projects.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'

const projectEvents = async (forge: TestForge) => (await forge.events()).filter((name) => name.startsWith('project'))

test('archiving and taking back: who may, what it answers, and that twice is once', async () => {
  await using forge = await startForge()
  const tools = await groupOf(forge, 'tools', { visibility: 'public' })
  const cast = await castFor(forge, tools.id)
  const { id } = await projectIn(forge, tools, 'p', { visibility: 'public' })
  const call = (verb: string) => (caller: Client) => caller.post(`/projects/${id}/${verb}`)
  //              anonymous stranger external guest reporter developer master owner administrator blocked
  const owners = [401, 403, 403, 403, 403, 403, 403, 200, 200, 401]
  expect(await statuses(cast, call('archive'))).toEqual(owners)
  expect(await projectEvents(forge)).toEqual(['project.created', 'project.updated'])
  const {
    permissions: _p,
    runners_token: _t,
    import_error: _e,
    ...before
  } = (await cast.owner.get(`/projects/${id}`)).body
  expect(before.archived).toBe(true)
  const again = await cast.owner.post(`/projects/${id}/archive`)
  expect([again.status, again.body]).toEqual([200, before])
  expect(await projectEvents(forge)).toHaveLength(2)

  const listed = async (filter = {}) => (await cast.owner.get('/projects', filter)).body.length
  expect([await listed(), await listed({ archived: false }), await listed({ archived: true })]).toEqual([0, 0, 1])
  // Settings stay writable, searches find the project, and it can be unarchived.
  expect((await cast.master.put(`/projects/${id}`, { description: 'kept' })).status).toBe(200)
  expect(await statuses(cast, call('unarchive'))).toEqual(owners)
  expect((await cast.owner.post(`/projects/${id}/unarchive`)).body.archived).toBe(false)
  expect(await projectEvents(forge)).toHaveLength(4)
  expect([await listed(), await listed({ archived: true })]).toEqual([1, 0])

  const hidden = await projectIn(forge, await groupOf(forge, 'hidden'), 'q')
  const state = await stateOf(forge)
  for (const verb of ['archive', 'unarchive']) {
    expect((await cast.owner.post(`/projects/${hidden.id}/${verb}`)).status).toBe(404)
  }
  expect((await cast.owner.delete(`/projects/${hidden.id}`)).status).toBe(404)
  expect(await stateOf(forge)).toEqual(state)
})

test('who may delete, and only what did not change meanwhile', async () => {
  await using forge = await startForge()
  const tools = await groupOf(forge, 'tools', { visibility: 'public' })
  const cast = await castFor(forge, tools.id)
  const { id } = await projectIn(forge, tools, 'p', { visibility: 'public' })
  const before = await stateOf(forge)
  const early = { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' }
  const refused = await cast.owner.delete(`/projects/${id}`, undefined, early)
  expect([refused.status, refused.body]).toEqual([412, { message: '412 Precondition Failed' }])
  const { owner: _o, administrator: _a, ...others } = cast
  const denied: number[] = []
  for (const caller of Object.values(others)) denied.push((await caller.delete(`/projects/${id}`)).status)
  expect(denied).toEqual([401, 403, 403, 403, 403, 403, 403, 401])
  expect(await stateOf(forge)).toEqual(before)

  const late = { 'If-Unmodified-Since': new Date(Date.now() + 60_000).toUTCString() }
  const gone = await cast.owner.delete(`/projects/${id}`, undefined, late)
  expect([gone.status, gone.body]).toEqual([204, ''])
  expect((await cast.owner.delete(`/projects/${id}`)).status).toBe(404)
  const second = await projectIn(forge, tools, 'second')
  expect(
    (await cast.administrator.delete(`/projects/${second.id}`, undefined, { 'If-Unmodified-Since': 'soon' })).status,
  ).toBe(204)
})

test('a deleted project is gone at once for everybody, and from store and disk soon after', async () => {
  await using forge = await startForge()
  const { administrator: root, app } = forge
  const user = await forge.user({ username: 'jane' })
  const group = await groupOf(forge, 'friends')
  const { id } = (await user.post('/projects', formOf({ path: 'p', tag_list: 'a,b', avatar: picture() }))).body
  const stays = await projectBy(user, 'stays')
  await root.post(`/projects/${id}/share`, { group_id: group.id, group_access: 20 })
  await root.post(`/projects/${id}/star`)
  await user.put(`/projects/${id}`, { path: 'q' })
  const fork = await projectBy(root, 'fork')
  await app.db.updateTable('projects').set({ forked_from_id: id }).where('id', '=', fork.id).execute()
  await app.db.updateTable('projects').set({ forked_from_id: stays.id }).where('id', '=', id).execute()
  await app.db.updateTable('projects').set({ forks_count: 1 }).where('id', 'in', [id, stays.id]).execute()
  await forge.stopWorker()

  expect((await user.delete('/projects/jane%2Fq')).status).toBe(204)
  for (const caller of [user, root]) {
    expect((await caller.get(`/projects/${id}`)).status).toBe(404)
    expect((await caller.get('/projects/jane%2Fq')).status).toBe(404)
    expect((await caller.put(`/projects/${id}`, { name: 'x' })).status).toBe(404)
    expect((await caller.post(`/projects/${id}/archive`)).status).toBe(404)
    const paths = ['/projects', '/projects?membership=true', '/projects?archived=true', '/projects?starred=true']
    for (const path of [...paths, '/projects?search=q', `/users/${user.id}/projects`]) {
      const { body, headers } = await caller.get(path)
      const ids = body.map((one: { id: number }) => one.id)
      expect([ids.includes(id), ids.length], path).toEqual([false, Number(headers.get('x-total'))])
    }
  }
  expect((await root.get(`/projects/${fork.id}`)).body.forked_from_project).toBeUndefined()
  const busy = await user.post('/projects', { path: 'q' })
  expect(busy.body.message.base).toEqual(['The project is still being deleted. Please try again later.'])
  expect(await repositoriesOf(forge)).toHaveLength(3)
})

test('what hung on it goes with it; forks stay, unlinked', async () => {
  await using forge = await startForge()
  const { administrator: root, app } = forge
  const user = await forge.user()
  const group = await groupOf(forge, 'friends')
  const stays = await projectBy(user, 'stays')
  const { id } = await projectBy(user, 'p', { topics: ['a'] })
  await root.post(`/projects/${id}/share`, { group_id: group.id, group_access: 20 })
  await root.post(`/projects/${id}/star`)
  await user.put(`/projects/${id}`, { path: 'q' })
  const fork = await projectBy(root, 'fork')
  const link = (fork: number, source: number) =>
    app.db.updateTable('projects').set({ forked_from_id: source }).where('id', '=', fork).execute()
  await link(fork.id, id)
  await link(id, stays.id)
  await app.db.updateTable('projects').set({ forks_count: 1 }).where('id', '=', stays.id).execute()

  await user.delete(`/projects/${id}`)
  await forge.settle()
  const tables = [
    'project_topics',
    'stars',
    'project_shares',
    'members',
    'project_authorizations',
    'redirects',
  ] as const
  for (const table of tables) {
    const rows = await app.db.selectFrom(table).selectAll().where('project_id', '=', id).execute()
    expect(rows, table).toEqual([])
  }
  const rows = await app.db.selectFrom('projects').selectAll().orderBy('id').execute()
  expect(rows.map((row) => [row.id, row.forked_from_id, row.forks_count])).toEqual([
    [stays.id, null, 0],
    [fork.id, null, 0],
  ])
  expect(await repositoriesOf(forge)).toEqual(rows.map((row) => row.disk_path).sort())
  expect((await forge.events()).filter((name) => name === 'project.deleted')).toHaveLength(1)
  const again = await projectBy(user, 'q')
  expect(again.id).toBeGreaterThan(fork.id)
})

test('of many personal projects most go after their owner, and all are told of', async () => {
  await using forge = await startForge()
  const { app, administrator: root } = forge
  const ann = await forge.user({ username: 'ann' })
  const { id } = (await ann.post('/projects', { path: 'p0' })).body
  const { id: _id, ...row } = await app.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const more = Array.from({ length: 149 }, (_, n) => ({
    ...row,
    path: `p${n + 1}`,
    name: `p${n + 1}`,
    disk_path: `${row.disk_path}-${n}`,
    runners_token_digest: `${n}`,
  }))
  await app.db.insertInto('projects').values(more).execute()
  const count = async () => (await app.db.selectFrom('projects').select('id').execute()).length

  expect((await root.delete(`/users/${ann.id}`)).status).toBe(204)
  expect((await root.get('/projects')).body).toEqual([])
  await forge.settle()
  expect(await count()).toBe(0)
  expect((await projectEvents(forge)).filter((name) => name === 'project.deleted')).toHaveLength(150)
  const left = await app.db.selectFrom('namespaces').select('full_path').where('full_path', '=', 'ann').execute()
  expect(left).toEqual([])
})
