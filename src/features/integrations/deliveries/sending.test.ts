import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { deliveryReceiver, type DeliveryReceiver } from '../../../../test/delivery-receiver.ts'
import { DAY, HOUR, MINUTE } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { retryAfter } from './deliver.ts'
import { startDeliverer } from './deliverer.ts'
import { requestTo } from './request.ts'

let forge: TestForge
let owner: Person
let receiver: DeliveryReceiver
let project: { id: number }
let hooks: string
beforeAll(async () => {
  forge = await startForge()
  receiver = await deliveryReceiver()
  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
  owner = await forge.user()
})
afterAll(async () => {
  await forge[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})
beforeEach(async () => {
  // What the last test left to send belongs to it.
  await forge.settle()
  project = await forge.project({}, owner)
  hooks = `/projects/${project.id}/hooks`
  receiver.answer = { status: 200 }
  receiver.got.length = 0
})

async function newHook(request: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await owner.post(hooks, {
    url: `${receiver.url}/in`,
    issues_events: true,
    push_events: false,
    ...request,
  })
  expect([status, body]).toEqual([201, expect.anything()])
  return `${hooks}/${body.id}`
}
const titles = () => receiver.got.map(({ body }) => body.object_attributes.title as string)
const log = async (hook: string, query: Record<string, unknown> = {}) => (await owner.get(`${hook}/events`, query)).body
const statesOf = async (hook: string) => {
  const rows = await forge.app.db
    .selectFrom('hook_deliveries')
    .select('state')
    .where('hook_id', '=', Number(hook.split('/').at(-1)))
    .orderBy('id')
    .execute()
  return rows.map(({ state }) => state)
}

test('own headers, a filled address and a signature go out; the log shows none of the secrets', async () => {
  const signing_token = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
  const hook = await newHook({
    url: `${receiver.url}/{path}`,
    token: 'hunter2',
    signing_token,
    url_variables: [{ key: 'path', value: 'hunter2' }],
    custom_headers: [{ key: 'X-Team', value: 'hunter2' }],
  })
  await forge.issue(project, { title: 'Told', description: 'Ünïcode' }, owner)
  await forge.settle()
  const [got] = receiver.got
  expect(got).toMatchObject({
    path: '/hunter2',
    headers: { 'x-gitlab-token': 'hunter2', 'x-team': 'hunter2', 'x-gitlab-event': 'Issue Hook' },
  })
  const { headers, text } = got!
  expect(headers['webhook-id']).toBe(headers['idempotency-key'])
  // The test clock may differ from the library's clock.
  const signed = { ...headers } as Record<string, string>
  expect(() => new Webhook(signing_token).verify(text, signed)).not.toThrow()
  expect(() => new Webhook(signing_token).verify(`${text} `, signed)).toThrow('No matching signature found')

  const [entry, ...others] = await log(hook)
  expect(others).toEqual([])
  expect(entry).toMatchObject({
    url: `${receiver.url}/{path}`,
    trigger: 'issues_events',
    request_headers: { 'X-Gitlab-Token': '[REDACTED]', 'X-Team': '[REDACTED]' },
    request_data: { object_kind: 'issue', user: { email: '[REDACTED]' } },
    response_status: '200',
    response_body: 'heard',
    internal_error_message: null,
    event_id: expect.any(Number),
  })
  expect(JSON.stringify(entry)).not.toContain('hunter2')
  expect((await owner.get(`${hook}/events/${entry.id}`)).body).toEqual(entry)
  const kept = await forge.app.db.selectFrom('hook_attempts').selectAll().execute()
  expect(JSON.stringify(kept)).not.toContain('hunter2')
})

test('the log shows no password and no secret parameter of an address', async () => {
  const address = `${receiver.url.replace('://', '://jane:hunter2@')}/in?token=hunter2&room=7`
  const hook = await newHook({ url: address })
  await forge.issue(project, {}, owner)
  await forge.settle()
  expect(receiver.got).toHaveLength(1)
  const [shown] = await log(hook)
  expect(shown.url).toBe(`${receiver.url.replace('://', '://[REDACTED]@')}/in?token=[REDACTED]&room=7`)
  expect(JSON.stringify((await owner.get(`${hook}/events/${shown.id}`)).body)).not.toContain('hunter2')
  // A resend to the current URL still works.
  expect((await owner.post(`${hook}/events/${shown.id}/resend`)).status).toBe(201)
})

test('a template shapes the body; one that makes no JSON is an internal error', async () => {
  const hook = await newHook({ custom_webhook_template: '{"text":"{{object_attributes.title}}","by":{{user.id}}}' })
  await forge.issue(project, { title: 'A "quoted"\ntitle' }, owner)
  await forge.settle()
  expect(receiver.got.map(({ body }) => body)).toEqual([{ text: 'A "quoted"\ntitle', by: owner.id }])
  expect((await log(hook))[0].request_data).toEqual(receiver.got[0]!.body)

  await owner.put(hook, { custom_webhook_template: '{"text":{{object_attributes.title}}}' })
  await forge.issue(project, { title: 'Not JSON' }, owner)
  await forge.settle()
  expect(receiver.got).toHaveLength(1)
  expect((await log(hook))[0]).toMatchObject({
    response_status: 'internal error',
    internal_error_message: 'The filled template is not valid JSON',
  })
  expect(await statesOf(hook)).toEqual(['done', 'given_up'])
})

test('a template that multiplies what it is given is not sent, and what it makes is not kept', async () => {
  const text = '{{object_attributes.description}}'
  const hook = await newHook({ custom_webhook_template: `{"x":"${text.repeat(2)}"}` })
  await forge.issue(project, { title: 'Short', description: 'ü'.repeat(1000) }, owner)
  await forge.settle()
  expect(receiver.got.map(({ body }) => body)).toEqual([{ x: 'ü'.repeat(2000) }])
  await forge.issue(project, { title: 'Long', description: 'ü'.repeat(300_000) }, owner)
  await forge.settle()
  expect(receiver.got).toHaveLength(1)
  const [{ request_data, ...entry }] = await log(hook)
  expect(entry).toMatchObject({
    response_status: 'internal error',
    internal_error_message: 'The filled template is too large',
  })
  expect(request_data).not.toHaveProperty('x')
  expect(await statesOf(hook)).toEqual(['done', 'given_up'])
  const kept = await forge.app.db
    .selectFrom('hook_attempts')
    .select('request_data')
    .where('hook_id', '=', Number(hook.split('/').at(-1)))
    .where('error', 'is not', null)
    .execute()
  expect(kept).toEqual([{ request_data: null }])
})

test('a test sends the newest, tells how it went, and is not asked for more than five times a minute', async () => {
  const hook = await newHook()
  const ask = (trigger: string) => owner.post(`${hook}/test/${trigger}`)
  expect(await ask('issues_events')).toMatchObject({
    status: 422,
    body: { message: 'Ensure the project has issues.' },
  })
  expect((await ask('nonsense')).status).toBe(400)
  await forge.issue(project, { title: 'Old' }, owner)
  await forge.issue(project, { title: 'New' }, owner)
  await forge.settle()
  receiver.got.length = 0
  expect(await ask('issues_events')).toMatchObject({ status: 201, body: { message: '201 Created' } })
  expect(titles()).toEqual(['New'])
  receiver.answer = { status: 503 }
  expect(await ask('issues_events')).toMatchObject({ status: 422, body: { message: 'The receiver answered with 503' } })
  await owner.put(hook, { url: 'http://127.0.0.1:9999/' })
  expect(await ask('issues_events')).toMatchObject({ status: 422, body: { message: 'The connection was refused' } })
  await owner.put(hook, { url: receiver.url })
  receiver.answer = { status: 200 }
  expect((await ask('issues_events')).status).toBe(201)
  const sent = receiver.got.length
  expect((await ask('issues_events')).status).toBe(429)
  expect(receiver.got).toHaveLength(sent)
  expect((await log(hook, { per_page: 50 })).map((one: { response_status: string }) => one.response_status)).toEqual([
    '200',
    'internal error',
    '503',
    '200',
    '200',
    '200',
  ])
})

test('a hook of the instance is tested with a sample', async () => {
  const { body: hook } = await forge.administrator.post('/hooks', { url: receiver.url, token: 'sesame' })
  const answer = await forge.administrator.post(`/hooks/${hook.id}`)
  expect(answer).toMatchObject({ status: 201, body: { event_name: 'project_create', project_id: 1 } })
  expect(receiver.got).toMatchObject([
    { body: answer.body, headers: { 'x-gitlab-event': 'System Hook', 'x-gitlab-token': 'sesame' } },
  ])
  await forge.administrator.delete(`/hooks/${hook.id}`)
})

test('the log is asked by status, twenty at a time, for a week', async () => {
  const hook = await newHook()
  for (const status of [200, 404, 302, 204]) {
    receiver.answer = { status }
    await forge.issue(project, {}, owner)
    await forge.settle()
  }
  const statuses = async (status: unknown) =>
    (await log(hook, { status })).map((one: { response_status: string }) => one.response_status)
  expect(await statuses('successful')).toEqual(['204', '200'])
  expect(await statuses('client_failure')).toEqual(['404'])
  expect(await statuses('server_failure')).toEqual([])
  expect(await statuses(302)).toEqual(['302'])
  for (const bad of ['99', '600', 'other'])
    expect((await owner.get(`${hook}/events`, { status: bad })).status, bad).toBe(400)
  const page = await owner.get(`${hook}/events`, { per_page: 100 })
  expect([page.headers.get('x-per-page'), page.headers.get('x-total')]).toEqual(['20', '4'])
  forge.clock.advance(7 * DAY + HOUR)
  expect(await log(hook)).toEqual([])
  await forge.settle()
  const left = await forge.app.db.selectFrom('hook_attempts').select('id').execute()
  expect(left).toEqual([])
})

test('what was sent is sent again with the same key, unless the address is another', async () => {
  const hook = await newHook({ token: 'one' })
  await forge.issue(project, { title: 'Again' }, owner)
  await forge.settle()
  const [entry] = await log(hook)
  const ask = () => owner.post(`${hook}/events/${entry.id}/resend`)
  await owner.put(hook, { token: 'two' })
  expect(await ask()).toMatchObject({ status: 201, body: { response_status: 200 } })
  const [first, second] = receiver.got
  expect(second!.text).toBe(first!.text)
  expect(second!.headers['idempotency-key']).toBe(first!.headers['idempotency-key'])
  expect([first, second].map((got) => got!.headers['x-gitlab-token'])).toEqual(['one', 'two'])
  expect(await log(hook)).toHaveLength(2)
  const other = await newHook()
  expect((await owner.post(`${other}/events/${entry.id}/resend`)).status).toBe(404)
  await owner.put(hook, { url: `${receiver.url}/other` })
  expect(await ask()).toMatchObject({
    status: 422,
    body: { message: 'The hook URL has changed. This log entry cannot be retried.' },
  })
  await owner.put(hook, { url: `${receiver.url}/in` })
  for (let n = 0; n < 3; n++) expect((await ask()).status).toBe(201)
  expect((await ask()).status).toBe(429)
  expect(receiver.got).toHaveLength(5)
})

test('past events are put out again in order: as they were told, or as things stand now', async () => {
  const before = new Date(forge.clock.now().getTime() - 1000).toISOString()
  await newHook()
  const first = await forge.issue(project, { title: 'One' }, owner)
  await forge.issue(project, { title: 'Two' }, owner)
  await forge.settle()
  await owner.put(`/projects/${project.id}/issues/${first.iid}`, { title: 'One, later' })
  await forge.settle()
  expect(titles().slice(0, 2)).toEqual(['One', 'Two'])
  const keys = receiver.got.map(({ headers }) => headers['idempotency-key'])
  receiver.got.length = 0

  const late = await newHook()
  const answer = await owner.post(`${late}/replay`, { since: before })
  expect(answer).toMatchObject({ status: 202, body: { made_anew: 0, more: false } })
  expect(answer.body.as_told).toBe(answer.body.events)
  await forge.settle()
  expect(titles().slice(0, 2)).toEqual(['One', 'Two'])
  // Another hook has other keys; the same event twice has the same key.
  expect(keys).not.toContain(receiver.got[0]!.headers['idempotency-key'])
  const [{ event_id }] = (await log(late)).toReversed()
  await owner.post(`${late}/replay`, { event_ids: [event_id] })
  await forge.settle()
  expect(receiver.got.at(-1)!.headers['idempotency-key']).toBe(receiver.got[0]!.headers['idempotency-key'])

  // No hook existed when this happened.
  const quiet = await forge.project({}, owner)
  const issue = await forge.issue(quiet, { title: 'Unheard' }, owner)
  await forge.settle()
  await owner.put(`/projects/${quiet.id}/issues/${issue.iid}`, { title: 'Renamed' })
  await forge.settle()
  hooks = `/projects/${quiet.id}/hooks`
  const hook = await newHook()
  receiver.got.length = 0
  const second = await owner.post(`${hook}/replay`, { since: before })
  expect(second.body).toMatchObject({ as_told: 0 })
  expect(second.body.made_anew).toBeGreaterThan(0)
  await forge.settle()
  expect(titles()[0]).toBe('Renamed')
  expect((await owner.post(`${hook}/replay`, { since: before })).body).toMatchObject({ made_anew: 0 })
  for (const input of [{}, { until: before }, { since: before, event_ids: [1] }])
    expect((await owner.post(`${hook}/replay`, input)).status, JSON.stringify(input)).toBe(400)
  // A hook cannot replay events of another scope.
  expect((await owner.post(`${hook}/replay`, { event_ids: [event_id] })).body).toMatchObject({ events: 0 })
})

test('a hook does not set itself off: what its event leads to is not told to it again', async () => {
  await newHook()
  await forge.issue(project, { title: 'Root' }, owner)
  await forge.settle()
  const uuid = receiver.got[0]!.headers['x-gitlab-event-uuid'] as string
  const answer = await owner.request(
    'POST',
    `/projects/${project.id}/issues`,
    { title: 'Echo' },
    {
      'X-Gitlab-Event-UUID': uuid,
    },
  )
  expect(answer.status).toBe(201)
  await forge.settle()
  expect(titles()).toEqual(['Root'])
  // A hook that is not in the chain yet is called, with the same UUID. An invented UUID has no effect.
  const other = await newHook({ url: `${receiver.url}/other` })
  await owner.request('POST', `/projects/${project.id}/issues`, { title: 'Echo 2' }, { 'X-Gitlab-Event-UUID': uuid })
  await forge.settle()
  expect(receiver.got.slice(1)).toMatchObject([{ path: '/other', headers: { 'x-gitlab-event-uuid': uuid } }])
  await owner.delete(other)
  const made = `${uuid.slice(0, -1)}${uuid.endsWith('0') ? '1' : '0'}`
  await owner.request('POST', `/projects/${project.id}/issues`, { title: 'Heard' }, { 'X-Gitlab-Event-UUID': made })
  await forge.settle()
  expect(titles().at(-1)).toBe('Heard')
})

test('a chain of a hundred hooks ends, and what is too large is not sent', async () => {
  const { body } = await owner.get(await newHook())
  const { db } = forge.app
  const { id: first, ...row } = await db
    .selectFrom('hooks')
    .selectAll()
    .where('id', '=', body.id)
    .executeTakeFirstOrThrow()
  await db
    .insertInto('hooks')
    .values(Array.from({ length: 99 }, () => row))
    .execute()
  await forge.issue(project, { title: 'Root' }, owner)
  await forge.settle()
  expect(receiver.got).toHaveLength(100)
  const uuid = receiver.got[0]!.headers['x-gitlab-event-uuid'] as string
  await db.insertInto('hooks').values(row).execute()
  await owner.request('POST', `/projects/${project.id}/issues`, { title: 'Echo' }, { 'X-Gitlab-Event-UUID': uuid })
  await forge.settle()
  expect(receiver.got).toHaveLength(100)

  const message = { event: 'Issue Hook', key: 'k', eventUuid: uuid, body: `"${'x'.repeat(25 * 1024 * 1024)}"` }
  const { fault } = await requestTo(forge.app, { ...row, id: first }, message)
  expect(fault).toMatchObject({ reason: 'malformed', message: 'The payload is too large' })
})

test('hooks that keep failing rest where the instance says so, and what waits goes out after a test', async () => {
  const hook = await newHook()
  const settings = (on: boolean) => forge.administrator.put('/application/settings', { hooks_auto_disabled: on })
  await settings(true)
  receiver.answer = { status: 404 }
  const healthOfHook = async () => {
    const { alert_status, disabled_until } = (await owner.get(hook)).body
    return [alert_status, disabled_until && Date.parse(disabled_until) - forge.clock.now().getTime()]
  }
  for (let n = 0; n < 3; n++) {
    await forge.issue(project, {}, owner)
    await forge.settle()
  }
  expect(await healthOfHook()).toEqual(['executable', null])
  await forge.issue(project, {}, owner)
  await forge.settle()
  const [status, left] = await healthOfHook()
  expect(status).toBe('temporarily_disabled')
  expect(left).toBeGreaterThan(50_000)
  expect(receiver.got).toHaveLength(4)
  await forge.issue(project, { title: 'Waits' }, owner)
  await forge.settle()
  expect(receiver.got).toHaveLength(4)
  forge.clock.advance(2 * MINUTE)
  expect((await healthOfHook())[0]).toBe('executable')
  await forge.settle()
  expect(titles().at(-1)).toBe('Waits')
  expect((await healthOfHook())[0]).toBe('temporarily_disabled')

  await forge.app.db.updateTable('hooks').set({ failures: 40 }).execute()
  forge.clock.advance(2 * HOUR)
  expect(await healthOfHook()).toEqual(['disabled', null])
  await forge.issue(project, { title: 'Waits too' }, owner)
  await forge.settle()
  receiver.answer = { status: 200 }
  receiver.got.length = 0
  await settings(false)
  expect(await healthOfHook()).toEqual(['executable', null])
  await settings(true)
  expect((await owner.post(`${hook}/test/issues_events`)).status).toBe(201)
  expect(await healthOfHook()).toEqual(['executable', null])
  await forge.settle()
  expect(titles()).toEqual(['Waits too', 'Waits too'])
  await settings(false)
})

test('calls of a namespace are limited by the plan; what is too much is dropped and on record', async () => {
  await forge.administrator.put('/application/plan_limits', { plan_name: 'default', web_hook_calls: 2 })
  const hook = await newHook()
  for (let n = 0; n < 3; n++) await forge.issue(project, { title: `${n}` }, owner)
  await forge.settle()
  await forge.administrator.put('/application/plan_limits', { plan_name: 'default', web_hook_calls: 0 })
  expect(titles()).toEqual(['0', '1'])
  expect((await log(hook))[0]).toMatchObject({ internal_error_message: 'Too many calls in a minute' })
  expect(await statesOf(hook)).toEqual(['done', 'done', 'given_up'])
})

test('two that deliver from one store never send to one hook at once, nor anything twice', async () => {
  const paths = ['/a', '/b', '/c']
  const hook = await Promise.all(paths.map((path) => newHook({ url: `${receiver.url}${path}` })))
  const underWay = new Map<string, number>()
  let most = 0
  receiver.beforeAnswer = async (path) => {
    underWay.set(path, (underWay.get(path) ?? 0) + 1)
    most = Math.max(most, ...underWay.values())
    await new Promise((resolve) => setTimeout(resolve, 2))
    underWay.set(path, underWay.get(path)! - 1)
  }
  const expected = Array.from({ length: 20 }, (_, n) => `Issue ${n}`)
  const other = startDeliverer(forge.app)
  try {
    for (const title of expected) {
      await forge.issue(project, { title }, owner)
      other.wake()
    }
    await Promise.all([forge.settle(), other.settle()])
    await forge.settle()
  } finally {
    await other.stop()
    receiver.beforeAnswer = async () => {}
  }
  for (const path of paths)
    expect(receiver.got.filter((got) => got.path === path).map(({ body }) => body.object_attributes.title)).toEqual(
      expected,
    )
  expect(most).toBe(1)
  expect(new Set((await Promise.all(hook.map(statesOf))).flat())).toEqual(new Set(['done']))
})

test('many dead hooks of one person take a share of the places, now and at the next event', async () => {
  await forge.app.db.deleteFrom('delivery_lanes').execute()
  const neighbour = await forge.user()
  const theirs = await forge.project({}, neighbour)
  await neighbour.post(`/projects/${theirs.id}/hooks`, { url: `${receiver.url}/live`, issues_events: true })
  // Accepts connections and never answers.
  const calls = new Set<Socket>()
  let isOver = false
  await using silent = createServer((socket) => void (isOver ? socket.destroy() : calls.add(socket)))
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  const { db } = forge.app
  const dead = await newHook({ url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/` })
  const row = await db
    .selectFrom('hooks')
    .selectAll()
    .where('id', '=', Number(dead.split('/').at(-1)))
    .executeTakeFirst()
  const { id: _, ...copy } = row!
  await db
    .insertInto('hooks')
    .values(Array.from({ length: 119 }, () => copy))
    .execute()

  try {
    await forge.issue(project, { title: 'Flood' }, owner)
    await expect.poll(() => calls.size, { timeout: 20_000 }).toBe(20)
    // Without a share per owner, these hooks would take all slots.
    await forge.issue(theirs, { title: 'First' }, neighbour)
    await expect.poll(titles, { timeout: 20_000 }).toEqual(['First'])
    expect(calls.size).toBe(20)
  } finally {
    isOver = true
    for (const socket of calls) socket.destroy()
  }
  await forge.settle()
  // The last attempt of each: no delivery is pending afterwards.
  const long = { created_at: '2000-01-01T00:00:00.000Z' }
  await db.updateTable('hook_deliveries').set(long).where('state', '=', 'waiting').execute()
  forge.clock.advance(HOUR)
  await forge.settle()
  const known = await db.selectFrom('delivery_lanes').select(['troubled', 'owner_id']).execute()
  expect(known).toEqual(Array.from({ length: 120 }, () => ({ troubled: true, owner_id: owner.id })))
  // A day later the queues are deleted.
  forge.clock.advance(DAY)
  await forge.settle()
  expect(await db.selectFrom('delivery_lanes').selectAll().execute()).toEqual([])
})

test('pending and failed deliveries are counted', async () => {
  const text = await (
    await fetch(`${forge.url}/-/metrics`, { headers: { 'PRIVATE-TOKEN': forge.administrator.token } })
  ).text()
  expect(text).toMatch(/^mortise_deliveries\{state="waiting"\} \d+$/m)
  expect(text).toMatch(/^mortise_deliveries\{state="given_up"\} [1-9]\d*$/m)
})

test('what the receiver asks to wait for is waited for, as seconds or as a moment', () => {
  const now = new Date('2026-11-16T12:00:00Z')
  const wait = (header: string) => retryAfter(header, now)
  expect(wait('120')).toBe(120_000)
  expect(wait('Mon, 16 Nov 2026 12:05:00 GMT')).toBe(300_000)
  for (const header of ['', 'soon', '-5', 'Mon, 16 Nov 2026 11:00:00 GMT', 'Infinity']) expect(wait(header)).toBe(0)
})
