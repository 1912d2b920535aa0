import { expect, test } from 'vitest'
import { addressFor, workspace } from '../../../../test/workspace.ts'
import { startForge, type Client } from '../../../forge.ts'

test('pages are written, read, renamed and removed, and are a git repository', async () => {
  await using forge = await startForge()
  await using work = await workspace()
  const ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ path: 'engine', visibility: 'public' }, ann)
  const url = `/projects/${project.id}/wikis`
  expect((await forge.visitor.get(url)).body).toEqual([])

  const made = await ann.post(url, { title: 'How it works', content: '# Wheels\n' })
  expect(made).toMatchObject({
    status: 201,
    body: { slug: 'How-it-works', title: 'How it works', format: 'markdown', content: '# Wheels\n', encoding: 'UTF-8' },
  })
  await ann.post(url, { title: 'home', content: 'Start here' })
  await ann.post(url, { title: 'parts/Cog wheel', content: '= Cog', format: 'asciidoc' })
  expect((await forge.visitor.get(url)).body).toEqual([
    { slug: 'home', title: 'home', format: 'markdown' },
    { slug: 'How-it-works', title: 'How it works', format: 'markdown' },
    { slug: 'parts/Cog-wheel', title: 'Cog wheel', format: 'asciidoc' },
  ])
  expect((await ann.get(`${url}?with_content=true`)).body[2].content).toBe('= Cog')
  expect((await ann.get(`${url}/parts%2Fcog-wheel`)).body.slug).toBe('parts/Cog-wheel')

  const renamed = await ann.put(`${url}/parts%2FCog-wheel`, { title: 'Gear', format: 'markdown' })
  expect(renamed.body).toMatchObject({ slug: 'parts/Gear', content: '= Cog', format: 'markdown' })
  expect((await ann.get(`${url}/parts%2FCog-wheel`)).body).toEqual({ message: '404 Wiki Page Not Found' })
  expect((await ann.delete(`${url}/home`)).status).toBe(204)

  const form = new FormData()
  form.set('file', new File(['bytes'], 'a picture.png'))
  const attached = await ann.post(`${url}/attachments`, form)
  expect(attached.body).toMatchObject({
    file_name: 'a_picture.png',
    file_path: expect.stringMatching(/^uploads\/[0-9a-f]{32}\/a_picture\.png$/),
    branch: 'master',
  })

  const { git } = work
  expect((await git('clone', '-q', addressFor(forge, 'ann/engine.wiki'), 'wiki')).code).toBe(0)
  expect((await git('-C', 'wiki', 'log', '--format=%an: %s')).stdout.split('\n')).toEqual([
    'User 1: ann added attachment: a_picture.png',
    'User 1: ann deleted page: home',
    'User 1: ann updated page: Gear',
    'User 1: ann created page: Cog wheel',
    'User 1: ann created page: home',
    'User 1: ann created page: How it works',
  ])
  await git('-C', 'wiki', 'mv', 'How-it-works.md', 'Pushed.rst')
  await git('-C', 'wiki', 'commit', '-qm', 'By push')
  expect((await git('-C', 'wiki', 'push', addressFor(forge, 'ann/engine.wiki', ann), 'master')).code).toBe(0)
  expect((await ann.get(`${url}/Pushed`)).body).toMatchObject({ format: 'rst', content: '# Wheels\n' })
})

test('a page may say something of itself, in plain words', async () => {
  await using forge = await startForge()
  const ann = await forge.user()
  const project = await forge.project({}, ann)
  const url = `/projects/${project.id}/wikis`
  const table: [string, Record<string, string>][] = [
    ['# Page\n---\ntitle: no\n---\n', {}],
    [
      '---\ntitle: "The way"\nby: Ann: and Ben\ntags:\n  - nested\n---\n# Page\n',
      { title: 'The way', by: 'Ann: and Ben' },
    ],
    ['---\r\ntitle: x\r\n---', { title: 'x' }],
    ['---\ntitle: without an end\n', {}],
  ]
  for (const [n, [content, front_matter]] of table.entries()) {
    const { body } = await ann.post(url, { title: `Page ${n}`, content })
    expect(body).toMatchObject({ content, front_matter })
    expect(Object.keys(body.front_matter)).toEqual(Object.keys(front_matter))
  }
})

