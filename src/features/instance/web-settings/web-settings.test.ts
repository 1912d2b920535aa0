import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PASSWORD = 'correct-horse-battery'
let forge: TestForge
let path: string
let browser: Browser
beforeAll(async () => {
  forge = await startForge()
  const jane = await forge.user({ password: PASSWORD })
  path = `/${(await forge.project({ path: 'mill' }, jane)).path_with_namespace}`
  browser = new Browser(forge.url)
  await browser.signIn(jane.username, PASSWORD)
})
afterAll(() => forge[Symbol.asyncDispose]())

async function set(settings: Record<string, unknown>): Promise<void> {
  expect((await forge.administrator.put('/application/settings', settings)).status).toBe(200)
}
const open = (address: string, by = browser) => by.get(address, { Accept: 'text/html' })
const ask = async (by: { get(path: string): Promise<{ body: unknown }> }) =>
  (await by.get('/application/web_settings')).body

test('everybody reads what steers pages, visitors nothing of runners', async () => {
  const initial = {
    home_page_url: null,
    default_project_visibility: 'private',
    default_group_visibility: 'private',
    default_snippet_visibility: 'private',
    restricted_visibility_levels: [],
    protected_ci_variables: true,
    shared_runners_text: '',
    polling_interval_multiplier: 1,
    sign_up_open: true,
    require_personal_access_token_expiry: false,
    user_oauth_applications: true,
    latest_token_expiry: null,
    last_restore_day: null,
  }
  expect(await ask(forge.visitor)).toEqual(initial)
  await set({ shared_runners_text: 'Be *quick*.' })
  expect(await ask(forge.visitor)).toEqual(initial)
  expect(await ask(await forge.user())).toEqual({ ...initial, shared_runners_text: 'Be *quick*.' })
})

test('visitors of the front page are shown how to register, where that is open', async () => {
  const visitor = new Browser(forge.url)
  const link = '<a href="/users/sign_up">Create an account</a>'
  expect((await open('/', visitor)).body).toContain(link)
  expect((await open('/')).body).not.toContain(link)
  for (const closed of ['signup_enabled', 'password_authentication_enabled']) {
    await set({ [closed]: false })
    expect(await ask(forge.visitor)).toMatchObject({ sign_up_open: false })
    expect((await open('/', visitor)).body).not.toContain(link)
    await set({ [closed]: true })
  }
})

test('home_page_url is where visitors of the front page are led, and nobody else', async () => {
  const visitor = new Browser(forge.url)
  expect((await open('/', visitor)).status).toBe(200)
  await set({ home_page_url: 'https://mill.example/über' })
  const led = await open('/?a=b', visitor)
  expect([led.status, led.location]).toEqual([303, 'https://mill.example/%C3%BCber'])
  expect((await open('/explore', visitor)).status).toBe(200)
  expect((await open('/')).status).toBe(200)
  // A redirect to itself would never end.
  for (const own of ['', '/', '//', '/?a=b', '/./#top']) {
    await set({ home_page_url: forge.url + own })
    expect([own, (await open('/', visitor)).status]).toEqual([own, 200])
  }
  await set({ home_page_url: `${forge.url}/explore` })
  expect((await open('/', visitor)).location).toBe(`${forge.url}/explore`)
  await set({ home_page_url: null })
})

const chosen = (html: string) =>
  /<option[^>]* value="(?:private|internal|public)"[^>]* selected[^>]*>|<option selected[^>]*>/.exec(html)?.[0]

test('default_project_visibility and default_group_visibility are what new ones begin with', async () => {
  const group = await forge.group({ visibility: 'internal' })
  const root = new Browser(forge.url)
  await forge.administrator.put('/users/1', { password: PASSWORD })
  await root.signIn('root', PASSWORD)
  for (const level of ['internal', 'public', 'private']) {
    await set({ default_project_visibility: level, default_group_visibility: level })
    for (const address of ['/projects/new', '/projects/new?from=url', '/groups/new', '/-/welcome'])
      expect([address, chosen((await open(address)).body)]).toEqual([address, expect.stringContaining(level)])
  }
  // No more visible than the parent group, as in the API.
  await set({ default_project_visibility: 'public', default_group_visibility: 'public' })
  for (const address of [`/projects/new?namespace=${group.id}`, `/groups/new?parent=${group.id}`])
    expect([address, chosen((await open(address, root)).body)]).toEqual([address, expect.stringContaining('internal')])
  await set({ default_project_visibility: 'private', default_group_visibility: 'private' })
})

test('what restricted_visibility_levels forbids is offered to administrators alone', async () => {
  const root = new Browser(forge.url)
  await forge.administrator.put('/users/1', { password: PASSWORD })
  await root.signIn('root', PASSWORD)
  await set({ restricted_visibility_levels: ['public'] })
  for (const address of ['/projects/new', '/groups/new']) {
    expect((await open(address)).body).not.toContain('value="public"')
    expect((await open(address, root)).body).toContain('value="public"')
  }
  await set({ restricted_visibility_levels: [] })
})

test('max_personal_access_token_lifetime fills in the last day of a new token', async () => {
  const field = async () =>
    /<input[^>]* name="expires_at"[^>]*>|<input name="expires_at"[^>]*>/.exec(
      (await open('/-/profile/personal_access_tokens')).body,
    )![0]
  expect(await field()).not.toMatch(/max=|required/)
  await set({ max_personal_access_token_lifetime: 30, require_personal_access_token_expiry: true })
  const latest = new Date(forge.clock.now().getTime() + 30 * DAY).toISOString().slice(0, 10)
  expect(await ask(forge.visitor)).toMatchObject({ latest_token_expiry: latest })
  for (const part of [`value="${latest}"`, `max="${latest}"`, 'required']) expect(await field()).toContain(part)
  await set({ max_personal_access_token_lifetime: null, require_personal_access_token_expiry: false })
})

test('default_snippet_visibility is what the form for a new snippet begins with', async () => {
  const begins = async (address: string) =>
    /<option[^>]* value="(\w+)"[^>]* selected|<option selected[^>]* value="(\w+)"/.exec((await open(address)).body)
  for (const level of ['internal', 'public', 'private']) {
    await set({ default_snippet_visibility: level })
    for (const address of ['/-/snippets/new', `${path}/-/snippets/new`])
      expect([address, (await begins(address))?.slice(1)]).toEqual([address, expect.arrayContaining([level])])
  }
})

test('protected_ci_variables is what the form for a new variable begins with', async () => {
  const isTicked = async () => {
    const boxes = (await open(`${path}/-/settings/ci_cd`)).body.match(/<input[^>]* name="protected"[^>]*>/g)!
    return boxes.at(-1)!.includes(' checked')
  }
  expect(await isTicked()).toBe(true)
  await set({ protected_ci_variables: false })
  expect(await isTicked()).toBe(false)
})

test('shared_runners_text stands where runners for all take jobs', async () => {
  await set({ shared_runners_text: 'Be **quick**. <script>alert(1)</script>' })
  const shown = async () =>
    (await open(`${path}/-/settings/ci_cd`)).body.replace(/<script type="application\/json.*/s, '')
  expect(await shown()).toContain('<strong>quick</strong>')
  expect(await shown()).not.toContain('<script>alert')
  await forge.administrator.put(`/projects/${encodeURIComponent(path.slice(1))}`, { shared_runners_enabled: false })
  expect(await shown()).not.toContain('<strong>quick</strong>')
})
