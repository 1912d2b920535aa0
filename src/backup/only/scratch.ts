/** The database of a moment as a temporary one beside the instance, brought up to date, to read single rows from. */
import { hash } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { usesPostgres, type Config } from '../../config.ts'
import type { Store } from '../../store/database.ts'
import { migrate } from '../../store/migrate.ts'
import { openStore } from '../../store/open.ts'
import type { Archive } from '../archive.ts'
import { rowsAt, type Content } from '../history.ts'
import type { RowsPart, SqlitePart } from '../manifest.ts'
import { writeDatabase } from '../sqlite.ts'

export interface Scratch extends AsyncDisposable {
  readonly store: Store
  /** Of SQLite. */
  readonly file: string | null
}

/** What a killed command has left is replaced. */
export async function openScratch(
  archive: Archive,
  content: Content,
  schema: readonly string[],
  config: Config,
): Promise<Scratch> {
  return usesPostgres(config)
    ? inPostgres(archive, rowsAt(content.database), schema, config.databaseUrl)
    : inFolder(archive, content.database as SqlitePart[], join(config.data, 'restoring'))
}

const OPTIONS = { durable: false, shared: false, poolSize: 2 }

async function inFolder(archive: Archive, parts: readonly SqlitePart[], folder: string): Promise<Scratch> {
  const remove = () => rm(folder, { recursive: true, force: true })
  await remove()
  const file = join(folder, 'backup.sqlite')
  try {
    await mkdir(folder, { mode: 0o700 })
    await writeDatabase(archive, file, parts)
    const store = await migrated(`sqlite:${file}`)
    return {
      store,
      file,
      async [Symbol.asyncDispose]() {
        await store.close()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function inPostgres(archive: Archive, part: RowsPart, schema: readonly string[], url: string): Promise<Scratch> {
  const { createScratch, writeRows } = await import('../postgres.ts')
  const database = await createScratch(url, `mortise_restoring_${hash('sha256', url).slice(0, 12)}`, 'restore --only')
  try {
    await writeRows(archive, database.url, schema, part)
    const store = await migrated(database.url)
    return {
      store,
      file: null,
      async [Symbol.asyncDispose]() {
        await store.close()
        await database[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await database[Symbol.asyncDispose]()
    throw error
  }
}

async function migrated(url: string): Promise<Store> {
  const store = await openStore(url, OPTIONS)
  try {
    await migrate(store)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}