test('a file is put on the branch that is named', async () => {
  await using forge = await startForge()
  await using work = await workspace()
  const ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ path: 'engine', visibility: 'public' }, ann)
  const url = `/projects/${project.id}/wikis`
  await ann.post(url, { title: 'home', content: 'x' })
  const attach = (branch: string) => {
    const form = new FormData()
    form.set('file', new File(['bytes'], 'a.png'))
    form.set('branch', branch)
    return ann.post(`${url}/attachments`, form)
  }
  const { status, body } = await attach('drafts')
  expect([status, body.branch]).toEqual([201, 'drafts'])
  expect((await attach('')).body.branch).toBe('master')
  expect(await attach('-x')).toMatchObject({ status: 400, body: { message: 'Branch name is invalid' } })
  await work.git('clone', '-q', addressFor(forge, 'ann/engine.wiki'), 'wiki')
  const files = async (ref: string) => (await work.git('-C', 'wiki', 'ls-tree', '-r', '--name-only', ref)).stdout
  expect((await files('origin/drafts')).split('\n')).toEqual(['home.md', body.file_path])
  expect(await files('origin/master')).not.toContain(body.file_path)
})

test('what is refused writes nothing', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ path: 'engine' }, ann)
  const url = `/projects/${project.id}/wikis`
  await ann.post(url, { title: 'Page', content: 'x' })
  const before = await forge.events()
  const table: [string, string, Record<string, unknown>, number, unknown][] = [
    ['POST', url, { content: 'x' }, 400, '400 (Bad request) title not given'],
    ['POST', url, { title: 'x' }, 400, '400 (Bad request) content not given'],
    ['POST', url, { title: ' ', content: 'x' }, 400, { title: ["can't be blank"] }],
    ['POST', url, { title: '../..', content: 'x' }, 400, { title: ['is invalid'] }],
    ['POST', url, { title: '.git/config', content: 'x' }, 400, { title: ['is invalid'] }],
    ['POST', url, { title: 'a'.repeat(300), content: 'x' }, 400, { title: ['is invalid'] }],
    ['POST', url, { title: 'PAGE', content: 'x' }, 400, { base: [expect.stringContaining('Duplicate page')] }],
    ['POST', url, { title: 'x', content: 'x', format: 'html' }, 400, 'format does not have a valid value'],
    ['PUT', `${url}/Page`, {}, 400, expect.stringContaining('at least one parameter')],
    ['PUT', `${url}/Nothing`, { content: 'x' }, 404, '404 Wiki Page Not Found'],
    ['DELETE', `${url}/..%2F..%2Fsecret.key`, {}, 404, '404 Wiki Page Not Found'],
  ]
  for (const [method, path, input, status, message] of table) {
    const answer = await ann.request(method, path, input)
    expect([path, input, answer.status, answer.body.message]).toEqual([path, input, status, message])
  }
  expect(await forge.events()).toEqual(before)
  expect((await ann.get(url)).body).toHaveLength(1)

  await ann.put(`/projects/${project.id}`, { wiki_enabled: false })
  expect((await ann.get(url)).status).toBe(403)
  expect((await (await forge.user()).get(url)).body).toEqual({ message: '404 Project Not Found' })
})

test('an attachment is no page, whatever its ending', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const url = `/projects/${(await forge.project({ path: 'engine' }, ann)).id}/wikis`
  const names = { 'notes.txt': '[notes.txt]', 'a.b.PNG': '![a.b]', 'film.mp4': '![film]', 'plan.svg': '![plan.svg]' }
  for (const [name, mark] of Object.entries(names)) {
    const form = new FormData()
    form.set('file', new File(['bytes'], name))
    const { status, body } = await ann.post(`${url}/attachments`, form)
    const link = { url: body.file_path, markdown: `${mark}(${body.file_path})` }
    expect([status, body.link]).toEqual([201, link])
  }
  await ann.post(url, { title: 'uploads/notes', content: 'x' })
  expect((await ann.get(url)).body).toEqual([{ slug: 'uploads/notes', title: 'notes', format: 'markdown' }])
})

test('a title shows what the entities of HTML stand for', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const url = `/projects/${(await forge.project({ path: 'engine' }, ann)).id}/wikis`
  const made = await ann.post(url, { title: 'Q&amp;A &lt;b&gt; &amp;lt; &copy;', content: 'x' })
  expect(made.body).toMatchObject({ slug: 'Q&amp;A-&lt;b&gt;-&amp;lt;-&copy;', title: 'Q&A <b> &lt; &copy;' })
})

test('a page is also told as it was in a version', async () => {
  await using forge = await startForge()
  await using work = await workspace()
  const ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ path: 'engine', visibility: 'public' }, ann)
  const url = `/projects/${project.id}/wikis`
  await ann.post(url, { title: 'Page', content: 'first' })
  await ann.put(`${url}/Page`, { title: 'Renamed', content: 'second' })
  const { git } = work
  await git('clone', '-q', addressFor(forge, 'ann/engine.wiki'), 'wiki')
  const version = (await git('-C', 'wiki', 'rev-parse', 'HEAD~1')).stdout.trim()

  expect((await ann.get(`${url}/Page`, { version })).body).toMatchObject({ slug: 'Page', content: 'first' })
  for (const unknown of [{}, { version: 'f'.repeat(40) }, { version: '--all' }, { version: 'HEAD:Page.md' }])
    expect((await ann.get(`${url}/Page`, unknown)).body).toEqual({ message: '404 Wiki Page Not Found' })
  expect((await ann.get(`${url}/Renamed`, { version })).status).toBe(404)
})

