import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { GROUP_SWITCHES, HOOK_SWITCHES, type Hook } from './model.ts'
import { openPairs } from './pairs.ts'
import { isSigningToken } from './signing.ts'

const TARGET = 'https://ci.example.com/hook'
const headers: unknown = expect.anything()
const error = (text: string) => ({ error: text })

let forge: TestForge
let owner: Person
let places: { kind: string; hooks: string; by: Person }[]
beforeAll(async () => {
  forge = await startForge()
  owner = await forge.user()
  const group = await forge.group({}, owner)
  const project = await forge.project({ namespace_id: group.id }, owner)
  places = [
    { kind: 'project', hooks: `/projects/${project.id}/hooks`, by: owner },
    { kind: 'group', hooks: `/groups/${group.id}/hooks`, by: owner },
    { kind: 'instance', hooks: '/hooks', by: forge.administrator },
  ]
})
afterAll(() => forge[Symbol.asyncDispose]())

const rowOf = (id: number): Promise<Hook> =>
  forge.app.db.selectFrom('hooks').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

const WHOLE = {
  url: TARGET,
  name: null,
  description: null,
  enable_ssl_verification: true,
  push_events_branch_filter: '',
  branch_filter_strategy: 'wildcard',
  custom_webhook_template: null,
  url_variables: [],
  custom_headers: [],
  alert_status: 'executable',
  disabled_until: null,
  id: expect.any(Number),
  created_at: expect.any(String),
}
const off = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, false]))

test('a group has switches of its own, an instance a few', async () => {
  const [, group, instance] = places as [unknown, (typeof places)[0], (typeof places)[0]]
  const made = await group.by.post(group.hooks, { url: TARGET, member_events: true })
  expect(made).toEqual({
    status: 201,
    headers,
    body: {
      ...WHOLE,
      ...off(HOOK_SWITCHES),
      ...off(GROUP_SWITCHES),
      group_id: expect.any(Number),
      push_events: true,
      member_events: true,
      repository_update_events: false,
    },
  })
  expect((await group.by.get(group.hooks)).body).toEqual([made.body])
  const created = await instance.by.post(instance.hooks, { url: 'http://127.0.0.1:8080/', issues_events: true })
  expect(created.body).toEqual({
    ...WHOLE,
    url: 'http://127.0.0.1:8080/',
    ...off(['push_events', 'tag_push_events', 'merge_requests_events']),
    repository_update_events: true,
  })
  const change = { repository_update_events: false, merge_requests_events: true }
  expect((await instance.by.put(`${instance.hooks}/${created.body.id}`, change)).body).toEqual({
    ...created.body,
    ...change,
  })
  expect((await instance.by.get(`${instance.hooks}/${made.body.id}`)).status).toBe(404)

  for (const { hooks, by, id, gone } of [
    { ...group, id: made.body.id, gone: '404 Not found' },
    { ...instance, id: created.body.id, gone: '404 System hook Not Found' },
  ]) {
    expect(await by.delete(`${hooks}/${id}`)).toMatchObject({ status: 204, body: '' })
    expect(await by.delete(`${hooks}/${id}`)).toMatchObject({ status: 404, body: { message: gone } })
    expect((await by.get(hooks)).body).toEqual([])
  }
})

test('a group has fifty hooks at most', async () => {
  const { hooks, by } = places[1]!
  const { body: first } = await by.post(hooks, { url: TARGET })
  const { id: _, ...row } = await rowOf(first.id)
  await forge.app.db
    .insertInto('hooks')
    .values(Array.from({ length: 49 }, () => row))
    .execute()
  expect(await by.post(hooks, { url: TARGET })).toMatchObject({
    status: 422,
    body: { message: 'Maximum number of group hooks (50) exceeded' },
  })
  expect((await by.get(hooks)).headers.get('x-total')).toBe('50')
  await forge.app.db.deleteFrom('hooks').where('group_id', '=', row.group_id).execute()
})

test('variables and headers are given with their values and shown without', async () => {
  for (const { hooks, by, kind } of places) {
    const request = {
      url: 'https://{host}/{secret.path}?literal={}',
      url_variables: [
        { key: 'host', value: 'ci.example.com' },
        { key: 'secret.path', value: 'hunter2' },
      ],
      custom_headers: [{ key: 'X-Team', value: 'hunter2' }],
      custom_webhook_template: '{"event":"{{object_kind}}"}',
    }
    const { status, body } = await by.post(hooks, request)
    expect([kind, status]).toEqual([kind, 201])
    expect(body).toMatchObject({
      url: request.url,
      url_variables: [{ key: 'host' }, { key: 'secret.path' }],
      custom_headers: [{ key: 'X-Team' }],
      custom_webhook_template: request.custom_webhook_template,
    })
    const row = await rowOf(body.id)
    expect(JSON.stringify([body, row])).not.toContain('hunter2')
    expect(openPairs(forge.app, row, 'custom_headers')).toEqual(request.custom_headers)

    const one = `${hooks}/${body.id}`
    expect(await by.put(`${one}/custom_headers/x-team`, { value: 'other' })).toMatchObject({ status: 204, body: '' })
    expect(await by.put(`${one}/custom_headers/X-More`, { value: 'ä' })).toMatchObject({ status: 204 })
    expect(openPairs(forge.app, await rowOf(body.id), 'custom_headers')).toEqual([
      { key: 'x-team', value: 'other' },
      { key: 'X-More', value: 'ä' },
    ])
    expect(await by.delete(`${one}/custom_headers/X-Team`)).toMatchObject({ status: 204 })
    expect(await by.delete(`${one}/custom_headers/X-Team`)).toMatchObject({ status: 404 })
    expect((await by.get(one)).body.custom_headers).toEqual([{ key: 'X-More' }])

    // The URL would be incomplete.
    expect(await by.delete(`${one}/url_variables/host`)).toMatchObject({
      status: 422,
      body: error('Invalid url given'),
    })
    expect(await by.put(`${one}/url_variables/host`, { value: 'a/b c' })).toMatchObject({ status: 422 })
    expect((await by.get(one)).body.url_variables).toEqual(body.url_variables)
    expect(await by.put(`${one}/url_variables/free`, { value: '1' })).toMatchObject({ status: 204 })
    expect(await by.delete(`${one}/url_variables/free`)).toMatchObject({ status: 204 })
    await by.delete(one)
  }
})

