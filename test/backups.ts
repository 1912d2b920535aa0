/** Backups of a test forge, and what a restored instance holds. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { openArchive, type Archive } from '../src/backup/archive.ts'
import { openCapturer } from '../src/backup/open.ts'
import { restore, type Restored } from '../src/backup/restore.ts'
import { testDatabaseUrl, type Config } from '../src/config.ts'
import { blobColumns } from '../src/features/v4.ts'
import type { TestForge } from '../src/forge.ts'
import { postgresDatabase, type CopiedDatabase } from '../src/store/temporary.ts'
import { runGit, temporaryFolder } from './git-origin.ts'

export interface Stage extends AsyncDisposable {
  readonly folder: string
  readonly archive: Archive
  /** Captures a moment, as `mortise backup` does. */
  backUp(): Promise<string>
  /** The configuration of an instance in a new folder, on the same kind of database. */
  target(name: string): Promise<Config>
  /** Restores into a new folder. */
  restore(options?: { at?: string }): Promise<Restored & { config: Config }>
}

export async function backupStage(forge: TestForge, where = 'backup'): Promise<Stage> {
  const folder = await temporaryFolder()
  const { config } = forge.app
  const archive = await openArchive(where.includes(':') ? where : join(folder.path, where), config, { create: true })
  const databases: CopiedDatabase[] = []
  let restored = 0
  const target = async (name: string) => {
    const server = testDatabaseUrl()
    const database = server === undefined ? null : await postgresDatabase(server)
    if (database) databases.push(database)
    const data = join(folder.path, name)
    const storages = { default: join(data, 'repositories') }
    return { ...config, data, storages, databaseUrl: database?.url ?? null, blobsUrl: null }
  }
  return {
    target,
    folder: folder.path,
    archive,
    async backUp() {
      await using capturer = await openCapturer(config, archive, { blobColumns })
      await capturer.prepare()
      await capturer.storeAhead()
      return (await capturer.capture())!.time
    },
    async restore({ at } = {}) {
      const config = await target(`restored-${++restored}`)
      return { ...(await restore(archive, config, { at: at === undefined ? null : new Date(at) })), config }
    },
    async [Symbol.asyncDispose]() {
      for (const database of databases) await database.drop()
      await folder[Symbol.asyncDispose]()
    },
  }
}

const fileOf = ({ data, databaseUrl }: Config) => databaseUrl?.replace(/^sqlite:/, '') ?? join(data, 'mortise.sqlite')

/** Runs `work` while no background job is running or becomes due. */
export async function undisturbed<T>(forge: TestForge, work: () => Promise<T>): Promise<T> {
  await forge.settle()
  using _ = forge.clock.hold()
  await forge.settle()
  return await work()
}

/** All rows of all tables, but those that every opening changes. */
export async function rowsOf(config: Config): Promise<Record<string, string[]>> {
  const isPostgres = config.databaseUrl?.startsWith('postgres') ?? false
  const rows = await (isPostgres ? rowsOfPostgres(config.databaseUrl!) : rowsOfSqlite(fileOf(config)))
  return Object.fromEntries(Object.entries(rows).filter(([table]) => !/^sqlite_|^processes$/.test(table)))
}

function rowsOfSqlite(file: string): Record<string, string[]> {
  const database = new Database(file)
  try {
    const tables = database
      .prepare(`select name from pragma_table_list where schema = 'main' and type = 'table' order by name`)
      .pluck()
      .all() as string[]
    const read = (table: string) =>
      database
        .prepare(`select * from "${table}"`)
        .all()
        .map((row) => JSON.stringify(row))
    return Object.fromEntries(tables.map((table) => [table, read(table).toSorted()]))
  } finally {
    database.close()
  }
}

async function rowsOfPostgres(url: string): Promise<Record<string, string[]>> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const tables = await client.query<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
    )
    const rows: Record<string, string[]> = {}
    for (const { name } of tables.rows) {
      const found = await client.query<{ line: string }>(`select row_to_json(t)::text as line from "${name}" t`)
      rows[name] = found.rows.map(({ line }) => line).toSorted()
    }
    return rows
  } finally {
    await client.end()
  }
}

/** The refs of every repository, by its path below the storage. */
export async function refsIn(storage: string): Promise<Record<string, string>> {
  const paths = (await readdir(storage, { recursive: true })).filter((path) => path.endsWith('.git'))
  const refs: Record<string, string> = {}
  for (const path of paths.toSorted())
    refs[path] = await runGit([`--git-dir=${join(storage, path)}`, 'for-each-ref', '--format=%(objectname) %(refname)'])
  return refs
}

/** The names of all objects of an archive in a folder. */
export const objectsIn = async (folder: string): Promise<Set<string>> =>
  new Set((await readdir(join(folder, 'backup/objects'), { recursive: true })).filter((path) => path.length > 60))
