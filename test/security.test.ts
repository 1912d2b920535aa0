/**
 * The attack checklist: one test for each class of historic attacks that apply here, named by its number. Tests that
 * are generated from the declarations (44, 45, 48, 49) are in `security-generated.test.ts`, scopes (32) in
 * `src/api/scopes.test.ts`. The other classes wait for the family that they apply to:
 *
 * hooks and integrations: 1, 2 on redirects. ci: 4, 11, 30, 39, 43. export and import of whole projects: 5, 7, 12, 22.
 * merge requests: 34. pages: 14. notes, labels and milestones: 29 on previews, 41. Single sign-on: 25. Second factor:
 * 26. Classes that a family tests next to its source: 2, 3, 16 (`imports`, `git/fetch`), 6, 35 (`uploads`), 8
 * (`templates`), 9, 13 (`files/actions`, `git/building`), 10, 31 (`transport`), 15, 47 (`git/fuzz`), 17, 18, 46
 * (`transport/ssh`), 19 (`git/command`), 20 (`wikis`), 28 (`invitations`), 37 (`transport/access`, `roles`), 38
 * (`gate`), 40 (`transport/lfs`), 50 (`git/receive-hostile`), 56 (`gate`, `transport/push-limit`).
 */
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { generateKey } from 'openpgp'
import { describe, expect, test } from 'vitest'
import { RateLimiter } from '../src/api/limits.ts'
import { createMetrics } from '../src/api/metrics.ts'
import { createServer } from '../src/api/server.ts'
import { DAY, MINUTE } from '../src/clock.ts'
import { authentication } from '../src/features/identity/authentication.ts'
import { startForge, type Client, type Person, type TestForge } from '../src/forge.ts'
import { Browser, hiddenFields } from './browser.ts'
import { fillProject } from './contents.ts'
import { runGit } from './git-origin.ts'
import { LfsClient, authorizationOf, objectOf } from './lfs.ts'
import { linkIn, mailsOf } from './mailbox.ts'
import { CALLBACK, authorizePath, codeFor, exchangeCode, oauthPost, registerApplication } from './oauth.ts'
import { PIXEL, pngOf, sshKey } from './samples.ts'

const PASSWORD = 'correct horse'
const headers: unknown = expect.anything()

function avatarForm(bytes: Uint8Array, filename: string, type = 'image/png'): FormData {
  const form = new FormData()
  form.set('avatar', new Blob([Buffer.from(bytes)], { type }), filename)
  return form
}

const setAvatar = (forge: TestForge, { id }: Person, bytes: Uint8Array, filename: string, type?: string) =>
  forge.administrator.put(`/users/${id}`, avatarForm(bytes, filename, type))

/** Sends raw bytes that no client library would send, and reads until the connection closes. */
async function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk))
  // A reset connection is as good as a closed one.
  socket.on('error', () => {})
  socket.write(text)
  await new Promise((resolve) => void socket.on('close', resolve))
  return answer
}

/** A literal path: `fetch` would resolve its dots. */
const statusOf = async ({ url }: TestForge, path: string) =>
  Number((await sendRaw(url, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).slice(9, 12))

test('security 6: path traversal in attachments', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const names = ['../../../../mortise.sqlite', '..\\..\\x.png', '/etc/passwd', '.', '..', '%2e%2e%2fx', 'ü".png', '']
  for (const name of names) {
    const { status, body } = await setAvatar(forge, jane, PIXEL, name)
    if (name === '') continue // an empty name means no file
    expect([name, status]).toEqual([name, 200])
    const filename = decodeURIComponent(body.avatar_url.split(`/uploads/-/system/user/avatar/${jane.id}/`)[1])
    expect(filename).toMatch(/^[\w.-]+\.png$/)
    expect(filename).not.toMatch(/^\.\.?$/)
    expect((await fetch(body.avatar_url)).status).toBe(200)
  }
  const { data } = forge.app.config
  expect((await readdir(data)).toSorted()).toEqual(expect.not.arrayContaining(['x.png', 'passwd']))
  expect(await readdir(join(data, 'spool'))).toEqual([])

  const folder = `/uploads/-/system/user/avatar/${jane.id}`
  const secret = 'secret.key'
  const ways = [
    `${folder}/../../../../../../${secret}`,
    `${folder}/${'%2e%2e%2f'.repeat(6)}${secret}`,
    `${folder}/${'..%2f'.repeat(6)}${secret}`,
    `${folder}/${'..%5c'.repeat(6)}${secret}`,
    `${folder}/${'%252e%252e%252f'.repeat(6)}${secret}`,
    `${folder}/%00`,
    `${folder}/x.png%00.key`,
    `${folder}/`,
    '/uploads/-/system/user/avatar/..%2f1/x.png',
    '/uploads/-/system/user/avatar/99999999999999999999999/x.png',
    `/api/docs/..%2f..%2f..%2fpackage.json`,
    `/api/docs/../../../package.json`,
  ]
  for (const way of ways) expect([way, await statusOf(forge, way)]).toEqual([way, 404])
})

test('security 9: hostile names', async () => {
  await using forge = await startForge()
  const options = { name: 'Jane', email: 'jane@example.com', password: PASSWORD }
  const refused = ['..', '.', '../x', 'a/b', 'a\\b', 'a\0b', 'x.git', 'x.GIT', 'x.atom', 'x.', 'x..', '-x', ' ', 'a b']
  const reserved = ['api', 'Users', '-', 'uploads', '.well-known', 'OAUTH']
  const lookalikes = ['rооt', 'ｒｏｏｔ', 'ro\u200bot', 'ʀoot', 'roo\u0074\u0301']
  for (const username of [...refused, ...reserved, ...lookalikes, 'x\n', 'x\r\nSet-Cookie: a=b']) {
    const { status } = await forge.administrator.post('/users', { ...options, username })
    expect([username, status]).toEqual([username, 400])
  }
  for (const username of ['ROOT', 'Root', 'rooT']) {
    const { status, body } = await forge.administrator.post('/users', { ...options, username })
    expect([status, body.message]).toEqual([409, 'Username has already been taken'])
  }
  const jane = await forge.user({ username: 'jane' })
  for (const username of ['..', 'x.git', 'api', 'rооt']) {
    expect((await forge.administrator.put(`/users/${jane.id}`, { username })).status).toBe(400)
  }
  expect((await forge.administrator.put(`/users/${jane.id}`, { username: 'RooT' })).status).toBe(404)
  expect((await forge.administrator.get('/users')).headers.get('x-total')).toBe('2')
})

