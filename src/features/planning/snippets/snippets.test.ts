import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { addMember } from '../../../../test/cast.ts'
import { costOf, openSource } from '../../../../test/sources.ts'
import { startForge, type Client } from '../../../forge.ts'

const both = (text: string) => ({ message: text, error: text })
const titles = ({ body }: { body: { title: string }[] }) => body.map(({ title }) => title)
const one = { title: 'Saw', file_name: 'saw.sh', content: 'cut\n' }

test('a snippet of a person is answered whole, changed and deleted', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane', name: 'Jane' })
  const created = await jane.post('/snippets', { ...one, title: ' Saw ', description: 'How to' })
  const { id } = created.body
  const web = `${forge.url}/-/snippets/${id}`
  expect(created.status).toBe(201)
  expect(created.body).toEqual({
    id: expect.any(Number),
    title: 'Saw',
    description: 'How to',
    visibility: 'internal',
    author: expect.objectContaining({ username: 'jane' }),
    created_at: expect.any(String),
    updated_at: expect.any(String),
    project_id: null,
    web_url: web,
    raw_url: `${web}/raw`,
    ssh_url_to_repo: null,
    http_url_to_repo: null,
    file_name: 'saw.sh',
    files: [{ path: 'saw.sh', raw_url: `${web}/raw/main/saw.sh` }],
  })
  expect((await jane.get(`/snippets/${id}`)).body).toEqual(created.body)
  expect((await jane.get('/snippets')).body).toEqual([created.body])
  const changed = await jane.put(`/snippets/${id}`, { file_name: 'b.sh', visibility: 'public', description: null })
  expect(changed.body).toMatchObject({ file_name: 'b.sh', visibility: 'public', description: null, title: 'Saw' })
  expect((await forge.visitor.get(`/snippets/${id}/raw`)).body).toBe('cut\n')
  const stale = { 'If-Unmodified-Since': new Date(0).toUTCString() }
  expect((await jane.delete(`/snippets/${id}`, undefined, stale)).status).toBe(412)
  expect((await jane.delete(`/snippets/${id}`)).status).toBe(204)
  expect(await jane.get(`/snippets/${id}`)).toMatchObject({ status: 404, body: { message: '404 Snippet Not Found' } })
  expect((await forge.events()).filter((name) => name.startsWith('snippet'))).toEqual([
    'snippet.created',
    'snippet.updated',
    'snippet.deleted',
  ])
})

test('several files are created, changed, moved and removed at once', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const files = ['a.txt', 'b/c d.txt', 'e.txt'].map((file_path) => ({ file_path, content: `in ${file_path}` }))
  const { body } = await jane.post('/snippets', { title: 'Three', files, visibility: 'private' })
  const at = `/snippets/${body.id}`
  expect(body.files.map(({ path }: { path: string }) => path)).toEqual(['a.txt', 'b/c d.txt', 'e.txt'])
  expect(body.files[1].raw_url).toBe(`${body.web_url}/raw/main/b/c%20d.txt`)
  const raw = (path: string) => jane.get(`${at}/files/main/${encodeURIComponent(path)}/raw`)
  expect((await raw('b/c d.txt')).body).toBe('in b/c d.txt')
  expect(await raw('none')).toMatchObject({ status: 404, body: { message: '404 File Not Found' } })
  expect((await jane.get(`${at}/files/other/a.txt/raw`)).status).toBe(404)

  const changed = await jane.put(at, {
    files: [
      { action: 'update', file_path: 'a.txt', content: 'new' },
      { action: 'move', previous_path: 'b/c d.txt', file_path: 'f.txt' },
      { action: 'delete', file_path: 'e.txt' },
      { action: 'create', file_path: 'g.txt', content: 'made' },
    ],
  })
  expect(changed.body.files.map(({ path }: { path: string }) => path)).toEqual(['a.txt', 'f.txt', 'g.txt'])
  expect([(await raw('a.txt')).body, (await raw('f.txt')).body, (await raw('g.txt')).body]).toEqual([
    'new',
    'in b/c d.txt',
    'made',
  ])
  expect(await jane.put(at, { content: 'which?' })).toMatchObject({
    status: 400,
    body: both('To update a snippet with multiple files, you must use the `files` parameter'),
  })
})

