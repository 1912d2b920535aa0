/** Debian's Chromium, driven like a user. Errors of a page are collected, and fail the test that checks them. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Person, TestForge } from '../../src/forge.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

let browser: Promise<Browser> | undefined

/** Debian also has a headless build, at a third of the cost. */
const executablePath = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path))!

/** One for all tests of the process; it ends with the process. */
const openBrowser = () => (browser ??= chromium.launch({ executablePath, args: FLAGS }))

/** Users of tabs must have it: `forge.user({ password: PASSWORD })`. */
export const PASSWORD = 'correct-horse-battery'

export interface Tab extends AsyncDisposable {
  readonly page: Page
  /** Opens a URL and waits until the page is hydrated. */
  go(path: string): Promise<Page>
  /** Errors of the page since the last call: console errors, failed requests. */
  complaints(): string[]
}

/** A window of a user; without a person, of a visitor. */
export async function openTab(
  forge: TestForge,
  person: Person | null = null,
  options: BrowserContextOptions = {},
): Promise<Tab> {
  const context = await (await openBrowser()).newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  let complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${page.url()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
  })
  if (person) await context.addCookies([await sessionOf(forge, person)])
  const hasScripts = options.javaScriptEnabled !== false
  return {
    page,
    async go(path) {
      await page.goto(path.startsWith('http') ? path : forge.url + path)
      if (hasScripts && (await page.locator('#data').count()) > 0) await page.waitForSelector('html[data-ready]')
      return page
    },
    complaints() {
      const reported = complaints
      complaints = []
      return reported
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}

/** Signs in by the form, as a script would. */
async function sessionOf(forge: TestForge, { username }: Person) {
  const asked = await fetch(`${forge.url}/users/sign_in`, { headers: { Accept: 'application/json' } })
  const { csrf_token } = (await asked.json()) as { csrf_token: string }
  const answer = await fetch(`${forge.url}/users/sign_in`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Cookie: asked.headers
        .getSetCookie()
        .map((cookie) => cookie.split(';')[0])
        .join('; '),
      'X-CSRF-Token': csrf_token,
    },
    body: JSON.stringify({ login: username, password: PASSWORD }),
  })
  expect(answer.status).toBe(201)
  const [name = '', value = ''] = answer.headers.getSetCookie()[0]!.split(';')[0]!.split('=')
  return { name, value, url: forge.url }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  impact: string
  nodes: { html: string }[]
}

/**
 * Rules that depend on colours or the width of the window: the rest to check on a page where all rules were checked
 * before.
 */
const OF_LOOKS = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable']

/** Serious findings of axe, one per line. */
export async function barriers(page: Page, rules: 'all' | 'looks' = 'all', part = 'html'): Promise<string[]> {
  // Not as a script of the page: the page's policy forbids that.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe)
  const options = { resultTypes: ['violations'], ...(rules === 'looks' && { runOnly: OF_LOOKS }) }
  const run = `axe.run(${JSON.stringify(part)}, ${JSON.stringify(options)}).then(({ violations }) => violations)`
  const violations = await page.evaluate<Violation[]>(run)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}
