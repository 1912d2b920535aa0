/**
 * The rows of the attack checklist that every endpoint could fall to. They are asked of all that is declared, so a new
 * family is asked as well; a new way to write needs one valid input in the table below.
 */
import { randomBytes } from 'node:crypto'
import { generateKey } from 'openpgp'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../src/api/endpoint.ts'
import { MOST_PER_PAGE, PageOf } from '../src/api/pages.ts'
import { MINUTE } from '../src/clock.ts'
import { v4 } from '../src/features/v4.ts'
import { startForge, type Person, type TestForge } from '../src/forge.ts'
import { Browser } from './browser.ts'
import { startEffort } from './effort.ts'
import { authorizePath, registerApplication } from './oauth.ts'
import { sshKey } from './samples.ts'
import { addressOf, makeWorld, type World } from './world.ts'

const nameOf = ({ method, path }: Endpoint) => `${method} ${path.replace(/\([^)]+\)/g, '')}`
const fieldsOf = ({ on, input }: Endpoint) => Object.keys({ ...on?.params.shape, ...input?.shape })
/** Fields that are part of the path cannot be given otherwise. */
const ownFieldsOf = (endpoint: Endpoint) => fieldsOf(endpoint).filter((name) => !endpoint.path.includes(`:${name}`))

/**
 * A field of a few values refuses any text alike, so two texts tell of it what all would. Otherwise the texts take
 * turns: every one is tried on very many fields, and every field with some; with fewer where each answer costs a git
 * process.
 */
let turn = 0
function triedOn(endpoint: Endpoint, field: string, texts: readonly string[]): readonly string[] {
  if (endpoint.input?.shape[field]?.safeParse('any text').success === false) return texts.slice(0, 2)
  const length = /\/(repository|releases|wikis)/.test(endpoint.path) ? 3 : 6
  return Array.from({ length }, () => texts[turn++ % texts.length]!)
}

const unique = () => `x${randomBytes(6).toString('hex')}`
let pgpKey = ''
beforeAll(async () => {
  pgpKey = (await generateKey({ type: 'curve25519', userIDs: [{ email: 'jane@example.com' }] })).publicKey
})

const onNewBranch = (start_branch: string) => ({ branch: unique(), start_branch, commit_message: 'x' })

