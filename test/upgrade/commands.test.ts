/** `mortise migrate --check` and `--back`, on a database of the last release. */
import { appendFile, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import type { Db, Store } from '../../src/store/database.ts'
import { listMigrations, RELEASED, runMigrations } from '../../src/store/history.ts'
import { openStore } from '../../src/store/open.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { describeSchema } from '../schema.ts'
import { Child, run, temporaryFolder } from '../start/command.ts'
import { canCreateDisk, createDisk } from '../start/small-disk.ts'

const server = testDatabaseUrl()
const ALL = [...(await listMigrations())]
const OLD = ALL.filter(([name]) => name <= RELEASED)
const NEW = ALL.filter(([name]) => name > RELEASED).map(([name]) => name)
const REF_CHANGES = '2026-11-18-1100-ref-changes'
const BIN = '2026-11-18-1110-bin'

/** An instance with the schema of the last release. */
async function olderInstance(folder?: string) {
  const own = await temporaryFolder()
  const data = join(folder ?? own.path, 'data')
  await mkdir(data)
  const database = server ? await postgresDatabase(server) : null
  const file = join(data, 'mortise.sqlite')
  const options = { durable: false, shared: true, poolSize: 2 }
  const open = (): Promise<Store> => openStore(database?.url ?? file, options)
  const empty = database ? await open() : openSqlite(file, options)
  await runMigrations(empty.db, new Map(OLD))
  await empty.close()
  const settings = { MORTISE_DATA: data, ...(database && { MORTISE_DATABASE_URL: database.url }) }
  return {
    data,
    settings,
    migrate: (...args: string[]) => run(['migrate', ...args], settings),
    async inStore<T>(work: (db: Db) => Promise<T>): Promise<T> {
      const store = await open()
      try {
        return await work(store.db)
      } finally {
        await store.close()
      }
    },
    async [Symbol.asyncDispose]() {
      await database?.drop()
      await own[Symbol.asyncDispose]()
    },
  }
}

const applied = (db: Db) =>
  sql<{ name: string }>`select name from kysely_migration order by name`
    .execute(db)
    .then(({ rows }) => rows.map(({ name }) => name))

const stateOf = async (db: Db) => [await applied(db), await describeSchema(db)]

/** Databases that a check makes. */
async function scratches(): Promise<number> {
  if (!server) return 0
  const client = new pg.Client(server)
  await client.connect()
  const { rowCount } = await client.query(`select 1 from pg_database where datname like 'mortise\\_check\\_%'`)
  await client.end()
  return rowCount ?? 0
}

const refused = (line: string) => ({ code: 1, stdout: '', stderr: `mortise: ${line}\n` })

test('a check applies the migrations to a copy only', { timeout: 400_000 }, async () => {
  await using older = await olderInstance()
  const before = await older.inStore(stateOf)
  const names = await readdir(older.data)

  const checked = await older.migrate('--check')
  expect(checked).toMatchObject({ code: 0, stderr: '' })
  const lines = checked.stdout.trimEnd().split('\n')
  expect(lines.slice(0, -1)).toEqual(
    NEW.map((name) => expect.stringMatching(new RegExp(`^would apply ${name}: [\\d.]+ m?s on a copy$`))),
  )
  expect(lines.at(-1)).toMatch(/^\d+ migrations take .+, the whole check took .+\. Nothing was changed$/)
  expect(await older.inStore(stateOf)).toEqual(before)

  // Something that only the data of this instance has.
  await older.inStore((db) => sql`create table ref_changes (id integer)`.execute(db))
  const failing = await older.migrate('--check')
  expect(failing).toEqual(
    refused(
      server
        ? 'the database cannot be copied: it holds a table with an unknown name'
        : `${REF_CHANGES} fails: table ref_changes already exists. Nothing was changed`,
    ),
  )
  expect(await older.inStore(applied)).toEqual(before[0])
  await older.inStore((db) => sql`drop table ref_changes`.execute(db))
  expect((await readdir(older.data)).toSorted()).toEqual(names.toSorted())
  expect(await scratches()).toBe(0)

  expect((await older.migrate()).stdout).toBe(NEW.map((name) => `applied ${name}\n`).join(''))
  expect(await older.migrate('--check')).toEqual({ code: 0, stdout: 'database is up to date\n', stderr: '' })
})

test(
  'migrations are taken back, but not below a server, and not silently if data is lost',
  { timeout: 400_000 },
  async () => {
    await using older = await olderInstance()
    const before = await older.inStore(stateOf)
    {
      await using child = new Child(['serve'], { ...older.settings, MORTISE_PORT: '0' })
      await child.url()
      expect(await older.migrate('--back', '--yes')).toEqual(
        refused('the server, or another command, uses this instance: stop it first'),
      )
      child.process.kill('SIGTERM')
      expect(await child.ended()).toBe(0)
    }
    const migrated = await older.inStore(stateOf)
    const loss = `${REF_CHANGES} loses the list of changes of branches and tags, so that no earlier change can be undone\n`
    expect(await older.migrate('--back')).toEqual({
      code: 1,
      stdout: expect.stringContaining(loss),
      stderr: 'mortise: nothing was changed: run the command with --yes to accept the loss\n',
    })
    expect(await older.migrate('--back', RELEASED)).toEqual(refused(`${RELEASED} cannot be taken back`))

    const mark = (time: string | null) => (db: Db) =>
      sql`update namespaces set marked_for_deletion_at = ${time} where id = 1`.execute(db)
    await older.inStore(mark('2026-11-18T12:00:00.000Z'))
    const full = await older.migrate('--back', '--yes')
    expect(full).toMatchObject({
      code: 1,
      stderr: `mortise: ${BIN} cannot be taken back: the bin is not empty: restore its projects and groups, or delete them for good, and try again\n`,
    })
    await older.inStore(mark(null))
    expect(await older.inStore(stateOf)).toEqual(migrated)

    const back = await older.migrate('--back', '--yes')
    expect(back).toMatchObject({ code: 0, stderr: '' })
    expect(back.stdout).toContain(loss)
    expect(back.stdout).toContain(`took back ${BIN}\ntook back ${REF_CHANGES}\n`)
    expect(await older.inStore(stateOf)).toEqual(before)
    expect(await older.migrate('--back')).toEqual({ code: 0, stdout: 'nothing to take back\n', stderr: '' })
  },
)

test('the work of a newer version is recognised', async () => {
  await using older = await olderInstance()
  await older.inStore((db) =>
    sql`insert into kysely_migration (name, timestamp) values ('2099-01-01-0900-newer', '2099')`.execute(db),
  )
  expect(await older.migrate('--check')).toEqual(
    refused('the database cannot be used: a newer version of Mortise has changed it'),
  )
  expect(await older.migrate('--back')).toEqual(
    refused('a newer version of Mortise has applied 2099-01-01-0900-newer, and only that version can take it back'),
  )
})

test.each([
  [['--check', '--back'], '--create, --check and --back exclude each other'],
  [['--yes'], '--yes is only for --back'],
  [['a-name'], 'unexpected argument: a-name'],
  [['--back', 'a', 'b'], 'unexpected argument: b'],
])('%s is a misuse', async (args, line) => {
  expect(await run(['migrate', ...args])).toEqual({ code: 2, stdout: '', stderr: `mortise: ${line}\n` })
})

test.runIf(!server && canCreateDisk)('a check does not fill the disk of the server', async () => {
  await using folder = await temporaryFolder()
  using _disk = createDisk(folder.path, '32m')
  await using older = await olderInstance(folder.path)
  await appendFile(join(folder.path, 'ballast'), Buffer.alloc(25 * 1024 * 1024))
  const checked = await older.migrate('--check')
  expect(checked).toMatchObject({ code: 1, stdout: '' })
  expect(checked.stderr).toMatch(/^mortise: a copy needs up to \d+ MB in \S+, but \d+ MB are free\n$/)
  expect((await readdir(older.data)).filter((name) => name.startsWith('migrate-check'))).toEqual([])
})
