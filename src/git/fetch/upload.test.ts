import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { runGit, temporaryFolder } from '../../../test/git-origin.ts'
import { client, startGitServer, type GitServer } from '../../../test/git-server.ts'
import { advertise, protocolVersion } from './advertisement.ts'
import { GitFailed } from '../process/command.ts'
import { FLUSH, pktLine } from '../protocol/pkt-line.ts'
import { createRepository } from '../storage/repositories.ts'
import { ClientDisconnected } from '../protocol/sending.ts'
import { uploadPack } from './upload.ts'

/** Three commits on master, a tag, and internal refs to commits that nothing else reaches. */
async function fill(server: GitServer): Promise<{ hidden: string; head: string }> {
  const work = join(server.root, 'work')
  const run = (...args: string[]) => client(work, ...args)
  await client(server.root, 'init', '--quiet', '--initial-branch=master', work)
  for (const n of [1, 2, 3]) await run('commit', '--quiet', '--allow-empty', '--message', String(n))
  await run('push', '--quiet', server.http, 'master', 'master~1:refs/tags/v1')
  const head = (await run('rev-parse', 'HEAD')).output
  await run('commit', '--quiet', '--allow-empty', '--message', 'hidden')
  const hidden = (await run('rev-parse', 'HEAD')).output
  await run('push', '--quiet', server.http, 'HEAD:hidden')
  for (const name of ['keep-around/x', 'tmp/x', 'remotes/x', 'pools/x', 'merge-requests/1/head'])
    await runGit([`--git-dir=${server.dir}`, 'update-ref', `refs/${name}`, hidden])
  await runGit([`--git-dir=${server.dir}`, 'update-ref', '-d', 'refs/heads/hidden'])
  return { hidden, head }
}

async function outputOf(run: (output: Writable) => Promise<unknown>): Promise<Buffer> {
  const output = new PassThrough()
  const all = buffer(output)
  await run(output)
  output.end()
  return all
}

test.each([
  [undefined, 0],
  ['', 0],
  ['version=1', 1],
  ['version=2', 2],
  ['agent=x:version=1:version=2', 2],
  ['version=3', 0],
  ['xversion=2', 0],
  ['version=2\n', 0],
  ['version=22', 0],
])('%j is version %i', (request, version) => {
  expect(protocolVersion(request)).toBe(version)
})

describe.each(['http', 'socket'] as const)('over %s', (door) => {
  test.each(['0', '1', '2'])('version %s serves clones, and hides what is ours', async (version) => {
    await using server = await startGitServer()
    const { hidden, head } = await fill(server)
    const url = server[door]
    const speak = ['-c', `protocol.version=${version}`]
    const { output } = await client(server.root, ...speak, 'ls-remote', url)
    expect(output.split('\n').map((line) => line.split('\t')[1])).toEqual([
      'HEAD',
      'refs/heads/master',
      'refs/merge-requests/1/head',
      'refs/tags/v1',
    ])
    expect(await client(server.root, ...speak, 'clone', '--quiet', url, 'full')).toMatchObject({ code: 0 })
    const full = join(server.root, 'full')
    expect((await client(full, 'rev-parse', 'HEAD')).output).toBe(head)
    expect(await client(full, ...speak, 'fetch', '--quiet', url, hidden)).toMatchObject({ code: 0 })

    const parts = ['--depth=1', '--filter=blob:none']
    for (const part of parts) {
      const name = part.slice(2, 7)
      expect(await client(server.root, ...speak, 'clone', '--quiet', part, url, name)).toMatchObject({
        code: 0,
        words: '',
      })
      expect(await client(join(server.root, name), ...speak, 'fetch', '--quiet', '--depth=2', url)).toMatchObject({
        code: 0,
      })
    }
    expect(server.failures).toEqual([])
  })

  test('an empty repository is cloned as one', async () => {
    await using server = await startGitServer()
    expect(await client(server.root, 'clone', server[door], 'empty')).toMatchObject({ code: 0 })
    expect(server.failures).toEqual([])
  })
})

test('an archive is made of a branch', async () => {
  await using server = await startGitServer()
  await fill(server)
  const answer = await client(
    server.root,
    'archive',
    `--remote=${server.socket}`,
    '--format=tar',
    '-o',
    'x.tar',
    'master',
  )
  expect(answer).toMatchObject({ code: 0 })
  expect(existsSync(join(server.root, 'x.tar'))).toBe(true)
  const evil = await client(
    server.root,
    'archive',
    `--remote=${server.socket}`,
    '--format=zip',
    '--',
    '--output=/tmp/x',
  )
  expect(evil.code).not.toBe(0)
})

