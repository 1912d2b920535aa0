/**
 * Data of earlier versions: the server starts on it, upgrades the schema and keeps the data. The newest fixture was made
 * before the baseline replaced the earlier migrations, so its schema shows that the baseline is the same.
 */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import type { Store } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { describeSchema } from '../schema.ts'
import { Child, run, temporaryFolder } from '../start/command.ts'
import { readAll, TOKEN, type Answers } from './contents.ts'

const server = testDatabaseUrl()
const ENDING = server ? '-postgres.tgz' : '-sqlite.tgz'
const VERSIONS = readdirSync(import.meta.dirname).flatMap((file) =>
  file.endsWith(ENDING) ? file.slice(0, -ENDING.length) : [],
)
const OLDEST = '3d14083'

interface Instance extends AsyncDisposable {
  readonly settings: { MORTISE_DATA: string; MORTISE_DATABASE_URL?: string }
  readonly answers: Answers
  open(): Promise<Store>
  /** Resolves when the transaction of the migrations has begun. */
  migrating(): Promise<void>
}

/** An instance with the data of a fixture; without a name it has no data. */
async function makeInstance(name?: string): Promise<Instance> {
  const folder = await temporaryFolder()
  if (name) await promisify(execFile)('tar', ['-xzf', join(import.meta.dirname, name + ENDING), '-C', folder.path])
  const data = join(folder.path, 'data')
  const database = server ? await postgresDatabase(server) : null
  const client = database ? new pg.Client({ connectionString: database.url }) : null
  await client?.connect()
  if (name) await client?.query(await readFile(join(folder.path, 'dump.sql'), 'utf8'))
  const file = join(name ? data : folder.path, 'mortise.sqlite')
  const isMigrating = async () =>
    client
      ? (await client.query(`select 1 from pg_locks where locktype = 'advisory' and granted`)).rows.length > 0
      : await stat(`${file}-wal`).then(
          ({ size }) => size > 0,
          () => false,
        )
  return {
    settings: { MORTISE_DATA: data, ...(database && { MORTISE_DATABASE_URL: database.url }) },
    answers: name ? (JSON.parse(await readFile(join(folder.path, 'answers.json'), 'utf8')) as Answers) : {},
    open: () => openStore(database?.url ?? file, { durable: false, shared: true, poolSize: 2 }),
    migrating: async () => {
      while (!(await isMigrating())) await sleep(1)
    },
    async [Symbol.asyncDispose]() {
      await client?.end()
      await database?.drop()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** The schema after the pending migrations, which are applied once. */
async function migratedSchema(instance: Instance): Promise<string[]> {
  const store = await instance.open()
  try {
    await migrate(store)
    expect(await migrate(store)).toEqual([])
    return await describeSchema(store.db)
  } finally {
    await store.close()
  }
}

async function answersOf(instance: Instance): Promise<Answers> {
  await using child = new Child(['serve'], { ...instance.settings, MORTISE_PORT: '0', MORTISE_ROOT_TOKEN: TOKEN })
  return await readAll(`${await child.url()}/api/v4`)
}

test.each(VERSIONS)('%s: the upgraded schema is the one of a new database', async (version) => {
  await using older = await makeInstance(version)
  await using empty = await makeInstance()
  expect(await migratedSchema(older)).toEqual(await migratedSchema(empty))
})

test.each(VERSIONS)('%s: the server starts, and its data is there', async (version) => {
  await using instance = await makeInstance(version)
  expect(await answersOf(instance)).toMatchObject(instance.answers)
})

test('an upgrade that was killed in the middle is completed by the next start', async () => {
  await using instance = await makeInstance(OLDEST)
  await using empty = await makeInstance()
  await using child = new Child(['migrate'], instance.settings)
  await instance.migrating()
  child.process.kill('SIGKILL')
  expect(await child.ended()).toBe('SIGKILL')
  expect(await answersOf(instance)).toMatchObject(instance.answers)
  expect(await migratedSchema(instance)).toEqual(await migratedSchema(empty))
  expect((await run(['migrate'], instance.settings)).stdout).toBe('database is up to date\n')
})
