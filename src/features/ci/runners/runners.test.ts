import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, info, registerRunner, type TestRunner } from '../../../../test/runners.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

let forge: TestForge
let owner: Person
let stranger: Person
let group: { id: number }
let project: { id: number; runners_token: string }
let shared: TestRunner
let ofGroup: TestRunner
let own: TestRunner
let made: TestRunner

const DAYS = 24 * 3_600_000

beforeAll(async () => {
  forge = await startForge()
  ;[owner, stranger] = [await forge.user(), await forge.user()]
  group = await forge.group({}, owner)
  project = (await owner.post('/projects', { path: 'p', namespace_id: group.id })).body
  // Only a runner that has requested a job has a contact.
  const contactedAt = async (runner: TestRunner) => {
    expect((await forge.administrator.get(`/runners/${runner.id}`)).body).toMatchObject({ contacted_at: null })
    await ask(forge, 'POST', '/runners/verify', { json: { token: runner.token } })
    return runner
  }
  shared = await contactedAt(await registerRunner(forge, { tag_list: 'a,b', description: 'shared' }))
  forge.clock.advance(8 * DAYS)
  const { body } = await owner.post(`/groups/${group.id}/runners/reset_registration_token`)
  ofGroup = await contactedAt(
    await registerRunner(forge, { tag_list: 'a', info: { ...info, version: '17.2.0' } }, body.token),
  )
  forge.clock.advance(3 * 3_600_000)
  own = await contactedAt(await registerRunner(forge, { paused: true, locked: true }, project.runners_token))
  made = {
    id: (await owner.post('/user/runners', { runner_type: 'project_type', project_id: project.id })).body.id,
  } as never
})
afterAll(() => forge.close())

const idsOf = async (who: Person, path: string, query: object = {}) => {
  const { status, body } = await who.get(path, query as never)
  return status === 200 ? body.map(({ id }: { id: number }) => id) : [status, body]
}

test('each list has the runners of its place', async () => {
  const root = forge.administrator
  expect(await idsOf(root, '/runners/all')).toEqual([made.id, own.id, ofGroup.id, shared.id])
  expect(await idsOf(owner, '/runners')).toEqual([made.id, own.id, ofGroup.id])
  expect(await idsOf(stranger, '/runners')).toEqual([])
  expect(await idsOf(owner, `/projects/${project.id}/runners`)).toEqual([made.id, own.id, ofGroup.id, shared.id])
  expect(await idsOf(owner, `/groups/${group.id}/runners`)).toEqual([ofGroup.id])
  const { body } = await owner.post('/groups', { name: 'sub', path: 'sub', parent_id: group.id })
  expect(await idsOf(owner, `/groups/${body.id}/runners`)).toEqual([ofGroup.id])
})

test('filters, alone and together', async () => {
  const all = (query: object) => idsOf(forge.administrator, '/runners/all', query)
  const [S, G, O, M] = [shared.id, ofGroup.id, own.id, made.id]
  const table: readonly (readonly [object, readonly number[]])[] = [
    [{ scope: 'active' }, [M, G, S]],
    [{ scope: 'paused' }, [O]],
    [{ paused: true }, [O]],
    [{ paused: false }, [M, G, S]],
    [{ scope: 'online' }, [O]],
    [{ status: 'online' }, [O]],
    [{ status: 'offline' }, [G, S]],
    [{ status: 'stale' }, [S]],
    [{ status: 'never_contacted' }, [M]],
    [{ scope: 'shared' }, [S]],
    [{ scope: 'specific' }, [M, O, G]],
    [{ scope: 'group_type' }, [G]],
    [{ type: 'instance_type' }, [S]],
    [{ type: 'group_type' }, [G]],
    [{ type: 'project_type', status: 'paused' }, [O]],
    [{ tag_list: 'a' }, [G, S]],
    [{ tag_list: 'a,b' }, [S]],
    [{ tag_list: 'c' }, []],
    [{ version_prefix: '17.' }, [G]],
    [{ version_prefix: '1' }, [O, G, S]],
    [{ version_prefix: '%' }, []],
    [{ type: 'group_type', tag_list: 'b' }, []],
  ]
  for (const [query, ids] of table) expect([query, await all(query)]).toEqual([query, ids])

  const refused = (error: string) => [400, { error, message: error }]
  expect(await all({ scope: 'other' })).toEqual(refused('Scope contains invalid value'))
  const mine = (scope: string) => idsOf(owner, '/runners', { scope })
  expect([await mine('specific'), await mine('shared'), await mine('online')]).toEqual([[M, O, G], [], [O]])
  expect(await mine('other')).toEqual(refused('Scope contains invalid value'))
  expect(await all({ status: 'shared' })).toEqual(refused('status does not have a valid value'))
  expect(await all({ type: 'other' })).toEqual(refused('type does not have a valid value'))
})

