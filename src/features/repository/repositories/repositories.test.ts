import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { programsOf, processesOf, type BuiltCommit } from '../../../../test/git-builder.ts'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

const SUBMODULE = '0123456789012345678901234567890123456789'

const COMMITS: BuiltCommit[] = [
  {
    message: 'first\n',
    author: 'Ada <ada@example.com>',
    files: { 'README.md': '# Read me\n', 'b/same.txt': 'same\n', 'b/deep/same.txt': 'same\n', 'a.txt': 'same\n' },
  },
  {
    message: 'tools\n',
    author: 'Bob <bob@example.com>',
    files: {
      'bin/run': { mode: '100755', content: '#!/bin/sh\n' },
      link: { mode: '120000', content: 'README.md' },
      module: { mode: '160000', content: SUBMODULE },
    },
  },
  { branch: 'topic/one', from: 'refs/heads/master', message: 'topic\n', files: { 'README.md': '# Read us\n' } },
  { branch: 'master', message: 'last\n', files: { 'c.txt': 'c\n' } },
  { branch: 'alone', message: 'elsewhere\n', files: { x: 'x\n' } },
]

interface Scene {
  readonly forge: TestForge
  readonly owner: Person
  readonly base: string
  readonly dir: string
  readonly url: string
}

async function scene(forge: TestForge, ...commits: BuiltCommit[]): Promise<Scene> {
  const owner = await forge.user()
  const project = await forge.project({ path: 'tower' }, owner)
  const dir = await fillProject(forge, project.id, ...(commits.length === 0 ? COMMITS : commits))
  return { forge, owner, dir, base: `/projects/${project.id}/repository`, url: project.web_url }
}

const idOf = ({ dir }: Scene, name: string) => runGit([`--git-dir=${dir}`, 'rev-parse', name])