test('of changes at once none is lost', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const at = `/snippets/${(await jane.post('/snippets', one)).body.id}`
  const add = (file_path: string) => () => jane.put(at, { files: [{ action: 'create', file_path, content: 'made' }] })
  const answers = await atOnce(forge, add('a.txt'), add('b.txt'))
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const { files } = (await jane.get(at)).body as { files: { path: string }[] }
  expect(files.map(({ path }) => path).toSorted()).toEqual(['a.txt', 'b.txt', 'saw.sh'])
})

const NOTHING_GIVEN =
  'title, file_name, content, description, visibility, files are missing, at least one parameter must be provided'
const file = (file_path: string, content = 'x') => ({ file_path, content })
const blank = { message: { content: ["can't be blank"] } }
const badName = { message: { file_name: ['is invalid'] } }

test.each([
  ['no title', { content: 'x' }, { error: 'title is missing' }],
  ['no content', { title: 'a', file_name: 'b' }, both('content is missing')],
  ['blank content', { ...one, content: ' \n' }, blank],
  ['a blank title', { ...one, title: ' ' }, { message: { title: ["can't be blank"] } }],
  [
    'a long title',
    { ...one, title: 'x'.repeat(256) },
    { message: { title: ['is too long (maximum is 255 characters)'] } },
  ],
  [
    'a long name',
    { ...one, file_name: 'x'.repeat(256) },
    { message: { file_name: ['is too long (maximum is 255 characters)'] } },
  ],
  ['a name that leads out', { ...one, file_name: '../a' }, badName],
  ['a name with a line break', { ...one, file_name: 'a\nb' }, badName],
  ['two ways at once', { ...one, files: [file('a')] }, both('content, files are mutually exclusive')],
  ['no files', { title: 'a', files: [] }, blank],
  [
    'a name twice',
    { title: 'a', files: [file('a'), file('a')] },
    { message: { file_name: ['has already been taken'] } },
  ],
  [
    'too many files',
    { title: 'a', files: Array.from({ length: 11 }, (_, n) => file(`${n}`)) },
    both('files is invalid'),
  ],
  ['an unknown visibility', { ...one, visibility: 'secret' }, both('visibility does not have a valid value')],
])('refuses a snippet with %s', async (_what, input, body) => {
  await using forge = await startForge()
  const jane = await forge.user()
  expect(await jane.post('/snippets', input)).toMatchObject({ status: 400, body })
  expect((await jane.get('/snippets')).body).toEqual([])
  expect(await forge.events()).not.toContain('snippet.created')
})

test.each([
  ['nothing', {}, both(NOTHING_GIVEN)],
  [
    'a missing file',
    { files: [{ action: 'update', file_path: 'x', content: 'y' }] },
    { message: { files: ['x does not exist'] } },
  ],
  ['no previous path', { files: [{ action: 'move', file_path: 'x' }] }, both('files[previous_path] is missing')],
  ['no file left', { files: [{ action: 'delete', file_path: 'saw.sh' }] }, blank],
])('refuses a change of %s, and leaves all as it was', async (_what, input, body) => {
  await using forge = await startForge()
  const jane = await forge.user()
  const created = await jane.post('/snippets', one)
  expect(await jane.put(`/snippets/${created.body.id}`, input)).toMatchObject({ status: 400, body })
  expect((await jane.get(`/snippets/${created.body.id}`)).body).toEqual(created.body)
  expect(await forge.events()).not.toContain('snippet.updated')
})

test('a restricted visibility is for administrators', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  await forge.administrator.put('/application/settings', { restricted_visibility_levels: ['public'] })
  const request = { ...one, visibility: 'public' }
  expect(await jane.post('/snippets', request)).toMatchObject({
    status: 400,
    body: { message: { visibility_level: ['public has been restricted by your administrator'] } },
  })
  expect((await forge.administrator.post('/snippets', request)).status).toBe(201)
})

