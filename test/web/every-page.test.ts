/**
 * Checks that apply to every page, on a forge with hostile texts. Each role opens every page once and checks it twice:
 * wide and light, then narrow and dark, or the other way round on every other page. That leaves out narrow and light,
 * and wide and dark; the markup is the same, and colours do not depend on widths. Axe checks the pages of members, and
 * of administrators in the admin area: with all its rules first, then with those that depend on colours or widths (once
 * for URLs that show a page in another state, which only members open). `MORTISE_SHOTS` names a folder for screenshots,
 * `MORTISE_PAGES` a pattern of URLs to check.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../browser.ts'
import { SCHEMES } from '../hostile.ts'
import { watchTables } from '../watch.ts'
import { addressesOf, pageFiles, type Address, type Role } from './addresses.ts'
import { PASSWORD, barriers, openTab, type Tab } from './browser.ts'
import { linksOf, markupFaults, postsOf } from './markup.ts'
import { makeWorld, hostile, type World } from './world.ts'

const LANES = 4
/** For one walk, on a busy machine. */
const TIMEOUT = 600_000

let world: World
let addresses: Address[]
beforeAll(async () => {
  world = await makeWorld()
  const only = new RegExp(process.env.MORTISE_PAGES ?? '')
  addresses = addressesOf(world).filter(({ path }) => only.test(path))
})
afterAll(() => world?.[Symbol.asyncDispose]())

test('every page has an address in addresses.ts', () => {
  expect([...new Set(addressesOf(world).map(({ file }) => file))].toSorted()).toEqual(pageFiles())
})

const personOf = (role: Role) => (role === 'visitor' ? null : world[role])

const WIDE = { width: 1280, colorScheme: 'light' } as const
const NARROW = { width: 360, colorScheme: 'dark' } as const
type Size = typeof WIDE | typeof NARROW

/** Facts that a page reports about itself. */
interface Look {
  readonly file: string | null
  readonly title: string
  readonly heads: number
  readonly text: string
  readonly hasRun: boolean
}

const LOOK = `(() => {
  const values = [...document.querySelectorAll('input, textarea')].map(({ value }) => value)
  return {
    file: JSON.parse(document.getElementById('data')?.textContent ?? '{}').file ?? null,
    title: document.title,
    heads: [...document.querySelectorAll('h1')].filter((head) => !head.closest('.prose')).length,
    text: [document.body.textContent.replace(document.getElementById('data')?.textContent ?? '', ''), ...values].join('\\n'),
    hasRun: globalThis.hasRun !== undefined,
  }
})()`

/** The frame is the same for all pages of a kind: it is checked on the first one. */
const partOf = (path: string) => (/\/-\/.|\/admin\/./.test(path) ? 'main' : 'html')

class Walk {
  readonly tab: Tab
  readonly role: Role
  readonly hasScripts: boolean
  #dialogs: string[] = []
  #size: Size

  constructor(tab: Tab, role: Role, size: Size, hasScripts: boolean) {
    this.tab = tab
    this.role = role
    this.hasScripts = hasScripts
    this.#size = size
    tab.page.on('dialog', (dialog) => {
      this.#dialogs.push(`asks ${dialog.message()}`)
      void dialog.dismiss()
    })
  }