test('another address is not told the secrets of the one before', async () => {
  const { hooks, by } = places[0]!
  const secrets = {
    token: 'hunter2',
    signing_token: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    custom_headers: [{ key: 'X-Team', value: 'hunter2' }],
    url_variables: [{ key: 'name', value: 'hunter2' }],
  }
  const sealed = async (id: number) => {
    const row = await rowOf(id)
    return [row.token_sealed, row.signing_token_sealed, row.custom_headers_sealed, row.url_variables_sealed].map(
      (text) => text !== null,
    )
  }
  const { body } = await by.post(hooks, { url: `${TARGET}/{name}`, ...secrets })
  const one = `${hooks}/${body.id}`
  expect(await sealed(body.id)).toEqual([true, true, true, true])
  await by.put(one, { url: `${TARGET}/{name}`, push_events: false })
  expect(await sealed(body.id)).toEqual([true, true, true, true])
  expect((await by.put(one, { url: 'https://evil.example.com/{name}' })).status).toBe(422)
  expect(await sealed(body.id)).toEqual([true, true, true, true])
  await by.put(`${one}/url_variables/name`, { value: 'elsewhere' })
  expect(await sealed(body.id)).toEqual([false, false, false, true])
  await by.put(one, secrets)
  await by.put(one, { url: 'https://evil.example.com/', token: 'new' })
  expect(await sealed(body.id)).toEqual([true, false, false, false])
  await by.delete(one)
})

test('refuses what cannot be a header, a variable, a template or a key, and nothing moves', async () => {
  const illegal = error('Illegal key or value')
  const many = Array.from({ length: 21 }, (_, n) => ({ key: `k${n}`, value: 'v' }))
  const header = (key: string, value = 'v') => ({ custom_headers: [{ key, value }] })
  const variable = (key: string, value = 'v') => ({ url_variables: [{ key, value }] })
  const refusals: [Record<string, unknown>, number, unknown][] = [
    [{ custom_headers: many }, 422, illegal],
    [{ url_variables: many }, 422, illegal],
    [header('a b'), 422, illegal],
    [header(''), 422, illegal],
    [header('a:b'), 422, illegal],
    [header('X-A\r\nX-B'), 422, illegal],
    [header('X-A', 'a\r\nX-B: c'), 422, illegal],
    [header('X-A', ''), 422, illegal],
    [header('X-A', 'x'.repeat(2049)), 422, illegal],
    [header('x-gitlab-token'), 422, illegal],
    [header('Webhook-Signature'), 422, illegal],
    [header('Idempotency-Key'), 422, illegal],
    [header('Host'), 422, illegal],
    [header('Transfer-Encoding', 'chunked'), 422, illegal],
    [header('Content-Length', '1'), 422, illegal],
    [variable('a b'), 422, illegal],
    [variable('__proto__'), 422, illegal],
    [variable('a', 'a\nb'), 422, illegal],
    [{ custom_headers: 'X' }, 400, { message: 'custom_headers is invalid', error: 'custom_headers is invalid' }],
    [
      { custom_webhook_template: 'x'.repeat(4097) },
      400,
      { message: { custom_webhook_template: ['is too long (maximum is 4096 characters)'] } },
    ],
    ...['secret', 'whsec_', 'whsec_AAAA', `whsec_${'A'.repeat(88)}`, `whsec_${'*'.repeat(32)}`].map(
      (signing_token): [Record<string, unknown>, number, unknown] => [
        { signing_token },
        422,
        error('Invalid signing token given'),
      ],
    ),
    [{ url: 'https://{nowhere}/' }, 422, error('Invalid url given')],
  ]
  for (const { hooks, by } of places) {
    const { body: hook } = await by.post(hooks, { url: TARGET })
    for (const [input, status, body] of refusals) {
      const what = JSON.stringify(input).slice(0, 80)
      expect(await by.post(hooks, { url: TARGET, ...input }), what).toEqual({ status, body, headers })
      expect(await by.put(`${hooks}/${hook.id}`, input), what).toEqual({ status, body, headers })
    }
    for (const kind of ['custom_headers', 'url_variables'])
      expect(await by.put(`${hooks}/${hook.id}/${kind}/a%20b`, { value: 'v' })).toEqual({
        status: 422,
        body: illegal,
        headers,
      })
    expect((await by.get(hooks)).body).toEqual([hook])
    await by.delete(`${hooks}/${hook.id}`)
  }
})

test('a signing token is a key of 24 to 64 bytes', () => {
  const of = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`
  expect([23, 24, 64, 65].map((bytes) => isSigningToken(of(bytes)))).toEqual([false, true, true, false])
})
