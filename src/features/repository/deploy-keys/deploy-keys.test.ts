import { expect, test } from 'vitest'
import { whileLocked } from '../../../../test/at-once.ts'
import { sshKey } from '../../../../test/samples.ts'
import { callersOf, costOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { MINUTE } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { deployKeyRight } from './queries.ts'
import { enableDeployKey } from './service.ts'

const headers: unknown = expect.anything()
const taken = { message: { fingerprint: ['has already been taken'] } }

const rowsOf = ({ app }: TestForge) => app.db.selectFrom('keys').selectAll().orderBy('id').execute()

test('a key is added whole, and belongs to its project and its maker', async () => {
  await using forge = await startForge()
  const { id, url, owner } = await openSource(forge, 'projects')
  const key = sshKey()
  const events = await forge.events()
  const made = await owner.post(`${url}/deploy_keys`, { title: 'robot', key: `\n ${key} \n`, can_push: true })
  expect(made).toEqual({
    status: 201,
    headers,
    body: {
      id: expect.any(Number),
      title: 'robot',
      key,
      fingerprint: expect.stringMatching(/^([0-9a-f]{2}:){15}[0-9a-f]{2}$/),
      fingerprint_sha256: expect.stringMatching(/^SHA256:[\w+/]{43}$/),
      created_at: expect.stringMatching(/Z$/),
      expires_at: null,
      last_used_at: null,
      usage_type: 'auth_and_signing',
      can_push: true,
    },
  })
  expect((await owner.get(`${url}/deploy_keys/${made.body.id}`)).body).toEqual(made.body)
  expect((await owner.get(`${url}/deploy_keys`)).body).toEqual([made.body])
  expect(await rowsOf(forge)).toMatchObject([{ kind: 'deploy', user_id: null, creator_id: owner.id, public: false }])

  const lookedUp = (await forge.administrator.get(`/keys/${made.body.id}`)).body
  expect(lookedUp).toMatchObject({ id: made.body.id, key, user: null })
  const found = await forge.administrator.get('/keys', { fingerprint: made.body.fingerprint_sha256 })
  const link = { id: expect.any(Number), created_at: expect.any(String), updated_at: expect.any(String) }
  expect(found.body).toEqual({
    ...lookedUp,
    deploy_keys_projects: [{ ...link, deploy_key_id: made.body.id, project_id: id, can_push: true }],
  })
  const { status, body } = await owner.post(`${url}/deploy_keys`, {
    title: 'short-lived',
    key: sshKey(),
    expires_at: '2999-1-2',
  })
  expect([status, body.can_push, body.expires_at]).toEqual([201, false, '2999-01-02T00:00:00.000Z'])
  expect((await owner.get('/user/keys')).body).toEqual([])
  expect(await forge.events()).toEqual([...events, 'deploy_key.created', 'deploy_key.created'])
})

test('a key known already is enabled as it is, by those who may know of it', async () => {
  await using forge = await startForge()
  const first = await openSource(forge, 'projects')
  const second = await openSource(forge, 'projects')
  const request = { title: 'robot', key: sshKey() }
  const { body: key } = await first.owner.post(`${first.url}/deploy_keys`, { ...request, can_push: true })

  // The same key again on the same project: the record stays unchanged, whatever the other fields are.
  const again = { title: '', key: `${request.key} another comment`, can_push: false }
  expect(await first.owner.post(`${first.url}/deploy_keys`, again)).toMatchObject({ status: 201, body: key })
  // Neither a user without access to the first project nor a developer of it learns the name of the key.
  expect(await second.owner.post(`${second.url}/deploy_keys`, request)).toEqual({ status: 400, body: taken, headers })
  await first.owner.post(`${first.url}/members`, { user_id: second.owner.id, access_level: 30 })
  expect((await second.owner.post(`${second.url}/deploy_keys`, request)).body).toEqual(taken)
  const enable = `${second.url}/deploy_keys/${key.id}/enable`
  const hidden = { status: 404, body: { message: '404 Deploy Key Not Found' }, headers }
  expect(await second.owner.post(enable)).toEqual(hidden)
  expect((await second.owner.get(`${second.url}/deploy_keys`)).body).toEqual([])

  await first.owner.put(`${first.url}/members/${second.owner.id}`, { access_level: 40 })
  const linked = await second.owner.post(`${second.url}/deploy_keys`, { ...request, title: 'mine' })
  expect([linked.status, linked.body]).toEqual([201, { ...key, can_push: false }])
  // Each project has its own push permission.
  expect((await first.owner.get(`${first.url}/deploy_keys/${key.id}`)).body.can_push).toBe(true)
  await second.owner.delete(`${second.url}/deploy_keys/${key.id}`)
  for (let n = 0; n < 2; n++) {
    expect(await second.owner.post(enable)).toMatchObject({ status: 201, body: { ...key, can_push: false } })
  }
  expect(await second.owner.post(`${second.url}/deploy_keys/999999/enable`)).toEqual(hidden)
  expect(await rowsOf(forge)).toHaveLength(1)
})

test('a key is either a person’s or a project’s', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const [personal, deploy] = [sshKey(), sshKey()]
  const { body } = await owner.post('/user/keys', { title: 'laptop', key: personal })
  await owner.post(`${url}/deploy_keys`, { title: 'robot', key: deploy })
  for (const path of [`${url}/deploy_keys`, '/deploy_keys']) {
    expect(await forge.administrator.post(path, { title: 'x', key: personal })).toEqual({
      status: 400,
      body: taken,
      headers,
    })
  }
  expect((await owner.post('/user/keys', { title: 'x', key: deploy })).status).toBe(400)
  expect((await owner.post(`${url}/deploy_keys/${body.id}/enable`)).status).toBe(404)
  expect(await rowsOf(forge)).toHaveLength(2)
})

