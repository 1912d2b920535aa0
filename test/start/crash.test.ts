import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import type { Row } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open.ts'
import { postgresDatabase, type TemporaryDatabase } from '../../src/store/temporary.ts'
import { Child, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json' }
const CONNECTIONS = 4
const ROUNDS = 3
const ANSWERS_A_ROUND = 12

const server = testDatabaseUrl()

test.skipIf(server)('what was acknowledged survives kill -9', { timeout: 300_000 }, async () => {
  expect(await surviveKills(null)).toBe(ROUNDS)
})

test.runIf(server)('what was acknowledged survives kill -9, on PostgreSQL', { timeout: 300_000 }, async () => {
  const database = await postgresDatabase(server!)
  try {
    expect(await surviveKills(database)).toBe(ROUNDS)
  } finally {
    await database.drop()
  }
})

/** Returns the number of kills; checks all expectations. */
async function surviveKills(database: TemporaryDatabase | null): Promise<number> {
  await using folder = await temporaryFolder()
  const settings = {
    MORTISE_DATA: folder.path,
    MORTISE_PORT: '0',
    MORTISE_LOG: 'warn',
    MORTISE_ROOT_TOKEN,
    ...(database && { MORTISE_DATABASE_URL: database.url }),
  }
  const tried: string[] = []
  const acknowledged: string[] = []
  let kills = 0
  while (kills < ROUNDS) {
    await using child = new Child(['serve'], settings)
    const url = await child.url()
    await expectAll(url, acknowledged)
    await createUntilKilled(url, child, `round${kills}`, tried, acknowledged)
    expect(await child.ended()).toBe('SIGKILL')
    kills++
    // Otherwise nothing was in progress when it was killed.
    expect(tried.length).toBeGreaterThan(acknowledged.length)
  }
  await using child = new Child(['serve'], settings)
  await expectAll(await child.url(), acknowledged)
  await expectWholeRows(database?.url ?? join(folder.path, 'mortise.sqlite'), tried, acknowledged)
  return kills
}

/** Each connection creates one user after the other; the kill hits requests in progress. */
async function createUntilKilled(url: string, child: Child, prefix: string, tried: string[], acknowledged: string[]) {
  const enough = acknowledged.length + ANSWERS_A_ROUND
  const createAll = async (connection: number) => {
    for (let number = 1; ; number++) {
      const username = `${prefix}-${connection}-${number}`
      tried.push(username)
      const user = { username, name: username, email: `${username}@example.com`, password: 'long enough' }
      const answer = await fetch(`${url}/api/v4/users`, {
        method: 'POST',
        headers: HEADERS,
        body: JSON.stringify(user),
      })
      if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`)
      acknowledged.push(username)
      if (acknowledged.length >= enough) child.process.kill('SIGKILL')
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: CONNECTIONS }, (_, connection) => createAll(connection)))
  // Only a lost connection ends the work.
  for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { name: 'TypeError' } })
}

async function expectAll(url: string, usernames: string[]): Promise<void> {
  for (const username of usernames) {
    const answer = await fetch(`${url}/api/v4/users?username=${username}`, { headers: HEADERS })
    expect(await answer.json()).toMatchObject([{ username, email: `${username}@example.com` }])
  }
}

async function expectWholeRows(databaseUrl: string, tried: string[], acknowledged: string[]): Promise<void> {
  const store = await openStore(databaseUrl, { durable: false, shared: true, poolSize: 2 })
  try {
    const { db } = store
    const users = await db.selectFrom('users').select(['id', 'username']).orderBy('id').execute()
    const made = users.map(({ username }) => username).filter((username) => username !== 'root')
    expect(made.filter((username) => !tried.includes(username))).toEqual([])
    expect(acknowledged.filter((username) => !made.includes(username))).toEqual([])
    expect(made.length - acknowledged.length).toBeLessThanOrEqual(CONNECTIONS * ROUNDS)

    // All rows of a user exist together with it, and no others.
    const ids = users.map(({ id }) => id)
    const owners = await db.selectFrom('namespaces').select('owner_id').orderBy('owner_id').execute()
    expect(owners.map(({ owner_id }) => owner_id)).toEqual(ids)
    const tokens = await db.selectFrom('access_tokens').select('user_id').orderBy('user_id').execute()
    expect(tokens.map(({ user_id }) => user_id)).toEqual(ids)
    const events = await db.selectFrom('events').selectAll().where('name', '=', 'user.created').execute()
    expect(events.map(idOf).toSorted((a, b) => a - b)).toEqual(ids)
    if (store.engine === 'sqlite') {
      expect((await sql`pragma integrity_check`.execute(db)).rows).toEqual([{ integrity_check: 'ok' }])
      expect((await sql`pragma foreign_key_check`.execute(db)).rows).toEqual([])
    }
  } finally {
    await store.close()
  }
}

const idOf = ({ payload }: Row<'events'>): number => (JSON.parse(payload) as { id: number }).id
