import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { fillProject } from '../../../../test/contents.ts'
import { processesOf } from '../../../../test/git-builder.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { Developer } from '../../../lib/levels.ts'

async function filled(forge: TestForge) {
  const project = await forge.project({ visibility: 'public' })
  const dir = await fillProject(
    forge,
    project.id,
    {
      message: 'first',
      author: 'Ada <ada@example.com> 1348131022 +0300',
      files: {
        'a b/run.sh': { mode: '100755', content: 'one\ntwo\n' },
        'ü\n%.txt': 'odd\n',
        'bin.dat': Buffer.from([0, 255]),
      },
    },
    { message: 'second', files: { 'a b/run.sh': { mode: '100755', content: 'one\nTWO\n' } } },
    { message: 'third', files: { 'other.txt': 'x\n' } },
  )
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  const developer = await forge.user({ name: 'Dev' })
  await addMember(forge, { project_id: project.id }, developer.id, Developer)
  const fileUrl = (path: string) => `/projects/${project.id}/repository/files/${encodeURIComponent(path)}`
  return { project, git, developer, fileUrl }
}

test('a file is told whole, and in headers', async () => {
  await using forge = await startForge()
  const { git, fileUrl } = await filled(forge)
  const [commit, last] = [await git('rev-parse', 'master'), await git('rev-parse', 'master~1')]
  const blob = await git('rev-parse', 'master:a b/run.sh')
  const digest = hash('sha256', 'one\nTWO\n')

  const got = await forge.visitor.get(fileUrl('a b/run.sh'), { ref: 'master' })
  expect(got.status).toBe(200)
  expect(got.body).toEqual({
    file_name: 'run.sh',
    file_path: 'a b/run.sh',
    size: 8,
    encoding: 'base64',
    content: Buffer.from('one\nTWO\n').toString('base64'),
    content_sha256: digest,
    ref: 'master',
    blob_id: blob,
    commit_id: commit,
    last_commit_id: last,
    execute_filemode: true,
  })
  const headers = {
    'x-gitlab-blob-id': blob,
    'x-gitlab-commit-id': commit,
    'x-gitlab-content-sha256': digest,
    'x-gitlab-encoding': 'base64',
    'x-gitlab-execute-filemode': 'true',
    'x-gitlab-file-name': 'run.sh',
    'x-gitlab-file-path': 'a b/run.sh',
    'x-gitlab-last-commit-id': last,
    'x-gitlab-ref': 'master',
    'x-gitlab-size': '8',
  }
  const head = await forge.visitor.head(`${fileUrl('a b/run.sh')}?ref=master`)
  const raw = await forge.visitor.get(`${fileUrl('a b/run.sh')}/raw`, { ref: 'master' })
  for (const answer of [got, head, raw]) expect(Object.fromEntries(answer.headers)).toMatchObject(headers)
  expect([head.status, head.body]).toEqual([200, ''])
  expect(Object.fromEntries(raw.headers)).toMatchObject({ 'content-type': 'text/plain', 'content-length': '8' })
  expect(raw.body).toBe('one\nTWO\n')
})

test('raw takes HEAD without a ref, and any name goes into a header', async () => {
  await using forge = await startForge()
  const { fileUrl } = await filled(forge)
  const { status, headers } = await forge.visitor.get(`${fileUrl('ü\n%.txt')}/raw`)
  expect(status).toBe(200)
  const name = Buffer.from(headers.get('x-gitlab-file-name')!, 'latin1').toString()
  expect(decodeURIComponent(name)).toBe('ü\n%.txt')
  const answer = await fetch(`${forge.url}/api/v4${fileUrl('bin.dat')}/raw`)
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.from([0, 255]))
})

test('any name goes into a header of the record too', async () => {
  await using forge = await startForge()
  const { fileUrl } = await filled(forge)
  const { headers, body } = await forge.visitor.get(fileUrl('ü\n%.txt'), { ref: 'master' })
  expect(body).toMatchObject({ file_path: 'ü\n%.txt', content: Buffer.from('odd\n').toString('base64') })
  const name = Buffer.from(headers.get('x-gitlab-file-name')!, 'latin1').toString()
  expect(decodeURIComponent(name)).toBe('ü\n%.txt')
})