describe('tree', () => {
  test('a folder: trees, then blobs, then submodules', async () => {
    await using forge = await startForge()
    const s = await scene(forge)
    const { body, headers } = await s.owner.get(`${s.base}/tree`)
    const entry = async (type: string, mode: string, path: string) => ({
      id: type === 'commit' ? SUBMODULE : await idOf(s, `master:${path}`),
      name: path.split('/').at(-1),
      type,
      path,
      mode,
    })
    expect(body).toEqual([
      await entry('tree', '040000', 'b'),
      await entry('tree', '040000', 'bin'),
      await entry('blob', '100644', 'README.md'),
      await entry('blob', '100644', 'a.txt'),
      await entry('blob', '100644', 'c.txt'),
      await entry('blob', '120000', 'link'),
      await entry('commit', '160000', 'module'),
    ])
    expect([headers.get('x-total'), headers.get('x-total-pages')]).toEqual(['7', '1'])

    const below = await s.owner.get(`${s.base}/tree`, { path: 'b', ref: 'master~1' })
    expect(below.body).toEqual([await entry('tree', '040000', 'b/deep'), await entry('blob', '100644', 'b/same.txt')])
    for (const path of ['nowhere', 'README.md', 'module', 'b/../b', '-x']) {
      const { status, body } = await s.owner.get(`${s.base}/tree`, { path })
      expect([path, status, body]).toEqual([path, 200, []])
    }
  })

  test('with the commits that last changed each entry, a page of them', async () => {
    await using forge = await startForge()
    const s = await scene(forge)
    const titles = async (input: Record<string, unknown>) => {
      const { body } = await s.owner.get(`${s.base}/tree_commits`, input)
      return body.map(({ path, commit }: { path: string; commit: { title: string } | null }) => [path, commit?.title])
    }
    expect(await titles({ per_page: 4, page: 2 })).toEqual([
      ['c.txt', 'last'],
      ['link', 'tools'],
      ['module', 'tools'],
    ])
    expect(await titles({ path: 'b', ref: 'topic/one' })).toEqual([
      ['b/deep', 'first'],
      ['b/same.txt', 'first'],
    ])
    expect(await titles({ path: 'nowhere' })).toEqual([])
    expect((await s.owner.get(`${s.base}/tree_commits`, { ref: 'none' })).status).toBe(404)
  })

  test('all of it, in pages of either kind', async () => {
    await using forge = await startForge()
    const s = await scene(forge)
    const all = ['b', 'b/deep', 'bin', 'README.md', 'a.txt', 'b/deep/same.txt', 'b/same.txt', 'bin/run', 'c.txt']
    const expected = [...all, 'link', 'module']
    const paths = (body: { path: string }[]) => body.map(({ path }) => path)

    const pages = [1, 2, 3].map((page) => s.owner.get(`${s.base}/tree`, { recursive: true, page, per_page: 4 }))
    const found = await Promise.all(pages)
    expect(found.flatMap(({ body }) => paths(body))).toEqual(expected)
    expect(found.map(({ headers }) => headers.get('x-next-page'))).toEqual(['2', '3', ''])
    expect(paths((await s.owner.get(`${s.base}/tree`, { recursive: true, pagination: 'none' })).body)).toEqual(expected)

    // Three files have the same content: following the links must visit each of them once.
    for (const per_page of [1, 2, 3, 11, 12]) {
      const walked: string[] = []
      let next: string | undefined = `${s.base}/tree?recursive=true&pagination=keyset&per_page=${per_page}`
      for (let n = 0; next && n < 20; n++) {
        const { body, headers } = await s.owner.get(next)
        walked.push(...paths(body))
        next = /<[^>]+\/api\/v4([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
      }
      expect([per_page, walked]).toEqual([per_page, expected])
    }
    const [, , third] = (await s.owner.get(`${s.base}/tree`)).body
    const after = await s.owner.get(`${s.base}/tree`, { pagination: 'keyset', page_token: third.id, per_page: 1 })
    expect(paths(after.body)).toEqual(['a.txt'])
  })

  test('what there is not', async () => {
    await using forge = await startForge()
    const s = await scene(forge)
    const empty = await forge.project({}, s.owner)
    const refused = (text: string) => ({ message: text, error: text })
    const tried: [string, Record<string, string>, number, unknown][] = [
      [s.base, { ref: 'nowhere' }, 404, { message: '404 Tree Not Found' }],
      [s.base, { ref: '--help' }, 404, { message: '404 Tree Not Found' }],
      [s.base, { ref: 'master:b' }, 404, { message: '404 Tree Not Found' }],
      [`/projects/${empty.id}/repository`, {}, 404, { message: '404 Tree Not Found' }],
      [s.base, { pagination: 'keyset', page_token: 'x' }, 400, refused('page_token is invalid')],
      [
        s.base,
        { pagination: 'keyset', page_token: SUBMODULE.replace('0', '1') },
        400,
        refused('page_token is invalid'),
      ],
      [s.base, { pagination: 'some' }, 400, refused('pagination does not have a valid value')],
      [s.base, { recursive: 'maybe' }, 400, refused('recursive is invalid')],
    ]
    for (const [base, input, status, body] of tried) {
      const answer = await s.owner.get(`${base}/tree`, input)
      expect([input, answer.status, answer.body]).toEqual([input, status, body])
    }
  })

  test('costs as much for many entries as for few', async () => {
    await using forge = await startForge()
    const files = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, `${n}`]))
    const s = await scene(forge, { files: files(2) }, { branch: 'many', files: files(90) })
    const page = (ref: string) => s.owner.get(`${s.base}/tree`, { ref, per_page: 100 })
    await page('master')
    expect(await processesOf(() => page('many'))).toEqual([])
    expect(await forge.queries(() => page('many'))).toBe(await forge.queries(() => page('master')))
  })
})

