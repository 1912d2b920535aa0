import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { listMigrations, runMigrations } from '../../src/store/history.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { Child, run, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json' }
const READS = 40

const HOLDER = `
  const { default: Database } = await import('better-sqlite3')
  const files = process.argv.slice(1).map((file) => new Database(file))
  for (const file of files) file.exec('begin immediate')
  process.stdout.write('held')
  process.stdin.resume().on('end', () => { for (const file of files) file.close() })`

/** Another process that holds the write lock of each file until it is told to release it. */
async function holdFiles(...files: string[]) {
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', HOLDER, ...files], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(holder, 'close')
  await once(holder.stdout, 'data')
  const release = async () => {
    holder.stdin.end()
    await ended
  }
  return { release, [Symbol.asyncDispose]: release }
}

/** A database whose last migrations have not run yet. */
async function makeOlder(folder: string): Promise<string> {
  await mkdir(folder)
  const file = join(folder, 'mortise.sqlite')
  const store = openSqlite(file, { durable: false, shared: false })
  await runMigrations(store.db, new Map([...(await listMigrations(['001-foundation']))].slice(0, 2)))
  await store.close()
  return file
}

test('while another process holds the database, reads go on and writes wait, then are refused', async () => {
  await using folder = await temporaryFolder()
  const settings = { MORTISE_DATA: join(folder.path, 'data'), MORTISE_RATE_LIMIT: 'off', MORTISE_ROOT_TOKEN }
  const older = await makeOlder(join(folder.path, 'older'))
  await using child = new Child(['serve'], { ...settings, MORTISE_PORT: '0', MORTISE_WORKERS: '2' })
  const api = `${await child.url()}/api/v4`
  const file = join(settings.MORTISE_DATA, 'mortise.sqlite')
  const post = async (path: string) => {
    const body = JSON.stringify({ name: path, path })
    const answer = await fetch(`${api}/groups`, { method: 'POST', headers: HEADERS, body })
    return { status: answer.status, wait: answer.headers.get('retry-after'), text: await answer.text() }
  }
  const readOften = async () => {
    const statuses = new Set<number>()
    // One connection per request: all processes are used.
    for (let n = 0; n < READS; n++)
      statuses.add((await fetch(`${api}/groups`, { headers: { ...HEADERS, Connection: 'close' } })).status)
    return [...statuses]
  }

  await using first = await holdFiles(file)
  const written: string[] = []
  const writing = ['one', 'two'].map((path) => post(path).finally(() => written.push(path)))
  expect(await readOften()).toEqual([200])
  expect(written).toEqual([])
  await first.release()
  expect((await Promise.all(writing)).map(({ status }) => status)).toEqual([201, 201])

  await using second = await holdFiles(file, older)
  const refusing = [post('three'), post('four')]
  const verbs = [
    run(['user', 'create', 'ann', '--email', 'ann@example.com'], settings),
    run(['migrate'], { MORTISE_DATA: join(folder.path, 'older') }),
  ]
  const refused = {
    status: 503,
    wait: '5',
    text: '{"message":"503 The database does not answer"}',
  }
  expect(await Promise.all(refusing)).toEqual([refused, refused])
  expect(await readOften()).toEqual([200])
  const line = expect.stringMatching(/^mortise: [^\n]+: another process has locked the database\n$/)
  expect(await Promise.all(verbs)).toEqual([
    { code: 1, stdout: '', stderr: line },
    { code: 1, stdout: '', stderr: line },
  ])
  await second.release()
  expect((await post('five')).status).toBe(201)
  const groups = (await (await fetch(`${api}/groups`, { headers: HEADERS })).json()) as { path: string }[]
  expect(groups.map(({ path }) => path).toSorted()).toEqual(['five', 'one', 'two'])
})