/** An input that each writing endpoint accepts, so that one bad field is all that is wrong with it. */
const valid: Record<string, () => Record<string, unknown>> = {
  'POST /users': () => ({ email: `${unique()}@example.com`, username: unique(), name: 'X', reset_password: true }),
  'PUT /users/:id': () => ({ name: 'X' }),
  'POST /user/keys': () => ({ title: 'x', key: sshKey() }),
  'POST /users/:id/keys': () => ({ title: 'x', key: sshKey() }),
  'POST /user/emails': () => ({ email: `${unique()}@example.com` }),
  'POST /users/:id/emails': () => ({ email: `${unique()}@example.com` }),
  'POST /user/gpg_keys': () => ({ key: pgpKey }),
  'POST /users/:id/gpg_keys': () => ({ key: pgpKey }),
  'POST /user/personal_access_tokens': () => ({ name: 'x', scopes: ['api'] }),
  'POST /users/:user_id/personal_access_tokens': () => ({ name: 'x', scopes: ['api'] }),
  'POST /users/:user_id/impersonation_tokens': () => ({ name: 'x', scopes: ['api'] }),
  'POST /session': () => ({ login: 'jane', password: 'wrong horse' }),
  'POST /applications': () => ({ name: 'x', redirect_uri: 'https://app.example', scopes: 'api' }),
  'PUT /application/settings': () => ({ signup_enabled: true }),
  'POST /features/:name': () => ({ value: 'true' }),
  'POST /broadcast_messages': () => ({ message: 'x' }),
  'PUT /broadcast_messages/:id': () => ({ message: 'x' }),
  'POST /groups': () => ({ name: unique(), path: unique() }),
  'PUT /groups/:id': () => ({ description: 'x' }),
  'POST /projects': () => ({ name: unique() }),
  'POST /projects/user/:user_id': () => ({ name: unique() }),
  'PUT /projects/:id': () => ({ description: 'x' }),
  'POST /projects/:id/fork': () => ({ path: unique(), name: unique() }),
  'POST /projects/:id/wikis': () => ({ title: unique(), content: 'x' }),
  'PUT /projects/:id/wikis/:slug': () => ({ content: 'x' }),
  'PUT /projects/:id/transfer': () => ({ namespace: 'nowhere' }),
  'POST /projects/:id/share': () => ({ group_id: 1_000_000, group_access: 30 }),
  'POST /projects/:id/hooks': () => ({ url: 'https://hooks.example.org' }),
  'PUT /projects/:id/hooks/:hook_id': () => ({ push_events: true }),
  'POST /projects/:id/push_rule': () => ({ member_check: true }),
  'PUT /projects/:id/push_rule': () => ({ member_check: true }),
  'POST /projects/:id/repository/branches': () => ({ branch: unique(), ref: 'master' }),
  'PUT /projects/:id/repository/branches/:branch/protect': () => ({ developers_can_push: true }),
  'POST /projects/:id/repository/tags': () => ({ tag_name: unique(), ref: 'master' }),
  'POST /projects/:id/repository/tags/:tag_name/release': () => ({ description: 'x' }),
  'PUT /projects/:id/repository/tags/:tag_name/release': () => ({ description: 'x' }),
  'POST /projects/:id/releases': () => ({ tag_name: unique(), ref: 'master' }),
  'PUT /projects/:id/releases/:tag_name': () => ({ name: 'x' }),
  'POST /projects/:id/releases/:tag_name/assets/links': () => ({ name: unique(), url: `https://${unique()}.example` }),
  'PUT /projects/:id/releases/:tag_name/assets/links/:link_id': () => ({ name: unique() }),
  'POST /projects/:id/repository/commits': () => ({
    ...onNewBranch('master'),
    actions: [{ action: 'create', file_path: 'x', content: 'x' }],
  }),
  'POST /projects/:id/repository/commits/:sha/cherry_pick': () => ({ branch: 'bare', dry_run: true }),
  'POST /projects/:id/repository/commits/:sha/revert': () => ({ branch: 'master', dry_run: true }),
  'POST /projects/:id/repository/commits/:sha/comments': () => ({ note: 'x' }),
  'POST /projects/:id/statuses/:sha': () => ({ state: 'success', name: unique() }),
  'POST /projects/:id/repository/files/:file_path': () => ({ ...onNewBranch('bare'), content: 'x' }),
  'PUT /projects/:id/repository/files/:file_path': () => ({ ...onNewBranch('master'), content: 'x' }),
  'PUT /projects/:id/repository/submodules/:submodule': () => ({
    branch: 'modules',
    commit_sha: randomBytes(20).toString('hex'),
  }),
  'POST /projects/:id/protected_branches': () => ({ name: unique() }),
  'PATCH /projects/:id/protected_branches/:name': () => ({ allow_force_push: true }),
  'POST /projects/:id/protected_tags': () => ({ name: unique() }),
  'POST /deploy_keys': () => ({ title: 'x', key: sshKey() }),
  'POST /projects/:id/deploy_keys': () => ({ title: 'x', key: sshKey() }),
  'PUT /projects/:id/deploy_keys/:key_id': () => ({ title: 'x' }),
  'POST /projects/:id/deploy_tokens': () => ({ name: 'x', scopes: ['read_repository'] }),
  'POST /groups/:id/deploy_tokens': () => ({ name: 'x', scopes: ['read_repository'] }),
  'POST /groups/:id/members': () => ({ username: 'nobody', access_level: 10 }),
  'PUT /groups/:id/members/:user_id': () => ({ access_level: 20 }),
  'POST /projects/:id/members': () => ({ username: 'nobody', access_level: 10 }),
  'PUT /projects/:id/members/:user_id': () => ({ access_level: 20 }),
  'POST /groups/:id/invitations': () => ({ email: `${unique()}@example.com`, access_level: 10 }),
  'PUT /groups/:id/invitations/:email': () => ({ access_level: 20 }),
  'POST /projects/:id/invitations': () => ({ email: `${unique()}@example.com`, access_level: 10 }),
  'PUT /projects/:id/invitations/:email': () => ({ access_level: 20 }),
  'POST /groups/:id/ldap_group_links': () => ({ cn: unique(), group_access: 30, provider: 'ldapmain' }),
}