describe('blobs', () => {
  test('a record, and the bytes', async () => {
    await using forge = await startForge()
    const bytes = Buffer.from([0xff, 0x00, 0x3c, 0x73])
    const large = Buffer.alloc(3_000_001, 'large ')
    const s = await scene(forge, { files: { raw: bytes, large } })
    const sha = await idOf(s, 'master:raw')
    const { body } = await s.owner.get(`${s.base}/blobs/${sha}`)
    expect(body).toEqual({ size: 4, encoding: 'base64', content: bytes.toString('base64'), sha })

    const raw = await fetchBytes(s, `${s.base}/blobs/${sha}/raw`)
    expect(raw.bytes).toEqual(bytes)
    expect(Object.fromEntries(raw.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '4',
      'content-disposition': 'inline',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      etag: `"${sha}"`,
    })

    const largeSha = await idOf(s, 'master:large')
    const record = (await s.owner.get(`${s.base}/blobs/${largeSha}`)).body
    expect(Buffer.from(record.content, 'base64').equals(large)).toBe(true)
    expect({ ...record, content: '' }).toEqual({ size: large.length, encoding: 'base64', content: '', sha: largeSha })
    expect((await fetchBytes(s, `${s.base}/blobs/${largeSha}/raw`)).bytes.equals(large)).toBe(true)
  })

  test('only of blobs', async () => {
    await using forge = await startForge()
    const s = await scene(forge)
    for (const name of ['master', await idOf(s, 'master:b'), SUBMODULE, 'master%3AREADME.md', '--all', 'x']) {
      for (const tail of ['', '/raw']) {
        const { status, body } = await s.owner.get(`${s.base}/blobs/${name}${tail}`)
        expect([name, status, body]).toEqual([name, 404, { message: '404 Blob Not Found' }])
      }
    }
  })
})

async function fetchBytes({ forge, owner }: Scene, path: string) {
  const answer = await fetch(`${forge.url}/api/v4${path}`, { headers: owner.headers })
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) }
}

/** Names in an archive, as the tools of the machine list them. */
const namesIn = (bytes: Buffer, ...options: string[]) =>
  execFileSync('tar', ['--list', ...options, '--file', '-'], { input: bytes })
    .toString()
    .trim()
    .split('\n')

