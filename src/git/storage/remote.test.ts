import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { runGit, startGitDaemon, startGitOrigin, temporaryFolder } from '../../../test/git-origin.ts'
import { resolvePublic } from '../../outbound/guard.ts'
import { UnsafeArgument } from '../process/arguments.ts'
import { mirrorFrom, splitAddress } from './remote.ts'
import { createRepository, headOf, isEmpty } from './repositories.ts'

const resolved = '127.0.0.1'

async function temporary() {
  const folder = await temporaryFolder()
  return { ...folder, dir: join(folder.path, 'x.git') }
}

const refsOf = (dir: string) => runGit([`--git-dir=${dir}`, 'for-each-ref', '--format=%(objectname) %(refname)'])

const COMMITS = [
  { branch: 'trunk', files: { 'a.txt': 'one' }, tag: 'v1' },
  { branch: 'feature/x' },
  { branch: 'trunk' },
]

test.each([
  ['http', startGitOrigin],
  ['git', startGitDaemon],
])('branches, tags and HEAD come over %s', async (_protocol, startServer) => {
  await using data = await temporary()
  await using server = await startServer()
  const { url, dir: remote } = await server.addRepository('group/x.git', ...COMMITS)
  const expected = await refsOf(remote)
  await runGit([`--git-dir=${remote}`, 'update-ref', 'refs/keep/1', 'trunk'])
  const seen: number[] = []
  await createRepository(data.dir, { defaultBranch: 'master' })

  await mirrorFrom(url, data.dir, { resolved, onProgress: (percent) => seen.push(percent) })

  expect(await refsOf(data.dir)).toBe(expected)
  expect(await headOf(data.dir)).toBe('trunk')
  expect(await runGit([`--git-dir=${data.dir}`, 'fsck', '--strict'])).toBe('')
  expect(await readFile(join(data.dir, 'config'), 'utf8')).not.toMatch(/remote|127\.0\.0\.1/)
  expect(seen.at(-1)).toBe(100)
  expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  expect(await readdir(data.path)).toEqual(['x.git'])
})

test('a second run leaves the work of the first, and asks nobody', async () => {
  await using data = await temporary()
  await using origin = await startGitOrigin()
  const { url } = await origin.addRepository('x.git', ...COMMITS)
  await mirrorFrom(url, data.dir, { resolved })
  const before = origin.requests.length
  await mirrorFrom(url, data.dir, { resolved })
  expect(origin.requests).toHaveLength(before)
})

test('an empty repository is mirrored as such; without a HEAD the likeliest branch becomes it', async () => {
  await using data = await temporary()
  await using origin = await startGitOrigin()
  await mirrorFrom((await origin.addRepository('empty.git')).url, data.dir, { resolved })
  expect(await isEmpty(data.dir)).toBe(true)

  const { url, dir } = await origin.addRepository('x.git', { branch: 'a' }, { branch: 'main' })
  await runGit([`--git-dir=${dir}`, 'update-ref', '--no-deref', 'HEAD', 'a'])
  await mirrorFrom(url, data.dir, { resolved })
  expect(await headOf(data.dir)).toBe('main')
})

