import { expect, test, vi } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { addMember } from '../../../../test/cast.ts'
import { costOf, openSource } from '../../../../test/sources.ts'
import { timestamp } from '../../../clock.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'
import { fileTermsOf } from './terms.ts'

type Found = { title?: string; name?: string; body?: string; path?: string }

/** The name of each record. */
const shown = ({ body }: { body: Found[] }): string[] =>
  body.map(({ title, name, body, path }) => title ?? name ?? body ?? path ?? '').toSorted()

async function note(forge: TestForge, values: { project_id: number; body: string } & Record<string, unknown>) {
  const now = timestamp(forge.clock)
  await forge.app.db
    .insertInto('notes')
    .values({ discussion_id: 'd'.repeat(40), commit_sha: null, created_at: now, updated_at: now, ...values } as never)
    .execute()
}

/** A public and a private project in separate groups, each with a match of every kind. */
async function hay(forge: TestForge) {
  const sources = {
    open: await openSource(forge, 'projects', { visibility: 'public' }),
    closed: await openSource(forge, 'projects'),
  }
  for (const [where, { id, url, owner }] of Object.entries(sources)) {
    await owner.put(url, { name: `needle ${where}` })
    const issue = await owner.post(`${url}/issues`, { title: `needle ${where}` })
    const secret = await owner.post(`${url}/issues`, { title: `secret needle ${where}`, confidential: true })
    await owner.post(`${url}/milestones`, { title: `needle ${where}` })
    const talked = { project_id: id, author_id: owner.id }
    for (const visibility of ['private', 'public']) {
      const title = `${visibility} needle ${where}`
      const snippet = await owner.post(`${url}/snippets`, { title, code: 'x', visibility })
      await note(forge, { ...talked, snippet_id: snippet.body.id, body: title })
    }
    await note(forge, { ...talked, issue_id: issue.body.id, body: `needle ${where}` })
    await note(forge, { ...talked, issue_id: issue.body.id, body: `internal needle ${where}`, internal: true })
    await note(forge, { ...talked, issue_id: issue.body.id, body: `system needle ${where}`, system: true })
    await note(forge, { ...talked, issue_id: secret.body.id, body: `secret needle ${where}` })
    await note(forge, { ...talked, issue_id: null, commit_sha: 'a'.repeat(40), body: `commit needle ${where}` })
    await fillProject(forge, id, { message: `needle ${where}\n`, files: { [`${where}.txt`]: 'a NEEDLE\n' } })
    await owner.post(`${url}/wikis`, { title: `page ${where}`, content: 'a needle' })
  }
  return sources
}