describe('security 21: images that attack their reader', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
  const hostile: [string, Buffer, string][] = [
    ['a script', Buffer.from('#!/bin/sh\ntouch /tmp/pwned\n'), 'a.png'],
    ['a DjVu annotation', Buffer.from('AT&TFORM\0\0\0\0DJVMANTa(metadata "\\c${system(\'id\')}")'), 'a.jpg'],
    ['an SVG', Buffer.from(svg), 'a.svg'],
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>'), 'a.gif'],
    ['a page with the first letters of an image', Buffer.from('GIF89a<script>alert(1)</script>'), 'a.gif'],
    ['a program of another tool', Buffer.from('push graphic-context\nimage over 0,0 0,0 "|id"'), 'a.mvg'],
    ['the beginning of an image', PIXEL.subarray(0, 20), 'a.png'],
    ['an image of no size', pngOf(0, 0), 'a.png'],
    ['nothing', Buffer.alloc(0), 'a.png'],
  ]

  test.each(hostile)('%s is refused', async (_what, bytes, filename) => {
    await using forge = await startForge()
    const jane = await forge.user()
    expect(await setAvatar(forge, jane, bytes, filename)).toEqual({
      status: 400,
      body: { message: { avatar: ['only images allowed'] } },
      headers,
    })
    expect((await jane.get('/user')).body.avatar_url).toBeNull()
    expect(await readdir(join(forge.app.config.data, 'spool'))).toEqual([])
  })

  test('what passes is never decoded and only ever shown', async () => {
    await using forge = await startForge()
    const jane = await forge.user()
    const bomb = pngOf(0x7fffffff, 0x7fffffff)
    const polyglot = Buffer.concat([PIXEL, Buffer.from(`<script>alert(1)</script>${svg}<?php system('id') ?>`)])
    for (const bytes of [bomb, polyglot]) {
      const before = process.memoryUsage.rss()
      const { status, body } = await setAvatar(forge, jane, bytes, 'a.html', 'text/html')
      expect(status).toBe(200)
      expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000)

      const shown = await fetch(body.avatar_url)
      expect(Buffer.from(await shown.arrayBuffer()).equals(bytes)).toBe(true)
      expect(body.avatar_url).toMatch(/\/a\.png$/)
      expect(Object.fromEntries(shown.headers)).toMatchObject({
        'content-type': 'image/png',
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
      })
    }
  })
})

describe('security 23: account takeover by e-mail list in reset', () => {
  const VICTIM = 'victim@example.com'
  const ATTACKER = 'attacker@evil.example'

  const lists: [string, (browser: Browser, token: string) => Promise<{ status: number }>][] = [
    [
      'an array in a form',
      (browser, authenticity_token) => {
        const pairs = [VICTIM, ATTACKER].map((email): [string, string] => ['user[email][]', email])
        const body = new URLSearchParams([['authenticity_token', authenticity_token], ...pairs])
        return browser.request('/users/password/new', { method: 'POST', body })
      },
    ],
    ...[
      { email: [VICTIM, ATTACKER] },
      { email: { 0: VICTIM, 1: ATTACKER } },
      { email: `${VICTIM},${ATTACKER}` },
      { email: `${VICTIM};${ATTACKER}` },
      { email: `${VICTIM} ${ATTACKER}` },
      { email: `${VICTIM}\n${ATTACKER}` },
      { email: `${VICTIM}\r\nBcc: ${ATTACKER}` },
      { email: `"${ATTACKER}" <${VICTIM}>` },
      { email: `${VICTIM}\0${ATTACKER}` },
    ].map((user): (typeof lists)[number] => [
      JSON.stringify(user),
      (browser, token) =>
        browser.request('/users/password/new', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': token },
          body: JSON.stringify({ user }),
        }),
    ]),
  ]

  test.each(lists)('%s is no address', async (_what, ask) => {
    await using forge = await startForge()
    await forge.user({ username: 'victim' })
    await forge.user({ username: 'attacker', email: ATTACKER })
    const browser = new Browser(forge.url)
    const page = await browser.get('/users/password/new')
    expect([400, 422]).toContain((await ask(browser, hiddenFields(page).authenticity_token!)).status)
    expect(await mailsOf(forge)).toEqual([])
  })

  test('only the stored primary address is written to, whatever was typed', async () => {
    await using forge = await startForge()
    const victim = await forge.user({ username: 'victim', password: PASSWORD })
    await forge.administrator.post(`/users/${victim.id}/emails`, {
      email: 'second@example.com',
      skip_confirmation: true,
    })
    const mailed = async (email: string) => {
      const before = (await mailsOf(forge)).length
      forge.clock.advance(2 * MINUTE)
      const browser = new Browser(forge.url)
      await browser.submit(await browser.get('/users/password/new'), { 'user[email]': email })
      return (await mailsOf(forge)).slice(before).length
    }
    const others = ['victim+tag@example.com', 'second@example.com', 'v\u0131ctim@example.com', 'vıctım@example.com']
    const lookalikes = ['victim@exаmple.com', 'victim@example.com.', 'victim@example.co', 'ⅴictim@example.com', '%']
    for (const email of [...others, ...lookalikes]) expect([email, await mailed(email)]).toEqual([email, 0])

    for (const email of ['VICTIM@Example.COM', ' victim@example.com ']) {
      expect([email, await mailed(email)]).toEqual([email, 1])
    }
    expect(new Set((await mailsOf(forge)).map(({ to }) => to))).toEqual(new Set([VICTIM]))
  })

  test('the link of an address nobody confirmed goes to that address and sets that account only', async () => {
    await using forge = await startForge()
    const jane = await forge.user({ username: 'jane', skip_confirmation: false, password: PASSWORD })
    const browser = new Browser(forge.url)
    await browser.submit(await browser.get('/users/password/new'), { 'user[email]': jane.email })
    const mail = (await mailsOf(forge)).find(({ subject }) => subject === 'Set your password')!
    expect(mail.to).toBe(jane.email)
    const page = await browser.get(linkIn(mail))
    const more = { 'user[id]': '1', 'user[email]': 'admin@example.com', 'user[admin]': 'true' }
    const answer = await browser.submit(page, {
      'user[password]': 'another horse',
      'user[password_confirmation]': 'another horse',
      ...more,
    })
    expect(answer.status).toBe(200)
    expect((await browser.signIn('jane', 'another horse')).status).toBe(303)
    const { body } = await forge.administrator.get(`/users/${jane.id}`)
    expect([body.email, body.is_admin]).toEqual([jane.email, false])
    expect((await new Browser(forge.url).signIn('root', 'another horse')).status).toBe(401)
  })
})

