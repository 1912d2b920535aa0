/**
 * The rows of the attack checklist that every endpoint could fall to. They are asked of all that is declared, where the
 * cases of its family say and with the valid input they give, so a new family is asked as well.
 */
import { afterAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../src/api/endpoint.ts'
import { MOST_PER_PAGE, PageOf } from '../src/api/pages.ts'
import { MINUTE } from '../src/clock.ts'
import { startForge, type Reply, type TestForge } from '../src/forge.ts'
import { batchesOf } from '../src/lib/async/batches.ts'
import { Browser } from './browser.ts'
import { call, unique } from './cases.ts'
import { longestStall, startEffort } from './effort.ts'
import { caseOf, nameOf, v4 } from './endpoints.ts'
import { authorizePath, registerApplication } from './oauth.ts'
import { allCalls, isWrite, ownFieldsOf, addressWith, worldOf, type EndpointCall, type World } from './world.ts'

/**
 * A field of a few values refuses any text alike, so one text tells of it what all would. Otherwise the texts take
 * turns: every one is tried on very many fields, and every field with some.
 */
let turn = 0
function triedOn(endpoint: Endpoint, field: string, texts: readonly string[]): readonly string[] {
  if (endpoint.input?.shape[field]?.safeParse('any text').success === false) return texts.slice(0, 1)
  return Array.from({ length: 2 }, () => texts[turn++ % texts.length]!)
}

/** For what only reads, or tries in vain to write. */
let unwritten: Promise<World> | undefined
const sharedWorld = () => (unwritten ??= startForge().then(worldOf))
afterAll(async () => (await unwritten)?.forge[Symbol.asyncDispose]())

/** Repositories are measured some seconds after they change. */
async function calm({ forge }: World): Promise<void> {
  forge.clock.advance(10_000)
  await forge.settle()
}

/** Each text in the field, all else as it should be, asked side by side. */
async function tryTexts(
  { forge, caller }: World,
  { endpoint, address, input }: EndpointCall,
  field: string,
  texts: readonly string[],
  more: () => Record<string, string> = () => ({}),
): Promise<[text: string, answer: Reply][]> {
  // Whoever tries too often has to wait.
  forge.clock.advance(2 * MINUTE)
  const tries = texts.map(async (text): Promise<[string, Reply]> => {
    const request = { ...(await input()), ...more(), [field]: text }
    return [text, await call(caller, endpoint.method, address, request)]
  })
  return Promise.all(tries)
}

/** What reads its body itself finds no fields in it. */
const takingFields = v4.filter(
  (endpoint) => isWrite(endpoint) && ownFieldsOf(endpoint).length > 0 && endpoint.runners !== 'stream',
)
/** Without the file nothing else of an upload is looked at. */
const writes = takingFields.filter((endpoint) => !ownFieldsOf(endpoint).includes('file'))

const kindOf = ({ path }: Endpoint) => path.split('/').findLast((segment) => !segment.startsWith(':'))

/**
 * The same field of the same kind of record, declared once and taken in many places (by projects, groups and the
 * instance; to create and to change) is asked in the first two.
 */
function firstFields(): (endpoint: Endpoint) => string[] {
  const seen = new Map<string, Map<unknown, number>>()
  return (endpoint) =>
    ownFieldsOf(endpoint).filter((field) => {
      const key = `${kindOf(endpoint)} ${field}`
      const schemas = seen.get(key) ?? new Map<unknown, number>()
      const times = schemas.get(endpoint.input!.shape[field]) ?? 0
      seen.set(key, schemas.set(endpoint.input!.shape[field], times + 1))
      return times < 2
    })
}

/** That they are answered so is shown by the test of roles. */
test('what takes fields to write has an input, and an administrator is let in with it', () => {
  expect(takingFields.filter((endpoint) => !caseOf(endpoint).input).map(nameOf)).toEqual([])
  const answer = (endpoint: Endpoint) => Object.values(caseOf(endpoint).rows)[0]!.administrator!
  const refused = takingFields.filter((endpoint) => answer(endpoint) >= 300)
  // Nobody's account is a token to rotate; codes, and what a device signs, are others each time.
  expect(refused.map(nameOf)).toEqual([
    'POST /user/passkeys/options',
    'POST /user/passkeys',
    'POST /user/second_factor',
    'POST /user/second_factor/confirm',
    'POST /user/second_factor/recovery_codes',
    'POST /personal_access_tokens/self/rotate',
  ])
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
    const world = await worldOf(forge)
    const fieldsOf = firstFields()
    for (const asked of await allCalls(world, writes)) {
      for (const field of fieldsOf(asked.endpoint)) {
        const texts = triedOn(asked.endpoint, field, tiring)
        const effort = startEffort()
        for (const [text, { status }] of await tryTexts(world, asked, field, texts))
          expect(status, `${asked.name} ${field} ${text.slice(0, 20)}`).toBeLessThan(500)
        expect(effort(), `${asked.name} ${field}`).toBeLessThan(MOST_MS)
      }
    }
  })

  test('every credential, form and query', async () => {
    await using forge = await startForge()
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
    // As long as fits into the body of a stranger, three times and encoded.
    for (const text of tiring.map((one) => one.slice(0, 6000))) {
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
  test('a list gives a page at most, however many are asked for', { timeout: 300_000 }, async () => {
    const world = await sharedWorld()
    const { forge, caller } = world
    for (let n = 0; n < MOST_PER_PAGE; n++) await forge.user()
    const lists = v4.filter(({ output }) => output instanceof PageOf)
    for (const { name, address, input } of await allCalls(world, lists)) {
      const asked = await input()
      const sizes = ['101', '1000000', '999999999999999', '-1', '0'].map(async (per_page) => {
        const { status, body, headers } = await caller.get(address, { ...asked, per_page })
        expect([name, status]).toEqual([name, 200])
        expect(body.length).toBeLessThanOrEqual(MOST_PER_PAGE)
        expect(Number(headers.get('x-per-page'))).toBeLessThanOrEqual(MOST_PER_PAGE)
      })
      const far = ['999999999999999', '-999999999999999'].map(async (page) => {
        const { status } = await caller.get(address, { ...asked, page, per_page: '100' })
        expect([name, page, status]).toEqual([name, page, 200])
      })
      const wrong = ['9'.repeat(16), '1e9', '0x10', '1.5', '[]', 'null'].map(async (page) => {
        expect([name, page, (await caller.get(address, { ...asked, page })).status]).toEqual([name, page, 400])
      })
      await Promise.all([...sizes, ...far, ...wrong])
    }
  })

  /** As the field would have it, were it short. */
  function shapeFor({ endpoint }: EndpointCall, field: string): (text: string) => string {
    const shapes = [
      (text: string) => text,
      (text: string) => `https://app.example/${text}`,
      (text: string) => `${text}@example.com`,
    ]
    return shapes.find((shape) => endpoint.input!.shape[field]!.safeParse(shape('k')).success) ?? shapes[0]!
  }

  /** What is longer than anybody means is not kept: whatever is accepted is found to be cut or ignored. */
  test('no text is kept at any length', { timeout: 300_000 }, async () => {
    await using forge = await startForge()
    await forge.stopWorker()
    const world = await worldOf(forge)
    const kept: string[] = []
    let texts = 0
    const identity = () => ({ provider: unique('provider'), extern_uid: unique('uid') })
    for (const asked of await allCalls(world, writes)) {
      for (const field of ownFieldsOf(asked.endpoint)) {
        const more = /^(provider|extern_uid)$/.test(field) ? identity : undefined
        // Another one each time: a record shows what other fields of it hold.
        const endless = `${'k'.repeat(100_000)}-${++texts}-`
        for (const [, { status, body }] of await tryTexts(world, asked, field, [shapeFor(asked, field)(endless)], more))
          if (status < 300 && JSON.stringify(body).includes(endless)) kept.push(`${asked.name} ${field}`)
      }
    }
    // Documents are as long as people write them, up to a limit of their own.
    const topics = ['issues/:issue_iid', 'merge_requests/:merge_request_iid', 'snippets/:snippet_id']
    const documents = [
      'POST /markdown text',
      'POST /projects/:id/issues description',
      'PUT /projects/:id/issues/:issue_iid description',
      'POST /projects/:id/wikis content',
      'PUT /projects/:id/wikis/:slug content',
      'POST /projects/:id/merge_requests description',
      'PUT /projects/:id/merge_requests/:merge_request_iid description',
      ...[...topics, 'repository/commits/:sha'].flatMap((topic) => [
        `POST /projects/:id/${topic}/discussions body`,
        `POST /projects/:id/${topic}/discussions/:discussion_id/notes body`,
        `PUT /projects/:id/${topic}/discussions/:discussion_id/notes/:note_id body`,
      ]),
      ...topics.flatMap((topic) => [
        `POST /projects/:id/${topic}/notes body`,
        `PUT /projects/:id/${topic}/notes/:note_id body`,
      ]),
      'POST /projects/:id/merge_requests/:merge_request_iid/draft_notes note',
      'POST /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id note',
      'PUT /projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id note',
    ]
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
    const world = await sharedWorld()
    const { caller } = world
    const reads = await allCalls(world, gets)
    const people = async () => Number((await caller.get('/users')).headers.get('x-total'))
    const before = await people()
    const hash = 'argon2'
    for (const { endpoint, name, address, input } of reads) {
      const asked = await input()
      const fields = new Set([...ownFieldsOf(endpoint), 'order_by', 'sort', 'page', 'per_page', 'sudo', 'search'])
      const tries = [...fields].flatMap((field) =>
        triedOn(endpoint, field, hostile).map((text) => async () => {
          const { status, body } = await caller.get(address, { ...asked, [field]: text })
          const what = `${name} ${field}=${text}`
          expect(status, what).toBeLessThan(500)
          expect(JSON.stringify(body), what).not.toContain(hash)
        }),
      )
      const places = triedOn(endpoint, '', hostile).map((text) => async () => {
        const { status } = await caller.get(addressWith(endpoint, text))
        expect(status, `${name} at ${text}`).toBeLessThan(500)
      })
      for (const batch of batchesOf([...tries, ...places], 8)) await Promise.all(batch.map((ask) => ask()))
    }
    expect(before).toBeGreaterThan(Object.keys(world.stage.cast.people).length)
    expect(await people()).toBe(before)
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
    await forge.stopWorker()
    const world = await worldOf(forge)
    const asked = writes.filter(({ path }) => path !== '/application/settings')
    for (const one of await allCalls(world, asked)) {
      for (const field of ownFieldsOf(one.endpoint)) {
        const texts = triedOn(one.endpoint, field, hostile.slice(0, 12))
        for (const [text, { status }] of await tryTexts(world, one, field, texts))
          expect(status, `${one.name} ${field}=${text}`).toBeLessThan(500)
      }
    }
    expect((await world.caller.get('/users/1')).body.username).toBe('root')
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
  /** Everything that is kept, table by table, except when a token was last seen. */
  async function everything({ app: { db } }: TestForge): Promise<Record<string, string>> {
    const tables = await db.introspection.getTables()
    const kept = tables.filter(({ name, isView }) => !isView && !/_search|sqlite_|kysely/.test(name))
    const contents = kept.map(async ({ name }) => {
      const rows = await db
        .selectFrom(name as 'users')
        .selectAll()
        .execute()
      const text = (row: unknown) =>
        JSON.stringify(row, (key, value) => (key.startsWith('last_used') ? undefined : value))
      // A row that was written again as it is stands elsewhere in some stores.
      return [name, rows.map(text).toSorted().join()] as const
    })
    return Object.fromEntries(await Promise.all(contents))
  }

  const PASSWORD = 'correct horse'

  test('no GET writes', { timeout: 300_000 }, async () => {
    const world = await sharedWorld()
    const { forge } = world
    const jane = await forge.user({ username: 'jane', password: PASSWORD, admin: true })
    const application = await registerApplication(forge)
    const browser = new Browser(forge.url)
    await browser.signIn('jane', PASSWORD)
    const asked = await allCalls(world, v4)
    await calm(world)
    using _ = forge.clock.hold() // so that no job comes due
    const before = await everything(forge)
    expect(before.users).toContain('"jane@example.com"')

    const tricks = { _method: 'delete', method: 'DELETE', name: 'x', title: 'x', state: 'blocked' }
    const override = { 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE', 'X-HTTP-Method': 'DELETE' }
    const ask = (path: string) =>
      Promise.all(['GET', 'HEAD', 'OPTIONS'].map((method) => browser.request(path, { method, headers: override })))
    for (const { address } of asked) await ask(`/api/v4${address}?${new URLSearchParams(tricks)}`)
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

  test('a cookie alone writes nothing, and no other site can add what is missing', async () => {
    const world = await sharedWorld()
    const { forge } = world
    await forge.user({ username: 'joan', password: PASSWORD, admin: true })
    await forge.user({ username: 'john', password: PASSWORD, admin: true })
    const [joan, john] = [new Browser(forge.url), new Browser(forge.url)]
    await joan.signIn('joan', PASSWORD)
    await john.signIn('john', PASSWORD)
    const { csrf_token } = JSON.parse((await john.get('/-/csrf')).body) as { csrf_token: string }
    const application = await registerApplication(forge)
    const guarded = v4.filter(({ method, allow }) => method !== 'GET' && allow !== 'anyone')
    const asked = await allCalls(world, guarded)
    const bodies: string[] = []
    for (const { input } of asked) bodies.push(JSON.stringify(await input()))
    await calm(world)
    using _ = forge.clock.hold() // so that no job comes due
    const before = await everything(forge)
    const proofs: Record<string, string>[] = [
      {},
      { 'X-CSRF-Token': csrf_token },
      { 'X-CSRF-Token': '' },
      { Origin: 'https://evil.example' },
    ]
    const types = ['text/plain', 'application/json', 'application/x-www-form-urlencoded']
    const sent = proofs.flatMap((proof) => types.map((type) => ({ ...proof, 'Content-Type': type })))
    for (const [n, { endpoint, name, address }] of asked.entries()) {
      const ask = async (headers: Record<string, string>) => {
        const { method } = endpoint
        const { status } = await joan.request(`/api/v4${address}`, { method, body: bodies[n]!, headers })
        expect([name, status]).toEqual([name, 401])
      }
      await Promise.all(sent.map(ask))
    }
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