test('refuses what is no key', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const key = sshKey()
  const missing = (name: string) => ({ message: `400 (Bad request) ${name} not given`, error: `${name} is missing` })
  const refusals: [Record<string, unknown>, unknown][] = [
    [{ title: 'x' }, missing('key')],
    [{ key }, missing('title')],
    [{ title: ' ', key }, { message: { title: ["can't be blank"] } }],
    [{ title: 'x'.repeat(256), key }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    [
      { title: 'x', key: 'garbage' },
      {
        message: {
          key: ['is invalid', 'type is forbidden. Must be RSA, DSA, ECDSA, or ED25519'],
          fingerprint: ['cannot be generated'],
        },
      },
    ],
    [{ title: 'x', key, expires_at: '2001-01-01' }, { message: { key: ['has expired'] } }],
    [
      { title: 'x', key, can_push: 'perhaps' },
      { message: 'can_push is invalid', error: 'can_push is invalid' },
    ],
  ]
  for (const [input, body] of refusals) {
    const what = JSON.stringify(input).slice(0, 60)
    expect(await owner.post(`${url}/deploy_keys`, input), what).toEqual({ status: 400, body, headers })
  }
  for (const [input, body] of refusals.slice(0, -1))
    expect(await forge.administrator.post('/deploy_keys', input)).toEqual({ status: 400, body, headers })
  await forge.administrator.put('/application/settings', { ed25519_key_restriction: -1 })
  expect((await owner.post(`${url}/deploy_keys`, { title: 'x', key })).body.message.key).toEqual([
    'type is forbidden. Must be RSA, DSA, or ECDSA',
  ])
  expect(await rowsOf(forge)).toEqual([])
})

test('a change names the key anew or lets it push here', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const { body: key } = await owner.post(`${url}/deploy_keys`, { title: 'robot', key: sshKey() })
  const path = `${url}/deploy_keys/${key.id}`
  expect(await owner.put(path, { can_push: true })).toEqual({ status: 200, body: { ...key, can_push: true }, headers })
  expect((await owner.put(path, { title: 'engine' })).body).toEqual({ ...key, title: 'engine', can_push: true })
  const nothing = 'title, can_push are missing, at least one parameter must be provided'
  expect(await owner.put(path, {})).toEqual({ status: 400, body: { message: nothing, error: nothing }, headers })
  expect((await owner.put(path, { title: '' })).body).toEqual({ message: { title: ["can't be blank"] } })

  // Only administrators may rename a public key.
  const { body: open } = await forge.administrator.post('/deploy_keys', { title: 'everybody’s', key: sshKey() })
  await owner.post(`${url}/deploy_keys/${open.id}/enable`)
  const shared = `${url}/deploy_keys/${open.id}`
  const refused = await owner.put(shared, { title: 'mine', can_push: true })
  expect(refused).toEqual({ status: 403, body: { message: '403 Forbidden' }, headers })
  expect((await owner.put(shared, { title: 'everybody’s', can_push: true })).body).toMatchObject({
    title: 'everybody’s',
    can_push: true,
  })
  expect((await forge.administrator.put(shared, { title: 'all’s' })).body.title).toBe('all’s')
})

