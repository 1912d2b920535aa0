/** Many requests to several processes claim one path at the same moment: one gets it, the others are told so. */
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import { openStore } from '../../src/store/open.ts'
import { postgresDatabase, type TemporaryDatabase } from '../../src/store/temporary.ts'
import { Child, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json', Connection: 'close' }
const CALLS = 20
const TAKEN = ['has already been taken']

const server = testDatabaseUrl()

const OUTCOME = {
  groups: [201, ...Array(CALLS - 1).fill({ message: { path: TAKEN } })],
  projects: [201, ...Array(CALLS - 1).fill({ message: { name: TAKEN, path: TAKEN, limit_reached: [] } })],
  rows: ['shop', 'saw'],
  repositories: 1,
  events: ['group.created', 'project.created'],
  complaints: [] as unknown[],
}

test('of twenty who want one path, one gets it', { timeout: 180_000 }, async () => {
  expect(await askAtOnce(null)).toEqual(OUTCOME)
})

test.runIf(server)('of twenty who want one path, one gets it, on PostgreSQL', { timeout: 180_000 }, async () => {
  const database = await postgresDatabase(server!)
  try {
    expect(await askAtOnce(database)).toEqual(OUTCOME)
  } finally {
    await database.drop()
  }
})

async function askAtOnce(database: TemporaryDatabase | null): Promise<typeof OUTCOME> {
  await using folder = await temporaryFolder()
  const settings = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_WORKERS: '2', MORTISE_ROOT_TOKEN }
  await using child = new Child(['serve'], { ...settings, ...(database && { MORTISE_DATABASE_URL: database.url }) })
  const url = await child.url()
  const groups = await callAll(url, '/groups', (n) => ({ name: `Shop ${n}`, path: n % 2 ? 'shop' : 'SHOP' }))
  const projects = await callAll(url, '/projects', () => ({ name: 'Saw', path: 'saw' }))
  const left = await leftIn(database?.url ?? join(folder.path, 'mortise.sqlite'))
  const repositories = await countEntries(join(folder.path, 'repositories'))
  const complaints = child.lines.logged.filter(({ level }) => Number(level) >= 40)
  return { groups, projects, ...left, repositories, complaints }
}

async function leftIn(databaseUrl: string): Promise<{ rows: string[]; events: string[] }> {
  const store = await openStore(databaseUrl, { durable: false, shared: true, poolSize: 2 })
  try {
    const { db } = store
    const groups = await db.selectFrom('namespaces').select('path').where('kind', '=', 'group').execute()
    const projects = await db.selectFrom('projects').select('path').execute()
    const names = ['group.created', 'project.created'] as const
    const events = await db.selectFrom('events').select('name').where('name', 'in', names).orderBy('id').execute()
    return {
      rows: [...groups, ...projects].map(({ path }) => path.toLowerCase()),
      events: events.map(({ name }) => name),
    }
  } finally {
    await store.close()
  }
}

/** Repositories, and remains of unfinished ones. */
async function countEntries(storage: string): Promise<number> {
  let count = 0
  for await (const _ of glob('*/*/*', { cwd: storage })) count++
  return count
}

/** Successes first, by status; then the messages of the others, which all got 400. */
async function callAll(url: string, path: string, body: (n: number) => object): Promise<unknown[]> {
  const answers = Array.from({ length: CALLS }, async (_, n) => {
    const answer = await fetch(`${url}/api/v4${path}`, {
      method: 'POST',
      headers: HEADERS,
      body: JSON.stringify(body(n)),
    })
    const reply = await answer.json()
    return answer.status === 400 ? reply : answer.status
  })
  return (await Promise.all(answers)).toSorted((a, b) => Number(b === 201) - Number(a === 201))
}
