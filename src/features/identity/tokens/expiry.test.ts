import { expect, test } from 'vitest'
import { openSource } from '../../../../test/sources.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type Reply, type TestForge } from '../../../forge.ts'

const OWN = '/user/personal_access_tokens'
const ALL = '/personal_access_tokens'

const answered = ({ status, body }: Reply) => [status, body]
const dayIn = (forge: TestForge, days: number) =>
  new Date(forge.clock.now().getTime() + days * DAY).toISOString().slice(0, 10)
const set = (forge: TestForge, settings: Record<string, unknown>) =>
  forge.administrator.put('/application/settings', settings)
const rows = (forge: TestForge) => forge.app.db.selectFrom('access_tokens').selectAll().orderBy('id').execute()
const input = { name: 'robot', scopes: ['api'] }

/** Every way to create a token. */
async function makers(forge: TestForge) {
  const jane = await forge.user()
  const { url, owner } = await openSource(forge, 'projects')
  const group = await openSource(forge, 'groups')
  const made = (await jane.post(OWN, { ...input, expires_at: dayIn(forge, 2) })).body
  const robot = (await owner.post(`${url}/access_tokens`, { ...input, expires_at: dayIn(forge, 2) })).body
  const { administrator: root } = forge
  return {
    'a token of one’s own': (expires_at?: string) => jane.post(OWN, { ...input, expires_at }),
    'a token for somebody': (expires_at?: string) => root.post(`/users/${jane.id}${ALL}`, { ...input, expires_at }),
    'an impersonation token': (expires_at?: string) =>
      root.post(`/users/${jane.id}/impersonation_tokens`, { ...input, expires_at }),
    'a token of a project': (expires_at?: string) => owner.post(`${url}/access_tokens`, { ...input, expires_at }),
    'a token of a group': (expires_at?: string) =>
      group.owner.post(`${group.url}/access_tokens`, { ...input, expires_at }),
    'a rotated token': (expires_at?: string) => jane.post(`${ALL}/${made.id}/rotate`, { expires_at }),
    'a token that rotates itself': (expires_at?: string) =>
      forge.as({ 'PRIVATE-TOKEN': made.token }).post(`${ALL}/self/rotate`, { expires_at }),
    'a rotated token of a project': (expires_at?: string) =>
      owner.post(`${url}/access_tokens/${robot.id}/rotate`, { expires_at }),
  }
}

type Way = keyof Awaited<ReturnType<typeof makers>>
const WAYS: Way[] = [
  'a token of one’s own',
  'a token for somebody',
  'an impersonation token',
  'a token of a project',
  'a token of a group',
  'a rotated token',
  'a token that rotates itself',
  'a rotated token of a project',
]

test.each(WAYS)('%s ends within the longest life that is set, else nothing is made', async (way) => {
  await using forge = await startForge()
  const make = (await makers(forge))[way]
  await set(forge, { max_personal_access_token_lifetime: 5 })
  using _ = forge.clock.hold()

  const before = await rows(forge)
  const events = await forge.events()
  const refused = { message: { expires_at: [`must be before ${dayIn(forge, 6)}`] } }
  expect(answered(await make(dayIn(forge, 6)))).toEqual([400, refused])
  expect((await rows(forge)).map(({ id, revoked }) => [id, revoked])).toEqual(
    before.map(({ id, revoked }) => [id, revoked]),
  )
  expect(await forge.events()).toEqual(events)

  const made = await make(dayIn(forge, 5))
  expect([made.status < 300, made.body.expires_at]).toEqual([true, dayIn(forge, 5)])
})

test.each(WAYS)('%s without a day ends on the last one that is allowed', async (way) => {
  await using forge = await startForge()
  const make = (await makers(forge))[way]
  await set(forge, { max_personal_access_token_lifetime: 5, require_personal_access_token_expiry: true })
  const made = await make()
  expect([made.status < 300, made.body.expires_at]).toEqual([true, dayIn(forge, 5)])
})

test('a day has to be named where one is required and no longest life says it', async () => {
  await using forge = await startForge()
  const made = await makers(forge)
  await set(forge, { require_personal_access_token_expiry: true })
  const before = await rows(forge)
  for (const way of WAYS.slice(0, 3)) {
    expect(answered(await made[way]())).toEqual([400, { message: { expires_at: ["can't be blank"] } }])
    expect(answered(await made[way](''))).toEqual([400, { message: { expires_at: ["can't be blank"] } }])
  }
  expect((await rows(forge)).length).toBe(before.length)
  expect((await made['a token of one’s own']('2999-01-01')).status).toBe(201)
  // These have their own default lifetime.
  expect((await made['a token of a project']()).body.expires_at).toBe(dayIn(forge, 365))
  expect((await made['a rotated token']()).body.expires_at).toBe(dayIn(forge, 7))
})

test('tokens there are live as they were made, also without a day', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { token } = (await jane.post(OWN, input)).body
  await set(forge, { max_personal_access_token_lifetime: 1, require_personal_access_token_expiry: true })
  forge.clock.advance(3 * DAY)
  expect((await forge.as({ 'PRIVATE-TOKEN': token }).get('/user')).status).toBe(200)
})

test('a longest life beyond all calendars sets nothing apart', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  expect((await set(forge, { max_personal_access_token_lifetime: 2_000_000_000 })).status).toBe(200)
  expect((await jane.post(OWN, { ...input, expires_at: '9999-12-31' })).body.expires_at).toBe('9999-12-31')
  expect((await jane.post(OWN, input)).body.expires_at).toBe('9999-12-31')
})
