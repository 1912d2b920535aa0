/** Checks that apply to every page, without a browser. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../forge.ts'
import { Browser, hiddenFields } from '../../test/browser.ts'

const PASSWORD = 'correct-horse-battery'
let forge: TestForge
let jane: Person
let path: string
beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user({ password: PASSWORD })
  const name = `</script><script>alert(1)</script>`
  const project = await forge.project({ path: 'mill', description: name, visibility: 'private' }, jane)
  await forge.seed(project, { 'README.md': `# ${name}` }, { as: jane })
  path = `/${project.path_with_namespace}`
})
afterAll(() => forge[Symbol.asyncDispose]())

const HTML = { Accept: 'text/html' }

/** Submits a form of a page, as a browser without scripts does. */
async function send(browser: Browser, address: string, fields: Record<string, string>) {
  const { authenticity_token } = hiddenFields(await browser.get(address, HTML)) as { authenticity_token: string }
  return browser.post(address, { ...fields, authenticity_token }, HTML)
}

const ask = (address: string, headers: Record<string, string> = {}) =>
  fetch(forge.url + address, { redirect: 'manual', headers: { Accept: 'text/html', ...headers } })

test('rules keep out inline code, other hosts and frames', async () => {
  for (const address of ['/', '/nobody/here']) {
    const { headers } = await ask(address)
    const policy = headers.get('content-security-policy')!.split('; ')
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "form-action 'self'",
        "base-uri 'none'",
      ]),
    )
    expect(policy.join(' ')).not.toMatch(/unsafe|https?:|\*/)
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-store')
  }
})

test('what is hidden is to a visitor as if it were not there', async () => {
  const [hidden, missing] = [await ask(path), await ask(`${path}s`)]
  expect([hidden.status, missing.status]).toEqual([404, 404])
  const bare = (html: string) => html.replaceAll(/"csrf":"[^"]*"|value="[^"]*"|mills?/g, '')
  expect(bare(await hidden.text())).toBe(bare(await missing.text()))
})

test('a broadcast message stands on pages that show no project', async () => {
  const message = { message: 'Mill closes at noon', starts_at: '2020-01-01', ends_at: '2040-01-01' }
  const { body } = await forge.administrator.post('/broadcast_messages', message)
  const browser = new Browser(forge.url)
  await browser.signIn(jane.username, PASSWORD)
  for (const address of ['/-/welcome', '/-/welcome?project=0', '/', path])
    expect([address, await browser.get(address, HTML)]).toMatchObject([
      address,
      { status: 200, body: expect.stringContaining(message.message) },
    ])
  await forge.administrator.delete(`/broadcast_messages/${body.id}`)
})

test('the default branch is offered first, however many branches there are', async () => {
  const project = await forge.project({ path: 'branchy', visibility: 'public' }, jane)
  const { id } = await forge.seed(project, { a: 'a' }, { as: jane })
  for (let n = 10; n < 32; n++)
    await forge.administrator.post(`/projects/${project.id}/repository/branches`, { branch: `a${n}`, ref: 'master' })
  const browser = new Browser(forge.url)
  await browser.signIn(jane.username, PASSWORD)
  const tree = await browser.get(`/${project.path_with_namespace}/-/tree/a11`, HTML)
  const menu = tree.body.slice(tree.body.indexOf('ref-picker'))
  expect(menu.indexOf('/-/tree/master"')).toBeGreaterThan(0)
  expect(menu.indexOf('/-/tree/master"')).toBeLessThan(menu.indexOf('/-/tree/a10"'))
  const page = await browser.get(`/${project.path_with_namespace}/-/commit/${id}`, HTML)
  expect(page.body.match(/<input name="branch"[^>]* value="master"/g)).toHaveLength(2)
})

test('text of people is text, also in what is handed to the browser', async () => {
  const browser = new Browser(forge.url)
  await browser.signIn(jane.username, PASSWORD)
  const page = await browser.get(path, { Accept: 'text/html' })
  expect(page.status).toBe(200)
  expect(page.body).toContain('&lt;/script>')
  expect(page.body).not.toContain('<script>alert')
  expect(page.body.match(/<script/g)).toHaveLength(2)
  expect(page.body).not.toMatch(/<style| style=| on\w+=/)
})

test('shared styles come before those of components, in one stylesheet', async () => {
  const page = await (await ask('/')).text()
  const styles = [...page.matchAll(/href="(\/-\/assets\/[^"]+\.css)"/g)].map(([, path]) => path!)
  expect(styles).toHaveLength(1)
  const text = await (await fetch(forge.url + styles[0])).text()
  expect(text.startsWith(':root')).toBe(true)
  expect(text.indexOf('.card{')).toBeLessThan(text.indexOf('.merge-box{'))
})

test('pages are compressed for clients that accept it, assets are cached for good', async () => {
  const page = await fetch(forge.url, { headers: { Accept: 'text/html', 'Accept-Encoding': 'gzip' } })
  expect(page.headers.get('content-encoding')).toBe('gzip')
  const script = /src="(\/-\/assets\/[^"]+\.js)"/.exec(await page.text())![1]!
  const asset = await fetch(forge.url + script, { headers: { 'Accept-Encoding': 'br' } })
  expect([asset.status, asset.headers.get('content-encoding'), asset.headers.get('cache-control')]).toEqual([
    200,
    'br',
    'max-age=31536000, immutable',
  ])
  for (const name of ['..%2fserver%2fserver.js', 'manifest.json', 'none.js', '%00'])
    expect([name, (await ask(`/-/assets/${name}`)).status]).toEqual([name, 404])
})