test('security 24: known password on external sign-up', async () => {
  await using forge = await startForge()
  const identity = { provider: 'ldapmain', extern_uid: 'cn=jane', reset_password: true, skip_confirmation: true }
  const options = { username: 'jane', name: 'Jane', email: 'jane@example.com', password: PASSWORD }
  expect((await forge.administrator.post('/users', { ...options, ...identity })).status).toBe(201)
  await forge.user({ username: 'john' }) // without any password

  const guesses = ['', ' ', 'null', 'undefined', 'ldapmain', 'cn=jane', '12345678', PASSWORD]
  for (const login of ['jane', 'john']) {
    for (const password of [...guesses, login]) {
      forge.clock.advance(20 * MINUTE)
      const tried = await Promise.all([
        forge.visitor.post('/session', { login, password }),
        new Browser(forge.url).signIn(login, password),
        oauthPost(forge, 'token', { grant_type: 'password', username: login, password }),
      ])
      expect([login, password, tried.map(({ status }) => status)]).toEqual([login, password, [401, 401, 401]])
    }
    expect([400, 401]).toContain((await forge.visitor.post('/session', { login, password: null })).status)
  }
  const mail = (await mailsOf(forge)).find(({ to }) => to === 'jane@example.com')!
  const browser = new Browser(forge.url)
  forge.clock.advance(-(await elapsed(forge)))
  const page = await browser.get(linkIn(mail))
  await browser.submit(page, { 'user[password]': 'chosen horse', 'user[password_confirmation]': 'chosen horse' })
  expect((await forge.visitor.post('/session', { login: 'jane', password: 'chosen horse' })).status).toBe(201)
})

/** How far the clock was moved. */
const elapsed = async ({ clock }: TestForge) => clock.now().getTime() - Date.now()

describe('security 27: forged session or proxy header', () => {
  const whoAmI = async (forge: TestForge, cookie: string) =>
    (await forge.as({ Cookie: cookie }).get('/user')).body.username ?? null

  test('a session is an opaque secret of the server', async () => {
    await using forge = await startForge()
    await forge.user({ username: 'jane', password: PASSWORD })
    const browser = new Browser(forge.url)
    await browser.signIn('jane', PASSWORD)
    const secret = browser.cookies.get('_service_session')!
    const visitor = new Browser(forge.url)
    await visitor.get('/users/sign_in')
    const [row] = await forge.app.db.selectFrom('sessions').selectAll().execute()
    expect(await whoAmI(forge, `_service_session=${secret}`)).toBe('jane')
    expect(secret).toMatch(/^[0-9a-f]{64}$/)

    const flipped = secret.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const forged = [row!.digest, visitor.cookies.get('_service_visit')!, flipped, secret.toUpperCase(), '1', 'jane']
    const more = [secret.slice(0, -1), `${secret}0`, "' or 1=1 --", 'e30.e30.', '%00', 'null', '{"user_id":1}']
    for (const value of [...forged, ...more]) {
      expect([value, await whoAmI(forge, `_service_session=${value}`)]).toEqual([value, null])
    }
    for (const name of ['remember_user_token', '_service_visit', 'session', '_SERVICE_SESSION']) {
      expect([name, await whoAmI(forge, `${name}=${secret}`)]).toEqual([name, null])
    }
    expect(await whoAmI(forge, 'user_id=1; admin=true')).toBeNull()
    for (const name of ['X-WEBAUTH-USER', 'X-Forwarded-User', 'REMOTE_USER', 'SUDO', 'X-Remote-User']) {
      expect([name, (await forge.as({ [name]: 'root' }).get('/user')).status]).toEqual([name, 401])
    }
  })

  const tryFrom = async (forge: TestForge, address: string) =>
    (await forge.visitor.post('/session', { login: 'nobody', password: 'x' }, { 'X-Forwarded-For': address })).status

  test.each([
    ['nobody', undefined, (n: number) => `198.51.100.${n}`, 429],
    ['another proxy', '203.0.113.9', (n: number) => `198.51.100.${n}`, 429],
    ['the proxy in front', '127.0.0.1', (n: number) => `198.51.100.${n}`, 401],
    ['the proxy in front, of what it added itself', '127.0.0.1', (n: number) => `198.51.100.${n}, 192.0.2.1`, 429],
  ])('X-Forwarded-For is believed of %s', async (_who, TRUSTED_PROXIES, address, last) => {
    await using forge = await startForge({ settings: TRUSTED_PROXIES ? { TRUSTED_PROXIES } : {} })
    const statuses: number[] = []
    for (let n = 1; n <= 11; n++) statuses.push(await tryFrom(forge, address(n)))
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), last])
  })

  const DOORS: [string, (forge: TestForge, from: Record<string, string>) => Promise<number>][] = [
    [
      'signing in',
      async (forge, from) => (await forge.visitor.post('/session', { login: 'x', password: 'x' }, from)).status,
    ],
    ['the API', async (forge, from) => (await forge.visitor.get('/version', {}, from)).status],
    [
      'git',
      async (forge, from) =>
        (await new LfsClient(forge, 'x/y', `Basic ${btoa('x:wrong')}`).get('info/lfs/locks', from)).status,
    ],
    [
      'links to a new password',
      async (forge, from) => {
        const browser = new Browser(forge.url)
        const fields = hiddenFields(await browser.get('/users/password/new'))
        return (await browser.post('/users/password/new', { ...fields, email: 'x@example.com' }, from)).status
      },
    ],
  ]

  test.each(DOORS)('a /64 of IPv6 is one caller: %s', async (door, knock) => {
    const settings = { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT: door === 'the API' ? '10' : 'off' }
    await using forge = await startForge({ settings })
    using _ = forge.clock.hold()
    const from = (address: string) => knock(forge, { 'X-Forwarded-For': address })
    const first = await from('2001:db8:0:1::1')
    for (let n = 2; n <= 10; n++) expect(await from(`2001:db8:0:1:${n}::${n}`)).toBe(first)
    const last = await from('2001:db8:0:1:ffff::1')
    expect([403, 429]).toContain(last)
    expect(last).not.toBe(first)
    expect(await from('2001:db8:0:2::1')).toBe(first)
    expect(await from('192.0.2.1')).toBe(first)
  })

  test('whatever a proxy passes on as an address, a line of the log stays one line of its own fields', async () => {
    const lines: string[] = []
    const logTo = { write: (line: string) => void lines.push(line) }
    await using forge = await startForge({ logTo, settings: { TRUSTED_PROXIES: '127.0.0.1' } })
    const jane = await forge.user()
    await jane.get('/version', {}, { 'X-Forwarded-For': 'x","admin":"yes' })
    await expect.poll(() => lines.filter((line) => line.includes('/version')).length).toBe(1)
    const logged = JSON.parse(lines.find((line) => line.includes('/version'))!) as object
    expect(logged).not.toHaveProperty('admin')
  })

  test('the addresses in answers and mail are ours, whatever host a request names', async () => {
    await using forge = await startForge({ settings: { TRUSTED_PROXIES: '127.0.0.1' } })
    const jane = await forge.user({ password: PASSWORD })
    const evil = { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https', Forwarded: 'host=evil.example' }
    const { body, headers: sent } = await jane.get('/users', {}, evil)
    const browser = new Browser(forge.url)
    const page = await browser.get('/users/password/new', evil)
    await browser.post('/users/password/new', { ...hiddenFields(page), 'user[email]': jane.email }, evil)
    const everything = JSON.stringify([body, [...sent], page.body, await mailsOf(forge)])
    expect(everything).toContain('/users/password/edit')
    expect(everything).not.toContain('evil.example')
  })
})

