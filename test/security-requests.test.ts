/** The attack classes of the checklist about forms, pages and bodies, which are not endpoints of a family. */
import { describe, expect, test } from 'vitest'
import { MINUTE } from '../src/clock.ts'
import { startForge, type TestForge } from '../src/forge.ts'
import { INJECTIONS, TIRING } from './attack-texts.ts'
import { Browser } from './browser.ts'
import { longestStall, startEffort } from './effort.ts'
import { authorizePath, registerApplication } from './oauth.ts'
import { everything } from './watch.ts'

const PASSWORD = 'correct horse'

test('security 44: regex blow-up in every credential, form and query', async () => {
  const MOST_MS = 3000
  await using forge = await startForge()
  const inHeader = TIRING.map((text) => text.slice(0, 10_000).replace(/\s/g, ' ').trim())
  for (const text of inHeader) {
    const sent: Record<string, string>[] = [
      { 'PRIVATE-TOKEN': text },
      { Authorization: `Bearer ${text}` },
      { Authorization: `Basic ${text}` },
    ]
    const more: Record<string, string>[] = [
      { Cookie: text },
      { 'If-None-Match': text },
      { 'X-Request-Id': text },
      { Accept: text },
    ]
    for (const headers of [...sent, ...more]) {
      const effort = startEffort()
      const answer = await fetch(`${forge.url}/api/v4/version`, { headers })
      expect([200, 401]).toContain(answer.status)
      expect(effort()).toBeLessThan(MOST_MS)
    }
  }
  const browser = new Browser(forge.url)
  // As long as fits three times, encoded, into the body limit of an anonymous caller.
  for (const text of TIRING.map((one) => one.slice(0, 6000))) {
    forge.clock.advance(2 * MINUTE)
    const effort = startEffort()
    const page = await browser.submit(await browser.get('/users/password/new'), { 'user[email]': text })
    expect([422, 429]).toContain(page.status)
    const signIn = await browser.get('/users/sign_in')
    const fields = { 'user[login]': text, 'user[password]': text, return_to: `/${text}` }
    expect((await browser.submit(signIn, fields)).status).toBe(401)
    expect(effort()).toBeLessThan(2 * MOST_MS)
  }
})

describe('security 45: unbounded input', () => {
  const post = async (forge: TestForge, path: string, body: string | FormData, type?: string) => {
    const answer = await fetch(`${forge.url}/api/v4${path}`, {
      method: 'POST',
      body,
      headers: { 'PRIVATE-TOKEN': forge.administrator.token, ...(type && { 'Content-Type': type }) },
    })
    await answer.text()
    return answer.status
  }
  const JSON_TYPE = 'application/json'
  const FORM_TYPE = 'application/x-www-form-urlencoded'

  test('counts, depth and size have an end', async () => {
    await using forge = await startForge()
    const nested = (depth: number) => `{"message":"x","color":${'['.repeat(depth)}${']'.repeat(depth)}}`
    const list = (count: number) => JSON.stringify({ name: 'x', scopes: Array.from({ length: count }, () => 'api') })
    const form = new FormData()
    for (let n = 0; n < 1100; n++) form.set(`field${n}`, 'x')
    const files = new FormData()
    for (let n = 0; n < 12; n++) files.set(`file${n}`, new Blob(['x']), 'x')
    const tried: [string, number, number][] = [
      ['deep JSON', await post(forge, '/broadcast_messages', nested(100_000), JSON_TYPE), 400],
      ['a deep form', await post(forge, '/broadcast_messages', `a${'[b]'.repeat(100)}=1&message=x`, FORM_TYPE), 400],
      ['many pairs', await post(forge, '/broadcast_messages', 'a=1&'.repeat(2000) + 'message=x', FORM_TYPE), 400],
      ['a long list', await post(forge, '/user/personal_access_tokens', list(1001), JSON_TYPE), 400],
      ['many fields', await post(forge, '/users', form), 400],
      ['many files', await post(forge, '/users', files), 400],
      ['a large body', await post(forge, '/broadcast_messages', `{"message":"${'x'.repeat(11e6)}"}`, JSON_TYPE), 413],
    ]
    for (const [what, status, expected] of tried) expect([what, status]).toEqual([what, expected])
    const sprawling = `/users?${Array.from({ length: 1001 }, (_, n) => `a${n}=`).join('&')}`
    expect((await forge.administrator.get(sprawling)).status).toBe(400)
  })

  test('what fills a whole body keeps nobody waiting', async () => {
    await using forge = await startForge()
    const crowds = [
      `{"branch":"x","actions":[${Array.from({ length: 4_000_000 }, () => 1).join()}]}`,
      `{"branch":"x","actions":[${Array.from({ length: 3_000_000 }, () => '[]').join()}]}`,
      `{"branch":"x","actions":${'['.repeat(9_000_000)}}`,
    ]
    for (const body of crowds) {
      const commit = () => post(forge, '/projects/1/repository/commits', body, JSON_TYPE)
      const { answer, stall } = await longestStall(commit)
      expect(answer).toBe(400)
      expect(stall).toBeLessThan(500)
    }
  })
})

