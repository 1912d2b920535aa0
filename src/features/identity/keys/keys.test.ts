import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

const folder = mkdtempSync(join(tmpdir(), 'ssh-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A fresh public key, with its fingerprints as ssh-keygen prints them. */
function generate(type: string, bits: number) {
  const file = join(folder, `${type}-${bits}`)
  execFileSync('ssh-keygen', ['-q', '-t', type, '-b', String(bits), '-N', '', '-C', 'jane at home', '-f', file])
  const fingerprint = (hash: string) =>
    execFileSync('ssh-keygen', ['-l', '-E', hash, '-f', file]).toString().split(' ')[1]!
  return {
    file,
    text: readFileSync(`${file}.pub`, 'utf8').trim(),
    md5: fingerprint('md5'),
    sha256: fingerprint('sha256'),
  }
}

const ed25519 = generate('ed25519', 256)
const rsa = generate('rsa', 1024)
const ecdsa = generate('ecdsa', 256)
const bare = (text: string) => text.split(' ').slice(0, 2).join(' ')

test('a key is kept on one line and answered whole', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const wrapped = `\n${ed25519.text.slice(0, 40)}\r\n${ed25519.text.slice(40)}\n`
  const answer = await jane.post('/user/keys', { title: 'laptop', key: wrapped })
  expect(answer.body).toEqual({
    id: expect.any(Number),
    title: 'laptop',
    key: ed25519.text,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    expires_at: null,
    usage_type: 'auth_and_signing',
    last_used_at: null,
  })
  expect(answer.status).toBe(201)
  expect((await forge.administrator.get(`/users/${jane.id}/keys/${answer.body.id}`)).body).toEqual(answer.body)
})

test('a key may expire and may be kept to one use', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const request = { title: 'work', key: rsa.text, expires_at: '2999-1-2', usage_type: 'signing' }
  expect(await jane.post('/user/keys', request)).toMatchObject({
    status: 201,
    body: { expires_at: '2999-01-02T00:00:00.000Z', usage_type: 'signing' },
  })
})

const headers: unknown = expect.anything()
const LIST = 'type is forbidden. Must be RSA, DSA, ECDSA, or ED25519'
const unreadable = { key: ['is invalid', LIST], fingerprint: ['cannot be generated'] }
const taken = { fingerprint: ['has already been taken'], key: ['has already been taken'] }

test('refuses what is no key, or not a new one', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const john = await forge.user()
  const { body: known } = await john.post('/user/keys', { title: 'first', key: rsa.text })
  const events = await forge.events()
  const privateKey = readFileSync(ed25519.file, 'utf8')
  const fresh = { title: 'laptop', key: ed25519.text }
  const tooLong = (most: number) => [`is too long (maximum is ${most} characters)`]

  const refusals = [
    [{ ...fresh, title: '' }, { title: ["can't be blank"] }],
    [{ ...fresh, title: 'x'.repeat(256) }, { title: tooLong(255) }],
    [{ ...fresh, key: 'garbage' }, unreadable],
    [{ ...fresh, key: 'ssh-rsa AAAAB3NzaC1yc2EAAAA' }, unreadable],
    [{ ...fresh, key: privateKey }, unreadable],
    [{ ...fresh, key: `command="ls" ${ed25519.text}` }, unreadable],
    [
      { ...fresh, key: ' ' },
      { key: ["can't be blank"], fingerprint: ['cannot be generated'] },
    ],
    [
      { ...fresh, key: ed25519.text.padEnd(5001, 'x') },
      { key: tooLong(5000), fingerprint: ['cannot be generated'] },
    ],
    [
      { title: ' ', key: 'garbage' },
      { title: ["can't be blank"], ...unreadable },
    ],
    [{ ...fresh, expires_at: '2001-01-01' }, { key: ['has expired'] }],
    [{ ...fresh, key: rsa.text }, taken],
    [{ ...fresh, key: `${bare(rsa.text)} another comment` }, taken],
  ] as const
  for (const [input, message] of refusals) {
    expect(await jane.post('/user/keys', input)).toEqual({ status: 400, body: { message }, headers })
  }
  expect((await john.post('/user/keys', { ...fresh, key: rsa.text })).body).toEqual({ message: taken })
  expect((await jane.post('/user/keys', { ...fresh, usage_type: 'sealing' })).body).toEqual({
    message: 'usage_type does not have a valid value',
    error: 'usage_type does not have a valid value',
  })

  expect((await jane.get('/user/keys')).body).toEqual([])
  expect((await john.get('/user/keys')).body).toEqual([known])
  expect(await forge.events()).toEqual(events)
})

