/** The directory kit and directory sign-in, against a real slapd. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { DirectoryUnreachable, openDirectories, type Directory } from '../../src/directory/directory.ts'
import { BASE, GROUP_BASE, PUBLIC_BASE, startDirectory, type TestDirectory } from '../directory.ts'

const PASSWORD = 'correct horse'
const JANE = `uid=jane,${BASE}`

function open(server: TestDirectory, more: Record<string, string> = {}): Directory {
  const given = Object.entries({ ...server.settings, ...more }).map(([name, value]) => [`MORTISE_${name}`, value])
  return openDirectories(readConfig({}, Object.fromEntries(given)))[0]!
}

const ANONYMOUS = { LDAP_BIND_DN: '', LDAP_BIND_PASSWORD: '' }

/** Every query of a directory. */
const questions = (directory: Directory) => [
  directory.authenticate('jane', PASSWORD),
  directory.findPerson(JANE),
  directory.findMembers('staff'),
]

async function expectUnreachable(directory: Directory, reason: RegExp) {
  for (const answer of await Promise.allSettled(questions(directory))) {
    expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(DirectoryUnreachable) })
    expect((answer as PromiseRejectedResult).reason.message).toMatch(reason)
  }
}

test('a password is checked for the one person who signs in so', async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane', password: PASSWORD, name: 'Jane Doe' })
  await server.person({ uid: 'Döe, (J*)', password: PASSWORD, mail: null })
  await server.person({ uid: 'silent' })
  await server.add(`ou=guests,${BASE}`, { objectClass: 'organizationalUnit', ou: 'guests' })
  const twin = { objectClass: 'inetOrgPerson', uid: 'twin', cn: 'Twin', sn: 'Twin', userPassword: PASSWORD }
  await server.add(`cn=one,${BASE}`, { ...twin, cn: 'one' })
  await server.add(`cn=two,ou=guests,${BASE}`, { ...twin, cn: 'two', displayName: 'Number Two' })
  const outsider = `uid=outsider,${PUBLIC_BASE}`
  await server.add(outsider, { ...twin, uid: 'outsider' })
  const directory = open(server)

  const jane = { dn: JANE, username: 'jane', name: 'Jane Doe', email: 'jane@example.org' }
  const odd = { dn: `uid=döe\\, (j*),${BASE}`, username: 'Döe, (J*)', name: 'Some One', email: null }
  const two = { dn: `cn=two,ou=guests,${BASE}`, username: 'twin', name: 'Number Two', email: null }
  const table: [string, string, string | undefined, object | null][] = [
    ['jane', PASSWORD, undefined, jane],
    ['JANE', PASSWORD, undefined, jane],
    ['jane', 'wrong horse', undefined, null],
    ['jane', '', undefined, null],
    ['', PASSWORD, undefined, null],
    ['nobody', PASSWORD, undefined, null],
    ['silent', PASSWORD, undefined, null],
    ['döe, (j*)', PASSWORD, undefined, odd],
    // User input is a value, never part of the filter.
    ['*', PASSWORD, undefined, null],
    ['jan*', PASSWORD, undefined, null],
    ['jane)(uid=*', PASSWORD, undefined, null],
    ['*)(|(uid=jane', PASSWORD, undefined, null],
    ['\\6aane', PASSWORD, undefined, null],
    // An ambiguous login matches nobody, unless the DN is known; but the DN never overrides the login.
    ['twin', PASSWORD, undefined, null],
    ['twin', PASSWORD, two.dn, null],
    ['two@example.org', PASSWORD, two.dn.toUpperCase(), two],
    ['two@example.org', 'wrong horse', two.dn, null],
    ['outsider', PASSWORD, undefined, null],
    ['outsider', PASSWORD, outsider, null],
    ['nobody', PASSWORD, 'no dn', null],
    ['jane', PASSWORD, two.dn, jane],
  ]
  for (const [login, password, dn, answer] of table) {
    expect([login, password, dn, await directory.authenticate(login, password, dn)]).toEqual([
      login,
      password,
      dn,
      answer,
    ])
  }

  const filtered = open(server, { LDAP_FILTER: '(&(objectClass=inetOrgPerson)(!(displayName=*)))', LDAP_UID: 'mail' })
  expect(await filtered.authenticate('jane@example.org', PASSWORD)).toEqual({ ...jane, username: 'jane@example.org' })
  await server.change(JANE, { displayName: 'Jane Gone' })
  expect(await filtered.authenticate('jane@example.org', PASSWORD)).toBeNull()
  expect(await filtered.authenticate('jane', PASSWORD, JANE)).toBeNull()
  expect(await filtered.findPerson(JANE)).toBeNull()
  expect(await directory.findPerson(JANE)).toEqual({ ...jane, name: 'Jane Gone' })
})