test('a deleted branch comes back from the message, and without scripts', async () => {
  const browser = new Browser(forge.url)
  await browser.signIn(jane.username, PASSWORD)
  const project = await forge.project({ path: 'undoing' }, jane)
  await forge.seed(project, { a: 'a\n' })
  await forge.seed(project, { b: 'b\n' }, { branch: 'topic' })
  const home = `/${project.path_with_namespace}/-`
  const html = { Accept: 'text/html' }
  const { authenticity_token } = hiddenFields(await browser.get(`${home}/branches`, html)) as {
    authenticity_token: string
  }
  const post = (page: string, fields: Record<string, string>) =>
    browser.post(`${home}/${page}`, { authenticity_token, ...fields }, html)
  const tip = async () => (await jane.get(`/projects/${project.id}/repository/branches/topic`)).status
  await post('branches', { _action: 'remove', branch: 'topic' })
  expect(await tip()).toBe(404)
  const { body } = await browser.get(`${home}/branches`, html)
  expect(body).toContain('Branch topic deleted')
  const change = /name="change" value="(\d+)"/.exec(body)![1]!
  await post('branches', { _action: 'undo', change })
  expect(await tip()).toBe(200)

  const history = (await browser.get(`${home}/ref_changes`, html)).body
  expect(history).toContain('History of branches and tags')
  const [, newest] = /name="change" value="(\d+)"/.exec(history)!
  await post('ref_changes', { _action: 'undo', change: newest! })
  expect(await tip()).toBe(404)
})

test('a form from elsewhere, of nobody or of no page does nothing', async () => {
  const browser = new Browser(forge.url)
  await browser.signIn(jane.username, PASSWORD)
  const page = await browser.get(path, { Accept: 'text/html' })
  const { authenticity_token } = hiddenFields(page) as { authenticity_token: string }
  const post = (fields: Record<string, string>, address = path) =>
    browser.post(address, fields, { Accept: 'text/html' })
  expect((await post({ _action: 'star' })).status).toBe(403)
  expect((await post({ _action: 'star', authenticity_token: 'x'.repeat(43) })).status).toBe(403)
  expect((await post({ _action: 'toString', authenticity_token })).status).toBe(400)
  expect((await post({ authenticity_token })).status).toBe(400)
  expect((await post({ _action: 'star', authenticity_token }, '/nobody/here')).status).toBe(404)
  const elsewhere = await fetch(`${forge.url}//evil.example/x`, {
    headers: { Accept: 'text/html' },
    redirect: 'manual',
  })
  expect(elsewhere.headers.get('location') ?? '').not.toMatch(/^\/\//)
})

const TOKENS = '/-/profile/personal_access_tokens'
const COOKIE = '_service_told'

test('a new secret comes sealed to the page that follows, for one page, one session and one time', async () => {
  const browser = new Browser(forge.url)
  await browser.signIn(jane.username, PASSWORD)
  const make = async (name: string) => send(browser, TOKENS, { _action: 'create', name, 'scopes[]': 'read_api' })
  const flashTokenOn = ({ body }: { body: string }) => /"flash":\{"token":"([^"]+)"\}/.exec(body)?.[1] ?? null

  const made = await make('one')
  expect([made.status, made.location, made.body]).toEqual([303, TOKENS, ''])
  const [line = ''] = made.headers.getSetCookie()
  expect(line).toMatch(/^_service_told=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=60$/)
  const sealed = browser.cookies.get(COOKIE)!
  expect(flashTokenOn(await browser.get(path, HTML))).toBeNull()
  const token = flashTokenOn(await browser.get(TOKENS, HTML))!
  const used = await fetch(`${forge.url}/api/v4/user`, { headers: { 'PRIVATE-TOKEN': token } })
  expect(used.status).toBe(200)
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain(token)
  expect(browser.cookies.has(COOKIE)).toBe(false)
  expect(flashTokenOn(await browser.get(TOKENS, HTML))).toBeNull()

  await make('two')
  const other = new Browser(forge.url)
  await other.signIn(jane.username, PASSWORD)
  for (const cookie of [browser.cookies.get(COOKIE)!, `${sealed.slice(0, -1)}_`, 'x']) {
    other.cookies.set(COOKIE, cookie)
    expect(flashTokenOn(await other.get(TOKENS, HTML))).toBeNull()
  }
  forge.clock.advance(61_000)
  expect(flashTokenOn(await browser.get(TOKENS, HTML))).toBeNull()
})

test('a way back that is too long for a cookie is left out, what was done is told', async () => {
  const browser = new Browser(forge.url)
  await browser.signIn(jane.username, PASSWORD)
  const labels = Array.from({ length: 12 }, (_, n) => `${n}${'x'.repeat(240)}`)
  const at = `/projects/${encodeURIComponent(path.slice(1))}/issues`
  const issues = [(await jane.post(at, { title: 'Short' })).body, (await jane.post(at, { title: 'Long', labels })).body]
  const answers: unknown[] = []
  for (const { iid } of issues) {
    const address = `${path}/-/issues/${iid}`
    const { status } = await send(browser, address, { _action: 'plan', weight: '3' })
    const { body } = await browser.get(address, HTML)
    answers.push([status, body.includes('Issue updated.'), body.includes('name="_form" value="undo"')])
  }
  expect(answers).toEqual([
    [303, true, true],
    [303, true, false],
  ])
  expect((await jane.get(`${at}/${issues[1].iid}`)).body).toMatchObject({ labels: [], weight: 3 })
})