test('the instance may forbid types and short keys', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const restrictions = { rsa_key_restriction: 2048, dsa_key_restriction: -1, ecdsa_key_restriction: -1 }
  expect((await forge.administrator.put('/application/settings', restrictions)).status).toBe(200)
  const add = (key: string) => jane.post('/user/keys', { title: 'laptop', key })
  const forbidden = 'type is forbidden. Must be RSA or ED25519'

  expect((await add(rsa.text)).body).toEqual({ message: { key: ['must be at least 2048 bits'] } })
  expect((await add(ecdsa.text)).body).toEqual({ message: { key: [forbidden] } })
  expect((await add('garbage')).body.message.key).toEqual(['is invalid', forbidden])
  expect((await add(ed25519.text)).status).toBe(201)
})

test('administrators look any key up, by id and by fingerprint', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ name: 'Jane Doe' })
  const { body: key } = await jane.post('/user/keys', { title: 'laptop', key: ed25519.text })
  const { is_admin, ...user } = (await administrator.get(`/users/${jane.id}`)).body
  expect(is_admin).toBe(false)

  const found = await administrator.get(`/keys/${key.id}`)
  expect(found.body).toEqual({
    ...key,
    can_push: false,
    user,
  })
  const { md5, sha256 } = ed25519
  for (const fingerprint of [md5, md5.replace('MD5:', ''), md5.replace('MD5:', '').toUpperCase(), sha256]) {
    expect(await administrator.get('/keys', { fingerprint })).toMatchObject({ status: 200, body: found.body })
  }
})

test('a deploy key has no owner, and no one finds it among their own', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { body: key } = await jane.post('/user/keys', { title: 'robot', key: ecdsa.text })
  await forge.app.db.updateTable('keys').set({ kind: 'deploy', user_id: null }).execute()

  expect((await forge.administrator.get(`/keys/${key.id}`)).body).toEqual({ ...key, can_push: false, user: null })
  expect((await jane.get('/user/keys')).body).toEqual([])
  expect((await jane.post('/user/keys', { title: 'mine', key: ecdsa.text })).body).toEqual({ message: taken })
})

test('the lookup is closed to everyone else, before it says anything about keys', async () => {
  await using forge = await startForge()
  const { administrator, visitor } = forge
  const jane = await forge.user()
  const external = await forge.user({ external: true })
  const blocked = await forge.user({ blocked: true })
  const { body: key } = await jane.post('/user/keys', { title: 'laptop', key: ed25519.text })

  for (const path of [`/keys/${key.id}`, '/keys/4000000', '/keys/first', '/keys', `/keys?fingerprint=${ed25519.md5}`]) {
    for (const caller of [visitor, blocked]) expect((await caller.get(path)).status).toBe(401)
    for (const caller of [jane, external]) {
      expect(await caller.get(path)).toMatchObject({ status: 403, body: { message: '403 Forbidden' } })
    }
  }
  const refusals = [
    ['/keys/4000000', 404, { message: '404 Not found' }],
    ['/keys/0', 404, { message: '404 Not found' }],
    ['/keys/99999999999999999999', 404, { message: '404 Not found' }],
    ['/keys/first', 400, { message: 'id is invalid', error: 'id is invalid' }],
    ['/keys', 400, { message: '400 (Bad request) fingerprint not given', error: 'fingerprint is missing' }],
    ['/keys?fingerprint=', 400, { message: 'Failed to return the key' }],
    ['/keys?fingerprint=12:34', 400, { message: 'Failed to return the key' }],
    ['/keys?fingerprint=SHA256:short', 400, { message: 'Failed to return the key' }],
    [`/keys?fingerprint=${rsa.md5}`, 404, { message: '404 Key Not Found' }],
    [`/keys?fingerprint=${encodeURIComponent(rsa.sha256)}`, 404, { message: '404 Key Not Found' }],
  ] as const
  for (const [path, status, body] of refusals) expect(await administrator.get(path)).toEqual({ status, body, headers })
})