test('a file is told however large it is, and once', async () => {
  await using forge = await startForge()
  const project = await forge.project({ visibility: 'public' })
  const content = Buffer.alloc(21 * 1024 * 1024 + 1, 'large ')
  await fillProject(forge, project.id, { files: { large: content } })
  const url = `${forge.url}/api/v4/projects/${project.id}/repository/files/large?ref=master`
  const head = await fetch(url, { method: 'HEAD' })
  expect(head.status).toBe(200)
  expect(head.headers.get('x-gitlab-size')).toBe(String(content.length))
  expect(head.headers.get('x-gitlab-content-sha256')).toBe(hash('sha256', content))

  const got = await fetch(url)
  const record = (await got.json()) as { size: number; content: string; content_sha256: string }
  expect([record.size, record.content_sha256]).toEqual([content.length, hash('sha256', content)])
  expect(Buffer.from(record.content, 'base64').equals(content)).toBe(true)
  const known = await fetch(url, { headers: { 'If-None-Match': got.headers.get('etag')! } })
  expect(known.status).toBe(304)
  const elsewhere = await fetch(`${url}~0`, { headers: { 'If-None-Match': got.headers.get('etag')! } })
  expect(elsewhere.status).toBe(200)
  await elsewhere.body!.cancel()
})

test('a name that is not UTF-8 is told with what stands for it, and blamed on nobody', async () => {
  await using forge = await startForge()
  const project = await forge.project({ visibility: 'public' })
  await fillProject(forge, project.id, { files: { '\xffcaf\xe9.txt': 'odd\n' } })
  const url = `/projects/${project.id}/repository/files/${encodeURIComponent('caf\ufffd.txt')}`
  expect((await forge.visitor.get(url, { ref: 'master' })).body.file_path).toBe('caf\ufffd.txt')
  expect(await forge.visitor.get(`${url}/blame`, { ref: 'master' })).toMatchObject({
    status: 404,
    body: { message: '404 File Not Found' },
  })
  // A file written with this spelling would be a different file.
  const request = { branch: 'master', commit_message: 'x', content: 'y' }
  const refusal = { status: 400, body: { message: 'Path is not valid' } }
  expect(await forge.administrator.put(url, request)).toMatchObject(refusal)
  expect(await forge.administrator.delete(url, request)).toMatchObject(refusal)
  const { body } = await forge.visitor.get(`/projects/${project.id}/repository/tree`)
  expect(body.map(({ name }: { name: string }) => name)).toEqual(['caf\ufffd.txt'])
})