/** Right, but not of this world: what they name is not there, or is there already. */
const OF_ANOTHER_WORLD =
  /^(PUT \/projects\/:id\/transfer|POST \/(projects\/:id\/(share|push_rule|repository\/tags\/:tag_name\/release)|(groups|projects)\/:id\/members|session))$/
const writes = v4.filter((endpoint) => nameOf(endpoint) in valid)

/** An administrator other than the first, in a world that holds one of everything. */
async function settled(forge: TestForge): Promise<{ caller: Person; world: World }> {
  return { caller: await forge.user({ admin: true }), world: await makeWorld(forge) }
}

test('the table names every endpoint that takes input to write', () => {
  // They take nothing but what their path says, or a file.
  const harmless =
    /\/(rotate|revoke|renew-secret|block|unblock|archive|unarchive|star|unstar|housekeeping|ldap_sync|access_requests|approve|uploads|attachments|enable|unprotect|projects\/:project_id|fork\/:forked_from_id)$/
  const writing = v4.filter(({ method, path }) => ['POST', 'PUT', 'PATCH'].includes(method) && !harmless.test(path))
  expect(writing.map(nameOf).toSorted()).toEqual(Object.keys(valid).toSorted())
})

test('the inputs of the table are accepted', async () => {
  await using forge = await startForge()
  const { caller, world } = await settled(forge)
  for (const endpoint of writes) {
    const { status, body } = await caller.request(
      endpoint.method,
      addressOf(endpoint, world),
      valid[nameOf(endpoint)]!(),
    )
    const isKnown = JSON.stringify(body).includes('already been taken')
    const expected = OF_ANOTHER_WORLD.test(nameOf(endpoint)) ? [401, 404, 409, 422] : isKnown ? [400] : [200, 201]
    expect(expected, `${nameOf(endpoint)}: ${status} ${JSON.stringify(body)}`).toContain(status)
  }
})

