import { randomBytes } from 'node:crypto'
import { generateKey } from 'openpgp'
import { describe, expect, test } from 'vitest'
import { atOnce } from '../../../test/at-once.ts'
import { startForge, type Client, type Person, type TestForge } from '../../forge.ts'
import { issueToken } from './tokens/service.ts'

/** Any 32 bytes are accepted as an Ed25519 point in the text of a public key. */
function sshKey(): string {
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes])
  const blob = Buffer.concat([field(Buffer.from('ssh-ed25519')), field(randomBytes(32))])
  return `ssh-ed25519 ${blob.toString('base64')}`
}

async function gpgKey(): Promise<string> {
  const { publicKey } = await generateKey({ type: 'curve25519', userIDs: [{ email: 'jane@example.com' }] })
  return publicKey
}

const families = [
  {
    family: 'keys',
    name: 'Key',
    parameter: 'key_id',
    event: 'key',
    missing: 'title, key',
    heedsDates: true,
    input: async () => ({ title: 'laptop', key: sshKey() }),
  },
  {
    family: 'gpg_keys',
    name: 'GPG Key',
    parameter: 'key_id',
    event: 'gpg_key',
    missing: 'key',
    heedsDates: false,
    input: async () => ({ key: await gpgKey() }),
  },
  {
    family: 'emails',
    name: 'Email',
    parameter: 'email_id',
    event: 'email',
    missing: 'email',
    heedsDates: true,
    input: async () => ({ email: `${randomBytes(8).toString('hex')}@example.com` }),
  },
]

const headers: unknown = expect.anything()
const missingUser = { message: '404 User Not Found' }

async function people(forge: TestForge) {
  return {
    visitor: forge.visitor,
    blocked: await forge.user({ blocked: true }),
    external: await forge.user({ external: true }),
    stranger: await forge.user(),
    owner: await forge.user(),
    administrator: forge.administrator,
  }
}

async function statuses(callers: Record<string, Client>, call: (caller: Client) => Promise<{ status: number }>) {
  const answers: Record<string, number> = {}
  for (const [name, caller] of Object.entries(callers)) answers[name] = (await call(caller)).status
  return answers
}

const self = { visitor: 401, blocked: 401 }
const others = { ...self, external: 403, stranger: 403, owner: 403 }

