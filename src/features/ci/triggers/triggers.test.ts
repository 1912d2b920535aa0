import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { startForge } from '../../../forge.ts'

const CONFIG = 'deploy: { script: make deploy }'

async function stage() {
  const forge = await startForge()
  const project = await forge.project()
  await forge.seed(project, { '.gitlab-ci.yml': CONFIG })
  const owner = await forge.user({ username: 'olga' })
  await forge.administrator.post(`/projects/${project.id}/members`, { user_id: owner.id, access_level: 40 })
  const url = `/projects/${project.id}`
  const { body: trigger } = await owner.post(`${url}/triggers`, { description: 'robot' })
  const pipelines = () => forge.app.db.selectFrom('pipelines').selectAll().orderBy('id').execute()
  return {
    forge,
    project,
    owner,
    url,
    trigger,
    pipelines,
    nobody: forge.visitor,
    [Symbol.asyncDispose]: () => forge[Symbol.asyncDispose](),
  }
}

test('the token is shown whole to its owner alone', async () => {
  await using s = await stage()
  const { owner, url, trigger } = s
  const root = s.forge.administrator
  expect(trigger).toMatchObject({ description: 'robot', last_used: null, owner: { username: 'olga' } })
  expect(trigger.token).toMatch(/^[0-9a-f]{30}$/)
  const short = trigger.token.slice(0, 4)
  expect((await owner.get(`${url}/triggers`)).body).toEqual([trigger])
  expect((await root.get(`${url}/triggers`)).body).toEqual([{ ...trigger, token: short }])
  const item = `${url}/triggers/${trigger.id}`
  expect((await root.get(item)).body.token).toBe(short)
  expect((await root.put(item, { description: 'another' })).body).toMatchObject({
    description: 'another',
    token: short,
  })
  expect(await root.post(`${item}/take_ownership`)).toMatchObject({
    status: 200,
    body: { owner: { username: 'root' }, token: trigger.token },
  })
  expect((await owner.get(item)).body.token).toBe(short)
  expect((await owner.delete(item)).status).toBe(204)
  expect(await owner.get(item)).toMatchObject({ status: 404, body: { message: '404 Not found' } })
  expect((await owner.post(`${url}/triggers`)).body.error).toBe('description is missing')
})

test('refuses a description that is too long, and a passed end', async () => {
  await using s = await stage()
  const { owner, url, trigger } = s
  const item = `${url}/triggers/${trigger.id}`
  const description = 'd'.repeat(256)
  const tooLong = { message: { description: ['is too long (maximum is 255 characters)'] } }
  const ended = { message: { expires_at: ['must be in the future'] } }
  for (const [method, path, input, status, body] of [
    ['POST', `${url}/triggers`, { description }, 400, tooLong],
    ['POST', `${url}/triggers`, { description: 'd', expires_at: '2001-01-01' }, 400, ended],
    ['PUT', item, { description }, 400, tooLong],
    ['PUT', `${url}/triggers/999`, { description }, 404, { message: '404 Not found' }],
  ] as const)
    expect(await owner.request(method, path, input)).toMatchObject({ status, body })
  expect((await s.nobody.put(item, { description })).status).toBe(401)
  const stranger = await s.forge.user({ username: 'sam' })
  expect((await stranger.put(item, { description })).status).toBe(404)
  await s.forge.administrator.post(`${url}/members`, { user_id: stranger.id, access_level: 30 })
  expect(await stranger.put(item, { description })).toMatchObject({ status: 403, body: { message: '403 Forbidden' } })
  expect((await owner.get(`${url}/triggers`)).body).toEqual([trigger])
})

test('a project has at most 150 triggers, however many are made at once', async () => {
  await using s = await stage()
  const row = await s.forge.app.db.selectFrom('pipeline_triggers').selectAll().executeTakeFirstOrThrow()
  const { id: _, ...columns } = row
  const rows = Array.from({ length: 148 }, (_, n) => ({ ...columns, token_digest: `digest ${n}` }))
  await s.forge.app.db.insertInto('pipeline_triggers').values(rows).execute()
  const add = () => s.owner.post(`${s.url}/triggers`, { description: 'one more' })
  const refused = {
    status: 400,
    body: { message: { base: ['Maximum number of pipeline triggers (150) exceeded'] } },
  }
  expect(await atOnce(s.forge, add, add, add)).toMatchObject([{ status: 201 }, refused, refused])
  expect(await add()).toMatchObject(refused)
})

test('a trigger token starts a pipeline as its owner', async () => {
  await using s = await stage()
  const { forge, owner, url, trigger, nobody } = s
  const input = { token: trigger.token, ref: 'master', variables: { COLOUR: 'red' }, about: { any: ['thing'] } }
  const started = await nobody.post(`${url}/trigger/pipeline`, input)
  expect(started).toMatchObject({
    status: 201,
    body: { source: 'trigger', ref: 'master', user: { username: 'olga' }, status: 'pending' },
  })
  const rows = await forge.app.db
    .selectFrom('pipeline_variables')
    .selectAll()
    .where('pipeline_id', '=', started.body.id)
    .orderBy('id')
    .execute()
  const given = rows.map(({ key, value_sealed, variable_type }) => [
    key,
    forge.app.vault.open(value_sealed),
    variable_type,
  ])
  const payload = { id: String(s.project.id), ref: 'master', variables: { COLOUR: 'red' }, about: { any: ['thing'] } }
  expect(given.map(([key, , type]) => [key, type])).toEqual([
    ['TRIGGER_PAYLOAD', 'file'],
    ['COLOUR', 'env_var'],
  ])
  expect(JSON.parse(given[0]![1]!)).toEqual(payload)
  expect(given[1]![1]).toBe('red')
  expect((await owner.get(`${url}/triggers/${trigger.id}`)).body.last_used).not.toBeNull()
  expect((await nobody.post(`${url}/ref/master/trigger/pipeline`, { token: trigger.token })).status).toBe(201)
  expect(
    (await nobody.post(`${url}/ref/refs%2Fheads%2Fmaster/trigger/pipeline`, { token: trigger.token })).body,
  ).toMatchObject({
    ref: 'master',
  })
})

