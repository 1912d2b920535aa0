/** Deletes a group with hundreds of projects, even if the deleting process is killed midway. */
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import { isLeftover } from '../../src/git/storage/drafts.ts'
import type { Store } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open.ts'
import { postgresDatabase, type TemporaryDatabase } from '../../src/store/temporary.ts'
import { Child, temporaryFolder, until } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json' }
const PROJECTS = 500
const CONNECTIONS = 8

const server = testDatabaseUrl()

test.skipIf(server)('a group of 500 projects goes, kill -9 or not', { timeout: 300_000 }, async () => {
  expect(await removeThroughKills(null)).toEqual({ projects: 0, groups: 0, repositories: 0, jobs: 0 })
})

test.runIf(server)('a group of 500 projects goes, on PostgreSQL', { timeout: 300_000 }, async () => {
  const database = await postgresDatabase(server!)
  try {
    expect(await removeThroughKills(database)).toEqual({ projects: 0, groups: 0, repositories: 0, jobs: 0 })
  } finally {
    await database.drop()
  }
})

/** Killed while deleting rows, and again while deleting folders. Returns what is left at the end. */
async function removeThroughKills(database: TemporaryDatabase | null) {
  await using folder = await temporaryFolder()
  const settings = {
    MORTISE_DATA: folder.path,
    MORTISE_PORT: '0',
    MORTISE_LOG: 'warn',
    MORTISE_ROOT_TOKEN,
    ...(database && { MORTISE_DATABASE_URL: database.url }),
  }
  await using first = new Child(['serve'], settings)
  const url = await first.url()
  const group = await fillGroup(url)
  const address = database?.url ?? join(folder.path, 'mortise.sqlite')
  const store = await openStore(address, { durable: false, shared: true, poolSize: 2 })
  const left = () => leftOf(store, folder.path)
  try {
    expect(await left()).toEqual({ projects: PROJECTS, groups: 2, repositories: PROJECTS, jobs: 0 })
    await call(url, 'PUT', '/application/settings', { deletion_adjourned_period: 0 })
    const { status } = await call(url, 'DELETE', `/groups/${group}`)
    const rowsAfterAnswer = await countProjects(store)
    await killWhen(first, async () => (await countProjects(store)) < PROJECTS * 0.9)
    expect(status).toBe(204)
    expect(rowsAfterAnswer).toBeGreaterThan(PROJECTS / 2)
    expectMidway((await left()).projects)

    await endLeases(store)
    await using second = new Child(['serve'], settings)
    await killWhen(second, async () => (await left()).repositories < PROJECTS / 2)
    expectMidway((await left()).repositories)

    await endLeases(store)
    await using third = new Child(['serve'], settings)
    expect((await call(await third.url(), 'GET', `/groups/${group}`)).status).toBe(404)
    await until(async () => Object.values(await left()).every((count) => count === 0))
    await expectSound(store)
    return await left()
  } finally {
    await store.close()
  }
}

/** The phase takes half a second: a long sleep would miss it. */
async function killWhen(child: Child, holds: () => Promise<boolean>): Promise<void> {
  await child.url()
  await until(holds, { every: 1 })
  child.process.kill('SIGKILL')
  expect(await child.ended()).toBe('SIGKILL')
}

/** Otherwise nothing was in progress when it was killed. */
function expectMidway(count: number): void {
  expect(count).toBeGreaterThan(0)
  expect(count).toBeLessThan(PROJECTS)
}

const call = (url: string, method: string, path: string, body?: object) =>
  fetch(`${url}/api/v4${path}`, { method, headers: HEADERS, ...(body && { body: JSON.stringify(body) }) })

/** Half of the projects are in a subgroup. */
async function fillGroup(url: string): Promise<number> {
  const create = async (path: string, body: object): Promise<number> => {
    const answer = await call(url, 'POST', path, body)
    if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`)
    return ((await answer.json()) as { id: number }).id
  }
  const group = await create('/groups', { name: 'Shop', path: 'shop' })
  const below = await create('/groups', { name: 'Bench', path: 'bench', parent_id: group })
  let number = 0
  const createAll = async () => {
    while (number < PROJECTS) {
      const name = `Tool ${number}`
      await create('/projects', { name, namespace_id: number++ % 2 ? group : below })
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, createAll))
  return group
}

async function countProjects({ db }: Store): Promise<number> {
  const { count } = await db
    .selectFrom('projects')
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

async function leftOf(store: Store, data: string) {
  const { db } = store
  const groups = await db.selectFrom('namespaces').select('id').where('kind', '=', 'group').execute()
  const removals = ['groups.remove', 'projects.remove_repository']
  const jobs = await db.selectFrom('jobs').select('id').where('name', 'in', removals).execute()
  return {
    projects: await countProjects(store),
    groups: groups.length,
    repositories: await countRepositories(join(data, 'repositories')),
    jobs: jobs.length,
  }
}

/** A half-deleted folder is no repository any more; the daily sweep removes it. */
async function countRepositories(storage: string): Promise<number> {
  let count = 0
  for await (const name of glob('*/*/*', { cwd: storage })) if (!isLeftover(name)) count++
  return count
}

/** As if the minute had passed for which a dead process keeps its leases. */
async function endLeases({ db }: Store): Promise<void> {
  await db.updateTable('jobs').set({ lease_until: null }).where('lease_until', 'is not', null).execute()
}

async function expectSound({ db, engine }: Store): Promise<void> {
  expect(await db.selectFrom('jobs').select('name').where('state', '=', 'dead').execute()).toEqual([])
  if (engine !== 'sqlite') return
  expect((await sql`pragma integrity_check`.execute(db)).rows).toEqual([{ integrity_check: 'ok' }])
  expect((await sql`pragma foreign_key_check`.execute(db)).rows).toEqual([])
}