test('who finds what, in every scope', async () => {
  await using forge = await startForge()
  const { open, closed } = await hay(forge)
  const people: Record<string, Client> = {
    stranger: await forge.user(),
    external: await forge.user({ external: true }),
    administrator: forge.administrator,
    owner: closed.owner,
  }
  for (const [role, level] of [
    ['guest', 10],
    ['reporter', 20],
  ] as const) {
    const person = await forge.user()
    await addMember(forge, { project_id: closed.id }, person.id, level)
    people[role] = person
  }
  const both = (...texts: string[]) => texts.flatMap((text) => [`${text} closed`, `${text} open`])
  const outside = ['stranger', 'external']
  const inside = ['guest', 'reporter', 'owner', 'administrator']
  const above = ['reporter', 'owner']

  const expectFound = async (path: string, scope: string, byWhom: Record<string, string[]>) => {
    for (const [who, client] of Object.entries(people)) {
      const answer = await client.get(path, { scope, search: 'needle', per_page: 100 })
      const expected = byWhom[who]?.toSorted()
      expect([who, path, scope, shown(answer)]).toEqual([who, path, scope, expected])
      expect([who, scope, answer.headers.get('x-total')]).toEqual([who, scope, String(expected?.length)])
    }
  }
  const tell = (...rows: [string[], string[]][]) =>
    Object.fromEntries(rows.flatMap(([names, found]) => names.map((name) => [name, found])))

  await expectFound('/search', 'projects', tell([outside, ['needle open']], [inside, both('needle')]))
  await expectFound(
    '/search',
    'issues',
    tell(
      [outside, ['needle open']],
      [['guest'], both('needle')],
      [above, [...both('needle'), 'secret needle closed']],
      [['administrator'], both('needle', 'secret needle')],
    ),
  )
  await expectFound('/search', 'milestones', tell([outside, ['needle open']], [inside, both('needle')]))
  await expectFound(
    '/search',
    'snippet_titles',
    tell(
      [outside, ['public needle open']],
      [
        ['guest', ...above],
        [...both('public needle'), 'private needle closed'],
      ],
      [['administrator'], both('public needle', 'private needle')],
    ),
  )
  for (const scope of ['merge_requests', 'users'])
    await expectFound('/search', scope, tell([[...outside, ...inside], []]))

  const inOpen = { ...open, group: open.group }
  for (const path of [`${inOpen.group.url}/search`, `${inOpen.group.url}/-/search`]) {
    for (const scope of ['projects', 'milestones'])
      await expectFound(path, scope, tell([[...outside, ...inside], ['needle open']]))
    await expectFound(
      path,
      'issues',
      tell(
        [[...outside, 'guest', ...above], ['needle open']],
        [['administrator'], ['needle open', 'secret needle open']],
      ),
    )
  }

  for (const path of [`${open.url}/search`, `${open.url}/-/search`]) {
    const all = [...outside, ...inside]
    await expectFound(path, 'milestones', tell([all, ['needle open']]))
    await expectFound(path, 'commits', tell([all, ['needle open']]))
    await expectFound(path, 'blobs', tell([all, ['open.txt']]))
    await expectFound(path, 'wiki_blobs', tell([all, ['page-open.md']]))
    await expectFound(
      path,
      'notes',
      tell(
        [
          [...outside, 'guest', ...above],
          ['commit needle open', 'needle open', 'public needle open'],
        ],
        [
          ['administrator'],
          ['commit', 'public', 'private', 'internal', 'secret']
            .map((kind) => `${kind} needle open`)
            .concat('needle open'),
        ],
      ),
    )
  }

  const { stranger, ...members } = people
  expect((await stranger!.get(`${closed.url}/search`, { scope: 'blobs', search: 'needle' })).status).toBe(404)
  delete people.stranger
  delete people.external
  expect(Object.keys(members)).toHaveLength(5)
  const code = [...above, 'administrator']
  for (const [scope, found] of [
    ['commits', 'needle closed'],
    ['blobs', 'closed.txt'],
  ] as const)
    await expectFound(`${closed.url}/search`, scope, tell([['guest'], []], [code, [found]]))
  await expectFound(`${closed.url}/search`, 'wiki_blobs', tell([inside, ['page-closed.md']]))
  await expectFound(
    `${closed.url}/search`,
    'notes',
    tell(
      [['guest'], ['needle closed', 'public needle closed', 'private needle closed']],
      [
        code,
        ['commit', 'public', 'private', 'internal', 'secret']
          .map((kind) => `${kind} needle closed`)
          .concat('needle closed'),
      ],
    ),
  )

  const off = {
    issues_access_level: 'disabled',
    merge_requests_access_level: 'disabled',
    wiki_access_level: 'disabled',
  }
  await open.owner.put(open.url, { ...off, repository_access_level: 'private', snippets_access_level: 'private' })
  for (const scope of ['issues', 'milestones', 'notes', 'commits', 'blobs', 'wiki_blobs']) {
    const answer = await stranger!.get(`${open.url}/search`, { scope, search: 'needle' })
    expect([scope, answer.status, answer.body]).toEqual([scope, 200, []])
  }
  for (const scope of ['issues', 'milestones', 'snippet_titles'])
    expect([scope, (await stranger!.get('/search', { scope, search: 'needle' })).body]).toEqual([scope, []])
})