describe('security 28: reset token that lives too long', () => {
  const ask = async (forge: TestForge, email: string) => {
    const browser = new Browser(forge.url)
    const before = (await mailsOf(forge)).map(linkIn)
    await browser.submit(await browser.get('/users/password/new'), { 'user[email]': email })
    return (await mailsOf(forge)).map(linkIn).find((link) => !before.includes(link))!
  }
  const use = async (forge: TestForge, link: string, password = 'another horse') => {
    const browser = new Browser(forge.url)
    const page = await browser.get(link)
    if (page.status !== 200) return page.status
    return (await browser.submit(page, { 'user[password]': password, 'user[password_confirmation]': password })).status
  }

  test('it works once, and its siblings go with it', async () => {
    await using forge = await startForge()
    const jane = await forge.user({ password: PASSWORD })
    const [first, second] = [await ask(forge, jane.email), await ask(forge, jane.email)]
    const race = await Promise.all([use(forge, second), use(forge, second), use(forge, second)])
    expect(race.toSorted()).toEqual([200, 404, 404])
    expect([await use(forge, first), await use(forge, second)]).toEqual([404, 404])
    const rows = await forge.app.db.selectFrom('mailed_links').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(first.split('=')[1])
  })

  test('it ends after two days, with the address, and with the account', async () => {
    await using forge = await startForge()
    const jane = await forge.user({ password: PASSWORD })
    const old = await ask(forge, jane.email)
    forge.clock.advance(2 * DAY - MINUTE)
    expect((await new Browser(forge.url).get(old)).status).toBe(200)
    forge.clock.advance(2 * MINUTE)
    expect(await use(forge, old)).toBe(404)

    const moved = await ask(forge, jane.email)
    await forge.administrator.put(`/users/${jane.id}`, { email: 'moved@example.com' })
    expect(await use(forge, moved)).toBe(404)

    const blocked = await ask(forge, 'moved@example.com')
    await forge.administrator.post(`/users/${jane.id}/block`)
    expect(await use(forge, blocked)).toBe(404)
  })

  test('it opens nothing but a new password', async () => {
    await using forge = await startForge()
    const jane = await forge.user({ password: PASSWORD })
    const token = (await ask(forge, jane.email)).split('=')[1]!
    expect((await new Browser(forge.url).get(`/users/confirmation?confirmation_token=${token}`)).status).toBe(404)
    expect((await forge.as({ 'PRIVATE-TOKEN': token }).get('/user')).status).toBe(401)
    expect((await forge.as({ Cookie: `_service_session=${token}` }).get('/user')).status).toBe(401)
  })
})

test('security 29: secrets echoed by errors', async () => {
  await using forge = await startForge()
  const secret = 'hush-hush-hush-hush'
  const { administrator } = forge
  const answers = [
    await forge.visitor.post('/session', { login: 'root', password: secret }),
    await forge.visitor.get('/user', { private_token: secret }),
    await forge.visitor.get('/user', {}, { Authorization: `Bearer ${secret}` }),
    await forge.visitor.get('/user', { access_token: secret }),
    await administrator.put('/users/1', { password: secret.repeat(10) }),
    await administrator.put('/users/1', { password: [secret] }),
    await administrator.post('/users', { password: secret }),
    await administrator.put('/application/settings', { akismet_api_key: secret.repeat(100) }),
    await administrator.post('/user/keys', { title: 'x', key: `-----BEGIN OPENSSH PRIVATE KEY-----${secret}` }),
    await administrator.post('/user/gpg_keys', { key: `-----BEGIN PGP PRIVATE KEY BLOCK-----${secret}` }),
    await oauthPost(forge, 'token', { grant_type: 'password', username: 'root', password: secret }),
    await oauthPost(forge, 'token', { grant_type: 'refresh_token', refresh_token: secret }),
    await oauthPost(forge, 'token', { grant_type: secret }),
    await oauthPost(forge, 'introspect', { token: secret }),
    await new Browser(forge.url).signIn('root', secret),
    await new Browser(forge.url).get(`/users/password/edit?reset_password_token=${secret}`),
  ]
  for (const { status, body, headers: sent } of answers) {
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    expect(JSON.stringify([body, [...sent]])).not.toContain(secret)
  }
})