test('a private key goes with its last project, a public one stays', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const { body: key } = await owner.post(`${url}/deploy_keys`, { title: 'robot', key: sshKey() })
  const { body: open } = await forge.administrator.post('/deploy_keys', { title: 'open', key: sshKey() })
  await owner.post(`${url}/deploy_keys/${open.id}/enable`)
  const path = `${url}/deploy_keys/${key.id}`

  const long = { 'If-Unmodified-Since': new Date(Date.now() - 10 * MINUTE).toUTCString() }
  expect(await owner.delete(path, undefined, long)).toMatchObject({
    status: 412,
    body: { message: '412 Precondition Failed' },
  })
  expect((await owner.get(path)).status).toBe(200)
  expect(await owner.delete(path)).toMatchObject({ status: 204, body: '' })
  expect(await owner.delete(path)).toMatchObject({ status: 404, body: { message: '404 Deploy Key Not Found' } })
  expect(await owner.get(path)).toMatchObject({ status: 404, body: { message: '404 Not found' } })
  expect(await owner.put(path, { title: 'x' })).toMatchObject({ status: 404, body: { message: '404 Not found' } })
  expect((await owner.delete(`${url}/deploy_keys/${open.id}`)).status).toBe(204)
  expect((await rowsOf(forge)).map(({ id }) => id)).toEqual([open.id])
  expect((await forge.administrator.get(`/keys/${key.id}`)).status).toBe(404)
})

test('a project that is gone releases its keys', async () => {
  await using forge = await startForge()
  const { url, owner, group } = await openSource(forge, 'projects')
  const other = (await owner.post('/projects', { name: 'other', namespace_id: group.id })).body
  const request = { title: 'robot', key: sshKey() }
  await owner.post(`${url}/deploy_keys`, request)
  const { body: both } = await owner.post(`${url}/deploy_keys`, { title: 'both', key: sshKey() })
  await owner.post(`/projects/${other.id}/deploy_keys/${both.id}/enable`)
  await owner.delete(url)
  await forge.settle()
  expect((await rowsOf(forge)).map(({ id }) => id)).toEqual([both.id])
  const somebody = await openSource(forge, 'projects')
  expect((await somebody.owner.post(`${somebody.url}/deploy_keys`, request)).status).toBe(201)
})

test('the list of all keys tells where each is enabled', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const { url, owner, id } = await openSource(forge, 'projects')
  const own = (await owner.post('/projects', { name: 'own', description: 'Mine' })).body
  const { body: key } = await owner.post(`${url}/deploy_keys`, { title: 'robot', key: sshKey(), can_push: true })
  await owner.post(`/projects/${own.id}/deploy_keys/${key.id}/enable`)
  const made = await administrator.post('/deploy_keys', { title: 'open', key: sshKey(), expires_at: '2999-01-02' })
  expect(made).toMatchObject({ status: 201, body: { can_push: false, expires_at: '2999-01-02T00:00:00.000Z' } })

  const identity = async (path: string) => {
    const { body } = await owner.get(path)
    const names = ['id', 'description', 'name', 'name_with_namespace', 'path', 'path_with_namespace', 'created_at']
    return Object.fromEntries(names.map((name) => [name, body[name]]))
  }
  expect((await administrator.get('/deploy_keys')).body).toEqual([
    { ...made.body, projects_with_write_access: [], projects_with_readonly_access: [] },
    {
      ...key,
      projects_with_write_access: [await identity(`/projects/${id}`)],
      projects_with_readonly_access: [await identity(`/projects/${own.id}`)],
    },
  ])
  expect((await administrator.get('/deploy_keys', { public: true })).body).toEqual([made.body])
  expect((await administrator.get('/deploy_keys', { public: false })).body).toHaveLength(2)
})

