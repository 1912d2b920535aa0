import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '../../../../test/cases.ts'
import { openSource, type Source } from '../../../../test/sources.ts'
import { MINUTE } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import type { Field } from './declare.ts'
import { SERVICE_SWITCHES } from './model.ts'
import { SERVICES } from './registry.ts'

const headers: unknown = expect.anything()
const HOOK = 'https://chat.example.com/services/T1/B1'
const moment: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const allOn = Object.fromEntries(SERVICE_SWITCHES.map((name) => [name, true]))

let forge: TestForge
let source: Source
beforeAll(async () => {
  forge = await startForge()
  source = await openSource(forge, 'projects')
})
afterAll(() => forge[Symbol.asyncDispose]())

/** A valid value for each field. */
function sampleOf(name: string, { schema, address }: Field): unknown {
  const tried = [
    ...(address === 'host' ? ['irc.example.com'] : address ? ['https://service.example.com/path/:id'] : []),
    'a value',
    true,
    'jane@example.com',
    '0',
    'all',
    6659,
  ]
  const found = tried.find((value) => schema.safeParse(value).success)
  if (found === undefined) throw new Error(`nothing for ${name}`)
  return found
}

const samplesOf = (fields: readonly (readonly [string, Field])[]) =>
  Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(name, field)]))

test('one that was never set is there by its older name alone', async () => {
  const { owner, url } = source
  const { status, body } = await owner.get(`${url}/services/slack`)
  expect(status).toBe(200)
  expect(body).toEqual({
    ...allOn,
    id: null,
    title: 'Slack notifications',
    slug: 'slack',
    created_at: null,
    updated_at: null,
    active: false,
    alert_events: false,
    inherited: false,
    retired: null,
    properties: expect.objectContaining({ notify_only_broken_pipelines: true, branches_to_be_notified: 'default' }),
  })
  const missing = { status: 404, body: { message: '404 Integration Not Found' }, headers }
  expect(await owner.get(`${url}/integrations/slack`)).toEqual(missing)
  expect(await owner.delete(`${url}/integrations/slack`)).toEqual(missing)
  expect((await owner.delete(`${url}/services/slack`)).status).toBe(204)
  expect((await owner.get(`${url}/integrations`)).body).toEqual([])
})

/** For each service: configure all fields, read them without secrets, and fail without a required field. */
test.each(SERVICES.map((service) => [service.slug, service] as const))('%s', async (slug, { fields, title, gone }) => {
  const { owner, url } = source
  const path = `${url}/integrations/${slug}`
  const entries = Object.entries(fields)
  const required = entries.filter(([, field]) => field.isRequired)
  const whole = samplesOf(entries)

  for (const [name] of required) {
    const { [name]: _, ...rest } = whole
    expect(await owner.put(path, rest), name).toEqual({
      status: 400,
      body: { message: `400 (Bad request) ${name} not given`, error: `${name} is missing` },
      headers,
    })
  }
  for (const [name] of entries.filter(([, field]) => field.address)) {
    const bad = await owner.put(path, { ...whole, [name]: 'java script:alert(1)' })
    expect(bad, name).toEqual({
      status: 400,
      body: { message: '400 Bad Request', error: `${name} is invalid` },
      headers,
    })
  }
  for (const [name] of entries.filter(([, field]) => field.address === 'guarded')) {
    const inside = await owner.put(path, { ...whole, [name]: 'http://127.0.0.1:9/' })
    expect(inside.body, name).toEqual({ message: '400 Bad Request', error: `${name} is invalid` })
  }
  for (const [name, { schema }] of entries)
    for (const bad of ['x'.repeat(200_000), ['list'], { of: 'things' }])
      expect([name, schema.safeParse(bad).success]).toEqual([name, false])
  expect((await owner.get(path)).status).toBe(404)

  const { status, body } = await owner.put(path, whole)
  expect(status).toBe(200)
  const shown = Object.fromEntries(entries.filter(([, field]) => !field.isSecret).map(([name]) => [name, whole[name]]))
  if ('notify_only_default_branch' in shown) shown.notify_only_default_branch = false
  expect(body).toEqual({
    ...allOn,
    id: expect.any(Number),
    title,
    slug,
    created_at: moment,
    updated_at: moment,
    active: true,
    alert_events: false,
    inherited: false,
    retired: gone ?? null,
    properties: shown,
  })
  expect((await owner.get(`${url}/services/${slug.replaceAll('-', '_')}`)).body).toEqual(body)
  const row = await forge.app.db.selectFrom('services').selectAll().where('id', '=', body.id).executeTakeFirstOrThrow()
  for (const [name] of entries.filter(([, field]) => field.isSecret)) expect(row.properties).not.toContain(`"${name}"`)
  expect((await owner.delete(path)).status).toBe(204)
})