test('the refs are told in the three versions', async () => {
  await using server = await startGitServer()
  const { head } = await fill(server)
  const text = (service: 'upload-pack' | 'receive-pack', protocol?: string) =>
    outputOf((output) => advertise(server.dir, service, { protocol, output })).then((bytes) => bytes.toString())
  expect(await text('upload-pack')).toMatch(/^001e# service=git-upload-pack\n0000[0-9a-f]{4}[0-9a-f]{40} HEAD\0/)
  expect(await text('upload-pack', 'version=1')).toMatch(/^001e# service=git-upload-pack\n0000000eversion 1\n/)
  expect(await text('upload-pack', 'version=2')).toMatch(/^000eversion 2\n/)
  const push = await text('receive-pack', 'version=2')
  expect(push).toMatch(
    new RegExp(`^001f# service=git-receive-pack\n0000[0-9a-f]{4}${head} refs/heads/master\0report-status `),
  )
  expect(push).toMatch(/refs\/tags\/v1\n0000$/)
  expect(push).not.toMatch(/merge-requests|keep-around|refs\/tmp|refs\/remotes|refs\/pools/)
  expect(await text('receive-pack', 'version=1')).toContain('0000000eversion 1\n')
  const more = (hideRefs: string[]) =>
    outputOf((output) => advertise(server.dir, 'upload-pack', { output, hideRefs })).then((bytes) => bytes.toString())
  expect(await more(['refs/tags'])).not.toContain('refs/tags')
})

test('what is no repository says nothing, and is told to us', async () => {
  await using data = await temporaryFolder()
  const output = new PassThrough()
  await expect(advertise(data.path, 'upload-pack', { output })).rejects.toThrow(GitFailed)
  expect(output.read()).toBeNull()
})

const isRunning = (dir: string) =>
  readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const [words, environment] = ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8'))
      // An object reader stays open for a while and does not count here.
      return environment!.includes(`GIT_DIR=${dir}`) && !words!.includes('cat-file')
    } catch {
      return false
    }
  })

async function ends(dir: string): Promise<void> {
  for (let n = 0; n < 500 && isRunning(dir); n++) await new Promise((resolve) => setTimeout(resolve, 20))
  expect(isRunning(dir)).toBe(false)
}

describe('git ends when', () => {
  async function repository() {
    const data = await temporaryFolder()
    const dir = join(data.path, 'x.git')
    await createRepository(dir, { defaultBranch: 'master' })
    return { dir, [Symbol.asyncDispose]: () => data[Symbol.asyncDispose]() }
  }
  const silent = () => new PassThrough()

  test('the client goes away', async () => {
    await using server = await startGitServer()
    await fill(server)
    const socket = createConnection(server.socketPort, '127.0.0.1')
    socket.write(pktLine('git-upload-pack /x.git\0host=x\0'))
    await new Promise((resolve) => socket.once('data', resolve))
    expect(isRunning(server.dir)).toBe(true)
    socket.resetAndDestroy()
    await ends(server.dir)
    await expect.poll(() => server.failures).toEqual([new ClientDisconnected()])
  })

  test('its answer is not taken any more', async () => {
    await using repo = await repository()
    const output = silent()
    const served = uploadPack(repo.dir, { stateless: false, input: silent(), output })
    output.destroy()
    await expect(served).rejects.toThrow(ClientDisconnected)
    await ends(repo.dir)
  })

  test.each([
    ['its deadline comes', { deadline: 50 }],
    ['nobody says anything', { idle: 50 }],
  ])('%s', async (_when, limits) => {
    await using repo = await repository()
    const served = uploadPack(repo.dir, { stateless: false, input: silent(), output: silent(), ...limits })
    await expect(served).rejects.toMatchObject({ name: 'GitFailed', reason: 'deadline' })
    await ends(repo.dir)
  })

  test('the signal says so', async () => {
    await using repo = await repository()
    const reason = new Error('stop')
    const options = { stateless: false, input: silent(), output: silent() }
    await expect(uploadPack(repo.dir, { ...options, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const controller = new AbortController()
    const served = uploadPack(repo.dir, { ...options, signal: controller.signal })
    controller.abort(reason)
    await expect(served).rejects.toBe(reason)
    await ends(repo.dir)
  })

  test('its input breaks', async () => {
    await using repo = await repository()
    const input = silent()
    const served = uploadPack(repo.dir, { stateless: true, input, output: silent() })
    input.destroy(new Error('no gzip'))
    await expect(served).rejects.toThrow('no gzip')
    await ends(repo.dir)
  })
})

test.each([
  ['nonsense', Buffer.from('GET / HTTP/1.1\r\n')],
  ['a line cut off', Buffer.from('0032want ')],
  ['an unknown object', Buffer.concat([pktLine(`want ${'1'.repeat(40)}\n`), FLUSH, pktLine('done\n')])],
])('%s is answered by git, and by its code', async (_what, bytes) => {
  await using server = await startGitServer()
  await fill(server)
  let code = 0
  await outputOf(async (output) => {
    ;({ code } = await uploadPack(server.dir, { stateless: true, input: Readable.from([bytes]), output }))
  })
  expect(code).not.toBe(0)
})

test('a slow reader holds git up, and nothing piles up here', async () => {
  await using server = await startGitServer()
  const work = join(server.root, 'work')
  await client(server.root, 'init', '--quiet', '--initial-branch=master', work)
  await writeFile(join(work, 'big'), randomBytes(8_000_000))
  await client(work, 'add', 'big')
  await client(work, 'commit', '--quiet', '--message', 'big')
  await client(work, 'push', '--quiet', server.http, 'master')
  const head = (await client(work, 'rev-parse', 'HEAD')).output
  const request = Buffer.concat([pktLine(`want ${head} no-progress\n`), FLUSH, pktLine('done\n')])
  let most = 0
  let size = 0
  const output: Writable = new Writable({
    highWaterMark: 16_384,
    write(chunk: Buffer, _encoding, done) {
      size += chunk.length
      most = Math.max(most, output.writableLength)
      setTimeout(done, 1)
    },
  })
  expect(await uploadPack(server.dir, { stateless: true, input: Readable.from([request]), output })).toEqual({
    code: 0,
  })
  expect(size).toBeGreaterThan(7_900_000)
  expect(most).toBeLessThan(300_000)
})