describe('git goes to the address that was checked', () => {
  test('over http, whatever the name means by now', async () => {
    await using data = await temporary()
    await using target = await startGitOrigin({ host: '127.0.0.2' })
    await using wrong = await startGitOrigin({ port: target.port })
    for (const origin of [target, wrong]) await origin.addRepository('x.git', ...COMMITS)
    // The resolver of the system answers 127.0.0.1.
    for (const host of ['localhost', 'LocalHost', 'localhost.', 'not-to-be-found.invalid']) {
      const url = `http://${host}:${target.port}/x.git`
      const checked = await resolvePublic(url, { allowLocal: true, lookup: async () => [{ address: '127.0.0.2' }] })
      await mirrorFrom(url, join(data.path, host), { resolved: checked })
      expect(await headOf(join(data.path, host))).toBe('trunk')
    }
    expect(wrong.requests).toEqual([])
    expect(target.requests[0]).toMatchObject({ host: `localhost:${target.port}` })
  })

  test('over IPv6 too', async () => {
    await using data = await temporary()
    await using origin = await startGitOrigin({ host: '::1' })
    await using daemon = await startGitDaemon({ host: '::1' })
    const literal = await origin.addRepository('x.git', ...COMMITS)
    await daemon.addRepository('x.git', ...COMMITS)
    const urls = [literal.url, `http://a.invalid:${origin.port}/x.git`, `git://a.invalid:${daemon.port}/x.git`]
    for (const [n, url] of urls.entries()) {
      await mirrorFrom(url, join(data.path, `${n}`), { resolved: '::1' })
      expect(await headOf(join(data.path, `${n}`))).toBe('trunk')
    }
  })

  test('over git, and tells the daemon the name', async () => {
    await using data = await temporary()
    await using daemon = await startGitDaemon({ host: '127.0.0.2' })
    await daemon.addRepository('x.git', ...COMMITS)
    await mirrorFrom(`git://not-to-be-found.invalid:${daemon.port}/x.git`, data.dir, { resolved: '127.0.0.2' })
    expect(await headOf(data.dir)).toBe('trunk')
    expect(new Set(daemon.hosts)).toEqual(new Set([`not-to-be-found.invalid:${daemon.port}`]))
  })

  test('and to no other, were it written out', async () => {
    await using data = await temporary()
    await using origin = await startGitOrigin()
    const { url } = await origin.addRepository('x.git', ...COMMITS)
    await expect(mirrorFrom(url, data.dir, { resolved: '127.0.0.2' })).rejects.toThrow('resolved to another address')
    await expect(mirrorFrom(url, data.dir, { resolved: 'localhost' })).rejects.toThrow('resolved to no IP address')
    expect(origin.requests).toEqual([])
  })

  test('without a proxy', async () => {
    await using data = await temporary()
    await using proxy = await startGitOrigin()
    await using origin = await startGitOrigin()
    const { url } = await origin.addRepository('x.git', ...COMMITS)
    for (const name of ['http_proxy', 'ALL_PROXY', 'all_proxy']) vi.stubEnv(name, proxy.url)
    await mirrorFrom(url, data.dir, { resolved }).finally(() => vi.unstubAllEnvs())
    expect(proxy.requests).toEqual([])
  })

  test('and follows no redirect', async () => {
    await using data = await temporary()
    await using inside = await startGitOrigin()
    await inside.addRepository('x.git', ...COMMITS)
    await using origin = await startGitOrigin({ redirectTo: inside.url })
    await expect(mirrorFrom(`${origin.url}/x.git`, data.dir, { resolved })).rejects.toMatchObject({ name: 'GitFailed' })
    expect(origin.requests).toHaveLength(1)
    expect(inside.requests).toEqual([])
    expect(await readdir(data.path)).toEqual([])
  })

  test('and no alternate that a plain file server names', async () => {
    await using data = await temporary()
    await using inside = await startGitOrigin()
    const { dir } = await inside.addRepository('x.git', ...COMMITS)
    const tip = await runGit([`--git-dir=${dir}`, 'rev-parse', 'trunk'])
    const files: Record<string, string> = {
      '/x.git/info/refs': `${tip}\trefs/heads/trunk\n`,
      '/x.git/HEAD': 'ref: refs/heads/trunk\n',
      '/x.git/objects/info/http-alternates': `${inside.url}/x.git/objects\n`,
    }
    const requests: string[] = []
    const server = createServer(({ url = '' }, response) => {
      const path = url.split('?')[0]!
      requests.push(path)
      response.writeHead(files[path] ? 200 : 404).end(files[path])
    })
    await new Promise<void>((listening) => server.listen(0, resolved, listening))
    await using _server = { [Symbol.asyncDispose]: async () => void server.close().closeAllConnections() }
    const url = `http://${resolved}:${(server.address() as AddressInfo).port}/x.git`

    await expect(mirrorFrom(url, data.dir, { resolved })).rejects.toMatchObject({ name: 'GitFailed' })
    expect(requests).toContain('/x.git/objects/info/http-alternates')
    expect(inside.requests).toEqual([])
    // Without these settings, git follows the redirect.
    await runGit(['-c', 'http.followRedirects=true', 'clone', '--quiet', '--bare', url, data.dir]).catch(() => {})
    expect(inside.requests).not.toEqual([])
  })
})