describe('security 48: SQL injection', () => {
  test('a quote finds what holds a quote, and nothing more', async () => {
    await using forge = await startForge()
    const quoted = await forge.user({ name: `O'Hara "50%_\\ off"` })
    await forge.user({ name: 'Somebody else' })
    await quoted.post('/user/personal_access_tokens', { name: `it's 50%_\\`, scopes: ['api'] })
    await quoted.post('/user/personal_access_tokens', { name: 'its 501', scopes: ['api'] })
    const found = async (search: string) =>
      (await forge.administrator.get('/users', { search })).body.map(({ id }: { id: number }) => id)
    for (const search of [`O'H`, `"50`, `50%`, `%_\\`])
      expect([search, await found(search)]).toEqual([search, [quoted.id]])
    for (const search of [`' or 1=1 --`, `%%%`, `___`, `"*"`, `* OR *`])
      expect([search, await found(search)]).toEqual([search, []])
    for (const [search, count] of [
      [`t's`, 1],
      ['50%', 1],
      ['%', 1],
      ['_', 1],
      ['\\', 1],
      [`' or 1=1 --`, 0],
    ] as const) {
      const { body } = await quoted.get('/personal_access_tokens', { search })
      expect([search, body.length]).toEqual([search, count])
    }
  })
  test('forms, cookies and the queries of pages', async () => {
    await using forge = await startForge()
    const application = await registerApplication(forge)
    const pages = [
      '/users/sign_in?return_to=',
      '/users/password/edit?reset_password_token=',
      '/oauth/token/info?access_token=',
    ]
    const more = [
      '/users/confirmation?confirmation_token=',
      '/oauth/authorize?client_id=',
      `${authorizePath(application)}&nonce=`,
    ]
    for (const text of [...INJECTIONS, '\0', 'x\0y']) {
      for (const path of [...pages, ...more]) {
        const { status } = await fetch(forge.url + path + encodeURIComponent(text), { redirect: 'manual' })
        expect(status, path + text).toBeLessThan(500)
      }
      const basic = Buffer.from(`${text}:${text}`).toString('base64')
      const asked = await fetch(`${forge.url}/oauth/token?client_id=${encodeURIComponent(text)}`, {
        method: 'POST',
        headers: { Authorization: `Basic ${basic}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      })
      expect([400, 401]).toContain(asked.status)
    }
    expect((await forge.administrator.get('/user', { sudo: '9'.repeat(30) })).status).toBe(404)
  })
})

describe('security 49: CSRF on state-changing GET; open redirect', () => {
  test('no page writes when it is read', async () => {
    await using forge = await startForge()
    const jane = await forge.user({ username: 'jane', password: PASSWORD, admin: true })
    const application = await registerApplication(forge)
    const browser = new Browser(forge.url)
    await browser.signIn('jane', PASSWORD)
    await forge.settle()
    using _ = forge.clock.hold() // so that no job becomes due
    const before = await everything(forge)
    const override = { 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE', 'X-HTTP-Method': 'DELETE' }
    const ask = (path: string) =>
      Promise.all(['GET', 'HEAD', 'OPTIONS'].map((method) => browser.request(path, { method, headers: override })))
    const pages = [
      '/users/sign_in',
      '/users/sign_out',
      '/users/password/new',
      '/users/password/edit',
      '/users/confirmation',
    ]
    const more = ['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/userinfo', authorizePath(application)]
    const instance = ['/api/docs', '/api/openapi.json', '/-/health', '/-/readiness', '/-/metrics', '/-/csrf', '/']
    for (const path of [...pages, ...more, ...instance])
      for (const { status } of await ask(path)) expect(status, path).toBeLessThan(500)
    await forge.settle()
    expect(await everything(forge)).toEqual(before)
    expect((await jane.get('/user')).status).toBe(200)
  })

  test('a cookie alone submits no form, and no other site can add what is missing', async () => {
    await using forge = await startForge()
    await forge.user({ username: 'joan', password: PASSWORD, admin: true })
    await forge.user({ username: 'john', password: PASSWORD, admin: true })
    const [joan, john] = [new Browser(forge.url), new Browser(forge.url)]
    await joan.signIn('joan', PASSWORD)
    await john.signIn('john', PASSWORD)
    const { csrf_token } = JSON.parse((await john.get('/-/csrf')).body) as { csrf_token: string }
    const application = await registerApplication(forge)
    await forge.settle()
    using _ = forge.clock.hold() // so that no job becomes due
    const before = await everything(forge)
    for (const path of ['/users/sign_out', authorizePath(application), '/users/password/new', '/users/password/edit']) {
      expect((await joan.post(path, { authenticity_token: csrf_token })).status).toBe(403)
      const own = JSON.parse((await joan.get('/-/csrf')).body) as { csrf_token: string }
      const fields = { authenticity_token: own.csrf_token }
      for (const site of ['cross-site', 'same-site']) {
        expect((await joan.post(path, fields, { 'Sec-Fetch-Site': site })).status).toBe(403)
      }
    }
    await forge.settle()
    expect(await everything(forge)).toEqual(before)
    const read = await joan.get('/api/v4/user', { Origin: 'https://evil.example' })
    expect(read.headers.get('access-control-allow-origin')).toBe('*')
    expect(read.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('redirects stay here', async () => {
    await using forge = await startForge()
    await forge.user({ username: 'jane', password: PASSWORD })
    const outside = [
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '/\t/evil.example',
    ]
    const odd = ['/%09/evil.example', '/.//evil.example', 'javascript:alert(1)', '///evil.example', '/\n/evil.example']
    const split = ['/x\r\nSet-Cookie: a=b', '/x\r\n\r\n<script>', '@evil.example', '.evil.example', '/..//evil.example']
    for (const returnTo of [...outside, ...odd, ...split]) {
      const browser = new Browser(forge.url)
      const first = await browser.signIn('jane', PASSWORD, returnTo)
      const again = await browser.get(`/users/sign_in?${new URLSearchParams({ return_to: returnTo })}`)
      for (const { status, location, headers } of [first, again]) {
        expect([returnTo, status]).toEqual([returnTo, 303])
        expect(new URL(location!, forge.url).origin, returnTo).toBe(forge.url)
        expect(location).toMatch(/^\/(?![/\\])/)
        expect(headers.getSetCookie().join()).not.toContain('a=b')
      }
    }
    const application = await registerApplication(forge)
    const browser = new Browser(forge.url)
    await browser.signIn('jane', PASSWORD)
    const near = ['https://evil.example', 'https://app.example/callback/', 'https://app.example/callback?x=1', '//evil']
    const spelt = ['https://app.example/callback#x', 'https://APP.example/callback', 'https://app.example@evil.example']
    for (const redirect_uri of [...near, ...spelt, `https://app.example/callback\nhttps://evil.example`]) {
      const page = await browser.get(authorizePath(application, { redirect_uri }))
      expect([redirect_uri, page.status, page.location]).toEqual([redirect_uri, 400, null])
    }
  })
})