test('without an account to search with, a directory is asked as far as it tells everybody', async () => {
  await using server = await startDirectory()
  const dn = `uid=jane,${PUBLIC_BASE}`
  await server.add(dn, { objectClass: 'inetOrgPerson', uid: 'jane', cn: 'Jane', sn: 'Doe', userPassword: PASSWORD })
  const directory = open(server, { ...ANONYMOUS, LDAP_BASE: PUBLIC_BASE })
  expect(await directory.authenticate('jane', PASSWORD)).toMatchObject({ dn, name: 'Jane' })
  expect(await directory.authenticate('jane', 'wrong horse')).toBeNull()
  expect(await directory.authenticate('jane@example.org', PASSWORD, dn)).toMatchObject({ dn })
  expect(await directory.findPerson(dn)).toMatchObject({ dn })
})

test('members of groups of every kind are told by their normalised DNs, however many they are', async () => {
  await using server = await startDirectory()
  const uids = Array.from({ length: 130 }, (_, n) => `person${n}`)
  for (const uid of uids) await server.person({ uid })
  const dns = uids.map((uid) => `uid=${uid},${BASE}`)
  await server.group('names', [dns[1]!.toUpperCase(), dns[2]!])
  await server.group('unique', [`${dns[3]!}#'0101'B`, dns[4]!], 'groupOfUniqueNames')
  await server.group('posix', [...uids, 'stranger'], 'posixGroup')
  await server.group('hollow', [], 'posixGroup')
  await server.add(`ou=more,${GROUP_BASE}`, { objectClass: 'organizationalUnit', ou: 'more' })
  await server.add(`cn=names,ou=more,${GROUP_BASE}`, { objectClass: 'groupOfNames', cn: 'names', member: dns[5]! })
  const directory = open(server)

  expect((await directory.findMembers('names'))?.toSorted()).toEqual([dns[1], dns[2], dns[5]])
  expect((await directory.findMembers('UNIQUE'))?.toSorted()).toEqual([dns[3], dns[4]])
  expect((await directory.findMembers('posix'))?.toSorted()).toEqual(dns.toSorted())
  expect(await directory.findMembers('hollow')).toEqual([])
  // No group, a wildcard, and an entry that is not a group.
  for (const cn of ['none', '*', 'na*', 'more', 'Some One'])
    expect([cn, await directory.findMembers(cn)]).toEqual([cn, null])

  await server.remove(dns[0]!)
  expect(await directory.findMembers('posix')).toHaveLength(129)
  const everywhere = open(server, { LDAP_GROUP_BASE: 'dc=example,dc=org' })
  expect(await everywhere.findMembers('hollow')).toEqual([])
})

test('a person is there, moved or gone', async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane' })
  await server.add(`ou=guests,${BASE}`, { objectClass: 'organizationalUnit', ou: 'guests' })
  const outsider = `uid=outsider,${PUBLIC_BASE}`
  await server.add(outsider, { objectClass: 'inetOrgPerson', uid: 'outsider', cn: 'Out', sn: 'Sider' })
  const directory = open(server)
  const jane = { dn: JANE, username: 'jane', name: 'Some One', email: 'jane@example.org' }

  expect(await directory.findPerson(JANE)).toEqual(jane)
  expect(await directory.findPerson('UID=Jane, OU=People, DC=example, DC=org')).toEqual(jane)
  for (const dn of [BASE, `ou=guests,${BASE}`, outsider, 'jane', '', `jane,${BASE}`]) {
    expect([dn, await directory.findPerson(dn)]).toEqual([dn, null])
  }
  const guest = `uid=jane,ou=guests,${BASE}`
  await server.move(JANE, guest)
  expect(await directory.findPerson(JANE)).toBeNull()
  expect(await directory.findPerson(guest)).toEqual({ ...jane, dn: guest })
  await server.remove(guest)
  expect(await directory.findPerson(guest)).toBeNull()
})

