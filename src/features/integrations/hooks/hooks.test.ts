import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { callersOf, costOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { MINUTE } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'
import { HOOK_SWITCHES } from './model.ts'

const headers: unknown = expect.anything()
const TARGET = 'https://ci.example.com/hook'

const allOff = Object.fromEntries(HOOK_SWITCHES.map((name) => [name, false]))

test('a hook is answered whole, without its token, which is kept sealed', async () => {
  await using forge = await startForge()
  const { id, url, owner } = await openSource(forge, 'projects')
  const events = await forge.events()

  const { status, body } = await owner.post(`${url}/hooks`, { url: ` ${TARGET} `, token: 'open sesame' })
  expect(body).toEqual({
    ...allOff,
    push_events: true,
    id: expect.any(Number),
    project_id: id,
    url: TARGET,
    name: null,
    description: null,
    repository_update_events: false,
    enable_ssl_verification: true,
    push_events_branch_filter: '',
    branch_filter_strategy: 'wildcard',
    custom_webhook_template: null,
    url_variables: [],
    custom_headers: [],
    alert_status: 'executable',
    disabled_until: null,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  })
  expect(status).toBe(201)
  expect((await owner.get(`${url}/hooks/${body.id}`)).body).toEqual(body)
  expect((await owner.get(`${url}/hooks`)).body).toEqual([body])

  const { token_sealed } = await forge.app.db.selectFrom('hooks').selectAll().executeTakeFirstOrThrow()
  expect(token_sealed).not.toContain('sesame')
  expect(forge.app.vault.open(token_sealed!)).toBe('open sesame')
  expect(await forge.events()).toEqual(events)
})

test('every switch and every text is kept as it was given', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const allOn = Object.fromEntries(HOOK_SWITCHES.map((name) => [name, true]))
  const request = {
    ...allOn,
    push_events: false,
    url: 'http://user:pass@ci.example.com:8080/a%20b?c=d#e',
    name: 'Builds',
    description: 'Tells the builder',
    enable_ssl_verification: false,
    push_events_branch_filter: 'release/*',
    branch_filter_strategy: 'wildcard',
  }
  const { status, body } = await owner.post(`${url}/hooks`, request)
  expect([status, body]).toEqual([201, expect.objectContaining(request)])
  const { body: older } = await owner.post(`${url}/hooks`, { url: TARGET, wiki_events: 'yes', push_events: 0 })
  expect(older).toMatchObject({ ...allOff, wiki_page_events: true })
  const regex = { push_events_branch_filter: '^(main|v\\d+)$', branch_filter_strategy: 'regex' }
  expect((await owner.put(`${url}/hooks/${older.id}`, regex)).body).toEqual({ ...older, ...regex })
})

test('a change keeps what it does not name', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const request = { url: TARGET, token: 'sesame', name: 'Builds', push_events: false, issues_events: true }
  const { body: hook } = await owner.post(`${url}/hooks`, request)
  const change = (input: Record<string, unknown>) => owner.put(`${url}/hooks/${hook.id}`, input)
  const token = async () => {
    const { token_sealed } = await forge.app.db.selectFrom('hooks').selectAll().executeTakeFirstOrThrow()
    return token_sealed && forge.app.vault.open(token_sealed)
  }

  const moved = { ...hook, url: 'https://other.example.com/' }
  expect(await change({ url: moved.url, token: 'sesame' })).toEqual({ status: 200, body: moved, headers })
  expect(await token()).toBe('sesame')
  expect((await change({ tag_push_events: true, issues_events: null })).body).toEqual({
    ...moved,
    tag_push_events: true,
  })
  expect((await change({ name: '', token: 'other', tag_push_events: false })).body).toEqual({ ...moved, name: null })
  expect(await token()).toBe('other')
  await change({ token: '' })
  expect(await token()).toBeNull()
  expect((await owner.get(`${url}/hooks/${hook.id}`)).body).toEqual({ ...moved, name: null })
})

const invalidUrl = { error: 'Invalid url given' }
const invalidFilter = { error: 'Invalid branch filter given' }
const refusal = (text: string) => ({ message: text, error: text })
const tooLong = (name: string, most: number) => ({
  message: { [name]: [`is too long (maximum is ${most} characters)`] },
})