test('what is shown of a runner, and to whom', async () => {
  const shown = (await owner.get(`/runners/${ofGroup.id}`)).body
  expect(shown).toEqual({
    id: ofGroup.id,
    description: null,
    ip_address: expect.any(String),
    active: true,
    paused: false,
    is_shared: false,
    runner_type: 'group_type',
    name: 'test',
    online: false,
    status: 'offline',
    tag_list: ['a'],
    run_untagged: true,
    locked: false,
    access_level: 'not_protected',
    maximum_timeout: null,
    maintenance_note: null,
    version: '17.2.0',
    revision: null,
    platform: null,
    architecture: null,
    contacted_at: expect.any(String),
    projects: [],
    groups: [{ id: group.id, name: expect.any(String), web_url: expect.any(String) }],
  })
  expect((await owner.get(`/runners/${own.id}`)).body).toMatchObject({ projects: [{ id: project.id }], locked: true })
  expect((await stranger.get(`/runners/${shared.id}`)).body).toMatchObject({ id: shared.id, status: 'stale' })
  expect(await stranger.get(`/runners/${own.id}`)).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden - No access granted' },
  })
  expect((await owner.get('/runners/999')).body).toEqual({ message: '404 Runner Not Found' })

  await ask(forge, 'POST', '/runners/verify', { json: { token: own.token, system_id: 's_1', info } })
  expect((await owner.get(`/runners/${own.id}/managers`)).body).toMatchObject([
    { system_id: 's_1', version: '1.0.0', status: 'online' },
  ])
  expect((await stranger.get(`/runners/${own.id}/managers`)).status).toBe(403)
  expect((await owner.get(`/runners/${shared.id}/managers`)).status).toBe(403)
})

test('refusals change nothing', async () => {
  const before = await forge.app.db.selectFrom('runners').selectAll().execute()
  const links = await forge.app.db.selectFrom('runner_projects').selectAll().execute()
  const { body: other } = await owner.post('/projects', { path: 'other', namespace_id: group.id })
  const bad = (error: unknown) => ({ error, message: error })
  const no = (why: string) => ({ message: `403 Forbidden - ${why}` })
  const put = (who: Person, id: number, request: Record<string, string | number | boolean>) =>
    who.put(`/runners/${id}`, request)
  const table = [
    [await put(owner, shared.id, { description: 'x' }), 403, no('Runner is shared')],
    [await put(stranger, own.id, { description: 'x' }), 403, no('No access granted')],
    [
      await put(owner, made.id, { run_untagged: false }),
      400,
      { message: { tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] } },
    ],
    [
      await put(owner, made.id, { maximum_timeout: 5 }),
      400,
      { message: { maximum_timeout: ['needs to be at least 10 minutes'] } },
    ],
    [await put(owner, made.id, { access_level: 'all' }), 400, bad('access_level does not have a valid value')],
    [
      await put(owner, made.id, {}),
      400,
      bad(expect.stringMatching(/are missing, at least one parameter must be provided$/)),
    ],
    [await owner.delete(`/runners/${shared.id}`), 403, no('Runner is shared')],
    [await stranger.delete(`/runners/${own.id}`), 403, no('No access granted')],
    [
      await owner.post(`/projects/${project.id}/runners`, { runner_id: made.id }),
      409,
      { message: 'Runner was already enabled for this project' },
    ],
    [await owner.post(`/projects/${other.id}/runners`, { runner_id: own.id }), 403, no('Runner is locked')],
    [await owner.post(`/projects/${other.id}/runners`, { runner_id: shared.id }), 403, no('Runner is shared')],
    [await owner.post(`/projects/${other.id}/runners`, { runner_id: ofGroup.id }), 403, no('Runner is a group runner')],
    [await owner.post(`/projects/${other.id}/runners`, { runner_id: 999 }), 404, { message: '404 Runner Not Found' }],
    [
      await owner.delete(`/projects/${project.id}/runners/${made.id}`),
      403,
      no('Only one project associated with the runner. Please remove the runner instead'),
    ],
    [await owner.delete(`/projects/${other.id}/runners/${made.id}`), 404, { message: '404 Runner Not Found' }],
    [await owner.post('/user/runners', { runner_type: 'instance_type' }), 403, { message: '403 Forbidden' }],
    [await owner.post('/user/runners', { runner_type: 'project_type' }), 400, bad('project_id is missing')],
    [await owner.post('/user/runners', { runner_type: 'group_type' }), 400, bad('group_id is missing')],
    [
      await stranger.post('/user/runners', { runner_type: 'group_type', group_id: group.id }),
      403,
      { message: '403 Forbidden' },
    ],
    [
      await owner.post('/user/runners', {}),
      400,
      { error: 'runner_type is missing', message: '400 (Bad request) runner_type not given' },
    ],
    [await stranger.post(`/runners/${own.id}/reset_authentication_token`), 403, no('No access granted')],
    [await owner.post(`/runners/${shared.id}/reset_authentication_token`), 403, no('Runner is shared')],
    [await owner.post('/runners/reset_registration_token'), 403, { message: '403 Forbidden' }],
  ] as const
  for (const [{ status, body }, code, message] of table) expect([status, body]).toEqual([code, message])
  expect(await forge.app.db.selectFrom('runners').selectAll().execute()).toEqual(before)
  expect(await forge.app.db.selectFrom('runner_projects').selectAll().execute()).toEqual(links)
})

