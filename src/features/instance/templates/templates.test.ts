import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { DAY } from '../../../clock.ts'
import { startForge, type Client } from '../../../forge.ts'

const KINDS = ['gitignores', 'gitlab_ci_ymls', 'dockerfiles'] as const
const NOUNS = { gitignores: 'gitignore', gitlab_ci_ymls: 'gitlab_ci_yml', dockerfiles: 'dockerfile' }

interface Row {
  key: string
  name: string
}

async function everyRow(client: Client, path: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = '1'; page !== '';) {
    const answer = await client.get(path, { page, per_page: 100 })
    rows.push(...answer.body)
    page = answer.headers.get('X-Next-Page')!
  }
  return rows
}

const namesOf = async (client: Client, kind: string) =>
  (await everyRow(client, `/templates/${kind}`)).map((row) => row.name)

const isSorted = (names: string[]) => expect(names).toEqual(names.toSorted())

const shippedText = (path: string) => readFile(new URL(`contents/${path}`, import.meta.url), 'utf8')

test('every listed template can be read, and opens as its kind does', async () => {
  await using forge = await startForge()
  const { visitor } = forge
  const openings = {
    gitignores: /^(?!### )\S/,
    gitlab_ci_ymls: /^# .* template.* may need editing .*\n/,
    dockerfiles: /^# .* template.* may need editing .*\n/,
  }
  for (const kind of KINDS) {
    const rows = await everyRow(visitor, `/templates/${kind}`)
    expect(new Set(rows.map((row) => row.name)).size).toBe(rows.length)
    const read = ({ name }: Row) => visitor.get(`/templates/${kind}/${encodeURIComponent(name)}`)
    const answers = await Promise.all(rows.map(read))
    expect(answers.map(({ status, body }) => ({ status, body }))).toEqual(
      rows.map(({ name }) => ({
        status: 200,
        body: { key: name, name, content: expect.stringMatching(openings[kind]) },
      })),
    )
    expect(rows).toEqual(rows.map(({ name }) => ({ key: name, name })))
    expect(answers.filter(({ body }) => !/\S\n$/.test(body.content))).toEqual([])
  }
})

test('an answer is the shipped text, whole', async () => {
  await using forge = await startForge()
  const { visitor } = forge
  expect((await visitor.get('/templates/gitignores/Agda')).body).toEqual({
    key: 'Agda',
    name: 'Agda',
    content: '*.agdai\nMAlonzo/**\n_build/\n',
  })
  expect((await visitor.get('/templates/dockerfiles/Golang-alpine')).body).toEqual({
    key: 'Golang-alpine',
    name: 'Golang-alpine',
    content: await shippedText('dockerfiles/Golang-alpine.Dockerfile'),
  })
  expect((await visitor.get('/templates/gitlab_ci_ymls/Pages%2FHugo')).body).toEqual({
    key: 'Pages/Hugo',
    name: 'Pages/Hugo',
    content: await shippedText('gitlab-ci-ymls/Pages/Hugo.yml'),
  })
})

test('lists are sorted inside each category', async () => {
  await using forge = await startForge()
  const { visitor } = forge

  const gitignores = await namesOf(visitor, 'gitignores')
  const global = gitignores.indexOf('Anjuta')
  isSorted(gitignores.slice(0, global))
  isSorted(gitignores.slice(global))
  expect(gitignores.slice(0, global)).toEqual(expect.arrayContaining(['C++', 'Node', 'Python', 'Rust']))
  expect(gitignores.slice(global)).toEqual(expect.arrayContaining(['Linux', 'Vim', 'VisualStudioCode', 'macOS']))

  const ci = await namesOf(visitor, 'gitlab_ci_ymls')
  const pages = ci.filter((name) => name.startsWith('Pages/'))
  const first = ci.indexOf(pages[0]!)
  isSorted(pages)
  isSorted(ci.slice(0, first))
  expect(ci.slice(first)).toEqual([...pages, 'Auto-DevOps', 'Kubernetes', 'OpenShift'])
  expect(ci.slice(0, first)).toEqual(expect.arrayContaining(['C++', 'Docker', 'Go', 'Maven', 'Nodejs', 'Ruby']))

  const dockerfiles = await namesOf(visitor, 'dockerfiles')
  isSorted(dockerfiles)
  expect(dockerfiles).toHaveLength(17)
})

test('lists come in pages', async () => {
  await using forge = await startForge()
  const { visitor } = forge
  const all = await namesOf(visitor, 'dockerfiles')
  const answer = await visitor.get('/templates/dockerfiles', { per_page: 5, page: 2 })
  expect(answer.body.map((row: Row) => row.name)).toEqual(all.slice(5, 10))
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'x-total': '17',
    'x-total-pages': '4',
    'x-page': '2',
    'x-next-page': '3',
    'x-prev-page': '1',
  })
  expect((await visitor.get('/templates/gitignores')).body).toHaveLength(20)
  const licenses = await visitor.get('/templates/licenses', { per_page: 2, page: 6 })
  expect(licenses.body.map((row: Row) => row.key)).toEqual(['mpl-2.0', 'unlicense'])
  expect(licenses.headers.get('X-Total')).toBe('12')
  expect((await visitor.get('/templates/dockerfiles', { page: 9 })).body).toEqual([])
  expect(await visitor.get('/templates/dockerfiles', { page: 'x' })).toMatchObject({ status: 400 })
})