test('lists cost the same however long they are', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const add = () => owner.post(`${url}/deploy_keys`, { title: 'robot', key: sshKey() })
  const lists = [() => owner.get(`${url}/deploy_keys`), () => forge.administrator.get('/deploy_keys')]
  const costs = async () => [await costOf(forge, lists[0]!), await costOf(forge, lists[1]!)]
  for (let n = 0; n < 2; n++) await add()
  const few = await costs()
  for (let n = 0; n < 10; n++) await add()
  expect(await costs()).toEqual(few)
  for (const path of [`${url}/deploy_keys`, '/deploy_keys']) {
    const { body, headers } = await forge.administrator.get(path, { per_page: 5, page: 2 })
    expect(body).toHaveLength(5)
    expect(['x-total', 'x-next-page', 'x-prev-page'].map((name) => headers.get(name))).toEqual(['12', '3', '1'])
  }
})

test('masters have the keys of a project, administrators all, before anything else is looked at', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects')
  const keys = `${source.url}/deploy_keys`
  const { body: key } = await source.owner.post(keys, { title: 'robot', key: sshKey() })
  const callers = await callersOf(forge, source)
  const inside: [string, string, Record<string, unknown> | undefined, number][] = [
    ['GET', keys, undefined, 200],
    ['GET', `${keys}/${key.id}`, undefined, 200],
    ['GET', `${keys}/first`, undefined, 400],
    ['GET', `${keys}/999999`, undefined, 404],
    ['POST', keys, {}, 400],
    ['PUT', `${keys}/first`, {}, 400],
    ['PUT', `${keys}/${key.id}`, { can_push: true }, 200],
    ['POST', `${keys}/${key.id}/enable`, undefined, 201],
    ['DELETE', `${keys}/999999`, undefined, 404],
  ]
  for (const [method, path, input, ok] of inside) {
    const statuses = await statusesOf(callers, (caller) => caller.request(method, path, input))
    expect(statuses, `${method} ${path}`).toEqual([401, 404, 404, 403, 403, 403, ok, ok, ok, 401])
  }
  for (const [method, ok] of [
    ['GET', 200],
    ['POST', 400],
  ] as const) {
    const statuses = await statusesOf(callers, (caller) => caller.request(method, '/deploy_keys'))
    expect(statuses, method).toEqual([401, 403, 403, 403, 403, 403, 403, 403, ok, 401])
  }
})

test('the same key added by many at once is one key', async () => {
  await using forge = await startForge()
  const { url, owner, group } = await openSource(forge, 'projects')
  const other = (await owner.post('/projects', { name: 'other', namespace_id: group.id })).body
  const request = { title: 'robot', key: sshKey() }
  const paths = [url, url, `/projects/${other.id}`, `/projects/${other.id}`]
  const answers = await Promise.all(paths.map((path) => owner.post(`${path}/deploy_keys`, request)))
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
  expect(await rowsOf(forge)).toHaveLength(1)
})

test('a key that another project is enabling stays when its last project lets go', async () => {
  await using forge = await startForge()
  const { url, owner, group } = await openSource(forge, 'projects')
  const { body: other } = await owner.post('/projects', { name: 'other', namespace_id: group.id })
  const { body: key } = await owner.post(`${url}/deploy_keys`, { title: 'robot', key: sshKey() })
  const { db } = forge.app
  const actor = (await findUser(db, owner.id))!
  const project = (await findProjectById(db, other.id))!
  const removed = await whileLocked(
    forge,
    (inside) => enableDeployKey(inside, actor, project, key.id),
    () => owner.delete(`${url}/deploy_keys/${key.id}`),
  )
  expect(removed.status).toBe(204)
  expect((await owner.get(`/projects/${other.id}/deploy_keys`)).body).toMatchObject([{ id: key.id }])
})

test('what the doors to git ask: what a key may do where', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const { url, owner, id } = await openSource(forge, 'projects')
  const { body: key } = await owner.post(`${url}/deploy_keys`, { title: 'robot', key: sshKey() })
  expect(await deployKeyRight(db, key.id, id)).toBe('read')
  await owner.put(`${url}/deploy_keys/${key.id}`, { can_push: true })
  expect(await deployKeyRight(db, key.id, id)).toBe('write')
  expect(await deployKeyRight(db, key.id, id + 1)).toBeNull()
})
