import { randomBytes } from 'node:crypto'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { processesOf, programsOf } from '../../../../test/git-builder.ts'
import { temporaryFolder } from '../../../../test/git-origin.ts'
import { LfsClient, authorizationOf, objectOf } from '../../../../test/lfs.ts'
import { DAY, HOUR } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { launches, type Program } from '../../../git/process/launcher.ts'
import { makeArchive } from './archives.ts'

async function scene(forge: TestForge, files: Record<string, string | Buffer> = { a: 'a\n', 'b/c': 'c\n' }) {
  const owner = await forge.user()
  const { id } = await forge.project({ path: 'tower', visibility: 'public' }, owner)
  const dir = await fillProject(forge, id, { files })
  const folder = join(forge.app.config.data, 'archives')
  const ask = (query = '.tar.gz', init: RequestInit = {}) =>
    fetch(`${forge.url}/api/v4/projects/${id}/repository/archive${query}`, init)
  return { id, owner, dir, ask, kept: () => readdir(folder).catch(() => []), folder }
}

const bytesOf = async (answer: Response | Promise<Response>) => Buffer.from(await (await answer).arrayBuffer())
const archivers = (started: readonly (readonly string[])[]) => started.filter(([, verb]) => verb === 'archive')

test('an archive is made once, for all who ask for it at the same moment and later', async () => {
  await using forge = await startForge()
  const { id, owner, ask, kept } = await scene(forge)
  expect((await ask('.tar.gz', { method: 'HEAD' })).status).toBe(200)
  expect(await kept()).toEqual([])

  let [first, ...others]: Buffer[] = []
  const together = await processesOf(async () => {
    ;[first, ...others] = await Promise.all([1, 2, 3, 4].map(() => bytesOf(ask())))
  })
  expect(archivers(together)).toHaveLength(1)
  for (const other of others) expect(other.equals(first!)).toBe(true)
  await expect.poll(() => kept()).toHaveLength(1)

  const later = await processesOf(async () => {
    const again = await ask()
    expect(again.headers.get('content-length')).toBe(String(first!.length))
    expect((await bytesOf(again)).equals(first!)).toBe(true)
    const head = await ask('.tar.gz', { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(first!.length)])
    const headers = { 'If-None-Match': again.headers.get('etag')! }
    expect((await ask('.tar.gz', { headers })).status).toBe(304)
  })
  expect(archivers(later)).toEqual([])

  // Each of these is a different archive.
  const ways = ['.tar', '.tar.gz?path=b', '.tar.gz?exclude_paths=a', '.tar.gz?sha=HEAD']
  for (const way of ways) expect((await bytesOf(ask(way))).equals(first!), way).toBe(false)
  await expect.poll(() => kept()).toHaveLength(1 + ways.length)

  await owner.put(`/projects/${id}`, { visibility: 'private' })
  expect((await ask()).status).toBe(404)
})

