/** Attacks on directory sign-in: by user input, by the content of entries, and by a man in the middle. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { DirectoryUnreachable, openDirectories, type Directory } from '../../src/directory/directory.ts'
import { startForge } from '../../src/forge.ts'
import { Browser } from '../browser.ts'
import { BASE, GROUP_BASE, startDirectory } from '../directory.ts'
import { mailsOf } from '../mailbox.ts'

const PASSWORD = 'correct horse'

function open(settings: Record<string, string>): Directory {
  const given = Object.entries(settings).map(([name, value]) => [`MORTISE_${name}`, value])
  return openDirectories(readConfig({}, Object.fromEntries(given)))[0]!
}

const portOf = (server: Server) => (server.address() as AddressInfo).port

test('what is typed stays a value, however it is written and however long it is', async () => {
  await using server = await startDirectory()
  const jane = await server.person({ uid: 'jane', password: PASSWORD })
  await server.group('staff', [jane])
  const directory = open(server.settings)
  const logins = [
    'jane\0',
    '\0',
    'jane*',
    '(uid=jane)',
    'jane)(objectClass=*',
    'jane))(|(uid=*',
    '\\2a',
    `jane,${BASE}`,
    `uid=jane,${BASE}`,
    'jane\r\nuserPassword: x',
    `jane${' '.repeat(300)}x`,
    'j'.repeat(1_000_000),
  ]
  for (const login of logins)
    expect([login.slice(0, 40), await directory.authenticate(login, PASSWORD)]).toEqual([login.slice(0, 40), null])
  for (const password of ['', '\0', ' ', '*', `${PASSWORD}\0`, `${PASSWORD} `, 'x'.repeat(1_000_000)])
    expect([password.slice(0, 20), await directory.authenticate('jane', password)]).toEqual([
      password.slice(0, 20),
      null,
    ])
  for (const cn of ['*', 'sta*', 'staff)(cn=*', '\\73taff', `staff,${GROUP_BASE}`])
    expect([cn, await directory.findMembers(cn)]).toEqual([cn, null])
  for (const dn of ['', BASE, '*', `uid=*,${BASE}`, `uid=jane,${BASE},dc=evil`, `uid=jane\\,${BASE}`])
    expect([dn, await directory.authenticate('nobody', PASSWORD, dn)]).toEqual([dn, null])
  expect(await directory.authenticate('jane', PASSWORD)).toMatchObject({ dn: jane })
})

test('referrals lead nowhere: no other server hears of a password', async () => {
  await using server = await startDirectory()
  let requests = 0
  await using elsewhere = createServer((socket) => {
    requests++
    socket.destroy()
  })
  await once(elsewhere.listen(0, '127.0.0.1'), 'listening')
  const referral = (rdn: string) => ({
    objectClass: ['referral', 'extensibleObject'],
    uid: rdn,
    ref: `ldap://127.0.0.1:${portOf(elsewhere)}/uid=${rdn},${BASE}`,
  })
  await server.person({ uid: 'jane', password: PASSWORD })
  await server.add(`uid=lost,${BASE}`, referral('lost'))
  const directory = open(server.settings)
  expect(await directory.authenticate('lost', PASSWORD)).toBeNull()
  expect(await directory.authenticate('jane', PASSWORD)).toMatchObject({ username: 'jane' })
  await expect(directory.authenticate('nobody', PASSWORD, `uid=lost,${BASE}`)).rejects.toThrow(DirectoryUnreachable)
  await expect(directory.findPerson(`uid=lost,${BASE}`)).rejects.toThrow(DirectoryUnreachable)
  expect(requests).toBe(0)
})

/** Responses to the first request: a refusal of StartTLS, and a consent followed by a successful bind. */
const NO_TLS = Buffer.from('300c02010178070a010204000400', 'hex')
const CONSENT = Buffer.from('300c02010178070a010004000400300c02010261070a010004000400', 'hex')

test.each([
  ['refuses to encrypt', NO_TLS],
  ['consents and goes on in the clear', CONSENT],
])('a server in between that %s is told no secret', async (_what, answer) => {
  const received: Buffer[] = []
  await using between = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (data) => {
        received.push(data)
        socket.write(answer)
      })
  })
  await once(between.listen(0, '127.0.0.1'), 'listening')
  const settings = {
    LDAP_URL: `ldap://127.0.0.1:${portOf(between)}`,
    LDAP_BASE: BASE,
    LDAP_BIND_DN: 'cn=service,dc=example,dc=org',
    LDAP_BIND_PASSWORD: 'service words',
  }
  const tries = ['on', 'unverified'].map((LDAP_TLS) => open({ ...settings, LDAP_TLS }).authenticate('jane', PASSWORD))
  for (const outcome of await Promise.allSettled(tries))
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(DirectoryUnreachable) })
  const text = Buffer.concat(received).toString('latin1')
  expect(received.length).toBeGreaterThan(0)
  for (const secret of ['service words', PASSWORD, 'jane']) expect(text).not.toContain(secret)
})

test('an entry cannot make itself somebody it is not', async () => {
  await using server = await startDirectory()
  await using forge = await startForge({ settings: server.settings })
  await forge.user({ username: 'victim', email: 'victim@example.org', admin: true })
  const claimed = await forge.user({ username: 'claimed' })
  await claimed.post('/user/emails', { email: 'mine@example.org' })
  const people = [
    { uid: 'root', mail: 'r1@example.org', name: '<script>alert(1)</script>' },
    { uid: 'victim', mail: 'VICTIM@example.org' },
    { uid: '../../etc/passwd', mail: 'r2@example.org' },
    { uid: 'header', mail: 'x@example.org\r\nBcc: evil@example.org' },
    // An address that another user only claims does not block its owner.
    { uid: 'mine', mail: 'mine@example.org' },
  ]
  const answers: unknown[] = []
  for (const person of people) {
    await server.person({ ...person, password: PASSWORD })
    forge.clock.advance(61_000)
    const { status, body } = await forge.visitor.post('/session', { login: person.uid, password: PASSWORD })
    answers.push(status === 201 ? [body.username, body.email, body.is_admin] : status)
  }
  expect(answers).toEqual([
    ['root1', 'r1@example.org', false],
    401,
    [expect.stringMatching(/^[\w-]+$/), 'r2@example.org', false],
    401,
    ['mine', 'mine@example.org', false],
  ])
  expect((await claimed.get('/user/emails')).body).toEqual([])
})

test('whom the directory vouches for gets no second password by mail', async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane', password: PASSWORD })
  await using forge = await startForge({ settings: server.settings })
  expect((await forge.visitor.post('/session', { login: 'jane', password: PASSWORD })).status).toBe(201)
  const browser = new Browser(forge.url)
  await browser.submit(await browser.get('/users/password/new'), { 'user[email]': 'jane@example.org' })
  expect(await mailsOf(forge)).toEqual([])
})