test('a license with all that is said of it; lists show the raw text', async () => {
  await using forge = await startForge()
  const { visitor } = forge
  const mit = {
    key: 'mit',
    name: 'MIT License',
    nickname: null,
    popular: true,
    html_url: 'https://choosealicense.com/licenses/mit/',
    source_url: 'https://opensource.org/licenses/MIT',
    description: 'A short and simple permissive license: keep the copyright and license notices, and do as you like.',
    conditions: ['include-copyright'],
    permissions: ['commercial-use', 'modifications', 'distribution', 'private-use'],
    limitations: ['no-liability'],
    content: await shippedText('licenses/mit.txt'),
  }
  const all = await visitor.get('/templates/licenses')
  expect(all.body[9]).toEqual(mit)
  expect(mit.content).toContain('Copyright (c) [year] [fullname]\n')

  const keys = all.body.map((row: Row) => row.key)
  expect(keys.join(' ')).toBe(
    'agpl-3.0 apache-2.0 bsd-2-clause bsd-3-clause epl-1.0 gpl-2.0 gpl-3.0 lgpl-2.1 lgpl-3.0 mit mpl-2.0 unlicense',
  )
  const year = String(forge.clock.now().getUTCFullYear())
  expect((await visitor.get('/templates/licenses/mit')).body).toEqual({
    ...mit,
    content: mit.content.replace('[year]', year),
  })
})

test('popular narrows the list only when it is true', async () => {
  await using forge = await startForge()
  const { visitor } = forge
  const popular = await visitor.get('/templates/licenses', { popular: true })
  expect(popular.body.map((row: Row) => row.key)).toEqual(['apache-2.0', 'gpl-3.0', 'mit'])
  expect(popular.headers.get('X-Total')).toBe('3')
  expect((await visitor.get('/templates/licenses', { popular: '1' })).body).toHaveLength(3)
  for (const value of [false, 0, '']) {
    expect((await visitor.get('/templates/licenses', { popular: value })).body).toHaveLength(12)
  }
  expect(await visitor.get('/templates/licenses', { popular: 'perhaps' })).toMatchObject({
    status: 400,
    body: { message: 'popular is invalid', error: 'popular is invalid' },
  })
})

test('placeholders are filled: the year always, the rest where it is known', async () => {
  await using forge = await startForge()
  const { visitor } = forge
  const jane = await forge.user({ name: 'Jane Doe' })
  const lineOf = async (client: Client, key: string, start: RegExp, input = {}) => {
    const { body } = await client.get(`/templates/licenses/${key}`, input)
    return body.content.split('\n').filter((line: string) => start.test(line))
  }
  const year = forge.clock.now().getUTCFullYear()
  const copyright = /^ *Copyright(?!.*Free Software)/

  expect(await lineOf(visitor, 'mit', copyright)).toEqual([`Copyright (c) ${year} [fullname]`])
  expect(await lineOf(visitor, 'mit', copyright, { fullname: 'Ada' })).toEqual([`Copyright (c) ${year} Ada`])
  expect(await lineOf(visitor, 'mit', copyright, { fullname: '' })).toEqual([`Copyright (c) ${year} [fullname]`])
  expect(await lineOf(jane, 'mit', copyright)).toEqual([`Copyright (c) ${year} Jane Doe`])
  expect(await lineOf(jane, 'mit', copyright, { fullname: '' })).toEqual([`Copyright (c) ${year} Jane Doe`])
  expect(await lineOf(jane, 'bsd-3-clause', copyright, { fullname: 'Ada' })).toEqual([`Copyright (c) ${year}, Ada`])
  expect(await lineOf(jane, 'apache-2.0', copyright)).toEqual([`   Copyright ${year} Jane Doe`])
  expect(await lineOf(jane, 'agpl-3.0', copyright)).toEqual([`    Copyright (C) ${year}  Jane Doe`])

  const purpose = /what it does|^ {4}Forge$/
  const raw = "    <one line to give the program's name and a brief idea of what it does.>"
  expect(await lineOf(visitor, 'gpl-3.0', purpose)).toEqual([raw])
  expect(await lineOf(visitor, 'gpl-2.0', purpose, { project: '' })).toEqual([raw])
  for (const key of ['agpl-3.0', 'gpl-2.0', 'gpl-3.0', 'lgpl-2.1']) {
    expect(await lineOf(visitor, key, purpose, { project: 'Forge' })).toEqual(['    Forge'])
  }

  // A filled-in value is literal text, neither a replacement pattern nor a placeholder.
  expect(await lineOf(visitor, 'mit', copyright, { fullname: "$& $1 [year] $'" })).toEqual([
    `Copyright (c) ${year} $& $1 [year] $'`,
  ])
  const nested = { project: '[fullname]', fullname: 'Ada' }
  expect(await lineOf(visitor, 'gpl-3.0', /^ {4}\[fullname\]$/, nested)).toEqual(['    [fullname]'])

  // The same text again: filling changes no shared state, and the year comes from the forge's clock.
  forge.clock.advance(366 * DAY)
  const later = forge.clock.now().getUTCFullYear()
  expect(later).toBeGreaterThan(year)
  expect(await lineOf(visitor, 'mit', copyright)).toEqual([`Copyright (c) ${later} [fullname]`])
})

