import { generateKey, readKey } from 'openpgp'
import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

const generate = async (...emails: string[]) =>
  generateKey({
    type: 'curve25519',
    userIDs: emails.map((email) => ({ name: 'Jane', email })),
    subkeys: [{}, { sign: true }],
  })

const headers: unknown = expect.anything()
const jane = await generate('Jane@Example.com', 'jane@work.example')
const janeKey = jane.publicKey.trim().replaceAll('\r\n', '\n')
const other = await generate('other@example.com')

test('a key is answered as it was given, and its parts are kept', async () => {
  await using forge = await startForge()
  const person = await forge.user()
  const answer = await person.post('/user/gpg_keys', { key: `\n${jane.publicKey}\n` })
  const { id } = answer.body
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({
    id: expect.any(Number),
    key: janeKey,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  })
  expect((await forge.administrator.get(`/users/${person.id}/gpg_keys/${id}`)).body).toEqual(answer.body)

  const parsed = await readKey({ armoredKey: jane.publicKey })
  const named = (key: { getFingerprint(): string; getKeyID(): { toHex(): string } }) => [
    key.getFingerprint().toUpperCase(),
    key.getKeyID().toHex().toUpperCase(),
  ]
  const { db } = forge.app
  const row = await db.selectFrom('gpg_keys').selectAll().executeTakeFirstOrThrow()
  expect([row.fingerprint, row.primary_keyid]).toEqual(named(parsed))
  expect(row.emails).toBe('jane@example.com jane@work.example')
  const subkeys = await db.selectFrom('gpg_subkeys').selectAll().where('gpg_key_id', '=', id).orderBy('id').execute()
  expect(subkeys.map(({ fingerprint, keyid }) => [fingerprint, keyid])).toEqual(parsed.subkeys.map(named))

  await person.delete(`/user/gpg_keys/${id}`)
  expect(await db.selectFrom('gpg_subkeys').selectAll().execute()).toEqual([])
})

test('administrators may send the key_id that the contract lists', async () => {
  await using forge = await startForge()
  const person = await forge.user()
  const answer = await forge.administrator.post(`/users/${person.id}/gpg_keys`, { key_id: 7, key: janeKey })
  expect(answer).toMatchObject({ status: 201, body: { key: janeKey } })
})

test('refuses what is no key, or not a new one', async () => {
  await using forge = await startForge()
  const person = await forge.user()
  const stranger = await forge.user()
  const { body: known } = await stranger.post('/user/gpg_keys', { key: janeKey })
  const events = await forge.events()

  const noBlock =
    "is invalid. A valid public GPG key begins with '-----BEGIN PGP PUBLIC KEY BLOCK-----' and ends with '-----END PGP PUBLIC KEY BLOCK-----'"
  const unreadable = { fingerprint: ["can't be blank"], primary_keyid: ["can't be blank"] }
  const taken = ['has already been taken']
  const damaged = other.publicKey.replace(/\n\n.{40}/, '\n\n').replace(/\r\n\r\n.{40}/, '\r\n\r\n')
  const another = (await readKey({ armoredKey: jane.publicKey }))
    .armor()
    .replace('BLOCK-----', 'BLOCK-----\nComment: again')
  expect(damaged).not.toBe(other.publicKey)

  const refusals = [
    ['', { key: ["can't be blank"] }],
    ['garbage', { key: [noBlock] }],
    [other.privateKey, { key: [noBlock] }],
    [`${other.publicKey}\n${janeKey}`, { key: [noBlock] }],
    [damaged, unreadable],
    [janeKey, { key: taken }],
    [another, { fingerprint: taken, primary_keyid: taken }],
  ] as const
  for (const [key, message] of refusals) {
    expect(await person.post('/user/gpg_keys', { key })).toEqual({ status: 400, body: { message }, headers })
  }
  expect((await person.get('/user/gpg_keys')).body).toEqual([])
  expect((await stranger.get('/user/gpg_keys')).body).toEqual([known])
  expect(await forge.events()).toEqual(events)
})

