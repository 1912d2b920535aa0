import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { runGit, temporaryFolder } from '../../../test/git-origin.ts'
import { address, folder } from './arguments.ts'
import { buffer } from 'node:stream/consumers'
import { git, gitBytes, GitFailed, gitStream } from './command.ts'
import { createRepository, setHead } from '../storage/repositories.ts'

const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'

/** With an alias, git runs any script of a test. */
const script = (text: string) => ({ config: { 'alias.run': `!${text}` } })

const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))

test('answers what git wrote, and gives it its input', async () => {
  expect(await git(null, ['version'])).toMatch(/^git version \d/)
  expect(await git(null, ['hash-object', '--stdin'], { input: 'hello\n' })).toBe(
    'ce013625030ba8dba906f756967f9e9ca394464a\n',
  )
  const bytes = new Uint8Array(5_000_000).fill(120)
  expect(await git(null, ['stripspace'], { input: bytes })).toHaveLength(5_000_001)
})

test('bytes come as they are', async () => {
  expect(await gitBytes(null, ['run'], script('printf "\\\\377\\\\000"'))).toEqual(Buffer.of(255, 0))
})

describe('a stream', () => {
  test('is read to its end, whatever its length', async () => {
    expect(await buffer(gitStream(null, ['run'], script('head -c 30000000 /dev/zero')))).toHaveLength(30_000_000)
  })

  test('fails when git does, be all of its output read or none', async () => {
    const failing = gitStream(null, ['run'], script('echo some; echo fatal: no >&2; exit 3'))
    await expect(buffer(failing)).rejects.toMatchObject({ name: 'GitFailed', reason: 'exit', code: 3 })
    const slow = gitStream(null, ['run'], { ...script('yes'), deadline: 200 })
    const failed = new Promise((resolve) => slow.once('error', resolve))
    expect(await failed).toMatchObject({ reason: 'deadline' })
    await expect(buffer(gitStream('/nowhere', ['version']))).rejects.toMatchObject({ reason: 'start' })
  })

  test('ends git when it is given up', async () => {
    await using data = await temporaryFolder()
    const file = join(data.path, 'pid')
    const stream = gitStream(null, ['run'], script(`echo $$ > ${file}; echo go; sleep 60 & wait`))
    await new Promise((resolve) => stream.once('data', resolve))
    stream.destroy()
    await expect.poll(() => isAlive(Number(readFileSync(file, 'utf8')))).toBe(false)
  })
})

test("a stream is fed to git; its failure is the command's, and what git does not read is let go", async () => {
  const hash = (input: Readable) => git(null, ['hash-object', '--stdin'], { input })
  expect(await hash(Readable.from(['hel', 'lo\n']))).toBe('ce013625030ba8dba906f756967f9e9ca394464a\n')
  async function* breaking(): AsyncGenerator<string> {
    yield 'half'
    throw new Error('cut off')
  }
  await expect(hash(Readable.from(breaking()))).rejects.toThrow('cut off')
  const endless = new Readable({ read() {} })
  expect(await git(null, ['version'], { input: endless })).toMatch(/^git version/)
  expect(endless.destroyed).toBe(true)
})

test('a setting may have several values, and an exit code be an answer', async () => {
  const config = { 'x.many': ['1', '2'], 'x.one': '3' }
  expect(await git(null, ['config', '--get-all', 'x.many'], { config })).toBe('1\n2\n')
  await expect(git(null, ['config', 'x.none'], { config })).rejects.toThrow(GitFailed)
  expect(await git(null, ['config', 'x.none'], { config, answers: [1] })).toBe('')
})

test('more input than a command reads is no failure', async () => {
  expect(await git(null, ['version'], { input: 'x'.repeat(1_000_000) })).toMatch(/^git version/)
})

test('nothing of the environment or the configuration around it reaches git', async () => {
  await using home = await temporaryFolder()
  await writeFile(join(home.path, '.gitconfig'), '[alias]\n\tmine = version\n')
  vi.stubEnv('HOME', home.path)
  vi.stubEnv('GIT_DIR', home.path)
  vi.stubEnv('http_proxy', 'http://proxy')
  vi.stubEnv('GIT_TRACE', '1')
  vi.stubEnv('GIT_CONFIG_GLOBAL', join(home.path, '.gitconfig'))
  try {
    const lines = (await git(null, ['run'], script('env'))).trim().split('\n')
    const names = lines.map((line) => line.split('=')[0]!)
    const ownOfGitAndShell = /^(GIT_CONFIG_(KEY_|VALUE_|COUNT)|GIT_EXEC_PATH$|GIT_PREFIX$|(OLD)?PWD$|SHLVL$|_$)/
    expect(names.filter((name) => !ownOfGitAndShell.test(name)).toSorted()).toEqual(
      `GIT_ALLOW_PROTOCOL GIT_ATTR_NOSYSTEM GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_LITERAL_PATHSPECS
      GIT_NO_REPLACE_OBJECTS GIT_TERMINAL_PROMPT HOME LC_ALL PATH`.split(/\s+/),
    )
    await expect(git(null, ['mine'])).rejects.toThrow("'mine' is not a git command")
  } finally {
    vi.unstubAllEnvs()
  }
})

test("a repository's hooks do not run", async () => {
  await using data = await temporaryFolder()
  const dir = join(data.path, 'x.git')
  const ran = join(data.path, 'ran')
  await createRepository(dir, { defaultBranch: 'master' })
  await mkdir(join(dir, 'hooks'))
  await writeFile(join(dir, 'hooks/reference-transaction'), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 })
  await git(dir, ['hash-object', '-w', '--stdin'], { input: '' })
  await git(dir, ['update-ref', 'refs/tags/one', EMPTY_BLOB])
  expect(existsSync(ran)).toBe(false)
  await runGit([`--git-dir=${dir}`, 'update-ref', 'refs/tags/two', EMPTY_BLOB])
  expect(existsSync(ran)).toBe(true)
})