test('a server that tells nothing clear is unreachable, and nobody is gone because of it', async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane', password: PASSWORD })
  await server.group('staff', [JANE])
  const directory = open(server)
  const answers = await Promise.all(questions(directory))
  expect(answers).toEqual([expect.objectContaining({ dn: JANE }), expect.objectContaining({ dn: JANE }), [JANE]])

  await expectUnreachable(open(server, { LDAP_BIND_PASSWORD: 'wrong words' }), /InvalidCredentials/)
  await expectUnreachable(open(server, ANONYMOUS), /NoSuchObject/)
  const elsewhere = 'ou=elsewhere,dc=example,dc=org'
  await expectUnreachable(open(server, { LDAP_BASE: elsewhere, LDAP_GROUP_BASE: elsewhere }), /NoSuchObject/)
  await expectUnreachable(open(server, { LDAP_TLS: 'on' }), /self-signed/)
  const unencrypted = { LDAP_TLS: 'unverified', LDAP_URL: `ldaps://127.0.0.1:${server.port}` }
  await expectUnreachable(open(server, unencrypted), /disconnected|ECONNRESET/)

  await server.stop()
  await expectUnreachable(directory, /ECONNREFUSED/)
  await expectUnreachable(open(server, { LDAP_URL: `ldap://localhost:${server.port}` }), /ECONNREFUSED/)
  await server.start()
  expect(await Promise.all(questions(directory))).toEqual(answers)
  await server.freeze()
  await expectUnreachable(open(server, { LDAP_TLS: 'on' }), /no answer within 5 s/)
})

test('an encrypted connection is the default, and only a trusted certificate of that host is believed', async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane', password: PASSWORD })
  await server.group('staff', [JANE])
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, await server.certificate()])
  try {
    for (const scheme of ['ldap', 'ldaps']) {
      const port = scheme === 'ldap' ? server.port : server.securePort
      const trusting = open(server, { LDAP_TLS: 'on', LDAP_URL: `${scheme}://127.0.0.1:${port}` })
      expect(await Promise.all(questions(trusting))).toMatchObject([{ dn: JANE }, { dn: JANE }, [JANE]])
      const misnamed = { LDAP_TLS: 'on', LDAP_URL: `${scheme}://localhost:${port}` }
      await expectUnreachable(open(server, misnamed), /altnames/)
      const careless = open(server, { ...misnamed, LDAP_TLS: 'unverified' })
      expect(await careless.findPerson(JANE)).toMatchObject({ dn: JANE })
    }
  } finally {
    setDefaultCACertificates(before)
  }
})

test('a connection is closed after use, and one that is cut off has told nothing', async () => {
  await using server = await startDirectory()
  await server.person({ uid: 'jane', password: PASSWORD })
  const sockets = new Set<Socket>()
  let connections = 0
  let answersLeft = Infinity
  await using proxy = createServer((client) => {
    connections++
    const upstream = connect(server.port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    client.pipe(upstream)
    upstream.on('data', (data) => {
      client.write(data)
      if (--answersLeft <= 0) client.destroy()
    })
    client.on('close', () => upstream.destroy())
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const directory = open(server, { LDAP_URL: `ldap://127.0.0.1:${(proxy.address() as AddressInfo).port}` })

  expect(await directory.authenticate('jane', PASSWORD)).toMatchObject({ dn: JANE })
  expect(await directory.authenticate('jane', 'wrong horse')).toBeNull()
  await expect.poll(() => sockets.size).toBe(0)
  expect(connections).toBe(2)

  answersLeft = 1
  await expect(directory.authenticate('jane', PASSWORD)).rejects.toThrow(DirectoryUnreachable)
  expect(connections).toBe(3)
})