test('a runner in two projects is deleted by administrators, and taken from one by its maintainers', async () => {
  const { body: other } = await owner.post('/projects', { path: 'second', namespace_id: group.id })
  const { body: runner } = await owner.post('/user/runners', {
    runner_type: 'project_type',
    project_id: project.id,
    description: 'two',
    tag_list: 'x, y ,x',
    run_untagged: false,
    access_level: 'ref_protected',
    maximum_timeout: 900,
    paused: true,
  })
  expect(runner).toEqual({ id: expect.any(Number), token: expect.stringMatching(/^glrt-/), token_expires_at: null })
  expect((await owner.get(`/runners/${runner.id}`)).body).toMatchObject({
    description: 'two',
    tag_list: ['x', 'y'],
    run_untagged: false,
    access_level: 'ref_protected',
    maximum_timeout: 900,
    paused: true,
  })
  expect((await owner.post(`/projects/${other.id}/runners`, { runner_id: runner.id })).status).toBe(201)
  expect(await owner.delete(`/runners/${runner.id}`)).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden - Runner associated with more than one project' },
  })
  expect((await owner.delete(`/projects/${other.id}/runners/${runner.id}`)).status).toBe(204)
  expect((await owner.delete(`/runners/${runner.id}`)).status).toBe(204)
  expect((await owner.get(`/runners/${runner.id}`)).status).toBe(404)
})