test('it looks for no repository in the folders above', async () => {
  await using data = await temporaryFolder()
  await runGit(['init', '--quiet', '--bare', data.path])
  await expect(git(join(data.path, 'refs'), ['rev-parse', '--git-dir'])).rejects.toThrow('not a git repository')
})

test.each([
  ['http', 'http://127.0.0.1:1/x'],
  ['git', 'git://127.0.0.1:1/x'],
] as const)('%s is spoken only when asked for', async (protocol, url) => {
  const reached = (options: object) => git(null, ['ls-remote', address(url)], options)
  await expect(reached({})).rejects.toThrow(`transport '${protocol}' not allowed`)
  await expect(reached({ protocol: 'https' })).rejects.toThrow(`transport '${protocol}' not allowed`)
  await expect(reached({ protocol })).rejects.not.toThrow('not allowed')
})

test.each(['ext::sh -c touch% x', 'file:///', 'ssh://127.0.0.1/x'] as const)('%s is never spoken', async (url) => {
  for (const protocol of ['http', 'https', 'git'] as const)
    await expect(git(null, ['ls-remote', url], { protocol })).rejects.toThrow(/transport '\w+' not allowed/)
})

describe('a command that fails', () => {
  test('says how, with the end of what it said', async () => {
    const failed = git(null, ['run'], script('echo fatal: no >&2; exit 3'))
    await expect(failed).rejects.toBeInstanceOf(GitFailed)
    await expect(failed).rejects.toMatchObject({
      message: 'git run ended with 3: fatal: no',
      reason: 'exit',
      code: 3,
      stderr: 'fatal: no',
    })
    const long = git(null, ['run'], script('yes no | head -c 100000 >&2; echo last >&2; exit 1'))
    await expect(long).rejects.toMatchObject({ stderr: expect.stringMatching(/^[^]{3000,5000}last$/) })
  })

  test('shows no credentials', async () => {
    const url = 'https://me:s3cret@host/x and http://s3cret@host/y'
    const failed = git(null, ['run'], script(`echo "cannot read ${url}" >&2; exit 1`))
    await expect(failed).rejects.toMatchObject({
      message: 'git run ended with 1: cannot read https://host/x and http://host/y',
      stderr: 'cannot read https://host/x and http://host/y',
    })
    const cut = git(null, ['run'], script('printf "https://me:s3cret@host/%04081d" 0 >&2; exit 1'))
    await expect(cut).rejects.toMatchObject({ stderr: expect.not.stringContaining('ret') })
  })

  test('may not even start', async () => {
    await expect(git('/nowhere', ['version'])).rejects.toMatchObject({ name: 'GitFailed', reason: 'start', code: null })
  })
})

describe('a command is ended with all it has started', () => {
  const linger = (file: string) => script(`sleep 600 & echo $! > ${file}; wait`)
  /** 0 if the process was ended before it wrote its id. */
  const pidIn = (file: string) => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0)

  test('at its deadline', async () => {
    await using data = await temporaryFolder()
    const file = join(data.path, 'pid')
    const slow = git(null, ['run'], { ...linger(file), deadline: 300 })
    await expect(slow).rejects.toMatchObject({ reason: 'deadline', message: 'git run took too long' })
    await expect.poll(() => isAlive(pidIn(file))).toBe(false)
  })

  test('even when it will not listen', async () => {
    await using data = await temporaryFolder()
    const file = join(data.path, 'pid')
    const stubborn = script(`trap "" TERM; echo $$ > ${file}; while :; do sleep 1; done`)
    await expect(git(null, ['run'], { ...stubborn, deadline: 200 })).rejects.toMatchObject({ reason: 'deadline' })
    await expect.poll(() => isAlive(pidIn(file))).toBe(false)
  })

  test('when it says too much', async () => {
    const endless = git(null, ['run'], { ...script('yes'), maxOutput: 1_000_000 })
    await expect(endless).rejects.toMatchObject({ reason: 'output' })
    const exact = script('head -c 1000 /dev/zero')
    expect(await git(null, ['run'], { ...exact, maxOutput: 1000 })).toHaveLength(1000)
    await expect(git(null, ['run'], { ...exact, maxOutput: 999 })).rejects.toMatchObject({ reason: 'output' })
  })

  test('when its caller gives up, who then gets the reason back', async () => {
    await using data = await temporaryFolder()
    const file = join(data.path, 'pid')
    const controller = new AbortController()
    const running = git(null, ['run'], { ...linger(file), signal: controller.signal })
    await expect.poll(() => pidIn(file)).toBeGreaterThan(0)
    controller.abort(new Error('no longer wanted'))
    await expect(running).rejects.toThrow('no longer wanted')
    await expect.poll(() => isAlive(pidIn(file))).toBe(false)
    await expect(git(null, ['version'], { signal: controller.signal })).rejects.toThrow('no longer wanted')
  })
})

test('configuration of a command is not on its command line', async () => {
  const line = await git(null, ['run'], {
    config: { 'alias.run': '!tr "\\0" " " < /proc/$PPID/cmdline', 'http.extraHeader': 'Authorization: s3cret' },
  })
  expect(line).toMatch(/^git run/)
  expect(line).not.toContain('s3cret')
})

test('a folder named like an option stays a folder', async () => {
  await using data = await temporaryFolder()
  await git(null, ['init', '--bare', '--quiet', folder(join(data.path, '--template=x'))])
  await setHead(join(data.path, '--template=x'), 'main')
  expect(readFileSync(join(data.path, '--template=x', 'HEAD'), 'utf8')).toBe('ref: refs/heads/main\n')
})