  /** The errors of the page; empty if there are none. */
  async faultsOf(address: Address): Promise<string[]> {
    const { page } = this.tab
    await this.tab.go(address.path)
    const look = await page.evaluate<Look>(LOOK)
    const faults = [
      ...this.#outcome(address, look),
      ...(look.heads === 1 ? [] : [`${look.heads} heads`]),
      ...(/\S/.test(look.title) ? [] : ['no title']),
      ...(/.{0,40}(\bundefined\b|\bNaN\b|\[object Object\]).{0,20}/s.exec(look.text)?.slice(0, 1) ?? []),
      ...(look.hasRun ? ['a text was run'] : []),
      ...(await this.#layout(address, true)),
    ]
    if (this.hasScripts) {
      await this.#resize()
      faults.push(...(await this.#layout(address, false)))
    }
    faults.push(...this.#complaints(address), ...this.#dialogs.splice(0))
    return faults.map((fault) => `${this.role} at ${address.path}: ${fault}`)
  }

  #outcome({ file, path, found, shows }: Address, look: Look): string[] {
    const expected = found[this.role]
    if (expected === 'sign-in') {
      const { pathname, searchParams } = new URL(this.tab.page.url())
      const isRight = pathname === '/users/sign_in' && searchParams.get('return_to') === path
      return isRight ? [] : [`leads to ${this.tab.page.url()}`]
    }
    if (expected !== 'page') return look.file === null ? [] : ['is shown']
    if (look.file !== `./pages/${file}.tsx`) return [`is ${look.file}`]
    // On personal pages, other roles see their own data.
    const mine = this.role === 'member' || found.member !== 'page' ? shows : []
    return mine.filter((word) => !look.text.includes(hostile(word))).map((word) => `does not show ${word}`)
  }

  async #layout({ found, isVariant, isCorpus, path }: Address, isFirst: boolean): Promise<string[]> {
    const { page } = this.tab
    const { width, colorScheme } = this.#size
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
    const folder = process.env.MORTISE_SHOTS
    if (folder && this.role !== 'visitor')
      await page.screenshot({ path: `${folder}/${path.replaceAll(/\W+/g, '_')}-${this.role}-${width}.png` })
    const isAxeDue = this.role === (found.member === 'page' ? 'member' : 'administrator')
    const asks = isAxeDue && this.hasScripts && !isCorpus && (isFirst || !isVariant)
    const findings = asks ? await barriers(page, isFirst ? 'all' : 'looks', partOf(path)) : []
    return [
      ...(wide <= width || isCorpus ? [] : [`${wide} px wide at ${width}`]),
      ...findings.map((one) => `${colorScheme}: ${one}`),
    ]
  }

  async #resize(): Promise<void> {
    const { page } = this.tab
    this.#size = this.#size === WIDE ? NARROW : WIDE
    const { width, colorScheme } = this.#size
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
  }

  /** Without the error answer itself, and without the images of the corpus. */
  #complaints({ found, path, isCorpus }: Address): string[] {
    const status = found[this.role]
    const url = world.forge.url + path
    const isExpected = (one: string) =>
      isCorpus
        ? /^404 |status of 404/.test(one)
        : one === `${status} ${url}` || one.startsWith(`${url}: Failed to load resource`)
    return this.tab.complaints().filter((one) => !isExpected(one))
  }
}