describe.each(families)('$family', ({ family, name, parameter, event, missing, heedsDates, input }) => {
  const own = `/user/${family}`
  const of = (user: { id: number }) => `/users/${user.id}/${family}`
  const add = async (owner: Person) => (await owner.post(own, await input())).body as { id: number }

  test('everybody finds their own, administrators anybody’s', async () => {
    await using forge = await startForge()
    const callers = await people(forge)
    const { owner } = callers
    const record = await add(owner)

    const all = { external: 200, stranger: 200, owner: 200, administrator: 200 }
    expect(await statuses(callers, (caller) => caller.get(own))).toEqual({ ...self, ...all })
    expect(await statuses(callers, (caller) => caller.get(of(owner)))).toEqual({ ...others, administrator: 200 })

    const hidden = { external: 404, stranger: 404, administrator: 404 }
    expect(await statuses(callers, (caller) => caller.get(`${own}/${record.id}`))).toEqual({
      ...self,
      ...hidden,
      owner: 200,
    })
    expect(await statuses(callers, async (caller) => caller.post(own, await input()))).toEqual({
      ...self,
      external: 201,
      stranger: 201,
      owner: 201,
      administrator: 201,
    })
    expect(await statuses(callers, async (caller) => caller.post(of(owner), await input()))).toEqual({
      ...others,
      administrator: 201,
    })
    expect(await statuses(callers, (caller) => caller.delete(`${own}/${record.id}`))).toEqual({
      ...self,
      ...hidden,
      owner: 204,
    })
    const another = await add(owner)
    expect(await statuses(callers, (caller) => caller.delete(`${of(owner)}/${another.id}`))).toEqual({
      ...others,
      administrator: 204,
    })
  })

  test('both doors show the same records, newest first', async () => {
    await using forge = await startForge()
    const { administrator } = forge
    const owner = await forge.user()
    const first = await owner.post(own, await input())
    const second = await administrator.post(of(owner), await input())
    expect([first.status, second.status]).toEqual([201, 201])

    expect((await owner.get(own)).body).toEqual([second.body, first.body])
    expect((await administrator.get(of(owner))).body).toEqual([second.body, first.body])
    expect((await owner.get(`${own}/${first.body.id}`)).body).toEqual(first.body)
    expect((await administrator.get(own)).body).toEqual([])

    expect(await owner.delete(`${own}/${first.body.id}`)).toMatchObject({ status: 204, body: '' })
    expect((await administrator.get(of(owner))).body).toEqual([second.body])
    expect(await administrator.delete(`${of(owner)}/${second.body.id}`)).toMatchObject({ status: 204, body: '' })
    expect((await owner.get(own)).body).toEqual([])
  })

  test('a token that reads users reads these too, and changes nothing', async () => {
    await using forge = await startForge()
    const owner = await forge.user()
    const { id } = await add(owner)
    const reader = async (user: Person) => {
      const { secret } = await issueToken(forge.app, user.id, 'personal', { name: 'reader', scopes: ['read_user'] })
      return forge.as({ 'PRIVATE-TOKEN': secret })
    }
    for (const [caller, path] of [
      [await reader(owner), own],
      [await reader(forge.administrator), of(owner)],
    ] as const) {
      expect((await caller.get(path)).status).toBe(200)
      for (const answer of [await caller.post(path, await input()), await caller.delete(`${path}/${id}`)]) {
        expect(answer).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } })
      }
    }
    expect((await (await reader(owner)).get(`${own}/${id}`)).status).toBe(200)
  })

  test('additions and deletions are told', async () => {
    await using forge = await startForge()
    const owner = await forge.user()
    const { id } = await add(owner)
    await owner.delete(`${own}/${id}`)
    const events = await forge.app.db.selectFrom('events').select(['name', 'payload']).orderBy('id').execute()
    expect(events.slice(-2).map(({ name, payload }) => ({ name, payload: JSON.parse(payload) }))).toEqual([
      { name: `${event}.created`, payload: { id, user_id: owner.id } },
      { name: `${event}.deleted`, payload: expect.objectContaining({ id, user_id: owner.id }) },
    ])
  })

  test('parameters are checked before the rank of the caller, and that before anything is looked up', async () => {
    await using forge = await startForge()
    const { administrator } = forge
    const owner = await forge.user()
    const stranger = await forge.user()
    const record = await add(owner)
    const events = await forge.events()
    const notGiven = {
      message: `400 (Bad request) ${missing} not given`,
      error: missing
        .split(', ')
        .map((attribute) => `${attribute} is missing`)
        .join(', '),
    }
    const invalidId = { message: `${parameter} is invalid`, error: `${parameter} is invalid` }
    const forbidden = { message: '403 Forbidden' }
    const missingRecord = { message: `404 ${name} Not Found` }
    const nobody = { id: 4_000_000 }

    const refusals = [
      [owner.post(own), 400, notGiven],
      [stranger.post(of(nobody)), 400, notGiven],
      [administrator.post(of(owner)), 400, notGiven],
      [owner.get(`${own}/first`), 400, invalidId],
      [owner.delete(`${own}/first`), 400, invalidId],
      [stranger.delete(`${of(nobody)}/first`), 400, invalidId],
      [stranger.get(of(nobody)), 403, forbidden],
      [stranger.post(of(nobody), await input()), 403, forbidden],
      [stranger.delete(`${of(nobody)}/1`), 403, forbidden],
      [owner.delete(`${of(owner)}/${record.id}`), 403, forbidden],
      [administrator.get(of(nobody)), 404, missingUser],
      [administrator.post(of(nobody), await input()), 404, missingUser],
      [administrator.delete(`${of(nobody)}/${record.id}`), 404, missingUser],
      [administrator.delete(`${of(stranger)}/${record.id}`), 404, missingRecord],
      [administrator.delete(`${own}/${record.id}`), 404, missingRecord],
      [stranger.delete(`${own}/${record.id}`), 404, missingRecord],
      [stranger.get(`${own}/${record.id}`), 404, missingRecord],
      [owner.get(`${own}/4000000`), 404, missingRecord],
      [owner.delete(`${own}/4000000`), 404, missingRecord],
      [administrator.get(`/users/${owner.username}/${family}`), 404, { error: '404 Not Found' }],
    ] as const
    for (const [answer, status, body] of refusals) expect(await answer).toEqual({ status, body, headers })

    expect((await owner.get(own)).body).toEqual([record])
    expect(await forge.events()).toEqual(events)
  })

  test('a page says where the others are, and costs as many queries for many rows as for few', async () => {
    await using forge = await startForge()
    const { administrator } = forge
    const owner = await forge.user()
    const addMany = async (count: number) => {
      for (let i = 0; i < count; i++) await add(owner)
    }
    const cost = async () => [
      await forge.queries(() => owner.get(own)),
      await forge.queries(() => administrator.get(of(owner))),
    ]
    await addMany(2)
    await owner.get(own) // reads settings and totals once, so that they are cached
    const few = await cost()
    await addMany(10)
    expect(await cost()).toEqual(few)

    for (const answer of [
      await owner.get(own, { per_page: 5, page: 3 }),
      await administrator.get(of(owner), { per_page: 5, page: 3 }),
    ]) {
      expect(answer.body).toHaveLength(2)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'x-total': '12',
        'x-total-pages': '3',
        'x-per-page': '5',
        'x-page': '3',
        'x-prev-page': '2',
        'x-next-page': '',
      })
      expect(answer.headers.get('link')).toContain('rel="prev"')
    }
  })

  test(`a deletion ${heedsDates ? 'heeds' : 'ignores'} when the record last changed`, async () => {
    await using forge = await startForge()
    const owner = await forge.user()
    const unmodifiedSince = (ms: number) => ({ 'If-Unmodified-Since': new Date(Date.now() + ms).toUTCString() })
    for (const [caller, path] of [
      [owner, own],
      [forge.administrator, of(owner)],
    ] as const) {
      const { id } = await add(owner)
      const before = await caller.delete(`${path}/${id}`, undefined, unmodifiedSince(-60_000))
      const after = await caller.delete(`${path}/${id}`, undefined, unmodifiedSince(60_000))
      expect([before, after]).toMatchObject(
        heedsDates
          ? [{ status: 412, body: { message: '412 Precondition Failed' } }, { status: 204 }]
          : [{ status: 204 }, { status: 404 }],
      )
    }
  })

  test('of two additions or two deletions at once, one wins', async () => {
    await using forge = await startForge()
    const owner = await forge.user()
    const request = await input()
    const added = await atOnce(
      forge,
      () => owner.post(own, request),
      // Two users may claim the same address; one user may claim it once.
      () => forge.administrator.post('email' in request ? of(owner) : own, request),
    )
    expect(added.map(({ status }) => status)).toEqual([201, 400])
    expect(added[1]!.body.message).toEqual(
      expect.objectContaining({ ['email' in request ? 'email' : 'key']: ['has already been taken'] }),
    )

    const { id } = await add(owner)
    const deleted = await atOnce(
      forge,
      () => owner.delete(`${own}/${id}`),
      () => forge.administrator.delete(`${of(owner)}/${id}`),
    )
    expect(deleted.map(({ status }) => status)).toEqual([204, 404])
    expect(deleted[1]!.body).toEqual({ message: `404 ${name} Not Found` })
    const events = await forge.events()
    expect(events.filter((one) => one === `${event}.created`)).toHaveLength(2)
    expect(events.filter((one) => one === `${event}.deleted`)).toHaveLength(1)
  })

  test('a deleted user leaves nothing behind', async () => {
    await using forge = await startForge()
    const owner = await forge.user()
    const successor = await forge.user()
    const request = await input()
    await owner.post(own, request)
    expect((await forge.administrator.delete(`/users/${owner.id}`)).status).toBe(204)
    expect((await successor.post(own, request)).status).toBe(201)
  })
})