test('large ones too, and what Git LFS has got since is in the next', async () => {
  await using forge = await startForge()
  const film = objectOf('a film\n')
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${film.oid}\nsize ${film.size}\n`
  const { id, ask, kept } = await scene(forge, {
    'a.bin': randomBytes(3_000_000),
    'x.mp4': pointer,
    '.gitattributes': '*.mp4 filter=lfs\n',
  })
  const [one, two] = await Promise.all([bytesOf(ask('.tar')), bytesOf(ask('.tar'))])
  expect([one.length > 3_000_000, one.equals(two), one.includes(pointer)]).toEqual([true, true, true])
  await expect.poll(() => kept()).toHaveLength(1)
  expect((await bytesOf(ask('.tar'))).equals(one)).toBe(true)

  const { path_with_namespace: path } = (await forge.administrator.get(`/projects/${id}`)).body
  await new LfsClient(forge, path, authorizationOf(forge.administrator)).put(film)
  const filled = await bytesOf(ask('.tar'))
  expect([filled.includes('a film'), filled.includes(pointer)]).toEqual([true, false])
  expect((await bytesOf(ask('.tar?include_lfs_blobs=false'))).includes(pointer)).toBe(true)
})

test('who gives up ends git, and nothing of it is kept or told to others', async () => {
  await using forge = await startForge()
  const { ask, kept } = await scene(forge, { 'a.bin': randomBytes(8_000_000) })
  const started = await programsOf(async () => {
    const reader = (await ask('.zip')).body!.getReader()
    await reader.read()
    await reader.cancel()
  })
  const [git] = started.filter(({ words }) => words[1] === 'archive')
  await expect.poll(() => git!.exitCode ?? git!.signalCode).not.toBeNull()

  // Killing git in the middle cuts off the answer.
  const kill = (program: unknown) => {
    const { words, signal } = program as Program
    if (words[1] === 'archive') setTimeout(() => signal.call(program, 'SIGKILL'), 20)
  }
  launches.subscribe(kill)
  try {
    await expect(bytesOf(ask('.tar.bz2'))).rejects.toThrow(/terminated|fetch failed/)
  } finally {
    launches.unsubscribe(kill)
  }
  await expect.poll(() => kept()).toEqual([])
})

test('what is too large is not kept, and told to all of them nevertheless', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, '1-x')
  const whole = randomBytes(1_000_000)
  const made: Readable[] = []
  const make = () => {
    const chunks = Array.from({ length: 100 }, (_, n) => whole.subarray(n * 10_000, (n + 1) * 10_000))
    made.push(Readable.from(chunks, { objectMode: false }))
    return made.at(-1)!
  }
  const read = (limits: { largest: number; files: number; bytes: number }) =>
    Promise.all([1, 2, 3].map(() => buffer(makeArchive(file, make, limits))))
  const roomy = { largest: 2_000_000, files: 10, bytes: 10_000_000 }
  for (const limits of [
    { ...roomy, largest: 400_000 },
    { ...roomy, bytes: 1_000_000 },
    { ...roomy, files: 0 },
  ]) {
    made.length = 0
    for (const bytes of await read(limits)) expect(bytes.equals(whole)).toBe(true)
    expect(made).toHaveLength(3)
    expect(made.every(({ destroyed }) => destroyed)).toBe(true)
    await expect.poll(() => readdir(folder.path)).toEqual([])
  }
  made.length = 0
  for (const bytes of await read(roomy)) expect(bytes.equals(whole)).toBe(true)
  expect(made).toHaveLength(1)
  expect(await readdir(folder.path)).toEqual(['1-x'])

  // The least recently used archive is deleted for the next one.
  await buffer(makeArchive(join(folder.path, '1-y'), make, { ...roomy, bytes: 2_500_000 }))
  expect(await readdir(folder.path)).toEqual(['1-y'])

  // A reader that leaves a silent archive also ends it.
  const silent = new Readable({ read() {} })
  silent.push('begun')
  const stream = makeArchive(file, () => silent, roomy)
  stream.once('data', () => setTimeout(() => stream.destroy(), 50))
  await expect.poll(() => silent.destroyed).toBe(true)
  await expect.poll(() => readdir(folder.path)).toEqual(['1-y'])
})

test('what nobody asks for goes after a day, and with its project', async () => {
  await using forge = await startForge()
  const { id, ask, kept, folder } = await scene(forge)
  const other = await scene(forge)
  for (const one of [ask(), ask('.zip'), other.ask()]) await bytesOf(one)
  await expect.poll(() => kept()).toHaveLength(3)
  const left = join(folder, `${id}-x.0.new`)
  await writeFile(left, 'half')
  const long = new Date(forge.clock.now().getTime() - 2 * DAY)
  await utimes(left, long, long)

  forge.clock.advance(20 * HOUR)
  await forge.settle()
  expect(await kept()).toHaveLength(3)
  await bytesOf(ask())
  await other.owner.delete(`/projects/${other.id}`)
  forge.clock.advance(10 * HOUR)
  await forge.settle()
  const [last, ...more] = await kept()
  expect([last!.startsWith(`${id}-`), more]).toEqual([true, []])
  expect(archivers(await processesOf(() => bytesOf(ask())))).toEqual([])
})