test('it is off and forgotten once deleted, and keeps its place', async () => {
  const { owner, url } = source
  const path = `${url}/integrations/mattermost`
  const { body } = await owner.put(path, { webhook: HOOK, channel: 'town', issues_events: false })
  expect((await owner.get(`${url}/integrations`)).body).toEqual([
    Object.fromEntries(Object.entries(body as object).filter(([name]) => name !== 'properties')),
  ])
  const before = new Date(Date.now() - 10 * MINUTE).toUTCString()
  const early = await owner.delete(path, undefined, { 'If-Unmodified-Since': before })
  expect(early).toMatchObject({ status: 412, body: { message: '412 Precondition Failed' } })
  expect((await owner.delete(path)).status).toBe(204)
  const { body: off } = await owner.get(path)
  expect(off).toMatchObject({ id: body.id, active: false, issues_events: false, properties: { channel: null } })
  expect((await owner.get(`${url}/integrations`)).body).toEqual([])
  const { secrets_sealed } = await forge.app.db
    .selectFrom('services')
    .select('secrets_sealed')
    .where('id', '=', body.id)
    .executeTakeFirstOrThrow()
  expect(secrets_sealed).toBeNull()
})

test('a change keeps what it does not name, and is for its switches and properties alone', async () => {
  const { owner, url } = source
  const path = `${url}/services/slack`
  const request = {
    webhook: HOOK,
    channel: '#dev',
    username: 'forge',
    push_channel: '#pushes',
    notify_only_default_branch: false,
  }
  const { body } = await owner.put(path, { ...request, push_events: false, id: 99, slug: 'jira', title: 'Other' })
  expect(body).toMatchObject({
    title: 'Slack notifications',
    push_events: false,
    properties: { channel: '#dev', branches_to_be_notified: 'all', notify_only_default_branch: false },
  })
  const changed = await owner.put(path, { username: '', active: false, branches_to_be_notified: 'protected' })
  expect(changed.body).toEqual({
    ...body,
    active: false,
    updated_at: moment,
    properties: { ...body.properties, username: null, branches_to_be_notified: 'protected' },
  })
  expect((await owner.put(path, { push_events: true })).body).toMatchObject({ active: true, push_events: true })
  await owner.delete(path)
})

test('who changes where it is sent has to give the secrets anew', async () => {
  const { owner, url } = source
  const path = `${url}/integrations/bamboo`
  const whole = { bamboo_url: 'https://ci.example.com', build_key: 'A-B', username: 'jane', password: 'sesame' }
  await owner.put(path, whole)
  const stolen = await owner.put(path, { bamboo_url: 'https://evil.example.com' })
  expect(stolen).toMatchObject({ status: 400, body: { error: 'password is missing' } })
  expect((await owner.get(path)).body.properties.bamboo_url).toBe('https://ci.example.com')
  expect((await owner.put(path, { build_key: 'A-C' })).status).toBe(200)
  expect((await owner.put(path, { ...whole, bamboo_url: 'https://ci2.example.com' })).status).toBe(200)
  await owner.delete(path)
})

