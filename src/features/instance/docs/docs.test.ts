import { expect, test } from 'vitest'
import { startForge, type TestForge } from '../../../forge.ts'
import { v4 } from '../../v4.ts'
import type { OpenApi } from './page.ts'

const linksOf = (page: string) => [...page.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, address]) => address!)
const idsOf = (page: string) => new Set([...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!))

/** Every page that is reachable from the first, by its URL. */
async function walk(forge: TestForge): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  const ahead = ['/api/docs']
  for (let path = ahead.pop(); path !== undefined; path = ahead.pop()) {
    if (pages.has(path)) continue
    const answer = await fetch(forge.url + path)
    expect([path, answer.status]).toEqual([path, 200])
    pages.set(path, await answer.text())
    ahead.push(...linksOf(pages.get(path)!).map((address) => address.replace(/#.*/, '')))
  }
  return pages
}

test('every endpoint has its place, and every link leads to one', async () => {
  await using forge = await startForge()
  const pages = await walk(forge)
  const targets = linksOf([...pages.values()].join('')).filter((address) => address.includes('#'))
  for (const target of new Set(targets)) {
    const [path, id] = target.split('#')
    expect(idsOf(pages.get(path!)!), target).toContain(id)
  }
  const { paths } = (await (await fetch(`${forge.url}/api/openapi.json`)).json()) as OpenApi
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  expect(operations).toHaveLength(v4.length)
  const linked = new Set(targets.map((target) => target.split('#')[1]))
  for (const { operationId } of operations) expect(linked).toContain(operationId)
})

test('a page needs no scripts and nobody else', async () => {
  await using forge = await startForge()
  const { headers } = await fetch(`${forge.url}/api/docs/projects`)
  const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
  expect([headers.get('content-security-policy'), headers.get('content-type')]).toEqual([
    policy,
    'text/html; charset=utf-8',
  ])
  for (const page of (await walk(forge)).values()) {
    expect(page).not.toMatch(/<script|<style|style="|@import|url\(/)
    expect(linksOf(page).filter((address) => !address.startsWith('/api/docs/'))).toEqual([])
  }
  expect((await fetch(`${forge.url}/api/docs/nothing`)).status).toBe(404)
})

test('an operation tells its fields, its answers and how it is called', async () => {
  await using forge = await startForge()
  const page = await (await fetch(`${forge.url}/api/docs/commits`)).text()
  const [, part = ''] = page.split('<section id="commits_create">')
  const text = part
    .split('</section>')[0]!
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
  for (const words of [
    'Create, update, move and delete files in one commit POST /projects/{id}/repository/commits Needs the ability to commit . Also needs the right to push to the branch. Scopes: api.',
    'id string path required branch string body required',
    'actions list of object body required actions[].action string body required actions[].file_path string | null body',
    'actions[].encoding &quot;text&quot; | &quot;base64&quot; | null body',
    '201 Success CommitDetail 400 A parameter is missing or not valid Error',
    `-d branch=… -d commit_message=… -d actions=… &#39;${forge.url}/api/v4/projects/{id}/repository/commits&#39;`,
  ])
    expect(text).toContain(words)
  expect(part).toContain('<a href="/api/docs/records#CommitDetail">CommitDetail</a>')
})

test('what hooks send is shown, each by an example', async () => {
  await using forge = await startForge()
  const { webhooks } = (await (await fetch(`${forge.url}/api/openapi.json`)).json()) as OpenApi
  const page = await (await fetch(`${forge.url}/api/docs/webhooks`)).text()
  expect([...idsOf(page)]).toEqual(Object.keys(webhooks).map((name) => `webhook_${name}`))
  expect(page).toContain('&quot;object_kind&quot;: &quot;push&quot;')
})
