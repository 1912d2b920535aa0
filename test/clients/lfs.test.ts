/** The real git-lfs against a forge, alone and as a part of push and clone. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { startForge } from '../../src/forge.ts'

const run = promisify(execFile)

/** A working copy with two big files in its only commit. */
async function openCopy(remote: string) {
  const dir = await mkdtemp(join(tmpdir(), 'mortise-lfs-'))
  const env = { ...process.env, HOME: dir, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' }
  const git = async (...args: string[]) => (await run('git', ['-C', dir, ...args], { env })).stdout
  await git('init', '--quiet')
  await git('config', 'user.name', 'A')
  await git('config', 'user.email', 'a@example.com')
  await git('lfs', 'install')
  await git('lfs', 'track', '*.bin')
  await writeFile(join(dir, 'a.bin'), randomBytes(3_000_000))
  await writeFile(join(dir, 'empty.bin'), '')
  await writeFile(join(dir, 'b.bin'), 'hello')
  await git('add', '.')
  await git('commit', '--quiet', '--message', 'one')
  await git('remote', 'add', 'origin', remote)
  return { dir, git, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) }
}

test('git-lfs sends and fetches objects and keeps locks', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  const kate = await forge.user({ username: 'kate' })
  const project = await forge.project({ path: 'art', visibility: 'public' }, jane)
  const addressFor = (user: string) => `${forge.url.replace('//', `//${user}@`)}/jane/art.git`
  await using copy = await openCopy(addressFor(`jane:${jane.token}`))
  const { dir, git } = copy
  const oids = (await git('lfs', 'ls-files', '--long'))
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[0]!)

  await git('lfs', 'push', '--object-id', 'origin', ...oids)
  await git('lfs', 'push', '--object-id', 'origin', ...oids)
  const { body } = await jane.get(`/projects/${project.id}`, { statistics: true })
  expect(body.statistics.lfs_objects_size).toBe(3_000_005)

  const whole = await readFile(join(dir, 'a.bin'))
  for (const remote of [addressFor(`jane:${jane.token}`), project.http_url_to_repo]) {
    await git('remote', 'set-url', 'origin', remote)
    await rm(join(dir, '.git', 'lfs', 'objects'), { recursive: true })
    await rm(join(dir, 'a.bin'))
    await git('checkout', '--', 'a.bin')
    expect((await readFile(join(dir, 'a.bin'))).equals(whole)).toBe(true)
  }

  await git('remote', 'set-url', 'origin', addressFor(`jane:${jane.token}`))
  await git('lfs', 'lock', 'a.bin')
  expect(await git('lfs', 'locks', '--verify')).toMatch(/^O a\.bin\s+jane\s+ID:\d+/)
  await git('remote', 'set-url', 'origin', addressFor(`kate:${kate.token}`))
  expect(await git('lfs', 'locks')).toMatch(/^a\.bin\s+jane\s+ID:\d+/)
  await expect(git('lfs', 'unlock', 'a.bin', '--force')).rejects.toThrow('You have no permissions')
  await expect(git('lfs', 'push', '--object-id', 'origin', oids[0]!)).rejects.toThrow('Access forbidden')
  await git('remote', 'set-url', 'origin', addressFor(`jane:${jane.token}`))
  await git('lfs', 'unlock', 'a.bin')
  expect(await git('lfs', 'locks')).toBe('')
})

test('big files go with a push and come with a clone', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  await forge.project({ path: 'art' }, jane)
  const remote = `${forge.url.replace('//', `//jane:${jane.token}@`)}/jane/art.git`
  await using copy = await openCopy(remote)
  await copy.git('push', '--quiet', 'origin', 'HEAD:refs/heads/master')
  await copy.git('clone', '--quiet', remote, 'clone')
  for (const file of ['a.bin', 'b.bin', 'empty.bin']) {
    const sent = await readFile(join(copy.dir, file))
    expect((await readFile(join(copy.dir, 'clone', file))).equals(sent), file).toBe(true)
  }
  await copy.git('-C', 'clone', 'lfs', 'fsck')
})
