/** Read-only mode as real processes. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { Child, run, temporaryFolder, until } from './command.ts'

const TIMEOUT = 300_000
const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const REFUSED = { message: '403 Forbidden - the instance is read-only' }

/** What the database holds, without the registry of processes. */
async function digestOf(folder: string): Promise<string> {
  const file = join(folder, 'mortise.sqlite')
  const store = await openStore(`sqlite:${file}`, { durable: false, shared: false, poolSize: 2, readOnly: true })
  try {
    const digest = createHash('sha256')
    for (const { name, isView } of await store.db.introspection.getTables())
      if (!isView && name !== 'processes' && !name.includes('_search'))
        digest.update(
          JSON.stringify([
            name,
            await store.db
              .selectFrom(name as 'users')
              .selectAll()
              .execute(),
          ]),
        )
    return digest.digest('hex')
  } finally {
    await store.close()
  }
}

test(
  'several processes serve a copy, refuse every write and leave the data as it was',
  { timeout: TIMEOUT },
  async () => {
    await using folder = await temporaryFolder()
    const settings = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_ROOT_TOKEN }
    const headers = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN }
    {
      await using first = new Child(['serve'], settings)
      const url = await first.url()
      const made = await fetch(`${url}/api/v4/projects?name=one`, { method: 'POST', headers })
      expect(made.status).toBe(201)
      first.process.kill('SIGTERM')
      expect(await first.ended()).toBe(0)
    }
    const before = await digestOf(folder.path)
    for (const [args, more] of [
      [['serve', '--read-only'], {}],
      [['serve', '--workers', '2'], { MORTISE_READ_ONLY: 'on' }],
    ] as const) {
      await using server = new Child([...args], { ...settings, ...more })
      const url = await server.url()
      await until(() => server.stdout.includes('The instance is read-only'))
      for (let n = 0; n < 8; n++) {
        // A connection of its own each time, so that every process is asked.
        const close = { ...headers, Connection: 'close' }
        const read = await fetch(`${url}/api/v4/projects/root%2Fone`, { headers: close })
        expect(read.status).toBe(200)
        const write = await fetch(`${url}/api/v4/projects?name=two`, { method: 'POST', headers: close })
        expect([write.status, await write.json()]).toEqual([403, REFUSED])
      }
      server.process.kill('SIGTERM')
      expect(await server.ended()).toBe(0)
    }
    expect(await digestOf(folder.path)).toBe(before)

    const user = await run(['user', 'create', 'ada', '--email', 'ada@example.com'], {
      ...settings,
      MORTISE_READ_ONLY: 'on',
    })
    expect([user.code, user.stderr]).toEqual([1, `mortise: ${REFUSED.message}\n`])
    const migrated = await run(['migrate'], { ...settings, MORTISE_READ_ONLY: 'on' })
    expect([migrated.code, migrated.stdout]).toEqual([0, 'database is up to date\n'])
  },
)

test('no instance, and a runner, stop the start with one line', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'none')
  const settings = { MORTISE_DATA: data, MORTISE_PORT: '0' }
  for (const more of [[], ['--workers', '2']])
    expect(await run(['serve', '--read-only', ...more], settings)).toMatchObject({
      code: 1,
      stderr: `mortise: ${data} holds no instance\n`,
    })
  expect(await run(['serve', '--read-only', '--runner', 'shell'], settings)).toMatchObject({
    code: 2,
    stderr: 'mortise: --runner cannot be used with --read-only\n',
  })
  expect(await run(['serve'], { ...settings, MORTISE_READ_ONLY: 'yes' })).toMatchObject({
    code: 1,
    stderr: 'mortise: MORTISE_READ_ONLY (--read-only) must be one of on, off\n',
  })
  expect(existsSync(data)).toBe(false)
})
