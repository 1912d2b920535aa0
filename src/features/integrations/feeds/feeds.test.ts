import Parser from 'rss-parser'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { boundFeedToken } from '../../identity/feed-tokens/authenticate.ts'

let forge: TestForge
let jane: Person
let guest: Person
const password = 'correct horse'

beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user({ username: 'jane', name: 'Jane <Doe>', password })
  guest = await forge.user({ username: 'guest', name: 'guest' })
})
afterAll(() => forge.close())

const tokenOf = async (person: Person): Promise<string> =>
  (await person.get('/user/feed_token')).body.feed_token ??
  (await person.post('/user/feed_token/rotate')).body.feed_token

async function read(path: string, token?: string, headers: Record<string, string> = {}) {
  const query = token === undefined ? '' : `${path.includes('?') ? '&' : '?'}feed_token=${token}`
  const answer = await fetch(`${forge.url}${path}${query}`, { headers })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

async function itemsOf(path: string, token?: string) {
  const { status, headers, text } = await read(path, token)
  expect([status, headers.get('content-type')], path).toEqual([200, 'application/atom+xml; charset=utf-8'])
  const feed = await new Parser().parseString(text)
  expect(feed.feedUrl).toBe(`${forge.url}${path}`)
  return feed.items
}

const titles = async (path: string, token?: string) => (await itemsOf(path, token)).map(({ title }) => title!)

test('activity of a person, a project, a group and one’s projects is what the reader may see', async () => {
  const group = await forge.group({ path: 'g1', visibility: 'private' }, jane)
  const project = await forge.project({ path: 'p', namespace_id: group.id, visibility: 'private' }, jane)
  await jane.post(`/projects/${project.id}/members`, { user_id: guest.id, access_level: 10 })
  const open = await forge.issue(project, { title: 'Seen <b>by</b> all & sundry' }, jane)
  await forge.note(open, { body: 'Look **here**' }, jane)
  await forge.issue(project, { title: 'Secret', confidential: true }, jane)
  await forge.seed(project, { 'a.txt': 'a' }, { as: jane, message: 'First commit' })
  await forge.settle()

  const [mine, theirs] = [await tokenOf(jane), await tokenOf(guest)]
  const all = [
    'Jane <Doe> pushed new branch master at g1/p',
    'Jane <Doe> opened issue #2: Secret at g1/p',
    'Jane <Doe> commented on issue #1 at g1/p',
    'Jane <Doe> opened issue #1: Seen <b>by</b> all & sundry at g1/p',
    'guest joined project g1/p',
    'Jane <Doe> created project g1/p',
  ]
  for (const path of ['/g1/p.atom', '/g1.atom', '/dashboard/projects.atom'])
    expect((await titles(path, mine)).toSorted(), path).toEqual(all.toSorted())
  // A guest sees neither code nor confidential records.
  const few = all.slice(2)
  for (const path of ['/g1/p.atom', '/g1.atom', '/dashboard/projects.atom'])
    expect((await titles(path, theirs)).toSorted(), path).toEqual(few.toSorted())
  expect((await titles('/jane.atom', theirs)).toSorted()).toEqual(
    few.filter((one) => !one.startsWith('guest')).toSorted(),
  )
  expect(await titles('/jane.atom')).toEqual([])

  const [note] = (await itemsOf('/g1/p.atom', theirs)).filter(({ title }) => title!.includes('commented'))
  expect(note).toMatchObject({
    author: 'Jane <Doe>',
    link: `${open.web_url}#note_${(await jane.get(`/projects/${project.id}/issues/1/notes`)).body[0].id}`,
    summary: expect.stringContaining('Look <strong>here</strong>'),
  })
  for (const path of [
    '/g1/p.atom',
    '/g1.atom',
    '/groups/g1/-/issues.atom',
    '/g1/p/issues.atom',
    '/g1/p/-/commits/master.atom',
  ])
    expect([path, (await read(path)).status]).toEqual([path, 404])
  for (const path of ['/dashboard/projects.atom', '/dashboard/issues.atom'])
    expect([path, (await read(path)).status]).toEqual([path, 401])
  expect((await read('/g1/p/-/commits/master.atom', theirs)).status).toBe(404)
})

test('issues of a project, a group and one’s own, with their filters', async () => {
  const group = await forge.group({ path: 'g2' }, jane)
  const project = await forge.project({ path: 'p', namespace_id: group.id, visibility: 'private' }, jane)
  await jane.post(`/projects/${project.id}/members`, { user_id: guest.id, access_level: 10 })
  const first = await forge.issue(
    project,
    { title: 'One', labels: ['bug', 'later'], description: '*x* \u0001y', assignee_ids: [guest.id] },
    jane,
  )
  await forge.issue(project, { title: 'Hidden', confidential: true }, jane)
  await forge.issue(project, { title: 'Theirs', confidential: true }, guest)
  const closed = await forge.issue(project, { title: 'Done' }, jane)
  await jane.put(`/projects/${project.id}/issues/${closed.iid}`, { state_event: 'close' })
  const [mine, theirs] = [await tokenOf(jane), await tokenOf(guest)]

  for (const path of [
    '/g2/p/issues.atom',
    '/g2/p/-/issues.atom',
    '/g2/p/-/issues?format=atom',
    '/groups/g2/-/issues.atom',
  ])
    expect([path, await titles(path, mine)]).toEqual([path, ['Theirs', 'Hidden', 'One']])
  expect(await titles('/groups/g2/issues.atom', theirs)).toEqual(['Theirs', 'One'])
  expect(await titles('/g2/p/-/issues.atom?state=closed', theirs)).toEqual(['Done'])
  expect(await titles('/g2/p/-/issues.atom?label_name%5B%5D=bug', mine)).toEqual(['One'])
  expect(await titles('/dashboard/issues.atom', theirs)).toEqual(['One'])
  expect(await titles('/dashboard/issues.atom?author_username=jane&state=closed', theirs)).toEqual(['Done'])
  expect((await read('/g2/p/-/issues.atom?state=odd', mine)).status).toBe(400)

  const [, , item] = await itemsOf('/g2/p/-/issues.atom', mine)
  expect(item).toMatchObject({ id: first.web_url, link: first.web_url, author: 'Jane <Doe>', summary: 'One' })
  expect(item!.content).toContain('<em>x</em> y')
  expect((await read('/g2/p/-/issues.atom', mine)).text).toContain('<category term="bug"/><category term="later"/>')
  await jane.put(`/projects/${project.id}`, { issues_access_level: 'disabled' })
  expect((await read('/g2/p/-/issues.atom', mine)).status).toBe(404)
})

test('commits of a branch or a path in it, tags, releases and merge requests', async () => {
  const project = await forge.project({ path: 'code', visibility: 'public' }, jane)
  await forge.seed(project, { 'lib/a.txt': 'a' }, { as: jane, message: 'First <commit>\n\nBody' })
  await forge.seed(project, { 'b.txt': 'b' }, { as: jane, branch: 'feature/x.atom', message: 'On a branch' })
  const request = await forge.mergeRequest(project, { title: 'Change' }, jane)
  await jane.post(`/projects/${project.id}/repository/tags`, { tag_name: 'v1', ref: 'master', message: 'One' })
  await jane.post(`/projects/${project.id}/releases`, { tag_name: 'v1', name: 'First', description: '**Notes**' })

  const of = '/jane/code'
  expect(await titles(`${of}/-/commits/master?format=atom`)).toEqual(['First <commit>'])
  expect(await titles(`${of}/commits/master.atom`)).toEqual(['First <commit>'])
  expect(await titles(`${of}/-/commits?format=atom`)).toEqual(['First <commit>'])
  for (const path of [
    '/-/commits/feature/x.atom',
    '/-/commits/feature/x.atom.atom',
    '/commits/feature/x.atom?format=atom',
  ])
    expect([path, await titles(of + path)]).toEqual([path, ['On a branch', 'First <commit>']])
  expect(await titles(`${of}/-/commits/feature/x.atom/lib?format=atom`)).toEqual(['First <commit>'])
  const [commit] = await itemsOf(`${of}/-/commits/master.atom`)
  expect(commit).toMatchObject({ author: 'Jane Doe', summary: 'First <commit>\n\nBody' })
  for (const path of [
    '/-/commits/none.atom',
    '/-/commits/a..b.atom',
    '/-/commits/-x.atom',
    '/-/boards.atom',
    '.atom.atom',
  ])
    expect([path, (await read(of + path)).status]).toEqual([path, 404])

  expect(await itemsOf(`${of}/-/tags?format=atom`)).toMatchObject([{ title: 'v1', summary: 'One' }])
  expect(await itemsOf(`${of}/-/releases.atom`)).toMatchObject([
    { title: 'First', content: expect.stringContaining('<strong>Notes') },
  ])
  expect(await itemsOf(`${of}/-/merge_requests.atom`)).toMatchObject([{ title: 'Change', id: request.web_url }])
  await jane.put(`/projects/${project.id}`, { repository_access_level: 'private' })
  for (const path of ['/-/commits/master.atom', '/-/tags.atom', '/-/releases.atom', '/-/merge_requests.atom'])
    expect([path, (await read(of + path)).status]).toEqual([path, 404])
})

test('the token opens feeds and nothing else, until it is replaced; one bound to an address opens that alone', async () => {
  const john = await forge.user({ username: 'john', password })
  const project = await forge.project({ path: 'own', visibility: 'private' }, john)
  const path = '/john/own/-/issues.atom'
  const token = await tokenOf(john)
  expect(token).toMatch(/^glft-[\w-]{20}$/)
  expect(await tokenOf(john)).toBe(token)
  expect((await read(path, token)).status).toBe(200)
  expect((await read(`${path}?rss_token=${token}`)).status).toBe(200)
  const stored = await forge.app.db.selectFrom('feed_tokens').selectAll().execute()
  expect(JSON.stringify(stored)).not.toContain(token)

  const bound = boundFeedToken(token, path, john.id)
  expect((await read(`${path}?state=all`, bound)).status).toBe(200)
  for (const [address, shown] of [
    ['/john/own/issues.atom', bound],
    [path, boundFeedToken(token, path, guest.id)],
    [path, `glft-${'0'.repeat(64)}-${john.id}`],
    [path, `${token}x`],
    [path, 'x'.repeat(5000)],
  ] as const)
    expect([address, shown, (await read(address, shown)).status]).toEqual([address, shown, 401])

  const shown: Record<string, string>[] = [{ 'PRIVATE-TOKEN': token }, { Authorization: `Bearer ${token}` }]
  for (const headers of shown) expect((await forge.as(headers).get('/user')).status).toBe(401)
  expect((await forge.visitor.get(`/projects/${project.id}?feed_token=${token}`)).status).toBe(404)
  expect((await fetch(`${forge.url}/john/own/-/badges/release.svg?feed_token=${token}`)).status).toBe(404)

  const { body: fresh } = await john.post('/user/feed_token/rotate')
  expect((await read(path, fresh.feed_token)).status).toBe(200)
  for (const old of [token, bound]) expect((await read(path, old)).status).toBe(401)

  const browser = new Browser(forge.url)
  await browser.signIn('john', password)
  expect((await browser.get(path)).status).toBe(200)
  const reset = (headers = {}) => browser.request('/-/profile/reset_feed_token', { method: 'PUT', headers })
  expect((await reset()).status).toBe(403)
  expect(await tokenOf(john)).toBe(fresh.feed_token)
  const { csrf_token } = JSON.parse((await browser.get('/-/csrf')).body)
  expect((await reset({ 'X-CSRF-Token': csrf_token })).status).toBe(204)
  expect((await read(path, fresh.feed_token)).status).toBe(401)

  const last = await tokenOf(john)
  const as = { Sudo: 'john' }
  expect((await forge.administrator.get('/user/feed_token', {}, as)).status).toBe(403)
  expect((await forge.administrator.post('/user/feed_token/rotate', {}, as)).status).toBe(403)
  await forge.administrator.put('/application/settings', { disable_feed_token: true })
  expect((await read(path, last)).status).toBe(401)
  await forge.administrator.put('/application/settings', { disable_feed_token: false })
  expect((await read(path, last)).status).toBe(200)
  await forge.administrator.post(`/users/${john.id}/block`)
  expect((await read(path, last)).status).toBe(401)
  await forge.administrator.post(`/users/${john.id}/unblock`)
  await john.post('/user/revoke_credentials')
  expect((await read(path, last)).status).toBe(401)
})

test('who has the newest is told so, and who asks too often waits', async () => {
  const project = await forge.project({ path: 'calm', visibility: 'public' }, jane)
  await forge.issue(project, { title: 'One' }, jane)
  forge.clock.advance(5000)
  const path = '/jane/calm/-/issues.atom'
  const first = await read(path)
  const [etag, modified] = [first.headers.get('etag')!, first.headers.get('last-modified')!]
  expect(first.headers.get('cache-control')).toBe('max-age=0, private, must-revalidate')
  const known: Record<string, string>[] = [{ 'If-None-Match': etag }, { 'If-Modified-Since': modified }]
  for (const headers of known) expect(await read(path, undefined, headers)).toMatchObject({ status: 304, text: '' })
  await forge.issue(project, { title: 'Two' }, jane)
  for (const headers of known) expect((await read(path, undefined, headers)).status).toBe(200)
  // A fresh entry gives no Last-Modified: another entry may get the same second.
  expect((await read(path)).headers.get('last-modified')).toBeNull()
  await using strict = await startForge({ settings: { RATE_LIMIT: '2' } })
  const statuses = []
  for (let n = 0; n < 3; n++) statuses.push((await fetch(`${strict.url}/root.atom`)).status)
  expect(statuses).toEqual([200, 200, 429])
})