test('refuses what is no service and no switch, and nothing moves', async () => {
  const { owner, url, group } = source
  const rows = () => forge.app.db.selectFrom('services').selectAll().orderBy('id').execute()
  const before = await rows()
  const refusal = (text: string) => ({ message: text, error: text })
  const refusals = [
    ['GET', `${url}/services/other`, {}, 400, { error: 'service_slug does not have a valid value' }],
    ['DELETE', `${url}/services/other`, {}, 400, { error: 'service_slug does not have a valid value' }],
    ['PUT', `${url}/services/other`, {}, 404, { error: '404 Not Found' }],
    ['GET', `${url}/integrations/other`, {}, 400, { error: 'slug does not have a valid value' }],
    ['PUT', `${group.url}/integrations/__proto__`, {}, 404, { error: '404 Not Found' }],
    ['PUT', `${url}/services/slack`, { webhook: HOOK, push_events: 'x' }, 400, refusal('push_events is invalid')],
    [
      'PUT',
      `${url}/services/slack`,
      { webhook: '' },
      400,
      { message: '400 Bad Request', error: "webhook can't be blank" },
    ],
    ['PUT', `${url}/services/slack`, { webhook: HOOK, channel: 'a\r\nb' }, 400, refusal('channel is invalid')],
    [
      'PUT',
      `${url}/services/slack`,
      { webhook: HOOK, branches_to_be_notified: 'some' },
      400,
      refusal('branches_to_be_notified does not have a valid value'),
    ],
    [
      'PUT',
      `${url}/services/slack`,
      { webhook: HOOK, channel: 'x'.repeat(256) },
      400,
      refusal('channel is too long (maximum is 255 characters)'),
    ],
    [
      'PUT',
      `${url}/services/emails-on-push`,
      { recipients: 'jane@example.com, nobody' },
      400,
      refusal('recipients is invalid'),
    ],
    ['PUT', `${url}/services/irker`, { recipients: '#a', server_port: 70000 }, 400, refusal('server_port is invalid')],
  ] as const
  for (const [method, path, input, status, body] of refusals)
    expect(await call(owner, method, path, input), `${method} ${path}`).toEqual({ status, body, headers })
  expect(await rows()).toEqual(before)
})

test('a project without its own takes that of the nearest group', async () => {
  const { owner, group } = source
  const { body: below } = await owner.post('/groups', { name: 'Below', path: `below${group.id}`, parent_id: group.id })
  const { body: project } = await owner.post('/projects', { name: 'Plane', namespace_id: below.id })
  const [outer, inner, own] = [group.url, `/groups/${below.id}`, `/projects/${project.id}`].map(
    (scope) => `${scope}/integrations/slack`,
  ) as [string, string, string]
  const shown = async (path: string) => {
    const { status, body } = await owner.get(path)
    return status === 200 ? [body.properties.channel, body.active, body.inherited] : status
  }

  expect(await shown(own)).toBe(404)
  await owner.put(outer, { webhook: HOOK, channel: 'outer' })
  expect([await shown(own), await shown(inner), await shown(outer)]).toEqual([
    ['outer', true, true],
    ['outer', true, true],
    ['outer', true, false],
  ])
  await owner.put(inner, { webhook: HOOK, channel: 'inner' })
  expect(await shown(own)).toEqual(['inner', true, true])
  await owner.put(own, { webhook: HOOK, channel: 'own' })
  expect(await shown(own)).toEqual(['own', true, false])
  // Switched off is a setting of its own, too.
  await owner.delete(own)
  expect(await shown(own)).toEqual([null, false, false])
  expect((await owner.put(own, { use_inherited_settings: true })).body).toMatchObject({
    inherited: true,
    properties: { channel: 'inner' },
  })
  await owner.put(inner, { use_inherited_settings: true })
  expect(await shown(own)).toEqual(['outer', true, true])
  // Old settings do not come back.
  expect(await owner.put(own, { channel: 'own' })).toMatchObject({ status: 400, body: { error: 'webhook is missing' } })
  await owner.delete(outer)
  expect(await shown(own)).toEqual([null, false, true])
})

test('two concurrent requests create one integration', async () => {
  const { owner, url } = source
  const path = `${url}/integrations/discord`
  const answers = await Promise.all([1, 2, 3].map((n) => owner.put(path, { webhook: `${HOOK}/${n}` })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
})

test('what there is is told with its fields, so that a form can be made of it', async () => {
  const { body } = await source.owner.get('/integrations')
  const slack = body.find(({ slug }: { slug: string }) => slug === 'slack')
  expect(slack.fields[0]).toEqual({ name: 'webhook', type: 'password', required: true, choices: [], preset: null })
})