test('a runner belongs to the maintainers of its first project; who uses it besides only sees it', async () => {
  const eve = await forge.user()
  // The older of the two projects.
  const { body: hers } = await eve.post('/projects', { path: 'hers' })
  const { body: theirs } = await owner.post('/projects', { path: 'theirs', namespace_id: group.id })
  const input = { runner_type: 'project_type', project_id: theirs.id }
  const { body: runner } = await owner.post('/user/runners', input)
  await owner.post(`/projects/${theirs.id}/members`, { user_id: eve.id, access_level: 40 })
  expect((await eve.post(`/projects/${hers.id}/runners`, { runner_id: runner.id })).status).toBe(201)
  expect((await eve.put(`/runners/${runner.id}`, { description: 'while a member' })).status).toBe(200)
  await owner.delete(`/projects/${theirs.id}/members/${eve.id}`)

  const rows = () => forge.app.db.selectFrom('runners').selectAll().where('id', '=', runner.id).execute()
  const links = () =>
    forge.app.db.selectFrom('runner_projects').selectAll().where('runner_id', '=', runner.id).execute()
  const before = [await rows(), await links()]
  const { body: third } = await eve.post('/projects', { path: 'third' })
  const no = { status: 403, body: { message: '403 Forbidden - No access granted' } }
  expect(await eve.put(`/runners/${runner.id}`, { description: 'mine' })).toMatchObject(no)
  expect(await eve.post(`/runners/${runner.id}/reset_authentication_token`)).toMatchObject(no)
  expect(await eve.post(`/projects/${third.id}/runners`, { runner_id: runner.id })).toMatchObject(no)
  expect(await eve.delete(`/runners/${runner.id}`)).toMatchObject(no)
  expect([await rows(), await links()]).toEqual(before)
  for (const part of ['', '/jobs', '/managers'])
    expect((await eve.get(`/runners/${runner.id}${part}`)).status, part).toBe(200)
  expect(await idsOf(eve, '/runners')).toEqual([runner.id])

  // If the first project disables the runner, the next project owns it.
  expect((await owner.put(`/runners/${runner.id}`, { description: 'ours' })).status).toBe(200)
  expect((await owner.delete(`/projects/${theirs.id}/runners/${runner.id}`)).status).toBe(204)
  expect((await eve.delete(`/runners/${runner.id}`)).status).toBe(204)
})

test('tokens that are made anew open instead of the old', async () => {
  const verify = async (token: string) => (await ask(forge, 'POST', '/runners/verify', { json: { token } })).status
  const { body } = await owner.post('/user/runners', { runner_type: 'group_type', group_id: group.id })
  const { status, body: fresh } = await owner.post(`/runners/${body.id}/reset_authentication_token`)
  expect([status, fresh]).toEqual([201, { token: expect.stringMatching(/^glrt-/), token_expires_at: null }])
  expect([await verify(body.token), await verify(fresh.token)]).toEqual([403, 200])
  const itself = await ask(forge, 'POST', '/runners/reset_authentication_token', { json: { token: fresh.token } })
  expect([await verify(fresh.token), await verify(itself.body.token)]).toEqual([403, 200])

  const register = async (token: string) =>
    (await ask(forge, 'POST', '/runners', { json: { token, info, description: 'by token' } })).status
  for (const [who, path] of [
    [forge.administrator, ''],
    [owner, `/groups/${group.id}`],
    [owner, `/projects/${project.id}`],
  ] as const) {
    const reset = async () => (await who.post(`${path}/runners/reset_registration_token`)).body.token as string
    const [first, second] = [await reset(), await reset()]
    expect([path, await register(first), await register(second)]).toEqual([path, 403, 201])
  }
  expect(await register(project.runners_token)).toBe(403)
})

test('the jobs of a runner, by status and manager, to who decides about it', async () => {
  const hidden = await stranger.post('/projects', { path: 'hidden', visibility: 'private' })
  const runner = await registerRunner(forge, { tag_list: 'z' })
  for (const [at, as] of [
    [project.id, owner],
    [hidden.body.id, stranger],
  ] as const) {
    const { body } = await as.get(`/projects/${at}`)
    await forge.seed(body, { '.gitlab-ci.yml': 'a: { script: x, tags: [z] }\nb: { script: x, tags: [z] }\n' }, { as })
  }
  const jobs: { id: number; token: string }[] = []
  for (let n = 0; n < 4; n++) jobs.push((await runner.request({ system_id: `s_${n % 2}` })).body)
  await runner.put(jobs[0]!, { state: 'success' })
  const ids = jobs.map(({ id }) => id)
  const list = (query: object) => idsOf(forge.administrator, `/runners/${runner.id}/jobs`, query)
  expect(await list({})).toEqual(ids.toSorted((a, b) => b - a))
  expect(await list({ sort: 'asc', order_by: 'id' })).toEqual(ids.toSorted((a, b) => a - b))
  expect(await list({ status: 'success' })).toEqual([ids[0]])
  expect(await list({ system_id: 's_1', sort: 'asc' })).toEqual([ids[1]!, ids[3]!].toSorted((a, b) => a - b))
  expect(await list({ system_id: 'other' })).toEqual([])
  expect(await list({ status: 'pending' })).toEqual([400, expect.anything()])
  expect((await owner.get(`/runners/${runner.id}/jobs`)).status).toBe(403)
})