test('who sees which snippet, one by one and in lists', async () => {
  await using forge = await startForge()
  const open = await openSource(forge, 'projects', { visibility: 'public' })
  const closed = await openSource(forge, 'projects')
  const { owner: author } = open
  await addMember(forge, { project_id: closed.id }, author.id, 20)
  const guest = await forge.user()
  for (const { id } of [open, closed]) await addMember(forge, { project_id: id }, guest.id, 10)
  const ids = new Map<string, number>()
  for (const visibility of ['private', 'internal', 'public']) {
    const make = async (where: string, at: string) => {
      const title = `${where} ${visibility}`
      const { body } = await author.post(at, { title, content: 'x', visibility })
      ids.set(title, body.id)
    }
    await make('own', '/snippets')
    await make('open', `${open.url}/snippets`)
    await make('closed', `${closed.url}/snippets`)
  }
  const all = [...ids.keys()]
  const stranger = ['own internal', 'open internal', 'own public', 'open public']
  const seen: [string, Client, string[]][] = [
    ['visitor', forge.visitor, ['own public', 'open public']],
    ['external', await forge.user({ external: true }), ['own public', 'open public']],
    ['stranger', await forge.user(), stranger],
    ['guest', guest, all.filter((title) => title !== 'own private')],
    ['author', author, all],
    ['administrator', forge.administrator, all],
  ]
  for (const [who, client, expected] of seen) {
    const found: string[] = []
    for (const [title, id] of ids) if ((await client.get(`/snippets/${id}`)).status === 200) found.push(title)
    expect(found.toSorted(), who).toEqual(expected.toSorted())
    const within = await client.get(`${open.url}/snippets`)
    expect(titles(within).toSorted(), who).toEqual(expected.filter((title) => title.startsWith('open')).toSorted())
    if (who === 'visitor') continue
    const listed = await client.get('/snippets/all', { per_page: 100 })
    expect(titles(listed).toSorted(), who).toEqual(expected.toSorted())
    expect(listed.headers.get('x-total'), who).toBe(String(expected.length))
    expect(titles(await client.get('/snippets/public')).toSorted(), who).toEqual(
      expected.filter((title) => title.endsWith('public')).toSorted(),
    )
  }
  expect(titles(await author.get('/snippets'))).toEqual(all.toReversed())

  await open.owner.put(open.url, { snippets_access_level: 'private' })
  expect(titles(await seen[2]![1].get('/snippets/all')).toSorted()).toEqual(['own internal', 'own public'])
  expect((await seen[2]![1].get(`/snippets/${ids.get('open public')}`)).status).toBe(404)
  expect((await guest.get(`${open.url}/snippets`)).body).toHaveLength(3)
  await open.owner.put(open.url, { snippets_access_level: 'disabled' })
  expect((await open.owner.get(`${open.url}/snippets`)).body).toEqual([])
  expect((await open.owner.get(`/snippets/${ids.get('open public')}`)).status).toBe(404)
  expect((await open.owner.post(`${open.url}/snippets`, { ...one, visibility: 'private' })).status).toBe(403)
})

test('snippets of a project are changed by their author and masters, and stay as they are once it is archived', async () => {
  await using forge = await startForge()
  const { url, id: project, owner, path } = await openSource(forge, 'projects', { visibility: 'public' })
  const [reporter, other] = [await forge.user(), await forge.user()]
  for (const { id } of [reporter, other]) await addMember(forge, { project_id: project }, id, 20)
  expect(await reporter.post(`${url}/snippets`, { title: 'a' })).toMatchObject({
    status: 400,
    body: { error: 'visibility is missing' },
  })
  expect(await reporter.post(`${url}/snippets`, { title: 'a', visibility: 'public' })).toMatchObject({
    status: 400,
    body: both('code is missing'),
  })
  const { body } = await reporter.post(`${url}/snippets`, {
    title: 'a',
    file_name: 'a.html',
    code: '<script>',
    visibility: 'public',
  })
  expect(body).toMatchObject({ project_id: project, web_url: `${forge.url}${path}/-/snippets/${body.id}` })
  const at = `${url}/snippets/${body.id}`
  expect((await other.put(at, { title: 'b' })).status).toBe(403)
  expect((await other.delete(at)).status).toBe(403)
  expect((await reporter.put(at, { code: 'less' })).status).toBe(200)
  expect((await owner.put(at, { content: 'more' })).body.title).toBe('a')
  expect((await forge.visitor.get(`${at}/raw`)).body).toBe('more')
  const away = await openSource(forge, 'projects')
  expect(await away.owner.get(`${away.url}/snippets/${body.id}`)).toMatchObject({
    status: 404,
    body: { message: '404 Not found' },
  })
  expect((await away.owner.put(`${away.url}/snippets/${body.id}`, { title: 'b' })).body.message).toBe(
    '404 Snippet Not Found',
  )
  await owner.post(`${url}/archive`)
  expect((await reporter.put(at, { title: 'b' })).status).toBe(403)
  expect((await owner.delete(at)).status).toBe(403)
  expect((await owner.post(`${url}/snippets`, { ...one, visibility: 'public' })).status).toBe(403)
  expect((await reporter.get(at)).body.title).toBe('a')
})