describe('archives', () => {
  test('every ending, each with its name and folder', async () => {
    await using forge = await startForge()
    const s = await scene(forge)
    const commit = await idOf(s, 'master')
    const endings = {
      'tar.gz': ['.tar.gz', '.tgz', '.gz', ''],
      'tar.bz2': ['.tar.bz2', '.tbz', '.tbz2', '.tb2', '.bz2'],
    }
    const options = { 'tar.gz': '--gzip', 'tar.bz2': '--bzip2' } as const
    for (const [format, all] of Object.entries(endings)) {
      for (const ending of all) {
        const { bytes, headers, status } = await fetchBytes(s, `${s.base}/archive${ending}`)
        expect([ending, status]).toEqual([ending, 200])
        expect(headers.get('content-type')).toBe('application/octet-stream')
        const name = `tower-master-${commit}`
        expect(headers.get('content-disposition')).toBe(`attachment; filename="${name}.${format}"`)
        const names = namesIn(bytes, options[format as keyof typeof options])
        expect(names).toContain(`${name}/b/deep/same.txt`)
        expect(names.every((one) => one.startsWith(`${name}/`))).toBe(true)
      }
    }
    for (const way of ['archive.zip', 'archive?format=zip']) {
      const zip = await fetchBytes(s, `${s.base}/${way}`)
      expect([way, zip.headers.get('content-type')]).toEqual([way, 'application/zip'])
      expect(zip.bytes.subarray(0, 4).toString('latin1')).toBe('PK\x03\x04')
      expect(zip.bytes.includes(`tower-master-${commit}/b/deep/same.txt`)).toBe(true)
    }
  })

  test('of any commit, and of a folder', async () => {
    await using forge = await startForge()
    const s = await scene(forge)
    const topic = await idOf(s, 'topic/one')
    const ofTopic = await fetchBytes(s, `${s.base}/archive.tar?sha=topic/one`)
    expect(ofTopic.headers.get('content-disposition')).toBe(`attachment; filename="tower-topic-one-${topic}.tar"`)
    expect(namesIn(ofTopic.bytes)).toContain(`tower-topic-one-${topic}/README.md`)

    const short = await fetchBytes(s, `${s.base}/archive.tar?sha=${topic.slice(0, 10)}`)
    expect(short.headers.get('content-disposition')).toContain(`"tower-${topic.slice(0, 10)}-${topic}.tar"`)

    const folder = await fetchBytes(s, `${s.base}/archive.tar?sha=topic/one&path=b/deep/`)
    const name = `tower-topic-one-${topic}-b-deep`
    expect(folder.headers.get('content-disposition')).toBe(`attachment; filename="${name}.tar"`)
    expect(namesIn(folder.bytes).filter((one) => !one.endsWith('/'))).toEqual([`${name}/b/deep/same.txt`])
    expect(folder.headers.get('etag')).not.toBe(ofTopic.headers.get('etag'))
  })

  test('of a folder with an odd name, and of none with a long one', async () => {
    await using forge = await startForge()
    const s = await scene(forge, { files: { 'odd\n\tname/x.txt': 'x\n' } })
    const name = `tower-master-${await idOf(s, 'master')}-odd--name`
    const odd = await fetchBytes(s, `${s.base}/archive.tar?path=odd%0A%09name`)
    expect(odd.headers.get('content-disposition')).toBe(`attachment; filename="${name}.tar"`)
    expect(odd.bytes.includes(`${name}/odd\n\tname/x.txt`)).toBe(true)
    for (const path of ['%0A', 'x'.repeat(5000)])
      expect(await bodyOf(s, `${s.base}/archive?path=${path}`)).toEqual([404, { message: '404 File Not Found' }])
  })

  test('without some files and folders, as a list or one after the other', async () => {
    await using forge = await startForge()
    const s = await scene(forge)
    const whole = await fetchBytes(s, `${s.base}/archive.tar`)
    const ways = ['exclude_paths=b/deep,README.md', 'exclude_paths[]=b/deep&exclude_paths[]=README.md']
    for (const way of ways) {
      const { bytes, headers } = await fetchBytes(s, `${s.base}/archive.tar?${way}`)
      const top = `tower-master-${await idOf(s, 'master')}/`
      const names = namesIn(bytes).map((name) => name.replace(top, ''))
      expect([way, names.filter((name) => name !== '' && !name.endsWith('/'))]).toEqual([
        way,
        ['a.txt', 'b/same.txt', 'bin/run', 'c.txt', 'link'],
      ])
      expect(headers.get('etag')).not.toBe(whole.headers.get('etag'))
    }
    expect(await bodyOf(s, `${s.base}/archive.tar?sha=alone&exclude_paths=x`)).toEqual([
      404,
      { message: '404 File Not Found' },
    ])
  })

  test('what there is not', async () => {
    await using forge = await startForge()
    const s = await scene(forge)
    const empty = await forge.project({}, s.owner)
    const tried: [string, unknown][] = [
      [`${s.base}/archive?sha=nowhere`, { message: '404 File Not Found' }],
      [`${s.base}/archive?sha=--output%3Dx`, { message: '404 File Not Found' }],
      [`${s.base}/archive?path=nowhere`, { message: '404 File Not Found' }],
      [`/projects/${empty.id}/repository/archive.zip`, { message: '404 File Not Found' }],
      [`${s.base}/archive.rar`, { error: '404 Not Found' }],
      [`${s.base}/archive.`, { error: '404 Not Found' }],
    ]
    for (const [path, body] of tried) expect([path, await bodyOf(s, path)]).toEqual([path, [404, body]])
  })
})

test('bytes are not sent again to who has it already, nor to who asks about them only', async () => {
  await using forge = await startForge()
  const s = await scene(forge)
  const blob = `${s.base}/blobs/${await idOf(s, 'master:README.md')}/raw`
  for (const path of [blob, `${s.base}/archive.tar`, `${s.base}/archive.zip?path=b`]) {
    const ask = (method: string, headers: Record<string, string> = {}) =>
      fetch(`${forge.url}/api/v4${path}`, { method, headers: { ...s.owner.headers, ...headers } })
    const tag = (await fetchBytes(s, path)).headers.get('etag')!
    for (const given of [tag, `"x", W/${tag}`]) {
      const known = await ask('GET', { 'If-None-Match': given })
      expect([path, given, known.status, await known.text()]).toEqual([path, given, 304, ''])
    }
    const other = await ask('GET', { 'If-None-Match': '"other"' })
    expect([other.status, (await other.text()).length > 0]).toEqual([200, true])
    const head = await ask('HEAD')
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, tag, ''])
  }
})