test('refuses what cannot be a hook, and nothing moves', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const { body: hook } = await owner.post(`${url}/hooks`, { url: TARGET })
  const refusals: [Record<string, unknown>, number, unknown][] = [
    [{ url: '' }, 422, invalidUrl],
    [{ url: 'ci.example.com' }, 422, invalidUrl],
    [{ url: 'ftp://ci.example.com' }, 422, invalidUrl],
    [{ url: 'javascript:alert(1)' }, 422, invalidUrl],
    [{ url: 'file:///etc/passwd' }, 422, invalidUrl],
    [{ url: 'https:ci.example.com' }, 422, invalidUrl],
    [{ url: 'https://' }, 422, invalidUrl],
    [{ url: 'https://ci.exa mple.com' }, 422, invalidUrl],
    [{ url: 'https://ci.exa\nmple.com' }, 422, invalidUrl],
    [{ url: 'https://-oProxy@ci.example.com' }, 422, invalidUrl],
    [{ url: `${TARGET}?${'x'.repeat(2000 - TARGET.length)}` }, 422, invalidUrl],
    [{ push_events_branch_filter: 'a..b' }, 422, invalidFilter],
    [{ push_events_branch_filter: 'x'.repeat(512) }, 422, invalidFilter],
    [{ push_events_branch_filter: '(', branch_filter_strategy: 'regex' }, 422, invalidFilter],
    [{ branch_filter_strategy: 'other' }, 400, refusal('branch_filter_strategy does not have a valid value')],
    [{ push_events: 'perhaps' }, 400, refusal('push_events is invalid')],
    [{ name: 'x'.repeat(256) }, 400, tooLong('name', 255)],
    [{ description: 'x'.repeat(2049) }, 400, tooLong('description', 2048)],
    [{ token: 'x'.repeat(2049) }, 400, tooLong('token', 2048)],
    [{ token: 'a\r\nX-Other: b' }, 400, { message: { token: ['is invalid'] } }],
    [{ token: '\n'.repeat(2049) }, 400, { message: { token: ['is invalid'] } }],
  ]
  for (const [input, status, body] of refusals) {
    const what = JSON.stringify(input).slice(0, 80)
    expect(await owner.post(`${url}/hooks`, { url: TARGET, ...input }), what).toEqual({ status, body, headers })
    expect(await owner.put(`${url}/hooks/${hook.id}`, input), what).toEqual({ status, body, headers })
  }
  const missing = { message: '400 (Bad request) url not given', error: 'url is missing' }
  expect(await owner.post(`${url}/hooks`, { push_events: true })).toEqual({ status: 400, body: missing, headers })
  expect(await owner.put(`${url}/hooks/${hook.id}`, {})).toEqual({
    status: 400,
    body: refusal('No parameters provided'),
    headers,
  })
  expect((await owner.get(`${url}/hooks`)).body).toEqual([hook])
})

/** Security 1: every spelling of an internal address. */
const INSIDE = [
  'http://localhost/',
  'http://LOCALHOST:3000/',
  'http://localhost./',
  'http://api.localhost/',
  'http://localhost.localdomain/',
  'http://ip6-localhost/',
  'http://ip6-loopback/',
  'http://loopback/',
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://127.0.0.1./',
  'http://１２７.０.０.１/',
  'http://%31%32%37.0.0.1/',
  'http://0.0.0.0/',
  'http://0/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://100.64.0.1/',
  'http://[::]/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[fe80::1]/',
  'http://[fd00::1]/',
  'http://user@127.0.0.1/',
  'http://example.com@127.0.0.1/',
]

test('targets inside are refused unless the instance allows them', async () => {
  await using forge = await startForge()
  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: false })
  const { url, owner } = await openSource(forge, 'projects')
  const { body: hook } = await owner.post(`${url}/hooks`, { url: TARGET })
  const refused = { status: 422, body: invalidUrl, headers }
  for (const target of INSIDE) {
    expect(await owner.post(`${url}/hooks`, { url: target }), target).toEqual(refused)
    expect(await owner.put(`${url}/hooks/${hook.id}`, { url: target }), target).toEqual(refused)
  }
  for (const target of ['http://8.8.8.8/', 'https://[2606:4700::1111]/', 'https://localhost.example.com/']) {
    expect((await owner.post(`${url}/hooks`, { url: target })).status, target).toBe(201)
  }
  expect((await owner.get(`${url}/hooks`)).headers.get('x-total')).toBe('4')

  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
  for (const target of INSIDE) expect((await owner.post(`${url}/hooks`, { url: target })).status, target).toBe(201)

  // Other settings of a hook can be changed after its URL is no longer allowed.
  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: false })
  const { body } = await owner.get(`${url}/hooks`)
  expect((await owner.put(`${url}/hooks/${body[0].id}`, { push_events: false })).status).toBe(200)
})