test('administrators learn from where a snippet was sent', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { body } = await jane.request('POST', '/snippets', one, { 'User-Agent': 'chisel/1' })
  expect((await forge.administrator.get(`/snippets/${body.id}/user_agent_detail`)).body).toEqual({
    user_agent: 'chisel/1',
    ip_address: expect.stringMatching(/127\.0\.0\.1$/),
    akismet_submitted: false,
  })
  await forge.app.db.deleteFrom('user_agent_details').execute()
  expect((await forge.administrator.get(`/snippets/${body.id}/user_agent_detail`)).body).toEqual({
    message: '404 UserAgentDetail Not Found',
  })
})

test('raw snippets are served to readers as text, never as a page', async () => {
  await using forge = await startForge()
  const { url, owner, path } = await openSource(forge, 'projects')
  const request = { title: 'a', files: [file('a.html', '<script>1</script>'), file('-/b c.txt', 'two')] }
  const { body: own } = await owner.post('/snippets', { ...request, visibility: 'public' })
  const { body: inside } = await owner.post(`${url}/snippets`, { ...request, visibility: 'public' })
  const get = (address: string, token?: string) =>
    fetch(`${forge.url}${address}`, token ? { headers: { 'PRIVATE-TOKEN': token } } : {})

  const shown = await get(`/snippets/${own.id}/raw`)
  expect(Object.fromEntries(shown.headers)).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'content-disposition': 'inline; filename="a.html"',
  })
  expect(await shown.text()).toBe('<script>1</script>')
  expect(await (await fetch(own.files[1].raw_url)).text()).toBe('two')
  for (const address of [own.raw_url, `${forge.url}/-/snippets/${own.id}/raw/main/a.html`]) {
    expect((await fetch(address)).status, address).toBe(200)
  }
  const below = [`${path}/snippets/${inside.id}/raw`, `${path}/-/snippets/${inside.id}/raw/main/-/b%20c.txt`]
  for (const address of [...below, `/snippets/${inside.id}/raw`]) {
    expect((await get(address)).status, address).toBe(404)
    expect((await get(address, owner.token)).status, address).toBe(200)
  }
  for (const address of [
    `${path}/-/snippets/${own.id}/raw`,
    `/snippets/${own.id}/raw/other/a.html`,
    `/snippets/${own.id}/raw/main`,
    '/snippets/x/raw',
  ]) {
    expect((await get(address, owner.token)).status, address).toBe(404)
  }
})

test('a page of snippets costs the same however many there are', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const make = () => owner.post(`${url}/snippets`, { ...one, visibility: 'private' })
  await make()
  const list = () => owner.get('/snippets/all')
  const cost = await costOf(forge, list)
  for (let n = 0; n < 9; n++) await make()
  expect((await list()).body).toHaveLength(10)
  expect(await costOf(forge, list)).toBe(cost)
})

test('snippets go with their author, and with their project', async () => {
  await using forge = await startForge()
  const { url, id: project, owner } = await openSource(forge, 'projects')
  const jane = await forge.user()
  await addMember(forge, { project_id: project }, jane.id, 20)
  await jane.post('/snippets', one)
  await jane.post(`${url}/snippets`, { ...one, visibility: 'private' })
  await owner.post(`${url}/snippets`, { ...one, title: 'Stays', visibility: 'private' })
  expect((await forge.administrator.delete(`/users/${jane.id}`)).status).toBe(204)
  await forge.settle()
  expect(titles(await forge.administrator.get('/snippets/all'))).toEqual(['Stays'])
  await owner.delete(url)
  await forge.settle()
  expect((await forge.administrator.get('/snippets/all')).body).toEqual([])
  expect(await forge.app.db.selectFrom('snippet_files').selectAll().execute()).toEqual([])
})

test('a page is given the texts of a snippet, words of code marked', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const request = { title: 'a', description: '*b*', files: [file('a.js', 'let a = "<b>"')], visibility: 'public' }
  for (const address of [`${url}/snippets`, '/snippets']) {
    const { body } = await owner.post(address, request)
    const { body: shown } = await owner.get(`${address}/${body.id}`, { render_html: true })
    expect(shown.description_html).toBe('<p><em>b</em></p>\n')
    expect(shown.files[0]).toMatchObject({ content: 'let a = "<b>"' })
    expect(shown.files[0].content_html).toContain('<span class="hljs-string">&quot;&lt;b&gt;&quot;</span>')
  }
})