describe('credentials', () => {
  const credentials = { username: 'me', password: 's3cret/@: %' }
  const commandLines = () =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        } catch {
          return ''
        }
      })

  test('open the door and are on no command line', async () => {
    await using data = await temporary()
    const lines: string[] = []
    await using origin = await startGitOrigin({ credentials, onRequest: () => lines.push(...commandLines()) })
    const { url } = await origin.addRepository('x.git', ...COMMITS)
    await mirrorFrom(url, data.dir, { resolved, credentials })
    expect(await headOf(data.dir)).toBe('trunk')
    expect(lines.filter((line) => line.includes(url))).not.toEqual([])
    expect(lines.filter((line) => /s3cret|Authorization|bWU6/.test(line))).toEqual([])
    expect(await readFile(join(data.dir, 'config'), 'utf8')).not.toMatch(/s3cret|Authorization/)
  })

  test('that are wrong or missing fail without a question, and are not told', async () => {
    await using data = await temporary()
    await using origin = await startGitOrigin({ credentials })
    const { url } = await origin.addRepository('x.git', ...COMMITS)
    for (const wrong of [null, { username: 'me', password: 'wr0ng' }]) {
      const failure: unknown = await mirrorFrom(url, data.dir, { resolved, credentials: wrong }).catch((error) => error)
      expect(failure).toMatchObject({ name: 'GitFailed', code: 128 })
      expect(JSON.stringify([failure, String(failure)])).not.toMatch(/wr0ng|Basic|bWU6/)
    }
    expect(await readdir(data.path)).toEqual([])
  })

  test('are taken out of an address', () => {
    expect(splitAddress('https://me:s3cret%2F%40%3A%20%25@Host/x.git')).toEqual({
      address: 'https://host/x.git',
      credentials,
    })
    expect(splitAddress('https://token@host/x')).toEqual({
      address: 'https://host/x',
      credentials: { username: 'token', password: '' },
    })
    expect(splitAddress('git://host/x')).toEqual({ address: 'git://host/x', credentials: null })
    expect(splitAddress('https://me:100%@host/x').credentials).toEqual({ username: 'me', password: '100%' })
    for (const bad of ['', 'host/x', 'ssh://me@host/x', 'file:///x', 'ext::x'])
      expect(() => splitAddress(bad), bad).toThrow(UnsafeArgument)
  })
})

test.each([
  'ext::sh -c touch% x',
  'file:///etc',
  '/etc',
  '--upload-pack=x',
  'ssh://127.0.0.1/x',
  'http://me:secret@127.0.0.1/x',
  'git://127.0.0.1/x%0a',
])('%s is no address to mirror from', async (url) => {
  await using data = await temporary()
  await expect(mirrorFrom(url, data.dir, { resolved })).rejects.toThrow(UnsafeArgument)
  expect(await readdir(data.path)).toEqual([])
})

describe('a fetch is given up, and leaves what was there,', () => {
  const BIG = { files: { 'big.bin': randomBytes(3_000_000) } }

  test('when it is too large in the end', async () => {
    await using data = await temporary()
    await using origin = await startGitOrigin()
    const { url } = await origin.addRepository('x.git', BIG)
    await createRepository(data.dir, { defaultBranch: 'master' })
    const fetching = mirrorFrom(url, data.dir, { resolved, maxBytes: 2_000_000 })
    await expect(fetching).rejects.toMatchObject({ name: 'Refusal', kind: 'too_large' })
    expect([await readdir(data.path), await isEmpty(data.dir)]).toEqual([['x.git'], true])
    await mirrorFrom(url, data.dir, { resolved, maxBytes: 4_000_000 })
    expect(await isEmpty(data.dir)).toBe(false)
  })

  test('when it grows too large on the way', async () => {
    await using data = await temporary()
    await using origin = await startGitOrigin({ stallAfter: 2_000_000 })
    const { url } = await origin.addRepository('x.git', BIG)
    const fetching = mirrorFrom(url, data.dir, { resolved, maxBytes: 1_000_000 })
    await expect(fetching).rejects.toMatchObject({ name: 'Refusal', kind: 'too_large' })
    expect(await readdir(data.path)).toEqual([])
  })

  test('at its deadline', async () => {
    await using data = await temporary()
    await using origin = await startGitOrigin({ stallAfter: 2_000_000 })
    const { url } = await origin.addRepository('x.git', BIG)
    const fetching = mirrorFrom(url, data.dir, { resolved, deadline: 500 })
    await expect(fetching).rejects.toMatchObject({ name: 'GitFailed', reason: 'deadline' })
    expect(await readdir(data.path)).toEqual([])
  })

  test('when nobody wants it any more', async () => {
    await using data = await temporary()
    const controller = new AbortController()
    await using origin = await startGitOrigin({
      onRequest: ({ method }) => method === 'POST' && controller.abort(new Error('no longer wanted')),
    })
    const { url } = await origin.addRepository('x.git', ...COMMITS)
    await expect(mirrorFrom(url, data.dir, { resolved, signal: controller.signal })).rejects.toThrow('no longer wanted')
    expect(await readdir(data.path)).toEqual([])
  })
})