test('a record of a large blob that is not read leaves no process behind', async () => {
  await using forge = await startForge()
  const s = await scene(forge, { files: { large: Buffer.alloc(3_000_001, 'large ') } })
  const sha = await idOf(s, 'master:large')
  const ask = (method: string, headers: Record<string, string> = {}) =>
    fetch(`${forge.url}/api/v4${s.base}/blobs/${sha}`, { method, headers: { ...s.owner.headers, ...headers } })
  const children = await programsOf(async () => {
    expect((await ask('HEAD')).status).toBe(200)
    expect((await ask('GET', { 'If-None-Match': `"${sha}"` })).status).toBe(304)
    await (await ask('GET')).body!.cancel()
  })
  const readers = children.filter(({ words }) => words.includes('blob'))
  expect(readers).toHaveLength(3)
  const running = () => readers.filter((child) => child.exitCode === null && child.signalCode === null)
  await expect.poll(() => running()).toEqual([])
})

async function bodyOf({ owner }: Scene, path: string) {
  const { status, body } = await owner.get(path)
  return [status, body]
}

describe('compare', () => {
  test('what one has that the other has not, since they parted', async () => {
    await using forge = await startForge()
    const s = await scene(forge)
    const { body } = await s.owner.get(`${s.base}/compare`, { from: 'master', to: 'topic/one' })
    const topic = await idOf(s, 'topic/one')
    expect(body).toEqual({
      commit: expect.objectContaining({ id: topic, title: 'topic', web_url: `${s.url}/-/commit/${topic}` }),
      commits: [body.commit],
      diffs: [
        expect.objectContaining({
          old_path: 'README.md',
          new_path: 'README.md',
          a_mode: '100644',
          b_mode: '100644',
          diff: '--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# Read me\n+# Read us\n',
        }),
      ],
      compare_timeout: false,
      compare_same_ref: false,
      web_url: `${s.url}/-/compare/master...topic%2Fone`,
    })

    const straight = await s.owner.get(`${s.base}/compare`, { from: 'master', to: 'topic/one', straight: true })
    expect(straight.body.diffs.map((diff: { new_path: string }) => diff.new_path)).toEqual(['README.md', 'c.txt'])
    expect(straight.body.commits).toEqual(body.commits)

    const hunks = await s.owner.get(`${s.base}/compare`, { from: 'master~1', to: 'master', unidiff: false })
    expect(hunks.body.diffs[0].diff).toBe('@@ -0,0 +1 @@\n+c\n')

    const longer = await s.owner.get(`${s.base}/compare`, { from: 'master~2', to: 'master' })
    expect(longer.body.commits.map(({ title }: { title: string }) => title)).toEqual(['tools', 'last'])
    expect(longer.body.commit.title).toBe('last')

    const same = (await s.owner.get(`${s.base}/compare`, { from: 'master', to: 'master' })).body
    expect(same).toMatchObject({ commit: null, commits: [], diffs: [], compare_same_ref: true })
    const unrelated = (await s.owner.get(`${s.base}/compare`, { from: 'master', to: 'alone' })).body
    expect(unrelated).toMatchObject({ commits: [{ title: 'elsewhere' }], diffs: [], compare_same_ref: false })
  })

  test('more than is shown', async () => {
    await using forge = await startForge()
    const files = Object.fromEntries(Array.from({ length: 1002 }, (_, n) => [`f${n}`, `${n}`]))
    const s = await scene(forge, { files: { a: 'a' } }, { files })
    const { body } = await s.owner.get(`${s.base}/compare`, { from: 'master~1', to: 'master' })
    expect([body.compare_timeout, body.diffs.length]).toEqual([true, 1000])
  })

  test('from another project, for who may read it', async () => {
    await using forge = await startForge()
    const s = await scene(forge)
    const stranger = await forge.user()
    const hidden = await forge.project({ path: 'hidden' }, stranger)
    await fillProject(forge, hidden.id, ...COMMITS.slice(0, 2), { message: 'theirs\n', files: { theirs: 'x\n' } })
    const own = await forge.project({ path: 'own' }, s.owner)
    await fillProject(forge, own.id, ...COMMITS.slice(0, 2), { message: 'ours\n', files: { ours: 'x\n' } })

    const input = { from: 'master', to: 'topic/one' }
    const { body } = await s.owner.get(`${s.base}/compare`, { ...input, from_project_id: own.id })
    expect(body.commits.map(({ title }: { title: string }) => title)).toEqual(['topic'])
    expect(body.diffs.map((diff: { new_path: string }) => diff.new_path)).toEqual(['README.md'])
    const straight = await s.owner.get(`${s.base}/compare`, { ...input, straight: true, from_project_id: own.id })
    expect(straight.body.diffs.map((diff: { new_path: string }) => diff.new_path)).toEqual(['README.md', 'ours'])

    for (const from_project_id of [hidden.id, 1_000_000]) {
      const refused = await s.owner.get(`${s.base}/compare`, { ...input, from_project_id })
      expect([refused.status, refused.body]).toEqual([404, { message: '404 Project Not Found' }])
    }
  })

  test('refusals', async () => {
    await using forge = await startForge()
    const s = await scene(forge)
    const both = (text: string) => ({ message: text, error: text })
    const missing = (...names: string[]) => ({
      message: `400 (Bad request) ${names.join(', ')} not given`,
      error: names.map((name) => `${name} is missing`).join(', '),
    })
    const tried: [Record<string, string>, number, unknown][] = [
      [{}, 400, missing('from', 'to')],
      [{ from: 'master' }, 400, missing('to')],
      [{ from: 'nowhere', to: 'master' }, 404, { message: '404 Ref Not Found' }],
      [{ from: 'master', to: '--all' }, 404, { message: '404 Ref Not Found' }],
      [{ from: 'master', to: 'master', from_project_id: 'x' }, 400, both('from_project_id is invalid')],
    ]
    for (const [input, status, body] of tried) {
      const answer = await s.owner.get(`${s.base}/compare`, input)
      expect([input, answer.status, answer.body]).toEqual([input, status, body])
    }
  })
})

