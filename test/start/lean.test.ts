/** What the launcher sets before a server begins, so that it needs less memory. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { Child, temporaryFolder, until } from './command.ts'

const TIMEOUT = 180_000

async function startOf(pid: number | undefined) {
  const [words, environment] = await Promise.all(
    ['cmdline', 'environ'].map(async (file) => (await readFile(`/proc/${pid}/${file}`, 'utf8')).split('\0')),
  )
  return {
    flags: words!.filter((word) => word.startsWith('--max-semi-space-size')),
    arenas: environment!.find((one) => one.startsWith('MALLOC_ARENA_MAX=')),
  }
}

test.runIf(process.platform === 'linux').each([
  [
    'few arenas and a small young generation',
    {},
    { flags: ['--max-semi-space-size=16'], arenas: 'MALLOC_ARENA_MAX=2' },
  ],
  ['the arenas that the environment asks for', { MALLOC_ARENA_MAX: '7' }, { flags: [], arenas: 'MALLOC_ARENA_MAX=7' }],
])('a server has %s', { timeout: TIMEOUT }, async (_what, environment, expected) => {
  await using folder = await temporaryFolder()
  const settings = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', ...environment }
  await using server = new Child([], settings)
  await server.url()
  expect(await startOf(server.process.pid)).toEqual(expected)
})

test.runIf(process.platform === 'linux')('so have its HTTP processes', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  const settings = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_WORKERS: '2' }
  await using server = new Child([], settings)
  await server.url()
  const workers = () => server.lines.logged.flatMap(({ msg, pid }) => (msg === 'worker process is ready' ? [pid] : []))
  await until(() => workers().length === 2)
  for (const pid of workers())
    expect(await startOf(Number(pid))).toEqual({ flags: ['--max-semi-space-size=16'], arenas: 'MALLOC_ARENA_MAX=2' })
})
