/**
 * The version before the migrations, from its commit: it works on while they are applied, then beside the new version on
 * the same data, and starts again after they were taken back.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { Child, run, temporaryFolder, until } from '../start/command.ts'
import { workspace } from '../workspace.ts'

/** The last commit whose schema is the baseline, which is the schema of the last release. */
const OLD = 'ac616dcf5cc8b136ac38ab44464f821716565737'
const ROOT = join(import.meta.dirname, '../..')
const TOKEN = 'upgrade-root-token-0123456789'
const server = testDatabaseUrl()

/** A shallow clone lacks the older version, and nothing can replace it. */
const hasHistory = spawnSync('git', ['cat-file', '-e', OLD], { cwd: ROOT }).status === 0

async function checkOut(commit: string) {
  const folder = await temporaryFolder()
  const tar = join(folder.path, 'old.tar')
  execFileSync('git', ['archive', '--output', tar, commit, 'bin', 'src', 'web', 'docs', 'openapi', 'package.json'], {
    cwd: ROOT,
  })
  execFileSync('tar', ['-xf', tar, '-C', folder.path])
  await symlink(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'))
  return { ...folder, main: join(folder.path, 'bin/mortise.js') }
}

/** Ends the idle connections of a server, until all are newer than the migrations. */
async function renewConnections(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  const now = (await client.query('select now() as time')).rows[0].time as string
  await until(async () => {
    const others = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and backend_start < $1`
    await client.query(`select pg_terminate_backend(pid) ${others} and state = 'idle'`, [now])
    return (await client.query(`select 1 ${others}`, [now])).rowCount === 0
  })
  await client.end()
}

type Answer = { status: number; body: Record<string, unknown> & Record<string, unknown>[] }

class Client {
  readonly url: string
  readonly faults: string[] = []

  constructor(url: string) {
    this.url = url
  }

  async call(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await fetch(`${this.url}/api/v4${path}`, {
      method,
      headers: { 'Private-Token': TOKEN, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (answer.status >= 500) this.faults.push(`${method} ${path}: ${answer.status} ${text}`)
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }

  status = async (method: string, path: string, body?: object) => (await this.call(method, path, body)).status
}

type Git = (...args: string[]) => Promise<{ code: number | null; stderr: string; stdout: string }>

/** Makes a project with an issue, a group and a push, and reads them. Returns the pushed commit. */
async function use(client: Client, git: Git, name: string): Promise<string> {
  const path = `/projects/root%2F${name}`
  expect(await client.status('POST', '/projects', { name, initialize_with_readme: true })).toBe(201)
  expect(await client.status('POST', `${path}/issues`, { title: name, labels: name })).toBe(201)
  expect(await client.status('PUT', `${path}/issues/1`, { description: 'Changed' })).toBe(200)
  expect(await client.status('POST', '/groups', { name: `group-${name}`, path: `group-${name}` })).toBe(201)
  expect(await client.status('PUT', path, { description: 'Changed' })).toBe(200)
  for (const list of ['/projects', '/groups', '/users', `${path}/issues`, `${path}/repository/commits`])
    expect(await client.status('GET', list), list).toBe(200)
  const remote = `${client.url.replace('://', `://root:${TOKEN}@`)}/root/${name}.git`
  expect(await git('clone', '-q', remote, name)).toMatchObject({ code: 0 })
  return push(git, name)
}

async function push(git: Git, name: string): Promise<string> {
  const commit = await git('-C', name, 'commit', '-q', '--allow-empty', '-m', 'Further')
  const pushed = await git('-C', name, 'push', '-q', 'origin', 'HEAD')
  expect([commit, pushed]).toMatchObject([{ code: 0 }, { code: 0 }])
  return (await git('-C', name, 'rev-parse', 'HEAD')).stdout
}

async function sees(client: Client, name: string, commit: string): Promise<void> {
  const path = `/projects/root%2F${name}`
  expect((await client.call('GET', `${path}/issues/1`)).body).toMatchObject({ title: name, description: 'Changed' })
  expect((await client.call('GET', `${path}/repository/commits`)).body[0]).toMatchObject({ id: commit })
  expect(await client.status('GET', `/groups/group-${name}`)).toBe(200)
}

async function writeDuring(client: Client, work: Promise<unknown>): Promise<number[]> {
  const statuses: number[] = []
  let done = false
  void work.finally(() => (done = true))
  while (!done || statuses.length < 5)
    statuses.push(await client.status('POST', '/projects/root%2Ffirst/issues', { title: 'Meanwhile' }))
  return statuses
}

async function stop(child: Child): Promise<void> {
  child.process.kill('SIGTERM')
  expect(await child.ended()).toBe(0)
}

test(
  'the version before works on, works beside the new one, and starts again',
  { timeout: 400_000 },
  async ({ skip }) => {
    skip(!hasHistory, 'the clone has no history')
    await using checkout = await checkOut(OLD)
    await using folder = await temporaryFolder()
    await using work = await workspace()
    await using stack = new AsyncDisposableStack()
    const database = server ? await postgresDatabase(server) : null
    stack.defer(async () => database?.drop())
    const data = join(folder.path, 'data')
    await mkdir(data)
    const settings = {
      MORTISE_DATA: data,
      MORTISE_PORT: '0',
      MORTISE_ROOT_TOKEN: TOKEN,
      MORTISE_RATE_LIMIT: 'off',
      ...(database && { MORTISE_DATABASE_URL: database.url }),
    } as const
    const startOld = () => new Child(['serve'], settings, '', [process.execPath, checkout.main])
    const { git } = work

    await using old = startOld()
    const older = new Client(await old.url())
    const first = await use(older, git, 'first')

    // Versions before the first release do not plan again what PostgreSQL planned before a migration
    // (`src/store/outdated.test.ts`), so there the load begins with new connections.
    const migrating = run(['migrate'], settings)
    const written = server ? [] : await writeDuring(older, migrating)
    expect(written.filter((status) => status !== 201)).toEqual([])
    expect(await migrating).toMatchObject({ code: 0, stdout: expect.stringContaining('applied 2026-11-18-1110-bin\n') })
    if (database) await renewConnections(database.url)
    const second = await use(older, git, 'second')

    await using fresh = new Child(['serve'], settings)
    const newer = new Client(await fresh.url())
    const third = await use(newer, git, 'third')
    await sees(newer, 'first', first)
    await sees(newer, 'second', second)
    await sees(older, 'third', third)
    const fourth = await push(git, 'first')
    await sees(newer, 'first', fourth)

    // What the new version puts into the bin is deleted for the old one, and back after its restoration.
    expect(await newer.status('PUT', '/application/settings', { deletion_adjourned_period: 7 })).toBe(200)
    const { body } = await newer.call('GET', '/projects/root%2Fsecond')
    expect(await newer.status('DELETE', '/projects/root%2Fsecond')).toBeLessThan(300)
    expect(await older.status('GET', '/projects/root%2Fsecond')).toBe(404)
    expect((await older.call('GET', '/projects')).body.map(({ path }) => path)).toEqual(['third', 'first'])
    expect(await newer.status('POST', `/projects/${body['id']}/restore`)).toBe(201)
    await sees(older, 'second', second)
    // What the old version deletes is gone for both.
    expect(await older.status('DELETE', '/projects/root%2Fthird')).toBeLessThan(300)
    expect(await newer.status('GET', '/projects/root%2Fthird')).toBe(404)
    expect(await older.status('DELETE', '/groups/group-third')).toBeLessThan(300)
    expect(await newer.status('GET', '/groups/group-third')).toBe(404)

    await stop(old)
    await stop(fresh)
    expect([older.faults, newer.faults]).toEqual([[], []])
    expect(await run(['check'], settings)).toMatchObject({ code: 0, stdout: expect.stringContaining(' 0 with errors') })

    expect(await run(['migrate', '--back', '--yes'], settings)).toMatchObject({ code: 0, stderr: '' })
    await using again = startOld()
    const restarted = new Client(await again.url())
    await sees(restarted, 'first', fourth)
    await sees(restarted, 'second', second)
    await use(restarted, git, 'fifth')
    await stop(again)
    expect(restarted.faults).toEqual([])
    // Applies the migrations again.
    expect(await run(['check'], settings)).toMatchObject({ code: 0, stdout: expect.stringContaining(' 0 with errors') })
  },
)