test('raw says what the file is called, and is not sent again to who has it', async () => {
  await using forge = await startForge()
  const { fileUrl } = await filled(forge)
  const url = `${forge.url}/api/v4${fileUrl('a b/run.sh')}/raw`
  const { headers } = await fetch(url)
  expect(headers.get('content-disposition')).toBe('inline; filename="run.sh"')
  const tag = headers.get('etag')!
  expect(tag).toBe(`"${headers.get('x-gitlab-blob-id')}"`)
  const known = await fetch(url, { headers: { 'If-None-Match': tag } })
  expect([known.status, await known.text()]).toEqual([304, ''])
  expect((await fetch(url, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200)
})

test('blame says which commit each line comes from', async () => {
  await using forge = await startForge()
  const { git, fileUrl } = await filled(forge)
  const url = `${fileUrl('a b/run.sh')}/blame`
  const { status, body, headers } = await forge.visitor.get(url, { ref: 'master' })
  expect(status).toBe(200)
  const record = await forge.visitor.get(fileUrl('a b/run.sh'), { ref: 'master' })
  for (const name of ['x-gitlab-last-commit-id', 'x-gitlab-blob-id', 'x-gitlab-size', 'x-gitlab-content-sha256']) {
    expect([name, headers.get(name)]).toEqual([name, record.headers.get(name)])
  }
  expect(body).toEqual([
    {
      commit: {
        id: await git('rev-parse', 'master~2'),
        parent_ids: [],
        message: 'first',
        author_name: 'Ada',
        author_email: 'ada@example.com',
        authored_date: '2012-09-20T11:50:22.000+03:00',
        committer_name: 'Ada',
        committer_email: 'ada@example.com',
        committed_date: '2012-09-20T11:50:22.000+03:00',
      },
      lines: ['one'],
    },
    { commit: expect.objectContaining({ id: await git('rev-parse', 'master~1') }), lines: ['TWO'] },
  ])
  const part = await forge.visitor.get(`${url}?ref=master&range[start]=2&range[end]=2`)
  expect(part.body).toMatchObject([{ lines: ['TWO'] }])

  // A push that leaves the file alone changes nothing about its lines.
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  const next = await git(...author, 'commit-tree', 'master^{tree}', '-p', 'master', '-m', 'fourth')
  await git('update-ref', 'refs/heads/next', next)
  const started = await processesOf(async () => {
    expect((await forge.visitor.get(url, { ref: 'next' })).body).toEqual(body)
  })
  expect(started.filter(([, verb]) => verb === 'blame')).toEqual([])
})

test.each([
  ['other.txt', {}, 400, '400 (Bad request) ref not given'],
  ['other.txt', { ref: 'nowhere' }, 404, '404 Commit Not Found'],
  ['nothing.txt', { ref: 'master' }, 404, '404 File Not Found'],
  ['a b', { ref: 'master' }, 404, '404 File Not Found'],
  ['../other.txt', { ref: 'master' }, 404, '404 File Not Found'],
  ['nothing.txt/raw', {}, 404, '404 File Not Found'],
  ['a b/raw', {}, 404, '404 File Not Found'],
  ['nothing.txt/blame', { ref: 'master' }, 404, '404 File Not Found'],
  ['other.txt/blame', { ref: 'nowhere' }, 404, '404 Commit Not Found'],
  [
    'other.txt/blame',
    { ref: 'master', 'range[start]': 2, 'range[end]': 1 },
    400,
    'range[start] must be less than or equal to range[end]',
  ],
  ['other.txt/blame', { ref: 'master', 'range[start]': 1 }, 400, '400 (Bad request) range[end] not given'],
] as const)('GET files/%s %j is refused', async (path, input, status, message) => {
  await using forge = await startForge()
  const { project } = await filled(forge)
  const encoded = path.replace(
    /^(.*?)(\/(raw|blame))?$/,
    (_, file: string, tail = '') => encodeURIComponent(file) + tail,
  )
  const answer = await forge.visitor.get(`/projects/${project.id}/repository/files/${encoded}`, input)
  expect(answer).toMatchObject({ status, body: { message } })
})

test('a file is created, changed and deleted', async () => {
  await using forge = await startForge()
  const { git, developer, fileUrl } = await filled(forge)
  const url = fileUrl('docs/new.md')

  const created = await developer.post(url, { branch: 'master', content: 'a\r\nb\r\n', commit_message: 'make\r\nit' })
  expect([created.status, created.body]).toEqual([201, { file_path: 'docs/new.md', branch: 'master' }])
  expect(await git('log', '-1', '--format=%an %ae %cn %B', 'master')).toBe(`Dev ${developer.email} Dev make\nit`)
  expect(await git('show', 'master:docs/new.md')).toBe('a\nb')

  const content = Buffer.from('x\r\n').toString('base64')
  const author = { author_name: 'Ada', author_email: 'ada@example.com' }
  const request = {
    branch: 'next',
    start_branch: 'master',
    content,
    encoding: 'base64',
    commit_message: 'm',
    ...author,
  }
  const changed = await developer.put(fileUrl('a b/run.sh'), request)
  expect([changed.status, changed.body]).toEqual([200, { file_path: 'a b/run.sh', branch: 'next' }])
  expect(await git('log', '-1', '--format=%an %ae %cn', 'next')).toBe('Ada ada@example.com Dev')
  expect(await git('ls-tree', 'next', 'a b/')).toMatch(/^100755 blob \w+\ta b\/run.sh$/)
  expect(await git('cat-file', '-s', 'next:a b/run.sh')).toBe('3')

  const query = new URLSearchParams({ branch: 'next', commit_message: 'gone' })
  expect((await developer.delete(`${url}?${query}`)).status).toBe(204)
  expect(await git('ls-tree', '-r', '--name-only', 'next', 'docs')).toBe('')
  expect((await forge.events()).filter((name) => name === 'repository.changed')).toHaveLength(3)

  // Outer spaces belong to the name.
  const odd = fileUrl(' odd ')
  expect((await developer.post(odd, { branch: 'master', content: 'x', commit_message: 'm' })).status).toBe(201)
  expect((await developer.get(odd, { ref: 'master' })).body.file_path).toBe(' odd ')

  // An existing file may have a name that can no longer be created.
  const old = fileUrl('ü\n%.txt')
  const edit = { branch: 'master', content: 'new', commit_message: 'm' }
  expect((await developer.put(old, edit)).status).toBe(200)
  expect((await developer.get(`${old}/raw`)).body).toBe('new')
  expect((await developer.delete(old, edit)).status).toBe(204)
  expect(await developer.post(old, edit)).toMatchObject({ status: 400, body: { message: 'Path is not valid' } })
  await git('fsck', '--strict')
})

test('an editor is told that the file is not the one they began with', async () => {
  await using forge = await startForge()
  const { git, developer, fileUrl } = await filled(forge)
  const last = await git('rev-parse', 'master~1')
  const request = { branch: 'master', content: 'mine', commit_message: 'm', last_commit_id: last }
  expect((await developer.put(fileUrl('a b/run.sh'), request)).status).toBe(200)
  const before = await git('rev-parse', 'master')
  const late = await developer.put(fileUrl('a b/run.sh'), request)
  expect([late.status, late.body]).toEqual([
    400,
    { message: 'You are attempting to update a file that has changed since you started editing it.' },
  ])
  expect(await git('rev-parse', 'master')).toBe(before)
})

test('the first file of an empty repository makes its branch', async () => {
  await using forge = await startForge()
  const { body: project } = await forge.administrator.post('/projects', { name: 'empty' })
  const request = { branch: 'main', content: 'hello\n', commit_message: 'first' }
  const actions = [{ action: 'create', file_path: 'README.md', content: 'x' }]
  const fromNowhere = { ...request, actions, start_sha: 'v1.0' }
  expect(await forge.administrator.post(`/projects/${project.id}/repository/commits`, fromNowhere)).toMatchObject({
    status: 400,
    body: { message: 'You can only create or edit files when you are on a branch' },
  })
  const { status } = await forge.administrator.post(`/projects/${project.id}/repository/files/README.md`, request)
  expect(status).toBe(201)
  expect((await forge.administrator.get(`/projects/${project.id}`)).body.default_branch).toBe('main')
  const commits = await forge.administrator.get(`/projects/${project.id}/repository/commits`)
  expect(commits.body).toMatchObject([{ title: 'first', parent_ids: [] }])

  // Waits for the background jobs of a new project.
  await forge.settle()
  expect((await forge.administrator.get(`/projects/${project.id}`, { statistics: true })).body).toMatchObject({
    readme_url: `${project.web_url}/-/blob/main/README.md`,
    statistics: { commit_count: 1, repository_size: expect.any(Number) },
  })
})

test.each([
  ['POST', 'other.txt', { content: 'x' }, 'A file with this name already exists'],
  ['POST', 'a b', { content: 'x' }, 'A directory with this name already exists'],
  ['POST', 'other.txt/below', { content: 'x' }, 'A file with this name already exists'],
  ['POST', '../x', { content: 'x' }, 'Path cannot include directory traversal'],
  ['POST', '.git/config', { content: 'x' }, 'Path is not valid'],
  ['POST', 'new', {}, '400 (Bad request) content not given'],
  ['POST', 'new', { content: 'x', branch: 'nowhere' }, 'You can only create or edit files when you are on a branch'],
  ['POST', 'new', { content: 'x', encoding: 'hex' }, 'encoding does not have a valid value'],
  ['PUT', 'nothing', { content: 'x' }, "A file with this name doesn't exist"],
  ['PUT', 'a b', { content: 'x' }, "A file with this name doesn't exist"],
  ['DELETE', 'nothing', {}, "A file with this name doesn't exist"],
  ['DELETE', 'other.txt', { commit_message: ' ' }, 'commit_message is empty'],
] as const)('%s %s %j is refused and moves nothing', async (method, path, input, message) => {
  await using forge = await startForge()
  const { git, developer, fileUrl } = await filled(forge)
  const before = [await git('for-each-ref'), await forge.events()]
  const request = { branch: 'master', commit_message: 'm', ...input }
  const answer = await developer.request(method, fileUrl(path), request)
  expect(answer).toMatchObject({ status: 400, body: { message } })
  expect([await git('for-each-ref'), await forge.events()]).toEqual(before)
})