/** A few tabs share the URLs: while one waits for the server, another renders. */
async function walk(role: Role, given: readonly Address[], hasScripts = true): Promise<string[]> {
  const left = [...given]
  const faults: string[] = []
  const lane = async (_: unknown, n: number) => {
    const size = n % 2 === 0 && hasScripts ? WIDE : NARROW
    const { width, colorScheme } = size
    const options = { viewport: { width, height: 800 }, colorScheme, javaScriptEnabled: hasScripts }
    await using tab = await openTab(world.forge, personOf(role), options)
    const one = new Walk(tab, role, size, hasScripts)
    for (let next = left.shift(); next; next = left.shift()) faults.push(...(await one.faultsOf(next)))
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return faults
}

/** The first URL of every page. */
const firsts = () => addresses.filter(({ file }, n) => addresses.findIndex((one) => one.file === file) === n)

const others = () => addresses.filter((address) => !firsts().includes(address))

test('members see every page', { timeout: TIMEOUT }, async () => {
  expect(await walk('member', [...firsts(), ...others()])).toEqual([])
})

test('administrators see every page', { timeout: TIMEOUT }, async () => {
  const inOtherStates = others().filter(({ found }) => found.member !== 'page')
  expect(await walk('administrator', [...firsts(), ...inOtherStates])).toEqual([])
})

test('visitors see every page, or how to sign in', { timeout: TIMEOUT }, async () => {
  expect(await walk('visitor', firsts())).toEqual([])
})

test('members read every page without scripts', { timeout: TIMEOUT }, async () => {
  expect(await walk('member', firsts(), false)).toEqual([])
})

const ROLES = ['visitor', 'member', 'administrator'] as const

async function plainBrowser(role: Role): Promise<Browser> {
  const browser = new Browser(world.forge.url)
  const person = personOf(role)
  if (person) await browser.signIn(person.username, PASSWORD)
  return browser
}

const HTML = { Accept: 'text/html' }

test('every page has its headers, plain markup and forms that prove where they come from', async () => {
  const faults: unknown[] = []
  for (const role of ROLES) {
    const browser = await plainBrowser(role)
    for (const { path, found } of addresses) {
      const { status, headers, body } = await browser.get(path, HTML)
      const fault = (...what: unknown[]) => faults.push([role, path, ...what])
      const expected = found[role]
      if (status !== (expected === 'page' ? 200 : expected === 'sign-in' ? 303 : expected)) fault(status)
      for (const cookie of headers.getSetCookie()) if (!/; HttpOnly; SameSite=Lax/.test(cookie)) fault('sets', cookie)
      if (headers.get('x-content-type-options') !== 'nosniff') fault('may be sniffed')
      if (status === 303) continue
      const policy = headers.get('content-security-policy') ?? ''
      if (
        !/default-src 'none'/.test(policy) ||
        !/frame-ancestors 'none'/.test(policy) ||
        /unsafe|\*|https?:/.test(policy)
      )
        fault('has the policy', policy)
      if (headers.get('referrer-policy') !== 'same-origin') fault('tells others where one was')
      if (headers.get('cache-control') !== 'no-store') fault('may be kept')
      for (const one of markupFaults(body)) fault(one)
      const scripts = body.match(/<script/g)?.length ?? 0
      if (scripts !== (expected === 'page' ? 2 : 0)) fault(`${scripts} scripts`)
      if (postsOf(body).some((fields) => !fields.get('authenticity_token'))) fault('has a form without its proof')
    }
  }
  expect(faults).toEqual([])
})

test('every link of every page leads somewhere', { timeout: TIMEOUT }, async () => {
  const browser = await plainBrowser('member')
  const known = new Set(addresses.map(({ path }) => path.split('?', 1)[0]))
  const left = new Map<string, string>()
  for (const { path, isCorpus } of addresses) {
    // Links in user texts lead anywhere.
    const body = isCorpus ? '' : (await browser.get(path, HTML)).body
    for (const address of linksOf(body)) {
      const { origin, pathname, href } = new URL(address, new URL(path, world.forge.url))
      if (origin === world.forge.url && !known.has(pathname) && !pathname.startsWith('/api/')) left.set(pathname, href)
      known.add(pathname)
    }
  }
  const broken: unknown[] = []
  for (const [path, href] of left) {
    const { status } = await browser.get(href.slice(world.forge.url.length), HTML)
    if (status >= 400) broken.push([path, status])
  }
  expect(broken).toEqual([])
})

test('no address that runs something is taken where pages would link to it', async () => {
  const { member, forge } = world
  const { body: project } = await member.get('/projects/mill%2Fwheel')
  const at = `/projects/${(project as { id: number }).id}`
  const places: [string, (url: string) => Promise<{ status: number }>][] = [
    ['website', (website_url) => forge.administrator.put(`/users/${member.id}`, { website_url })],
    ['release', (url) => member.post(`${at}/releases/v1.0/assets/links`, { name: 'lure', url })],
    ['environment', (external_url) => member.post(`${at}/environments`, { name: 'lure', external_url })],
    ['status', (target_url) => member.post(`${at}/statuses/${world.sha}`, { state: 'success', target_url })],
    ['wiki', (url) => member.put(`${at}/integrations/external-wiki`, { external_wiki_url: url })],
    ['tracker', (url) => member.put(`${at}/integrations/youtrack`, { issues_url: url, project_url: url })],
    ['hook', (url) => member.post(`${at}/hooks`, { url })],
    ['import', (import_url) => member.post('/projects', { name: 'lure', import_url })],
    ['home page', (home_page_url) => forge.administrator.put('/application/settings', { home_page_url })],
  ]
  const taken: unknown[] = []
  for (const [place, give] of places)
    for (const scheme of SCHEMES) {
      const { status } = await give(scheme)
      if (status < 400) taken.push([place, scheme])
    }
  expect(taken).toEqual([])
})

test('no page changes anything, nor does a form that does not come from it', async () => {
  const { forge } = world
  forge.clock.advance(10_000)
  await forge.settle()
  using _ = forge.clock.hold() // so that no job becomes due
  const written = await watchTables(forge)
  const [member, other] = [await plainBrowser('member'), await plainBrowser('administrator')]
  const tokenOf = async (browser: Browser) =>
    postsOf((await browser.get('/-/profile', HTML)).body)[0]!.get('authenticity_token')!
  const [own, foreign] = [await tokenOf(member), await tokenOf(other)]
  await written()
  const faults: unknown[] = []
  for (const { path } of addresses) {
    const { body } = await member.get(path, HTML)
    const read = await written()
    if (read.length > 0) faults.push([path, 'writes', read])
    const actions = new Set(postsOf(body).map((fields) => fields.get('_action') ?? 'sign out'))
    for (const _action of actions)
      for (const [proof, headers] of [
        [{}, {}],
        [{ authenticity_token: foreign }, {}],
        [{ authenticity_token: own }, { 'Sec-Fetch-Site': 'cross-site' }],
      ]) {
        const { status } = await member.post(path, { _action, ...proof }, { ...HTML, ...headers } as Record<
          string,
          string
        >)
        if (status !== 403) faults.push([path, _action, proof, headers, status])
      }
    const sent = await written()
    if (sent.length > 0) faults.push([path, 'was changed by a foreign form', sent])
  }
  expect(faults).toEqual([])
})

test('behind https the cookie of a visit is sent over https only', async () => {
  const { app } = world.forge
  const { url } = app
  Object.assign(app, { url: 'https://forge.example' })
  try {
    const { headers } = await new Browser(world.forge.url).get('/', HTML)
    expect(headers.getSetCookie()).toEqual([expect.stringMatching(/; HttpOnly; SameSite=Lax.*; Secure$/)])
  } finally {
    Object.assign(app, { url })
  }
})