test('people are found everywhere, and by their membership in a group or a project', async () => {
  await using forge = await startForge()
  const { url, id, group, owner } = await openSource(forge, 'projects')
  const inGroup = await forge.user({ username: 'mara', name: 'Mara Field' })
  const inProject = await forge.user({ username: 'marco', name: 'Marco Field' })
  await forge.user({ username: 'outsider', name: 'Out Field' })
  await addMember(forge, { group_id: group.id }, inGroup.id, 20)
  await addMember(forge, { project_id: id }, inProject.id, 20)
  const { body: below } = await owner.post('/groups', { name: 'Below', path: 'below', parent_id: group.id })
  await addMember(forge, { group_id: below.id }, (await forge.user({ name: 'Hidden Field' })).id, 20)
  const find = async (path: string, search: string) => shown(await owner.get(path, { scope: 'users', search }))
  expect(await find('/search', 'field')).toEqual(['Hidden Field', 'Mara Field', 'Marco Field', 'Out Field'])
  expect(await find(`${group.url}/search`, 'FIELD')).toEqual(['Mara Field'])
  expect(await find(`${url}/search`, 'field')).toEqual(['Mara Field', 'Marco Field'])
  expect(await find(`${url}/search`, 'marc')).toEqual(['Marco Field'])
  expect(await find(`${url}/search`, '%')).toEqual([])
})

test('lines of files come with those around them, narrowed by name and in any version', async () => {
  await using forge = await startForge()
  const { url, id, owner } = await openSource(forge, 'projects')
  const lines = (needle: number) => Array.from({ length: 9 }, (_, n) => (n === needle ? 'the Needle' : `line ${n}`))
  await fillProject(
    forge,
    id,
    { message: 'old needle\n', files: { 'src/a b.ts': `${lines(5).join('\n')}\n`, 'bin/x': 'needle\0' } },
    { message: 'more\n', files: { 'src/c.js': 'needle: 1\n', 'needle.md': '--\n' } },
    { message: 'side\n', branch: 'side', from: 'refs/heads/master', files: { 'd.txt': 'needle\n' } },
  )
  const find = (search: string, more = {}) => owner.get(`${url}/search`, { scope: 'blobs', search, ...more })
  expect((await find('the needle')).body).toEqual([
    {
      basename: 'src/a b',
      data: 'line 2\nline 3\nline 4\nthe Needle\nline 6\nline 7\nline 8\n',
      path: 'src/a b.ts',
      filename: 'src/a b.ts',
      id: null,
      ref: 'master',
      startline: 3,
      project_id: id,
    },
  ])
  expect(shown(await find('needle'))).toEqual(['src/a b.ts', 'src/c.js'])
  expect(shown(await find('needle', { ref: 'side' }))).toEqual(['d.txt', 'src/a b.ts', 'src/c.js'])
  expect(shown(await find('needle extension:js'))).toEqual(['src/c.js'])
  expect(shown(await find('needle -path:c.js'))).toEqual(['src/a b.ts'])
  expect(shown(await find('filename:*.md'))).toEqual(['needle.md'])
  expect(shown(await find('-e needle'))).toEqual([])
  expect((await find('needle', { ref: 'nowhere' })).body).toEqual([])
  const paged = await find('needle', { per_page: 1, page: 2 })
  expect([shown(paged), paged.headers.get('x-total')]).toEqual([['src/c.js'], '2'])

  const commits = (search: string, more = {}) => owner.get(`${url}/search`, { scope: 'commits', search, ...more })
  const [found] = (await commits('OLD')).body
  expect(found).toMatchObject({ title: 'old needle', project_id: id, status: null })
  expect(shown(await commits(found.short_id))).toEqual(['old needle'])
  expect(shown(await commits('side'))).toEqual([])
  expect(shown(await commits('side', { ref: 'side' }))).toEqual(['side'])
  expect(shown(await commits('--all'))).toEqual([])
  expect((await commits('old', { ref: 'nowhere' })).body).toEqual({ message: '404 Commit Not Found' })
})

test.each([
  ['a filename:*.TS', 'a', ['x.ts', 'd/x.ts'], ['x.tsx', 'ts']],
  ['path:src/*/x', '', ['src/a/x', 'src/a/b/x'], ['src/x', 'lib/src/a/x']],
  ['-extension:md two words', 'two words', ['a.txt'], ['a.md']],
  ['x:y', 'x:y', ['anything'], []],
])('%s asks for files', (search, text, accepted, refused) => {
  const terms = fileTermsOf(search)
  expect(terms.text).toBe(text)
  expect(accepted.filter((path) => !terms.accepts(path))).toEqual([])
  expect(refused.filter((path) => terms.accepts(path))).toEqual([])
})