test('contributors, in every order', async () => {
  await using forge = await startForge()
  const s = await scene(forge)
  const ada = { name: 'Ada', email: 'ada@example.com', commits: 2, additions: 0, deletions: 0 }
  const bob = { name: 'Bob', email: 'bob@example.com', commits: 1, additions: 0, deletions: 0 }
  const orders: [Record<string, unknown>, unknown[]][] = [
    [{}, [bob, ada]],
    [{ sort: 'desc' }, [ada, bob]],
    [{ order_by: 'name' }, [ada, bob]],
    [{ order_by: 'email', sort: 'desc' }, [bob, ada]],
    [{ ref: 'alone' }, [{ ...ada, commits: 1 }]],
    [{ per_page: 1, page: 2 }, [ada]],
  ]
  for (const [input, expected] of orders) {
    expect([input, (await s.owner.get(`${s.base}/contributors`, input)).body]).toEqual([input, expected])
  }
  expect((await s.owner.get(`${s.base}/contributors`)).headers.get('x-total')).toBe('2')
  const empty = await forge.project({}, s.owner)
  for (const path of [`${s.base}/contributors?ref=nowhere`, `/projects/${empty.id}/repository/contributors`])
    expect(await bodyOf(s, path)).toEqual([404, { message: '404 Not Found' }])
  expect(await bodyOf(s, `${s.base}/contributors?order_by=age`)).toMatchObject([400, {}])
})

test('merge base', async () => {
  await using forge = await startForge()
  const s = await scene(forge)
  const get = (...refs: string[]) => s.owner.get(`${s.base}/merge_base`, { refs })
  const { status, body } = await get('master', 'topic/one')
  expect([status, body.id, body.title]).toEqual([200, await idOf(s, 'master~1'), 'tools'])
  expect((await get('master', 'topic/one', 'master~2')).body.title).toBe('first')
  const refusals: [string[], number, unknown][] = [
    [['master'], 400, { message: 'Provide at least 2 refs' }],
    [['master', 'x'], 400, { message: 'Could not find ref: x' }],
    [['x', 'master', '--y'], 400, { message: 'Could not find refs: x, --y' }],
    [['master', 'alone'], 404, { message: '404 Merge Base Not Found' }],
  ]
  for (const [refs, status, body] of refusals) {
    const answer = await get(...refs)
    expect([refs, answer.status, answer.body]).toEqual([refs, status, body])
  }
  expect(await bodyOf(s, `${s.base}/merge_base`)).toMatchObject([400, { error: 'refs is missing' }])
})