test('revoking takes the key away and says that it was no mere deletion', async () => {
  await using forge = await startForge()
  const { administrator, visitor } = forge
  const person = await forge.user()
  const stranger = await forge.user()
  const add = async (key: string) => (await person.post('/user/gpg_keys', { key })).body.id as number
  const [first, second, third] = [
    await add(janeKey),
    await add(other.publicKey),
    await add((await generate('a@b.c')).publicKey),
  ]
  const own = (id: number) => `/user/gpg_keys/${id}/revoke`
  const administered = (id: number) => `/users/${person.id}/gpg_keys/${id}/revoke`

  const refusals = [
    [visitor, own(first), 401, '401 Unauthorized'],
    [stranger, own(first), 404, '404 GPG Key Not Found'],
    [administrator, own(first), 404, '404 GPG Key Not Found'],
    [visitor, administered(first), 401, '401 Unauthorized'],
    [stranger, administered(first), 403, '403 Forbidden'],
    [person, administered(first), 403, '403 Forbidden'],
    [administrator, `/users/4000000/gpg_keys/${first}/revoke`, 404, '404 User Not Found'],
    [administrator, `/users/${stranger.id}/gpg_keys/${first}/revoke`, 404, '404 GPG Key Not Found'],
  ] as const
  for (const [caller, path, status, message] of refusals) {
    expect(await caller.post(path)).toEqual({ status, body: { message }, headers })
  }
  expect((await person.get('/user/gpg_keys')).body).toHaveLength(3)

  const accepted = { status: 202, body: { message: '202 Accepted' } }
  expect(await person.post(own(first))).toMatchObject(accepted)
  expect(await administrator.post(administered(second))).toMatchObject(accepted)
  expect((await person.delete(`/user/gpg_keys/${third}`)).status).toBe(204)
  expect((await person.get('/user/gpg_keys')).body).toEqual([])
  expect((await person.post(own(first))).status).toBe(404)

  // The ids of the key and its two subkeys.
  const keyid: unknown = expect.stringMatching(/^[0-9A-F]{16}$/)
  const keyids = [keyid, keyid, keyid]
  const events = await forge.app.db
    .selectFrom('events')
    .select('payload')
    .where('name', '=', 'gpg_key.deleted')
    .orderBy('id')
    .execute()
  expect(events.map(({ payload }) => JSON.parse(payload))).toEqual([
    { id: first, user_id: person.id, revoked: true, keyids },
    { id: second, user_id: person.id, revoked: true, keyids },
    { id: third, user_id: person.id, revoked: false, keyids },
  ])
})

test('administrators alone read one key of somebody else', async () => {
  await using forge = await startForge()
  const person = await forge.user()
  const { body: key } = await person.post('/user/gpg_keys', { key: janeKey })
  const path = `/users/${person.id}/gpg_keys/${key.id}`
  expect((await forge.visitor.get(path)).status).toBe(401)
  expect((await person.get(path)).status).toBe(403)
  expect((await forge.administrator.get(path)).body).toEqual(key)
})

test('a key somebody copied gives way to whom its confirmed address belongs to, and to nobody else', async () => {
  await using forge = await startForge()
  const [mallory, stranger] = [await forge.user(), await forge.user()]
  const owner = await forge.user({ email: 'jane@example.com' })
  await mallory.post('/user/gpg_keys', { key: janeKey })
  await stranger.post('/user/emails', { email: 'jane@work.example' })
  expect((await stranger.post('/user/gpg_keys', { key: janeKey })).status).toBe(400)
  expect((await owner.post('/user/gpg_keys', { key: janeKey })).status).toBe(201)
  expect((await mallory.get('/user/gpg_keys')).body).toEqual([])

  const vouched = { email: 'jane@work.example', skip_confirmation: true }
  await forge.administrator.post(`/users/${mallory.id}/emails`, vouched)
  expect((await mallory.post('/user/gpg_keys', { key: janeKey })).status).toBe(400)
  expect((await owner.get('/user/gpg_keys')).body).toHaveLength(1)
})