test('states, secrecy and order narrow a search', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  for (const [title, more] of [
    ['needle one', {}],
    ['needle two', { confidential: true }],
    ['needle three', {}],
  ] as const)
    await owner.post(`${url}/issues`, { title, ...more })
  await owner.put(`${url}/issues/3`, { state_event: 'close' })
  const find = async (more: object) =>
    (await owner.get('/search', { scope: 'issues', search: 'needle', ...more })).body.map(
      ({ iid }: { iid: number }) => iid,
    )
  expect(await find({})).toEqual([3, 2, 1])
  expect(await find({ order_by: 'created_at', sort: 'asc' })).toEqual([1, 2, 3])
  expect(await find({ state: 'opened' })).toEqual([2, 1])
  expect(await find({ state: 'closed' })).toEqual([3])
  expect(await find({ confidential: true })).toEqual([2])
  expect(await find({ search: '"needle two"' })).toEqual([2])
  expect(await find({ search: 'needle tw' })).toEqual([2])
  expect(await find({ search: '...' })).toEqual([])
})

test.each([
  ['/search', {}, 'scope is missing, search is missing'],
  ['/search', { scope: 'issues' }, 'search is missing'],
  ['/search', { scope: 'blobs', search: 'x' }, 'scope does not have a valid value'],
  ['/groups/1/search', { scope: 'snippet_titles', search: 'x' }, 'scope does not have a valid value'],
])('refuses %s with %j', async (path, input, error) => {
  await using forge = await startForge()
  expect(await forge.administrator.get(path, input)).toMatchObject({ status: 400, body: { error } })
})

test('a page of results costs the same however many there are', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const make = async (n: number) => {
    await owner.post(`${url}/issues`, { title: `needle ${n}` })
    await owner.post(`${url}/milestones`, { title: `needle ${n}` })
    await owner.post(`${url}/snippets`, { title: `needle ${n}`, code: 'x', visibility: 'private' })
  }
  await make(0)
  const scopes = ['issues', 'milestones', 'snippet_titles']
  const find = (scope: string) => () => owner.get('/search', { scope, search: 'needle' })
  const costs = new Map<string, number>()
  for (const scope of scopes) costs.set(scope, await costOf(forge, find(scope)))
  for (let n = 1; n < 8; n++) await make(n)
  for (const scope of scopes) {
    expect((await find(scope)()).body).toHaveLength(8)
    expect([scope, await costOf(forge, find(scope))]).toEqual([scope, costs.get(scope)])
  }
})

/** Inserts snippets with these titles. No project narrows the search. */
async function plant(forge: TestForge, author: { readonly id: number }, visibility: string, titles: readonly string[]) {
  const now = timestamp(forge.clock)
  for (let from = 0; from < titles.length; from += 500) {
    const rows = titles.slice(from, from + 500).map((title) => ({
      project_id: null,
      author_id: author.id,
      title,
      description: null,
      visibility,
      created_at: now,
      updated_at: now,
    }))
    await forge.app.db
      .insertInto('snippets')
      .values(rows as never[])
      .execute()
  }
}

test('what the viewer sees is found however much they do not see came later', async () => {
  await using forge = await startForge()
  const [owner, stranger] = [await forge.user(), await forge.user()]
  await plant(forge, owner, 'public', ['needle first', 'needle second'])
  const many = Array.from({ length: 20_500 }, (_, n) => `needle ${n}`)
  await plant(forge, owner, 'private', many)
  const find = (more: object) => stranger.get('/search', { scope: 'snippet_titles', search: 'needle', ...more })
  const found = await find({})
  expect(shown(found)).toEqual(['needle first', 'needle second'])
  expect(found.headers.get('x-total')).toBe('2')
})