test('a broken file is kept as a failed pipeline, and told', async () => {
  await using s = await stage()
  await s.forge.seed(s.project, { '.gitlab-ci.yml': 'deploy: { script: 1, colour: red }' }, { branch: 'broken' })
  const before = (await s.pipelines()).length
  const answer = await s.nobody.post(`${s.url}/trigger/pipeline`, { token: s.trigger.token, ref: 'broken' })
  expect(answer.status).toBe(422)
  expect(answer.body.message.base[0]).toContain('colour')
  expect(await s.pipelines()).toHaveLength(before + 1)
})

test('refuses what starts nothing', async () => {
  await using s = await stage()
  const { forge, owner, url, trigger, nobody } = s
  const { token } = trigger
  const other = await forge.project({ path: 'other' })
  const before = await s.pipelines()
  const start = (input: Record<string, unknown>, path = url) => nobody.post(`${path}/trigger/pipeline`, input)
  const unknown = { status: 404, body: { message: '404 Not Found' } }
  expect(await start({ token: 'f'.repeat(30), ref: 'master' })).toMatchObject(unknown)
  expect(await start({ token, ref: 'master' }, `/projects/${other.id}`)).toMatchObject(unknown)
  expect(await start({ token, ref: 'master' }, '/projects/4711')).toMatchObject(unknown)
  expect((await start({ ref: 'master' })).body.error).toBe('token is missing')
  expect((await start({ token })).body.error).toBe('ref is missing')
  const noMap = { status: 400, body: { message: 'variables needs to be a map of key-valued strings' } }
  for (const variables of [{ A: { b: 'c' } }, { A: 1 }, ['a'], 'a=b'])
    expect(await start({ token, ref: 'master', variables })).toMatchObject(noMap)
  const base = (text: string) => ({ status: 400, body: { message: { base: [text] } } })
  expect(await start({ token, ref: 'nowhere' })).toMatchObject(base('Reference not found'))
  expect(await start({ token, ref: 'refs/keep/1' })).toMatchObject(base('Reference not found'))
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`A${n}`, '']))
  expect(await start({ token, ref: 'nowhere', variables: many(100) })).toMatchObject(base('Reference not found'))
  const exceeded = base('Maximum number of variables (100) exceeded')
  expect(await start({ token, ref: 'nowhere', variables: many(101) })).toMatchObject(exceeded)

  const insufficient = base('Insufficient permissions to create a new pipeline')
  await forge.administrator.put(`${url}/members/${owner.id}`, { access_level: 20 })
  expect(await start({ token, ref: 'master' })).toMatchObject(insufficient)
  await forge.administrator.put(`${url}/members/${owner.id}`, { access_level: 40 })
  await forge.administrator.post(`/users/${owner.id}/block`)
  expect(await start({ token, ref: 'master' })).toMatchObject(insufficient)
  await forge.administrator.post(`/users/${owner.id}/unblock`)
  await forge.app.db.updateTable('pipeline_triggers').set({ expires_at: '2000-01-01T00:00:00.000Z' }).execute()
  expect(await start({ token, ref: 'master' })).toMatchObject(unknown)
  expect(await s.pipelines()).toEqual(before)
})

test('a job starts a pipeline with its own token, while it runs', async () => {
  await using s = await stage()
  const { forge, url, nobody } = s
  const [job] = await forge.app.db.selectFrom('ci_jobs').selectAll().execute()
  const token = forge.app.vault.open(job!.token_sealed!)
  const start = () => nobody.post(`${url}/trigger/pipeline`, { token, ref: 'master' })
  expect((await start()).status).toBe(401)
  await forge.app.db.updateTable('ci_jobs').set({ status: 'running' }).execute()
  expect(await start()).toMatchObject({ status: 201, body: { source: 'pipeline', user: { username: 'root' } } })
  const other = await forge.project({ path: 'other' })
  await forge.seed(other, { '.gitlab-ci.yml': CONFIG })
  const abroad = () => nobody.post(`/projects/${other.id}/trigger/pipeline`, { token, ref: 'master' })
  const scope = `/projects/${other.id}/job_token_scope`
  const limit = async (enabled: boolean) =>
    expect((await forge.administrator.request('PATCH', scope, { enabled })).status).toBe(204)
  const before = await s.pipelines()
  // Open access to all jobs is for reading and not enough here.
  for (const enabled of [false, true]) {
    await limit(enabled)
    expect((await abroad()).status).toBe(404)
  }
  expect(await s.pipelines()).toEqual(before)
  const named = { target_project_id: s.project.id }
  expect((await forge.administrator.post(`${scope}/allowlist`, named)).status).toBe(201)
  for (const enabled of [true, false]) {
    await limit(enabled)
    expect((await abroad()).status).toBe(201)
  }
})

test('a page of triggers costs as many queries for many as for few', async () => {
  await using s = await stage()
  const list = () => s.owner.get(`${s.url}/triggers`, { per_page: 100 })
  const few = await s.forge.queries(list)
  for (const one of [s.owner, s.forge.administrator, s.owner]) await one.post(`${s.url}/triggers`, { description: 'x' })
  expect(await s.forge.queries(list)).toBe(few)
  expect((await list()).body).toHaveLength(4)
})
