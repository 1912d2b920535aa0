/** Past denial-of-service attacks by a single request: nobody waits, and memory does not grow. */
import { randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { trailersIn } from '../src/features/repository/commits/trailers.ts'
import { recogniseLicense } from '../src/features/instance/templates/recognition.ts'
import { withoutMarkup } from '../src/features/identity/users/validation.ts'
import { startForge, type TestForge } from '../src/forge.ts'
import { repositoryDir } from '../src/features/projects/repositories/repository.ts'
import { findProject } from '../src/features/projects/projects/queries.ts'
import { signature } from '../src/git/objects/building.ts'
import { Limiter } from '../src/lib/async/limiter.ts'
import { longestStall, startEffort } from './effort.ts'
import { runGit } from './git-origin.ts'

const KB = 1024
const MB = 1024 * KB

/** The status for a body that never ends. */
async function unended(forge: TestForge, path: string, headers: Record<string, string>, body: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = httpRequest(`${forge.url}${path}`, { method: 'POST', headers }, (response) => {
    resolve(response.statusCode!)
    response.resume()
  })
  request.on('error', reject)
  request.write(body)
  try {
    return await promise
  } finally {
    request.destroy()
  }
}

describe('bodies', () => {
  const multipart = { 'Content-Type': 'multipart/form-data; boundary=b' }
  const json = { 'Content-Type': 'application/json' }
  const field = '--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n'

  test.each([
    ['fields', '/api/v4/session', multipart, field],
    ['JSON', '/api/v4/session', json, '{"login":"'],
    ['a form', '/api/v4/session', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'login='],
    ['fields for a token', '/oauth/token', multipart, field],
    ['JSON for a token', '/oauth/token', json, '{"code":"'],
    ['fields of a page', '/users/sign_in', multipart, field],
    ['JSON for a route that needs a caller', '/api/v4/projects', json, '{"name":"'],
  ])('%s of a stranger are kept up to 64 KB', async (_what, path, head, begin) => {
    await using forge = await startForge()
    expect(await unended(forge, path, head, begin + 'x'.repeat(128 * KB))).toBe(413)
  })

  test('fields of a caller are kept up to 2 MB, and more where an endpoint declares it', async () => {
    await using forge = await startForge()
    const known = { 'PRIVATE-TOKEN': forge.administrator.token }
    for (const [head, begin] of [
      [{ ...multipart, ...known }, field],
      [{ ...json, ...known }, '{"description":"'],
    ] as const) {
      expect(await unended(forge, '/api/v4/projects', head, begin + 'x'.repeat(4 * MB))).toBe(413)
    }
    const many = new FormData()
    for (let n = 0; n < 50; n++) many.set(`field${n}`, 'x'.repeat(100 * KB))
    expect((await forge.administrator.post('/projects', many)).status).toBe(413)

    const { body: project } = await forge.administrator.post('/projects', { name: 'large', path: 'large' })
    const content = 'x'.repeat(9 * MB)
    const actions = [{ action: 'create', file_path: 'a', content }]
    const options = { branch: 'master', commit_message: 'large', actions }
    expect((await forge.administrator.post(`/projects/${project.id}/repository/commits`, options)).status).toBe(201)
    const page = { title: 'long', content: 'x'.repeat(4 * MB) }
    expect((await forge.administrator.post(`/projects/${project.id}/wikis`, page)).status).toBe(201)
  })

  test('a text has an end', async () => {
    await using forge = await startForge()
    const { status, body } = await forge.administrator.post('/projects', { name: '-'.repeat(100_000) })
    const fault = 'name is too long (maximum is 16384 characters)'
    expect([status, body]).toEqual([400, { message: fault, error: fault }])
  })
})

describe('texts that once kept everybody waiting', () => {
  const many = 60_000
  test.each<[string, () => unknown]>([
    ['trailers', () => trailersIn(`x\n\n${'a:b\n'.repeat(many)}`)],
    ['blanks in a trailer', () => trailersIn(`x\n\na:${' '.repeat(many)}\rb`)],
    ['a license of carriage returns', () => recogniseLicense('\r'.repeat(many))],
    [
      'blanks in a name',
      () => signature({ name: `a${' '.repeat(many)}b`, email: `a${'.'.repeat(many)}b`, date: new Date() }),
    ],
    ['markup that never ends', () => withoutMarkup('<'.repeat(many))],
  ])('%s', async (_what, work) => {
    const effort = startEffort()
    await work()
    expect(effort()).toBeLessThan(1000)
  })

  test('commits of many or deep paths', async () => {
    await using forge = await startForge()
    const { administrator: root } = forge
    const { body: project } = await root.post('/projects', { name: 'p', path: 'p' })
    const commit = (actions: unknown[]) =>
      longestStall(() =>
        root.post(`/projects/${project.id}/repository/commits`, { branch: 'master', commit_message: 'x', actions }),
      )
    const create = (file_path: string) => ({ action: 'create', file_path, content: '' })
    const folders = (count: number) => 'd/'.repeat(count)
    const tried: [string, unknown[], number][] = [
      ['one of 8,000 folders', [create(`${folders(8000)}x`)], 400],
      ['invalid ones', Array.from({ length: 5000 }, (_, n) => ({ action: 'chmod', file_path: `f${n}` })), 400],
      ['too many', Array.from({ length: 100_000 }, () => ({})), 400],
      ['files side by side', Array.from({ length: 3000 }, (_, n) => create(`side/${n}`)), 201],
      ['deep files', Array.from({ length: 300 }, (_, n) => create(`deep/${folders(200)}${n}`)), 201],
    ]
    for (const [what, actions, expected] of tried) {
      const { answer, stall } = await commit(actions)
      expect([what, answer.status]).toEqual([what, expected])
      expect(stall, what).toBeLessThan(500)
    }
  })
})

describe('answers', () => {
  async function stage(forge: TestForge) {
    const { administrator: root } = forge
    const { body: project } = await root.post('/projects', { name: 'p', path: 'p', initialize_with_readme: true })
    const dir = repositoryDir(forge.app, (await findProject(forge.app.db, project.path_with_namespace))!)
    return {
      root,
      base: `/projects/${project.id}`,
      git: (args: string[], input?: Buffer) => runGit([`--git-dir=${dir}`, ...args], input),
    }
  }

  test('a page of a listing without end is a page', async () => {
    await using forge = await startForge()
    const { root, base, git } = await stage(forge)
    const blob = await git(['hash-object', '-w', '--stdin'], Buffer.from('x'))
    let tree = await git(['mktree'], Buffer.from(`100644 blob ${blob}\tx\n`))
    for (let level = 0; level < 8; level++) {
      const lines = 'abcdefgh'.split('').map((name) => `040000 tree ${tree}\t${name}\n`)
      tree = await git(['mktree'], Buffer.from(lines.join('')))
    }
    const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
    const commit = await git([...author, 'commit-tree', '-m', 'bomb', tree])
    await git(['update-ref', 'refs/heads/bomb', commit])

    const list = (more: object) =>
      longestStall(() => root.get(`${base}/repository/tree`, { ref: 'bomb', recursive: true, per_page: 2, ...more }))
    const { answer, stall } = await list({})
    expect(answer.status).toBe(200)
    expect(answer.body.map(({ path }: { path: string }) => path)).toEqual(['a', 'a/a'])
    expect(Number(answer.headers.get('x-total'))).toBe(1_000_000)
    expect(stall).toBeLessThan(300)
    const { answer: last } = await list({ page: 500_000 })
    expect(last.body).toMatchObject([{ type: 'blob' }, { type: 'blob' }])
    const { answer: keyed } = await list({ pagination: 'keyset' })
    expect(keyed.body.map(({ path }: { path: string }) => path)).toEqual(['a', 'a/a'])
    expect(keyed.headers.get('link')).toContain('page_token=')
  })

  test('the lines of a file are told as far as they are asked for', async () => {
    await using forge = await startForge()
    const { root, base } = await stage(forge)
    const content = 'x\n'.repeat(300_000)
    const options = { branch: 'master', commit_message: 'long', content }
    expect((await root.post(`${base}/repository/files/long`, options)).status).toBe(201)
    const all = await root.get(`${base}/repository/files/long/blame`, { ref: 'master' })
    expect([all.status, all.body]).toEqual([422, { message: 'The file is too long: ask for a range of lines' }])
    const range = { 'range[start]': 299_999, 'range[end]': 300_000 }
    const some = await root.get(`${base}/repository/files/long/blame`, { ref: 'master', ...range })
    expect(some.body).toMatchObject([{ lines: ['x', 'x'] }])
  })

  test('the pages of a wiki are written as they are read', async () => {
    await using forge = await startForge()
    const { root, base } = await stage(forge)
    // Each of its characters takes six in JSON.
    const content = '\x01'.repeat(MB)
    for (let n = 0; n < 10; n++) await root.post(`${base}/wikis`, { title: `page ${n}`, content })
    const { answer, stall } = await longestStall(() =>
      fetch(`${forge.url}/api/v4${base}/wikis?with_content=1`, { headers: { 'PRIVATE-TOKEN': root.token } }),
    )
    expect(answer.headers.get('content-length')).toBeNull()
    const pages = (await answer.json()) as { slug: string; content: string }[]
    expect(pages.map(({ slug }) => slug)).toEqual(Array.from({ length: 10 }, (_, n) => `page-${n}`))
    expect(pages.every((page) => page.content === content)).toBe(true)
    expect(stall).toBeLessThan(500)
  })
})

describe('git processes', () => {
  test('those who do not read an archive hold no more than their share', async () => {
    await using forge = await startForge()
    const { administrator: root } = forge
    const patience = 200
    const download = new Limiter({ perCaller: 2, inAll: 4, waitingPerCaller: 3, waitingInAll: 10, patience })
    Object.assign(forge.app, { limiters: { ...forge.app.limiters, download } })
    const { body: project } = await root.post('/projects', { name: 'p', path: 'p', visibility: 'public' })
    const content = randomBytes(6 * MB).toString('base64')
    const options = { branch: 'master', commit_message: 'large', content, encoding: 'base64' }
    expect((await root.post(`/projects/${project.id}/repository/files/large`, options)).status).toBe(201)

    const address = `${forge.url}/api/v4/projects/${project.id}/repository/archive.tar?exclude_paths=`
    const answers: { status: number; retry: string | undefined }[] = []
    const requests = Array.from({ length: 8 }, (_, n) => {
      const request = httpRequest(address + n, (response) => {
        // The body is never read.
        answers.push({ status: response.statusCode!, retry: response.headers['retry-after'] })
      })
      request.on('error', () => {})
      return request.end()
    })
    while (answers.length < requests.length) await sleep(20)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(6)
    expect(refused.every(({ retry }) => Number(retry) >= 1)).toBe(true)
    const archive = `/projects/${project.id}/repository/archive.tar`
    expect((await root.get(archive)).status).toBe(200)

    for (const request of requests) request.destroy()
    await expect
      .poll(async () => {
        const answer = await fetch(address)
        // A running request would keep the forge from closing.
        await answer.body?.cancel()
        return answer.status
      })
      .toBe(200)
  })
})