test('security 31: tokens in addresses and in the log', async () => {
  const lines: string[] = []
  await using forge = await startForge({ logTo: { write: (line) => void lines.push(line) } })
  const jane = await forge.user({ password: PASSWORD, admin: true })
  for (let n = 0; n < 3; n++) await forge.user()
  const application = await registerApplication(forge)

  for (const name of ['private_token', 'access_token', 'bearer_token']) {
    const page = await forge.visitor.get('/users', { per_page: 1, [name]: jane.token, username: jane.username })
    expect([name, page.status]).toEqual([name, 200])
    expect(page.headers.get('link')).toContain('rel="first"')
    expect([...page.headers].join()).not.toContain(jane.token)
  }
  // An encoded parameter name is still the same name.
  const spelt = await forge.visitor.get(`/users?private%5Ftoken=${jane.token}&per_page=1`)
  expect([spelt.status, spelt.headers.get('link')!.includes(jane.token)]).toEqual([200, false])

  const browser = new Browser(forge.url)
  const away = await browser.get(`${authorizePath(application)}&private_token=${jane.token}&access_token=${jane.token}`)
  expect(away).toMatchObject({ status: 303, location: expect.stringMatching(/^\/users\/sign_in\?return_to=/) })
  expect(away.location).not.toContain(jane.token)

  await browser.signIn(jane.username, PASSWORD)
  const code = await codeFor(browser, application)
  const { body: token } = await exchangeCode(forge, application, code)
  await fetch(`${forge.url}/oauth/token/info?access_token=${token.access_token}`)
  await fetch(`${forge.url}/nowhere/${jane.token}?private_token=${jane.token}`)
  await fetch(`${forge.url}/api/v4/users/${jane.token}?private_token=${jane.token}`)
  await browser.submit(await browser.get('/users/password/new'), { 'user[email]': jane.email })
  const reset = linkIn((await mailsOf(forge))[0]!)
  await browser.get(reset)

  await expect.poll(() => lines.filter((line) => line.includes('/users/password/edit')).length).toBe(1)
  const session = browser.cookies.get('_service_session')!
  const secrets = [jane.token, PASSWORD, code, token.access_token, token.refresh_token, session, reset.split('=')[1]]
  for (const secret of [...secrets, application.client_secret]) expect(lines.join('')).not.toContain(secret)
})