test('a project has a hundred hooks at most, however many ask at once', async () => {
  await using forge = await startForge()
  const { id, url, owner } = await openSource(forge, 'projects')
  const { body: first } = await owner.post(`${url}/hooks`, { url: TARGET })
  const { id: _, ...row } = await forge.app.db
    .selectFrom('hooks')
    .selectAll()
    .where('id', '=', first.id)
    .executeTakeFirstOrThrow()
  await forge.app.db
    .insertInto('hooks')
    .values(Array.from({ length: 97 }, () => row))
    .execute()
  const answers = await Promise.all([1, 2, 3, 4].map(() => owner.post(`${url}/hooks`, { url: TARGET })))
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 422, 422])
  expect(answers.find(({ status }) => status === 422)!.body).toEqual({
    message: 'Maximum number of project hooks (100) exceeded',
  })
  expect((await owner.get(`/projects/${id}/hooks`)).headers.get('x-total')).toBe('100')
})

test('of changes at once to the same hook none is lost', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const hook = `${url}/hooks/${(await owner.post(`${url}/hooks`, { url: TARGET })).body.id}`
  const keys = ['X-One', 'X-Two', 'X-Three']
  const calls = keys.map((key) => () => owner.put(`${hook}/custom_headers/${key}`, { value: 'cedar' }))
  expect((await atOnce(forge, ...calls)).map(({ status }) => status)).toEqual([204, 204, 204])
  const { custom_headers } = (await owner.get(hook)).body as { custom_headers: { key: string }[] }
  expect(custom_headers.map(({ key }) => key).toSorted()).toEqual(keys.toSorted())
})

test('deleting answers with the hook, and with nothing once it is gone', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const { body: kept } = await owner.post(`${url}/hooks`, { url: TARGET })
  const { body: hook } = await owner.post(`${url}/hooks`, { url: TARGET })
  const path = `${url}/hooks/${hook.id}`
  const long = new Date(Date.now() - 10 * MINUTE).toUTCString()
  const soon = new Date(Date.now() + 10 * MINUTE).toUTCString()

  const early = await owner.delete(path, undefined, { 'If-Unmodified-Since': long })
  expect(early).toMatchObject({ status: 412, body: { message: '412 Precondition Failed' } })
  expect((await owner.get(path)).status).toBe(200)
  expect(await owner.delete(path, undefined, { 'If-Unmodified-Since': soon })).toMatchObject({
    status: 200,
    body: hook,
  })
  for (const more of [undefined, { 'If-Unmodified-Since': long }]) {
    expect(await owner.delete(path, undefined, more)).toMatchObject({ status: 204, body: '' })
  }
  expect(await owner.get(path)).toMatchObject({ status: 404, body: { message: '404 Not found' } })
  expect(await owner.put(path, { push_events: true })).toMatchObject({
    status: 404,
    body: { message: '404 Not found' },
  })
  expect((await owner.get(`${url}/hooks`)).body).toEqual([kept])
})