describe('objects are checked as they come in', () => {
  type Origin = { dir: string; url: string }
  const within =
    ({ dir }: Origin) =>
    (args: string[], input?: string | Buffer) =>
      runGit([`--git-dir=${dir}`, ...args], input === undefined ? undefined : Buffer.from(input))

  /** The same repository served by git, and as files: loose, or as one pack. */
  const ways: [string, (origin: Origin) => Promise<{ url: string } & Partial<AsyncDisposable>>][] = [
    ['by a server that knows git', async ({ url }) => ({ url })],
    ['from plain files', (origin) => plainFiles(origin)],
    [
      'from plain files, packed',
      async (origin) => {
        await within(origin)(['repack', '-a', '-d', '-q'])
        return plainFiles(origin)
      },
    ],
  ]

  async function plainFiles({ dir }: Origin) {
    await runGit([`--git-dir=${dir}`, 'update-server-info'])
    const server = createServer(({ url = '' }, response) => {
      const path = url.split('?')[0]!.replace('/x.git/', '')
      readFile(join(dir, path)).then(
        (bytes) => response.end(bytes),
        () => response.writeHead(404).end(),
      )
    })
    await new Promise<void>((listening) => server.listen(0, resolved, listening))
    return {
      url: `http://${resolved}:${(server.address() as AddressInfo).port}/x.git`,
      [Symbol.asyncDispose]: async () => void server.close().closeAllConnections(),
    }
  }

  const AUTHOR = ['-c', 'user.name=x', '-c', 'user.email=x@x']

  describe.each(ways)('%s', (_way, serve) => {
    test('and what no push may bring does not come', async () => {
      await using data = await temporary()
      await using origin = await startGitOrigin()
      const repository = await origin.addRepository('x.git', ...COMMITS)
      const git = within(repository)
      const blob = await git(['rev-parse', 'trunk:a.txt'])
      const tree = await git(['mktree'], `100644 blob ${blob}\t.git\n`)
      await git(['update-ref', 'refs/heads/evil', await git([...AUTHOR, 'commit-tree', '-m', 'x', tree])])
      const { url, ...server } = await serve(repository)
      await using _server = { [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose]?.() }
      await expect(mirrorFrom(url, data.dir, { resolved })).rejects.toThrow('hasDotgit')
      expect(await readdir(data.path)).toEqual([])
    })

    test('and slips of old tools are forgiven', async () => {
      await using data = await temporary()
      await using origin = await startGitOrigin()
      const repository = await origin.addRepository('x.git', ...COMMITS)
      const git = within(repository)
      const blob = await git(['rev-parse', 'trunk:a.txt'])
      const entry = Buffer.concat([Buffer.from('0100644 a.txt\0'), Buffer.from(blob, 'hex')])
      const tree = await git(['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'], entry)
      await git(['update-ref', 'refs/heads/old', await git([...AUTHOR, 'commit-tree', '-m', 'x', tree])])
      const { url, ...server } = await serve(repository)
      await using _server = { [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose]?.() }
      await mirrorFrom(url, data.dir, { resolved })
      expect(await runGit([`--git-dir=${data.dir}`, 'rev-parse', 'old^{tree}'])).toBe(tree)
    })
  })
})