test('someone who acts for another signs with the name of that other', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ name: 'Jane Doe' })
  const { body } = await forge.administrator.get('/templates/licenses/mit', { sudo: jane.username })
  expect(body.content).toContain(' Jane Doe\n')
})

test('one client asks for licenses with a capital', async () => {
  await using forge = await startForge()
  const { visitor } = forge
  for (const path of ['licenses?popular=true', 'licenses/mit?fullname=Ada', 'licenses/none']) {
    const { status, body } = await visitor.get(`/templates/${path}`)
    expect(await visitor.get(`/templates/${path.replace('l', 'L')}`)).toMatchObject({ status, body })
  }
  expect((await visitor.get('/templates/Licenses/')).body).toHaveLength(12)
})

test('names are as written, with dots and pluses, encoded or not', async () => {
  await using forge = await startForge()
  const { visitor } = forge
  for (const path of ['gitignores/C++', 'gitignores/C%2B%2B', 'gitlab_ci_ymls/C++', 'licenses/gpl-3.0']) {
    expect((await visitor.get(`/templates/${path}`)).status).toBe(200)
  }
  expect((await visitor.get('/templates/gitignores/Notepad%2B%2B')).body.name).toBe('Notepad++')
})

test('a name that is not listed is not found, however it is spelt', async () => {
  await using forge = await startForge()
  const { visitor } = forge
  const names = [
    'None',
    'node',
    'Node%20',
    'Node.Dockerfile',
    '__proto__',
    'constructor',
    '..%2Fdockerfiles%2FNode',
    '..%2F..%2F..%2F..%2F..%2Fpackage.json',
    '%2e%2e%2f%2e%2e%2fqueries.ts',
    '..%5C..%5Cqueries.ts',
    '%2Fetc%2Fpasswd',
    'Pages%2F..%2FRuby',
    '.%2FRuby',
    'Ruby%2F',
    'Auto-deploy%2FAuto-DevOps',
    'a'.repeat(1000),
  ]
  for (const name of names) {
    for (const kind of KINDS) {
      expect(await visitor.get(`/templates/${kind}/${name}`)).toMatchObject({
        status: 404,
        body: { message: `404 ${NOUNS[kind]} Not Found` },
      })
    }
    expect(await visitor.get(`/templates/licenses/${name}`)).toMatchObject({
      status: 404,
      body: { message: '404 License Not Found' },
    })
  }
  expect((await visitor.get('/templates/gitignores/Node%00')).status).toBe(400)
  expect(await visitor.get('/templates/gitlab_ci_ymls/Pages/Hugo')).toMatchObject({
    status: 404,
    body: { error: '404 Not Found' },
  })
})

test('everybody may read; a credential that is shown must be right', async () => {
  await using forge = await startForge()
  const callers: Client[] = [
    forge.visitor,
    await forge.user(),
    await forge.user({ external: true }),
    await forge.user({ blocked: true }),
    forge.administrator,
  ]
  const before = await forge.events()
  const paths = ['licenses', 'licenses/mit', 'Licenses', 'Licenses/mit', ...KINDS]
  for (const path of [...paths, ...KINDS.map((kind) => `${kind}/Rust`)]) {
    const statuses = []
    for (const caller of callers) statuses.push((await caller.get(`/templates/${path}`)).status)
    expect([path, ...statuses]).toEqual([path, 200, 200, 200, 401, 200])
  }
  expect(await forge.events()).toEqual(before)
  expect((await callers[3]!.get('/templates/licenses')).body).toEqual({ message: '401 Unauthorized' })
})

test('nothing of this asks the database', async () => {
  await using forge = await startForge()
  for (const path of ['licenses', 'licenses/mit', ...KINDS, 'dockerfiles/Node']) {
    expect(await forge.queries(() => forge.visitor.get(`/templates/${path}`))).toBe(0)
  }
})