test('a search that takes too long is answered 503', async () => {
  await using forge = await startForge()
  const [owner, stranger] = [await forge.user(), await forge.user()]
  // More rows than one query reads.
  const many = Array.from({ length: 10_001 }, (_, n) => `needle ${n}`)
  await plant(forge, owner, 'private', many)
  const find = () => stranger.get('/search', { scope: 'snippet_titles', search: 'needle' })
  let leap = 0
  const { now } = performance
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + (leap += 10_000))
  try {
    expect(await find()).toMatchObject({ status: 503, body: { message: '503 The database does not answer' } })
  } finally {
    clock.mockRestore()
  }
  expect(await find()).toMatchObject({ status: 200, body: [] })
})

test('nobody is told how many there are of what nobody counted', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const many = Array.from({ length: 1100 }, (_, n) => `needle ${n}`)
  await plant(forge, owner, 'private', many)
  const find = async (page: number) => {
    const { body, headers } = await owner.get('/search', {
      scope: 'snippet_titles',
      search: 'needle',
      per_page: 100,
      page,
    })
    const links = (headers.get('link') ?? '').match(/rel="\w+"/g)
    return [body.length, headers.get('x-total'), headers.get('x-total-pages'), headers.get('x-next-page'), links]
  }
  expect(await find(1)).toEqual([100, null, null, '2', ['rel="next"', 'rel="first"']])
  expect(await find(10)).toEqual([100, null, null, '11', ['rel="prev"', 'rel="next"', 'rel="first"']])
  // The last page knows the total.
  expect(await find(11)).toEqual([100, '1100', '11', '', ['rel="prev"', 'rel="first"', 'rel="last"']])
})

test('of the few projects that one sees a match is found wherever it lies', async () => {
  await using forge = await startForge()
  const { open, closed } = await hay(forge)
  const external = await forge.user({ external: true })
  await open.owner.put(open.url, { visibility: 'private' })
  await addMember(forge, { project_id: closed.id }, external.id, 10)
  for (const scope of ['issues', 'milestones'])
    expect(shown(await external.get('/search', { scope, search: 'needle' }))).toEqual(['needle closed'])
})

test('what is archived is found where it is asked for, of what one may see, after what is in use', async () => {
  await using forge = await startForge()
  const { open, closed } = await hay(forge)
  const old = await openSource(forge, 'projects', { visibility: 'public', name: 'needle old' })
  await old.owner.post(`${old.url}/issues`, { title: 'needle old' })
  await old.owner.post(`${old.url}/milestones`, { title: 'needle old' })
  await forge.mergeRequest(old, { title: 'needle old' }, old.owner)
  for (const { url, owner } of [old, closed]) await owner.post(`${url}/archive`)
  const stranger = await forge.user()
  const found = async (who: Client, scope: string, input: object = {}, at = '') =>
    shown(await who.get(`${at}/search`, { scope, search: 'needle', ...input }))
  const asked = { include_archived: true }
  const scopes = ['projects', 'issues', 'milestones'] as const
  for (const scope of scopes) {
    expect([scope, await found(stranger, scope)]).toEqual([scope, ['needle open']])
    expect([scope, await found(stranger, scope, asked)]).toEqual([scope, ['needle old', 'needle open']])
    expect(await found(closed.owner, scope, asked)).toContain('needle closed')
    const group = `/groups/${old.group.id}`
    expect([scope, await found(stranger, scope, {}, group)]).toEqual([scope, []])
    expect([scope, await found(stranger, scope, asked, group)]).toEqual([scope, ['needle old']])
  }
  expect(await found(stranger, 'merge_requests')).toEqual([])
  expect(await found(stranger, 'merge_requests', asked)).toEqual(['needle old'])
  expect((await stranger.get(`${open.url}/search`, { scope: 'issues', search: 'needle', ...asked })).status).toBe(200)

  const pages = [1, 2, 3, 4].map(async (page) => {
    const input = { scope: 'projects', search: 'needle', ...asked, per_page: 1, page }
    const { body, headers } = await forge.administrator.get('/search', input)
    return [shown({ body })[0] ?? null, headers.get('x-total')]
  })
  expect(await Promise.all(pages)).toEqual([
    ['needle open', '3'],
    ['needle old', '3'],
    ['needle closed', '3'],
    [null, '3'],
  ])
})