test('callers without access learn nothing about errors in the input', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ path: 'engine' }, ann)
  const url = `/projects/${project.id}/wikis`
  const [stranger, reporter] = [await forge.user(), await forge.user()]
  await ann.post(`/projects/${project.id}/members`, { user_id: reporter.id, access_level: 20 })
  expect(await stranger.post(url, {})).toMatchObject({ status: 404, body: { message: '404 Project Not Found' } })
  expect(await stranger.get(`${url}?with_content=x`)).toMatchObject({ status: 404 })
  expect(await reporter.post(url, {})).toMatchObject({ status: 403, body: { message: '403 Forbidden' } })
  expect(await reporter.put(`${url}/Nothing`, {})).toMatchObject({ status: 403 })
})

test('pages written at once all stay', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ path: 'engine' }, ann)
  const url = `/projects/${project.id}/wikis`
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, n) => ann.post(url, { title: `Page ${n}`, content: 'x' })),
  )
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
  expect((await ann.get(url)).body).toHaveLength(4)
})

test('of twenty pages written at once all stay; a page made twice is a duplicate, one deleted twice is not found', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ path: 'engine' }, ann)
  const url = `/projects/${project.id}/wikis`
  const atOnce = async (length: number, ask: (n: number) => Promise<{ status: number }>) => {
    const answers = await Promise.all(Array.from({ length }, (_, n) => ask(n)))
    return answers.map(({ status }) => status).toSorted((a, b) => a - b)
  }
  expect(await atOnce(20, (n) => ann.post(url, { title: `Page ${n}`, content: 'x' }))).toEqual(Array(20).fill(201))
  expect((await ann.get(url)).body).toHaveLength(20)
  expect(await atOnce(4, () => ann.post(url, { title: 'Same', content: 'x' }))).toEqual([201, 400, 400, 400])
  expect(await atOnce(4, () => ann.delete(`${url}/Same`))).toEqual([204, 404, 404, 404])
})

test('a page is rendered when asked for as HTML', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ path: 'engine' }, ann)
  const url = `/projects/${project.id}/wikis`
  await ann.post(url, { title: 'a/b', content: '---\ntitle: x\n---\n*c* [d](e) <script>f</script>' })
  await ann.post(url, { title: 'other', content: '<b>', format: 'asciidoc' })
  const { body } = await ann.get(`${url}/a%2Fb?render_html=true`)
  expect(body.content).toBe(`<p><em>c</em> <a href="${forge.url}/ann/engine/-/wikis/a/e">d</a> f</p>\n`)
  expect((await ann.get(`${url}/other?render_html=true`)).body.content).toBe('<pre>&lt;b&gt;</pre>')
  expect((await ann.get(`${url}/a%2Fb?render_html=false`)).body.content).toContain('*c*')
})

test('a rendered page names what its reader may see', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ path: 'engine', visibility: 'public' }, ann)
  await forge.issue(project, { title: 'Open' }, ann)
  await forge.issue(project, { title: 'Hidden', confidential: true }, ann)
  const url = `/projects/${project.id}/wikis`
  await ann.post(url, { title: 'a', content: 'See #1, #2 and @ann' })
  const html = async (by: Client) => (await by.get(`${url}/a?render_html=true`)).body.content
  const at = `${forge.url}/ann/engine/-/issues`
  for (const word of [`href="${at}/1"`, `href="${at}/2"`, 'title="Hidden"', `href="${forge.url}/ann"`])
    expect(await html(ann)).toContain(word)
  const seen = await html(forge.visitor)
  expect(seen).toContain(`href="${at}/1"`)
  expect(seen).not.toContain(`${at}/2`)
  expect(seen).not.toContain('Hidden')
})

test('the changes of a page are listed, newest first', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann', name: 'Ann' })
  const project = await forge.project({ path: 'engine', visibility: 'public' }, ann)
  const url = `/projects/${project.id}/wikis`
  await ann.post(url, { title: 'Page', content: 'first' })
  await ann.post(url, { title: 'Other', content: 'first' })
  await ann.put(`${url}/Page`, { content: 'second' })
  const { body } = await ann.get(`${url}/Page/history`)
  expect(body).toMatchObject([{ author_name: 'Ann' }, { author_name: 'Ann' }])
  expect((await ann.get(`${url}/Page`, { version: body[1].id })).body.content).toBe('first')
  expect((await ann.get(`${url}/None/history`)).status).toBe(404)
})