test('masters and above see and change hooks, before anything else is looked at', async () => {
  await using forge = await startForge()
  const secret = await openSource(forge, 'projects')
  const open = await openSource(forge, 'projects', { visibility: 'public' })
  const { body: other } = await open.owner.post(`${open.url}/hooks`, { url: TARGET })

  // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked.
  const expected = (ok: number, hidden: boolean) => {
    const outside = hidden ? 404 : 403
    return [401, outside, outside, 403, 403, 403, ok, ok, ok, 401]
  }
  for (const source of [secret, open]) {
    const isHidden = source === secret
    const { url, owner } = source
    const callers = await callersOf(forge, source)
    const { body: hook } = await owner.post(`${url}/hooks`, { url: TARGET })
    const one = `${url}/hooks/${hook.id}`
    const table: [string, string, Record<string, unknown> | undefined, number][] = [
      ['GET', `${url}/hooks`, undefined, 200],
      ['GET', one, undefined, 200],
      ['PUT', one, { push_events: true }, 200],
      ['POST', `${url}/hooks`, { url: 'nonsense' }, 422],
      ['POST', `${url}/hooks`, {}, 400],
      ['GET', `${url}/hooks/first`, undefined, 400],
      ['PUT', `${url}/hooks/first`, {}, 400],
      ['DELETE', `${url}/hooks/first`, undefined, 400],
      ['GET', `${url}/hooks/4000000`, undefined, 404],
      ['DELETE', `${url}/hooks/4000000`, undefined, 204],
      ['POST', `${url}/hooks`, { url: TARGET }, 201],
    ]
    for (const [method, path, input, ok] of table) {
      const statuses = await statusesOf(callers, (caller) => caller.request(method, path, input))
      expect(statuses, `${method} ${path}`).toEqual(expected(ok, isHidden))
    }
    for (const name of ['anonymous', 'stranger', 'guest', 'developer', 'blocked'] as const) {
      expect((await callers[name].delete(one)).status).toBeGreaterThan(400)
    }
    expect((await owner.get(one)).status).toBe(200)
    expect(await callers.master.delete(one)).toMatchObject({ status: 200, body: { id: hook.id } })
  }
  const stranger = await forge.user()
  expect((await stranger.get(`${secret.url}/hooks`)).body).toEqual({ message: '404 Project Not Found' })
  // Security 33: a hook of another project.
  const foreign = `${secret.url}/hooks/${other.id}`
  expect((await secret.owner.get(foreign)).status).toBe(404)
  expect((await secret.owner.put(foreign, { push_events: false })).status).toBe(404)
  expect((await secret.owner.delete(foreign)).status).toBe(204)
  expect((await open.owner.get(`${open.url}/hooks/${other.id}`)).body).toEqual(other)
})

test('lists are paginated, newest first, at the same cost however long', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const add = async (count: number) => {
    for (let n = 0; n < count; n++) await owner.post(`${url}/hooks`, { url: TARGET })
  }
  const ask = () => owner.get(`${url}/hooks`, { per_page: 100 })
  await add(2)
  const two = await costOf(forge, ask)
  await add(10)
  expect(await costOf(forge, ask)).toBe(two)

  const page = await owner.get(`${url}/hooks`, { per_page: 5, page: 2 })
  expect([page.headers.get('x-total'), page.headers.get('x-next-page')]).toEqual(['12', '3'])
  const ids = (await ask()).body.map((hook: { id: number }) => hook.id)
  expect(ids).toEqual(ids.toSorted((a: number, b: number) => b - a))
  expect(page.body.map((hook: { id: number }) => hook.id)).toEqual(ids.slice(5, 10))
})

test('what lets somebody in elsewhere is not shown of system hooks, and stays when it comes back unchanged', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const secret = 'https://me:hunter2@example.com/x?token=hunter3&a=1'
  const shown = 'https://[REDACTED]@example.com/x?token=[REDACTED]&a=1'
  const { body: made } = await administrator.post('/hooks', { url: secret, token: 'kept' })
  const url = `/hooks/${made.id}`
  const stored = () => forge.app.db.selectFrom('hooks').select(['url', 'token_sealed']).executeTakeFirstOrThrow()
  const before = await stored()
  expect(before.url).toBe(secret)
  const saved = await administrator.put(url, { url: shown, name: 'Renamed' })
  for (const body of [
    made,
    saved.body,
    (await administrator.get(url)).body,
    (await administrator.get('/hooks')).body[0],
  ])
    expect(body.url).toBe(shown)
  expect(saved.body.name).toBe('Renamed')
  expect(await stored()).toEqual(before)
  // A partly masked URL is invalid.
  expect((await administrator.put(url, { url: shown.replace('a=1', 'a=2') })).status).toBe(422)
  expect(await stored()).toEqual(before)
  expect((await administrator.put(url, { url: 'https://example.com/y' })).body.url).toBe('https://example.com/y')
  expect(await stored()).toEqual({ url: 'https://example.com/y', token_sealed: null })
  const noted = JSON.stringify(await forge.app.db.selectFrom('audit_events').selectAll().execute())
  expect(noted).not.toMatch(/hunter/)
})
