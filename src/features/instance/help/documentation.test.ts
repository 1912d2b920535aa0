import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'
import { DOCUMENTATION } from '../../../version.ts'

const files = readdirSync(DOCUMENTATION, { recursive: true, encoding: 'utf8' })
const slugs = files.filter((file) => file.endsWith('.md') && file !== 'README.md').map((file) => file.slice(0, -3))

test('every page of the documentation is shown to everybody, and its links lead somewhere', async () => {
  await using forge = await startForge()
  await forge.administrator.put('/application/settings', { restricted_visibility_levels: ['public'] })
  const read = async (path: string) => {
    const answer = await fetch(forge.url + path, { headers: { Accept: 'text/html' } })
    return { status: answer.status, html: await answer.text() }
  }
  const pages = new Map<string, string>()
  for (const path of ['/help', ...slugs.map((slug) => `/help/${slug}`)]) {
    const { status, html } = await read(path)
    expect(status, path).toBe(200)
    pages.set(path, html.slice(0, html.indexOf('<script type="application/json"')))
  }
  expect(pages.get('/help')).toContain('<a href="/help/contexts/ci">CI</a>')
  expect(pages.get('/help/install')).toMatch(/<h2 id="user-content-requirements">/)
  // The file has no page, so there is no link.
  expect(pages.get('/help/configuration')).not.toContain('href="/help/mortise')

  const pictures = new Set<string>()
  for (const [path, html] of pages) {
    for (const [, href = ''] of html.matchAll(/ href="(\/help[^"]*)"/g)) {
      const [page, anchor] = href.split('#') as [string, string?]
      const target = anchor ? ` id="${anchor}"` : '<'
      expect(pages.get(page), `${href} in ${path}`).toContain(target)
    }
    for (const [, src = ''] of html.matchAll(/ src="(\/help\/pictures\/[^"]*)"/g)) pictures.add(src)
  }
  expect(pictures.size).toBeGreaterThan(0)
  for (const picture of pictures) {
    const answer = await fetch(forge.url + picture)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
    const name = picture.replace('/help/', '')
    expect(Buffer.from(await answer.arrayBuffer()).equals(readFileSync(new URL(name, DOCUMENTATION)))).toBe(true)
  }
})

test('what is no page is not found, and no path leads out of the folder', async () => {
  await using forge = await startForge()
  const outside = [
    '../package',
    '..%2fpackage',
    '..%2f..%2fetc%2fpasswd',
    'contexts/..%2f..%2fREADME',
    '%2e%2e%2fREADME',
  ]
  for (const path of ['nothing', 'README', 'install.md', 'contexts', 'contexts%2fnothing', '__proto__', ...outside]) {
    const answer = await fetch(`${forge.url}/help/${path}`, { headers: { Accept: 'text/html' } })
    expect(answer.status, path).toBe(404)
    const called = await forge.visitor.get(`/application/help/pages/${encodeURIComponent(decodeURIComponent(path))}`)
    expect(called, path).toMatchObject({ status: 404, body: { message: '404 Page Not Found' } })
  }
  for (const file of ['nothing.png', '..%2finstall.md', '..%2f..%2fpackage.json', 'job.png%00'])
    expect((await fetch(`${forge.url}/help/pictures/${file}`)).status, file).toBe(404)
})

test('search finds sections by title, heading and text, the best first, and is bounded', async () => {
  await using forge = await startForge()
  const search = async (words: string) =>
    (await forge.visitor.get('/application/help/search', { search: words })).body as {
      path: string
      title: string
      heading: string | null
      excerpt: string
    }[]
  expect((await search('troubleshooting'))[0]).toMatchObject({ path: '/help/troubleshooting', heading: null })
  expect((await search('TLS behind proxy'))[0]).toMatchObject({
    path: '/help/administration#user-content-tls-behind-a-proxy',
    title: 'Administration',
    heading: 'TLS behind a proxy',
  })
  const [byText] = await search('MORTISE_METRICS_TOKEN')
  expect(byText).toMatchObject({ excerpt: expect.stringContaining('MORTISE_METRICS_TOKEN') })
  expect(byText!.excerpt.length).toBeLessThanOrEqual(202)

  const many = await search('e')
  expect(many).toHaveLength(20)
  const perPage = Map.groupBy(many, ({ path }) => path.split('#')[0])
  expect(Math.max(...[...perPage.values()].map((found) => found.length))).toBeLessThanOrEqual(3)
  expect(await search('no-such-word-anywhere')).toEqual([])
  expect(await search('   ')).toEqual([])
  expect((await forge.visitor.get('/application/help/search', { search: 'x'.repeat(2_000_000) })).status).not.toBe(200)

  const page = await fetch(`${forge.url}/help?search=webhook`, { headers: { Accept: 'text/html' } })
  expect(page.status).toBe(200)
  expect(await page.text()).toContain('<a href="/help/webhooks">Webhooks and integrations</a>')
})