describe('security 33: IDOR by id in body or path', () => {
  /** One record of every kind that belongs to a user. */
  async function belongings(forge: TestForge, owner: Person) {
    const { publicKey } = await generateKey({ type: 'curve25519', userIDs: [{ email: owner.email }] })
    const key = (await owner.post('/user/keys', { title: 'x', key: sshKey() })).body.id
    const gpg = (await owner.post('/user/gpg_keys', { key: publicKey })).body.id
    const email = (await owner.post('/user/emails', { email: `2${owner.email}` })).body.id
    const token = (await owner.post('/user/personal_access_tokens', { name: 'x', scopes: ['api'] })).body.id
    const impersonations = `/users/${owner.id}/impersonation_tokens`
    const impersonation = (await forge.administrator.post(impersonations, { name: 'x', scopes: ['api'] })).body.id
    return { key, gpg, email, token, impersonation }
  }

  type OwnedRecords = Awaited<ReturnType<typeof belongings>>
  const state = async (forge: TestForge) => {
    const { db } = forge.app
    const tables = ['keys', 'gpg_keys', 'emails', 'users', 'namespaces'] as const
    const rows = await Promise.all(tables.map((table) => db.selectFrom(table).selectAll().orderBy('id').execute()))
    const tokens = await db.selectFrom('access_tokens').select(['id', 'user_id', 'revoked']).orderBy('id').execute()
    return [rows, tokens]
  }

  /** Every path to another user's records, by each method that could have an effect. */
  const ways = ({ id, username }: Person, owned: OwnedRecords): [string, string, Record<string, unknown>?][] => [
    ['GET', `/user/keys/${owned.key}`],
    ['DELETE', `/user/keys/${owned.key}`],
    ['GET', `/user/gpg_keys/${owned.gpg}`],
    ['DELETE', `/user/gpg_keys/${owned.gpg}`],
    ['POST', `/user/gpg_keys/${owned.gpg}/revoke`],
    ['GET', `/user/emails/${owned.email}`],
    ['DELETE', `/user/emails/${owned.email}`],
    ['GET', `/personal_access_tokens/${owned.token}`],
    ['DELETE', `/personal_access_tokens/${owned.token}`],
    ['POST', `/personal_access_tokens/${owned.token}/rotate`],
    ['GET', `/personal_access_tokens/${owned.impersonation}`],
    ['GET', `/personal_access_tokens?user_id=${id}`],
    ['DELETE', `/personal_access_tokens/${owned.impersonation}`],
    ['GET', `/users/${id}/keys`],
    ['GET', `/users/${id}/keys/${owned.key}`],
    ['POST', `/users/${id}/keys`, { title: 'x', key: sshKey() }],
    ['DELETE', `/users/${id}/keys/${owned.key}`],
    ['GET', `/users/${id}/gpg_keys`],
    ['DELETE', `/users/${id}/gpg_keys/${owned.gpg}`],
    ['GET', `/users/${id}/emails`],
    ['POST', `/users/${id}/emails`, { email: 'x@example.com' }],
    ['DELETE', `/users/${id}/emails/${owned.email}`],
    ['POST', `/users/${id}/personal_access_tokens`, { name: 'x', scopes: ['api'] }],
    ['GET', `/users/${id}/impersonation_tokens`],
    ['GET', `/users/${id}/impersonation_tokens/${owned.impersonation}`],
    ['DELETE', `/users/${id}/impersonation_tokens/${owned.impersonation}`],
    ['PUT', `/users/${id}`, { admin: true }],
    ['DELETE', `/users/${id}`],
    ['POST', `/users/${id}/block`],
    ['GET', `/keys/${owned.key}`],
    ['GET', `/namespaces/${username}`],
    ['GET', `/user?sudo=${username}`],
    ['GET', '/applications'],
  ]

  test('nothing of somebody else is reached by its id', async () => {
    await using forge = await startForge()
    const owner = await forge.user({ username: 'owner' })
    const owned = await belongings(forge, owner)
    const stranger = await forge.user()
    const own = await belongings(forge, stranger)
    const callers: [string, Client][] = [
      ['stranger', stranger],
      ['visitor', forge.visitor],
      ['external', await forge.user({ external: true })],
    ]
    const before = await state(forge)
    for (const [name, caller] of callers) {
      for (const [method, path, input] of ways(owner, owned)) {
        const { status } = await caller.request(method, path, input)
        expect([401, 403, 404], `${name} ${method} ${path}: ${status}`).toContain(status)
      }
    }
    expect(await state(forge)).toEqual(before)

    // The administrator's path finds a record only below its owner.
    const crossed = [`keys/${owned.key}`, `gpg_keys/${owned.gpg}`, `impersonation_tokens/${owned.impersonation}`]
    for (const path of crossed)
      expect((await forge.administrator.get(`/users/${stranger.id}/${path}`)).status).toBe(404)
    expect((await forge.administrator.delete(`/users/${stranger.id}/emails/${owned.email}`)).status).toBe(404)
    expect((await stranger.get(`/user/keys/${own.key}`)).status).toBe(200)
  })

  test('an id in the body or the query does not redirect a path', async () => {
    await using forge = await startForge()
    const owner = await forge.user()
    const owned = await belongings(forge, owner)
    const stranger = await forge.user()
    const own = await belongings(forge, stranger)
    const theirs = { user_id: owner.id, id: owner.id, owner_id: owner.id, user: { id: owner.id } }

    const query = `?user_id=${owner.id}&id=${owner.id}`
    const added = [
      await stranger.post(`/user/keys${query}`, { ...theirs, title: 'x', key: sshKey() }),
      await stranger.post(`/user/emails${query}`, { ...theirs, email: 'x@example.com' }),
      await stranger.post(`/user/personal_access_tokens${query}`, { ...theirs, name: 'x', scopes: ['api'] }),
    ]
    expect(added.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(added[2]!.body.user_id).toBe(stranger.id)
    expect((await owner.get('/user/keys')).body.map(({ id }: { id: number }) => id)).toEqual([owned.key])
    expect((await owner.get('/user/emails')).body.map(({ id }: { id: number }) => id)).toEqual([owned.email])

    const aimed = { key_id: owned.key, email_id: owned.email, id: owned.token }
    await stranger.delete(`/user/keys/${own.key}?key_id=${owned.key}`, aimed)
    await stranger.delete(`/user/emails/${own.email}?email_id=${owned.email}`, aimed)
    await stranger.delete(`/personal_access_tokens/${own.token}?id=${owned.token}`, aimed)
    expect((await stranger.get(`/user/keys/${own.key}`)).status).toBe(404)
    expect((await owner.get(`/user/keys/${owned.key}`)).status).toBe(200)
    expect((await owner.get(`/user/emails/${owned.email}`)).status).toBe(200)
    expect((await owner.get(`/personal_access_tokens/${owned.token}`)).body).toMatchObject({ revoked: false })
  })

  test('a client reaches no token and no code of another', async () => {
    await using forge = await startForge()
    const jane = await forge.user({ password: PASSWORD })
    const browser = new Browser(forge.url)
    await browser.signIn(jane.username, PASSWORD)
    const [own, other] = [await registerApplication(forge), await registerApplication(forge, { name: 'Other' })]
    const code = await codeFor(browser, own)
    expect((await exchangeCode(forge, other, code)).status).toBe(401)
    const { body: token } = await exchangeCode(forge, own, code)
    const as = { client_id: other.client_id, client_secret: other.client_secret }
    expect((await oauthPost(forge, 'introspect', { ...as, token: token.access_token })).body).toEqual({ active: false })
    await oauthPost(forge, 'revoke', { ...as, token: token.access_token })
    const refresh = { ...as, grant_type: 'refresh_token', refresh_token: token.refresh_token }
    expect((await oauthPost(forge, 'token', refresh)).status).toBe(401)
    expect((await forge.as({ Authorization: `Bearer ${token.access_token}` }).get('/user')).status).toBe(200)
  })
})

describe('security 36: user list to anonymous', () => {
  const SUMMARY = ['avatar_url', 'id', 'name', 'state', 'username', 'web_url']

  test('visitors see public fields only, and nobody they cannot name', async () => {
    await using forge = await startForge()
    const jane = await forge.user({ username: 'jane', admin: true, bio: 'b', provider: 'ldap', extern_uid: 'x' })
    const { visitor } = forge
    for (const input of [{}, { search: 'jane' }, { active: true }, { blocked: true }, { search: jane.email }]) {
      expect([input, (await visitor.get('/users', input)).status]).toEqual([input, 403])
    }
    expect((await visitor.get('/users', { username: 'jane', external: true })).status).toBe(401)
    expect((await visitor.get('/users', { username: 'jane', provider: 'ldap', extern_uid: 'x' })).status).toBe(401)
    const { body } = await visitor.get('/users', { username: 'jane' })
    expect(body.map((user: object) => Object.keys(user).toSorted())).toEqual([SUMMARY])
    const profile = (await visitor.get(`/users/${jane.id}`)).body
    for (const name of ['email', 'is_admin', 'identities', 'last_sign_in_at', 'private_token', 'two_factor_enabled']) {
      expect(profile).not.toHaveProperty(name)
    }
    expect((await visitor.get('/users', { username: '%' })).body).toEqual([])
    expect((await visitor.get('/users?username[]=jane&username[]=root')).status).toBe(400)
  })

  test('visitors cannot find out whose an address is', async () => {
    await using forge = await startForge()
    const jane = await forge.user({ username: 'jane', email: 'private@hidden.example' })
    const ask = async (search: string) => (await forge.visitor.get('/users', { username: jane.username, search })).body
    expect(await ask(jane.email)).toEqual(await ask('nobody@hidden.example'))
    expect(await ask('hidden')).toEqual(await ask('another'))
  })

  test('visitors are counted and stopped', async () => {
    await using forge = await startForge({ settings: { RATE_LIMIT: '5' } })
    using _ = forge.clock.hold()
    const statuses: number[] = []
    for (let n = 0; n < 7; n++) statuses.push((await forge.visitor.get('/users', { username: `jane${n}` })).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
  })
})

test('security 42: XSS in our own pages', async () => {
  await using forge = await startForge()
  const markup = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`
  const jane = await forge.user({ password: PASSWORD, name: markup })
  const application = await registerApplication(forge, { name: markup, redirect_uri: `${CALLBACK}?x="><script>` })
  const browser = new Browser(forge.url)
  const pages = [
    await browser.get(`/users/sign_in?${new URLSearchParams({ return_to: `/${markup}` })}`),
    await browser.signIn(markup, markup, `/${markup}`),
    await browser.get(`/users/password/edit?${new URLSearchParams({ reset_password_token: markup })}`),
    await browser.get(`/oauth/authorize?${new URLSearchParams({ client_id: markup })}`),
  ]
  await browser.signIn(jane.username, PASSWORD)
  const options = { redirect_uri: `${CALLBACK}?x="><script>`, state: markup, nonce: markup }
  pages.push(await browser.get(authorizePath(application, options)))
  expect(pages.at(-1)!.body).toContain('Authorize &quot;&gt;&lt;script&gt;')
  for (const { body, headers: sent } of pages) {
    // Our own script for passkeys is linked.
    expect(body.replace('<script type="module" src="/-/assets/sign-in.js">', '')).not.toMatch(/<script|<img/)
    expect(sent.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /)
    expect(sent.get('content-security-policy')).not.toContain('unsafe')
  }
})

describe('security 42: what strangers keep here is shown or saved, and never a page of ours', () => {
  const PAGE = '<!doctype html><script>alert(1)</script>'

  /** One of everything that can be stored, each containing an HTML page. */
  async function fillWithPages(forge: TestForge) {
    const root = forge.administrator
    const project = await forge.project({ visibility: 'public', path: 'pages' })
    const film = objectOf(`${PAGE} of a film`)
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${film.oid}\nsize ${film.size}\n`
    const files = { 'page.html': PAGE, 'page.svg': '<svg onload="alert(1)"/>', film: pointer, 'logo.png': PIXEL }
    const dir = await fillProject(forge, project.id, { files })
    const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
    await new LfsClient(forge, project.path_with_namespace, authorizationOf(root)).put(film)
    await forge.app.db.updateTable('projects').set({ logo_path: 'logo.png' }).where('id', '=', project.id).execute()
    const form = () => {
      const made = new FormData()
      made.set('file', new File([PAGE], 'page.html', { type: 'text/html' }))
      return made
    }
    const upload = (await root.post(`/projects/${project.id}/uploads`, form())).body
    await root.post(`/projects/${project.id}/wikis`, { title: 'home', content: PAGE })
    const attachment = (await root.post(`/projects/${project.id}/wikis/attachments`, form())).body
    const ids = { page: await git('rev-parse', 'master:page.html'), film: await git('rev-parse', 'master:film') }
    return { project, upload, attachment, ids, film, head: await git('rev-parse', 'master') }
  }

  /** Headers of an answer; our own JSON and git's protocol need no policy. */
  type Stored = Record<string, unknown>
  const typed = (type: RegExp): Stored => ({ 'content-type': expect.stringMatching(type) })
  const policy = { 'content-security-policy': "default-src 'none'; sandbox" }
  const attached = { 'content-disposition': expect.stringMatching(/^attachment\b/) }
  const SHOWN: Stored = {
    ...typed(/^text\/plain\b/),
    'content-disposition': expect.stringMatching(/^inline\b/),
    ...policy,
  }
  const SAVED: Stored = { ...typed(/^application\/(octet-stream|zip)$/), ...attached, ...policy }
  const WORDS = typed(/^application\/(vnd\.git-lfs\+)?json$/)
  const REFUSED = typed(/^text\/plain\b/)

  async function expectKept(answer: Response, what: string, kept: Stored): Promise<void> {
    expect({ what, ...Object.fromEntries(answer.headers) }).toMatchObject({
      what,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      ...kept,
    })
    expect([what, answer.headers.getSetCookie()]).toEqual([what, []])
    await answer.body?.cancel()
  }

  test('every address that leads to it', async () => {
    await using forge = await startForge()
    const { project, upload, attachment, ids, film, head } = await fillWithPages(forge)
    const api = `/api/v4/projects/${project.id}`
    const repository = `/${project.path_with_namespace}.git`
    const rows: [address: string, status: number, kept: Stored][] = [
      [`${api}/repository/files/page.html/raw`, 200, SHOWN],
      [`${api}/repository/files/page.svg/raw`, 200, SHOWN],
      [`${api}/repository/files/film/raw?lfs=true`, 200, SHOWN],
      [`${api}/repository/blobs/${ids.page}/raw`, 200, SHOWN],
      [`${api}/repository/blobs/${ids.film}/raw?lfs=true`, 200, SHOWN],
      [`${api}/repository/files/${encodeURIComponent('<script>.html')}/raw`, 404, WORDS],
      [`${api}/repository/files/page.html?ref=master`, 200, WORDS],
      [`${api}/repository/blobs/${ids.page}`, 200, WORDS],
      [`${api}/repository/commits/${head}/diff`, 200, WORDS],
      ...['archive', 'archive.tar', 'archive.tar.bz2', 'archive.zip'].map((name): (typeof rows)[number] => [
        `${api}/repository/${name}`,
        200,
        SAVED,
      ]),
      [`${api}/wikis/home`, 200, WORDS],
      [`${api}/templates/issues`, 200, WORDS],
      [`/uploads/-/system/project/avatar/${project.id}/logo.png`, 200, { ...typed(/^image\/png$/), ...policy }],
      [
        `/${project.path_with_namespace}${upload.url}`,
        200,
        { ...typed(/^(text\/plain\b|application\/octet-stream$)/), ...attached, ...policy },
      ],
      [`${repository}/gitlab-lfs/objects/${film.oid}`, 200, SAVED],
      [`${repository}/gitlab-lfs/objects/${'0'.repeat(64)}`, 404, WORDS],
      [`${repository}/info/lfs/locks`, 200, WORDS],
      ...['', '.wiki'].map((kind): (typeof rows)[number] => [
        `/${project.path_with_namespace}${kind}.git/info/refs?service=git-upload-pack`,
        200,
        typed(/^application\/x-git-upload-pack-advertisement$/),
      ]),
      [`${repository}/info/refs?service=git-receive-pack`, 401, REFUSED],
      [`${repository}/info/refs?service=${encodeURIComponent('<script>')}`, 401, REFUSED],
      [`${repository}/objects/${ids.page.slice(0, 2)}/${ids.page.slice(2)}`, 404, WORDS],
    ]
    for (const [address, status, kept] of rows) {
      // A client that accepts anything gets an HTML error page.
      const answer = await fetch(forge.url + address, kept === WORDS ? { headers: { Accept: 'application/json' } } : {})
      expect([address, answer.status]).toEqual([address, status])
      await expectKept(answer, address, kept)
    }
    // Wiki attachments are served by the API only; for browsers the URL is a page that does not exist yet.
    const wiki = `${forge.url}/${project.path_with_namespace}/wikis/${attachment.file_path}`
    expect((await fetch(wiki, { headers: { Accept: 'application/json' } })).status).toBe(404)
    expect(await (await fetch(wiki)).text()).not.toContain('<script>')
    const ask = `0032want ${head}\n00000009done\n`
    const post = (address: string, type: string, body: string) =>
      fetch(forge.url + address, { method: 'POST', headers: { 'Content-Type': type }, body })
    const pack = await post(`${repository}/git-upload-pack`, 'application/x-git-upload-pack-request', ask)
    await expectKept(pack, 'a pack', typed(/^application\/x-git-upload-pack-result$/))
    const options = JSON.stringify({ operation: 'download', objects: [{ oid: film.oid, size: film.size }] })
    await expectKept(
      await post(`${repository}/info/lfs/objects/batch`, 'application/vnd.git-lfs+json', options),
      'a batch',
      WORDS,
    )
  })

  test('a browser that is signed in is nobody to git', async () => {
    await using forge = await startForge()
    const jane = await forge.user({ password: PASSWORD })
    const { path_with_namespace: path } = await forge.project({ visibility: 'private' }, jane)
    const browser = new Browser(forge.url)
    await browser.signIn(jane.username, PASSWORD)
    const cookie = { Cookie: `_service_session=${browser.cookies.get('_service_session')!}` }
    expect((await forge.as(cookie).get('/user')).status).toBe(200)
    const tails = ['info/refs?service=git-upload-pack', 'info/refs?service=git-receive-pack', 'info/lfs/locks']
    for (const tail of tails) {
      const answer = await fetch(`${forge.url}/${path}.git/${tail}`, { headers: cookie })
      expect([tail, answer.status, answer.headers.getSetCookie()]).toEqual([tail, 401, []])
    }
  })
})

describe('security 46: slow client', () => {
  const serverOf = ({ app }: TestForge) =>
    createServer(
      { app, authentication, limiter: new RateLimiter(0, app.clock), spool: app.config.data, checkOutput: false },
      [],
      createMetrics(app),
    )

  test('headers, body and silence have deadlines', async () => {
    await using forge = await startForge()
    const { server } = serverOf(forge)
    for (const [deadline, most] of [
      [server.headersTimeout, 60_000],
      [server.timeout, 60_000],
      [server.requestTimeout, 6 * 3_600_000],
      [server.keepAliveTimeout, 120_000],
    ] as const) {
      expect(deadline).toBeGreaterThan(0)
      expect(deadline).toBeLessThanOrEqual(most)
    }
  })

  test.each([
    ['in the headers', 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    ['in a JSON body', 'POST /b HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{'],
    ['before the first byte', ''],
  ])('a client that falls silent %s is disconnected', async (_where, text) => {
    await using forge = await startForge()
    const server = serverOf(forge)
    server.post('/b', async (request) => once(request.raw, 'end'))
    // No other deadline ends the connection.
    Object.assign(server.server, { timeout: 100, headersTimeout: 0, requestTimeout: 0 })
    await server.listen({ port: 0, host: '127.0.0.1' })
    try {
      const { port } = server.server.address() as { port: number }
      expect(await sendRaw(`http://127.0.0.1:${port}`, text)).not.toMatch(/^HTTP\/1.1 2/)
    } finally {
      await server.close()
    }
  })

  test('headers without end are refused as they come', async () => {
    await using forge = await startForge()
    const many = `GET /api/v4/version HTTP/1.1\r\nHost: x\r\n${'X-Filler: yes\r\n'.repeat(10_000)}`
    // the answer may get lost, but not the end of the connection
    expect(await sendRaw(forge.url, many)).toMatch(/^(HTTP\/1.1 4\d\d |$)/)
    const two = 'POST /api/v4/session HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n'
    expect(await sendRaw(forge.url, `${two}0\r\n\r\nGET /api/v4/version HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /)
    expect((await forge.visitor.get('/users', { username: randomBytes(4).toString('hex') })).status).toBe(200)
  })
})