describe('security 44: regex blow-up in API checks', () => {
  const LENGTH = 50_000
  /** Each would keep a check busy that looks at the same characters again and again: 2·10⁹ steps are many seconds. */
  const tiring = [
    'a'.repeat(LENGTH),
    `${' '.repeat(LENGTH)}!`,
    `${'\t\n '.repeat(LENGTH / 3)}!`,
    `${'a@'.repeat(LENGTH / 2)}`,
    `a@${'a.'.repeat(LENGTH / 2)}`,
    `${'.'.repeat(LENGTH)}!`,
    '<'.repeat(LENGTH),
    `${'1'.repeat(LENGTH)}!`,
    `http://${'a.'.repeat(LENGTH / 2)}!`,
    `ssh-rsa${' '.repeat(LENGTH)}${'A'.repeat(LENGTH)}!`,
    `-----BEGIN PGP PUBLIC KEY BLOCK-----\n${'='.repeat(LENGTH)}\n-----END PGP PUBLIC KEY BLOCK-----`,
    `2000-01-01T00:00${' '.repeat(LENGTH)}!`,
    ','.repeat(LENGTH),
    '-----'.repeat(LENGTH / 5),
  ]
  const MOST_MS = 3000

  test('every field that is written', { timeout: 300_000 }, async () => {
    await using forge = await startForge()
    const { caller, world } = await settled(forge)
    for (const endpoint of writes) {
      for (const field of ownFieldsOf(endpoint)) {
        for (const text of triedOn(endpoint, field, tiring)) {
          forge.clock.advance(2 * MINUTE)
          const effort = startEffort()
          const input = { ...valid[nameOf(endpoint)]!(), [field]: text }
          const { status } = await caller.request(endpoint.method, addressOf(endpoint, world), input)
          const what = `${nameOf(endpoint)} ${field} ${text.slice(0, 20)}`
          expect(status, what).toBeLessThan(500)
          expect(effort(), what).toBeLessThan(MOST_MS)
        }
      }
    }
  })

  test('every credential, form and query', async () => {
    await using forge = await startForge()
    await settled(forge)
    const inHeader = tiring.map((text) => text.slice(0, 10_000).replace(/\s/g, ' ').trim())
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
    for (const text of tiring) {
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
})

describe('security 45: unbounded input or page', () => {
  test('a list gives a page at most, however many are asked for', async () => {
    await using forge = await startForge()
    const { caller, world } = await settled(forge)
    for (let n = 0; n < MOST_PER_PAGE; n++) await forge.user()
    for (const endpoint of v4.filter(({ output }) => output instanceof PageOf)) {
      for (const per_page of ['101', '1000000', '999999999999999', '-1', '0']) {
        const { status, body, headers } = await caller.get(addressOf(endpoint, world), { per_page })
        expect([nameOf(endpoint), status]).toEqual([nameOf(endpoint), 200])
        expect(body.length).toBeLessThanOrEqual(MOST_PER_PAGE)
        expect(Number(headers.get('x-per-page'))).toBeLessThanOrEqual(MOST_PER_PAGE)
      }
      for (const page of ['999999999999999', '-999999999999999']) {
        const { status } = await caller.get(addressOf(endpoint, world), { page, per_page: '100' })
        expect([nameOf(endpoint), page, status]).toEqual([nameOf(endpoint), page, 200])
      }
      for (const page of ['9'.repeat(16), '1e9', '0x10', '1.5', '[]', 'null']) {
        expect([page, (await caller.get(addressOf(endpoint, world), { page })).status]).toEqual([page, 400])
      }
    }
  })

  /** What is longer than anybody means is not kept: whatever is accepted is found to be cut or ignored. */
  test('no text is kept at any length', { timeout: 300_000 }, async () => {
    await using forge = await startForge()
    const { caller, world } = await settled(forge)
    const endless = 'k'.repeat(100_000)
    const shapes = [endless, `https://app.example/${endless}`, `${endless}@example.com`]
    const kept: string[] = []
    for (const endpoint of writes) {
      for (const field of ownFieldsOf(endpoint)) {
        for (const text of shapes) {
          forge.clock.advance(2 * MINUTE)
          const more = /^(provider|extern_uid)$/.test(field) ? { provider: unique(), extern_uid: unique() } : {}
          const input = { ...valid[nameOf(endpoint)]!(), ...more, [field]: text }
          const { status, body } = await caller.request(endpoint.method, addressOf(endpoint, world), input)
          if (status < 300 && JSON.stringify(body).includes(endless)) kept.push(`${nameOf(endpoint)} ${field}`)
        }
      }
    }
    // Documents are as long as people write them, up to a limit of their own.
    const documents = ['POST /projects/:id/wikis content', 'PUT /projects/:id/wikis/:slug content']
    expect(new Set(kept)).toEqual(new Set(documents))
  })

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

  test('what fills a whole body keeps nobody waiting', { timeout: 60_000 }, async () => {
    await using forge = await startForge()
    const crowds = [
      `{"login":"x","password":[${Array.from({ length: 4_000_000 }, () => 1).join()}]}`,
      `{"login":"x","password":[${Array.from({ length: 3_000_000 }, () => '[]').join()}]}`,
    ]
    for (const body of crowds) {
      const answered = post(forge, '/session', body, JSON_TYPE)
      let longest = 0
      let effort = startEffort()
      const watch = setInterval(() => {
        longest = Math.max(longest, effort())
        effort = startEffort()
      }, 5)
      expect(await answered).toBe(400)
      clearInterval(watch)
      // Parsing ten megabytes alone is more than half a second's work.
      expect(longest).toBeLessThan(2000)
    }
  })
})

describe('security 48: SQL injection in filters', () => {
  const hostile = [
    `'`,
    `"`,
    `' or '1'='1`,
    `' or 1=1 --`,
    `"; drop table users; --`,
    `'; drop table users; --`,
    `1; select pg_sleep(10)`,
    `\\`,
    `\\'`,
    `%`,
    `%%%`,
    `___`,
    `*`,
    `a" OR name : "b`,
    `NEAR(a b)`,
    `{name} : x*`,
    `^abc`,
    `$1`,
    `?1`,
    `:id`,
    `id desc, (select password_digest from users)`,
    `password_digest`,
    `created_at;--`,
    `\u0027\u02bc\uff07`,
    `${'('.repeat(500)}`,
    `1e400`,
    `NaN`,
    `-0`,
    `9223372036854775808`,
  ]
  const gets = v4.filter(({ method }) => method === 'GET')

  test('every parameter of every read', { timeout: 300_000 }, async () => {
    await using forge = await startForge()
    const { caller, world } = await settled(forge)
    const hash = 'argon2'
    for (const endpoint of gets) {
      const fields = new Set([...ownFieldsOf(endpoint), 'order_by', 'sort', 'page', 'per_page', 'sudo', 'search'])
      for (const field of fields) {
        for (const text of triedOn(endpoint, field, hostile)) {
          const { status, body } = await caller.get(addressOf(endpoint, world), { [field]: text })
          const what = `${nameOf(endpoint)} ${field}=${text}`
          expect(status, what).toBeLessThan(500)
          expect(JSON.stringify(body), what).not.toContain(hash)
        }
      }
      for (const text of triedOn(endpoint, '', hostile)) {
        const answer = await caller.request(endpoint.method, addressOf(endpoint, text))
        expect(answer.status, `${nameOf(endpoint)} at ${text}`).toBeLessThan(500)
      }
    }
    expect(Number((await caller.get('/users')).headers.get('x-total'))).toBe(world.users + 1)
  })

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

  test('every field that is written is kept letter by letter or refused', { timeout: 300_000 }, async () => {
    await using forge = await startForge()
    const { caller, world } = await settled(forge)
    for (const endpoint of writes.filter(({ path }) => path !== '/application/settings')) {
      for (const field of ownFieldsOf(endpoint)) {
        for (const text of triedOn(endpoint, field, hostile.slice(0, 12))) {
          forge.clock.advance(2 * MINUTE)
          const input = { ...valid[nameOf(endpoint)]!(), [field]: text }
          const { status } = await caller.request(endpoint.method, addressOf(endpoint, world), input)
          expect(status, `${nameOf(endpoint)} ${field}=${text}`).toBeLessThan(500)
        }
      }
    }
    expect((await caller.get('/users/1')).body.username).toBe('root')
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
    for (const text of [...hostile, '\0', 'x\0y']) {
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
  /** Everything that is kept, except when a token was last seen. */
  async function everything({ app: { db } }: TestForge): Promise<string> {
    const tables = await db.introspection.getTables()
    const kept = tables.filter(({ name, isView }) => !isView && !/_search|sqlite_|kysely/.test(name))
    const rows = await Promise.all(
      kept.map(
        async ({ name }) =>
          [
            name,
            await db
              .selectFrom(name as 'users')
              .selectAll()
              .execute(),
          ] as const,
      ),
    )
    return JSON.stringify(rows, (key, value) => (key.startsWith('last_used') ? undefined : value))
  }

  const PASSWORD = 'correct horse'

  test('no GET writes', { timeout: 60_000 }, async () => {
    await using forge = await startForge()
    const { world } = await settled(forge)
    const jane = await forge.user({ username: 'jane', password: PASSWORD, admin: true })
    const application = await registerApplication(forge)
    const browser = new Browser(forge.url)
    await browser.signIn('jane', PASSWORD)
    await forge.settle()
    const before = await everything(forge)
    expect(before).toContain('"jane@example.com"')

    const tricks = { _method: 'delete', method: 'DELETE', name: 'x', title: 'x', state: 'blocked' }
    const query = `?${new URLSearchParams(tricks)}`
    const override = { 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE', 'X-HTTP-Method': 'DELETE' }
    for (const endpoint of v4) {
      const path = `/api/v4${addressOf(endpoint, world)}${query}`
      for (const method of ['GET', 'HEAD', 'OPTIONS']) await browser.request(path, { method, headers: override })
    }
    const pages = [
      '/users/sign_in',
      '/users/sign_out',
      '/users/password/new',
      '/users/password/edit',
      '/users/confirmation',
    ]
    const more = ['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/userinfo', authorizePath(application)]
    const instance = ['/api/docs', '/api/openapi.json', '/-/health', '/-/readiness', '/-/metrics', '/-/csrf', '/']
    for (const path of [...pages, ...more, ...instance]) {
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        const { status } = await browser.request(path, { method, headers: override })
        expect(status, path).toBeLessThan(500)
      }
    }
    await forge.settle()
    expect(await everything(forge)).toBe(before)
    expect((await jane.get('/user')).status).toBe(200)
  })

  test('a cookie alone writes nothing, and no other site can add what is missing', async () => {
    await using forge = await startForge()
    const { world } = await settled(forge)
    await forge.user({ username: 'jane', password: PASSWORD, admin: true })
    await forge.user({ username: 'john', password: PASSWORD, admin: true })
    const [jane, john] = [new Browser(forge.url), new Browser(forge.url)]
    await jane.signIn('jane', PASSWORD)
    await john.signIn('john', PASSWORD)
    const { csrf_token } = JSON.parse((await john.get('/-/csrf')).body) as { csrf_token: string }
    const application = await registerApplication(forge)
    await forge.settle()
    const before = await everything(forge)
    const proofs: Record<string, string>[] = [
      {},
      { 'X-CSRF-Token': csrf_token },
      { 'X-CSRF-Token': '' },
      { Origin: 'https://evil.example' },
    ]
    for (const endpoint of v4.filter(({ method, allow }) => method !== 'GET' && allow !== 'anyone')) {
      const body = JSON.stringify(valid[nameOf(endpoint)]?.() ?? {})
      for (const proof of proofs) {
        for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded']) {
          const path = `/api/v4${addressOf(endpoint, world)}`
          const headers = { ...proof, 'Content-Type': type }
          const { status } = await jane.request(path, { method: endpoint.method, body, headers })
          expect([nameOf(endpoint), status]).toEqual([nameOf(endpoint), 401])
        }
      }
    }
    for (const path of ['/users/sign_out', authorizePath(application), '/users/password/new', '/users/password/edit']) {
      expect((await jane.post(path, { authenticity_token: csrf_token })).status).toBe(403)
      const own = JSON.parse((await jane.get('/-/csrf')).body) as { csrf_token: string }
      const fields = { authenticity_token: own.csrf_token }
      for (const site of ['cross-site', 'same-site']) {
        expect((await jane.post(path, fields, { 'Sec-Fetch-Site': site })).status).toBe(403)
      }
    }
    await forge.settle()
    expect(await everything(forge)).toBe(before)
    const read = await jane.get('/api/v4/user', { Origin: 'https://evil.example' })
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
