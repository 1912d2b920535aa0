/**
 * Runs the pending migrations on a copy of the database, to tell whether they succeed and how long they take. The server
 * can keep running: a copy needs no lock that others wait for, which the migrations themselves would.
 */
import { mkdir, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { CannotStart, type Config } from '../config.ts'
import { PROCESS_TAG } from '../lib/async/process-tag.ts'
import { makeProcessFolder } from '../lib/files/process-folder.ts'
import { isDiskFull } from '../lib/files/system-errors.ts'
import { isStoreFull } from '../store/dialect.ts'
import type { Watch } from '../store/history.ts'
import { migrate, pendingMigrations } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'
import { folderArchive } from './archive.ts'
import { cannotUse, openExisting } from './existing.ts'
import { Damaged } from './manifest.ts'
import { fileOf } from './open.ts'

/** Returns the names of the pending migrations, after all of them succeeded on the copy. */
export async function rehearseMigrations(config: Config, applied: Watch['applied']): Promise<string[]> {
  if ((await pendingOf(config)).length === 0) return []
  const file = fileOf(config)
  await using folder = await makeProcessFolder(file === null ? config.data : dirname(file), 'migrate-check-')
  return await inOneLine(() =>
    file === null
      ? onDatabase(config.databaseUrl!, join(folder.path, 'rows'), applied)
      : onFile(file, folder.path, applied),
  )
}

async function pendingOf(config: Config): Promise<string[]> {
  await using opened = await openExisting(config, { readOnly: true })
  return await pendingMigrations(opened.store).catch(cannotUse)
}

async function onFile(file: string, folder: string, applied: Watch['applied']): Promise<string[]> {
  const copy = join(folder, 'copy.sqlite')
  const database = new Database(file, { readonly: true, fileMustExist: true })
  try {
    const bytes = Number(database.pragma('page_count', { simple: true })) * pageSize(database)
    await assertFreeSpace(folder, bytes)
    // One read transaction: writers go on, and the copy is one commit.
    database.prepare('vacuum into ?').run(copy)
  } finally {
    database.close()
  }
  return migrateCopy(copy, applied)
}

const pageSize = (database: Database.Database) => Number(database.pragma('page_size', { simple: true }))

/** A migration can write every row again. The server beside it must not find its disk full. */
async function assertFreeSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const [needed, free] = [2 * bytes, bavail * bsize]
  if (free < needed)
    throw new CannotStart(`a copy needs up to ${inMb(needed)} in ${folder}, but ${inMb(free)} are free`)
}

const inMb = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MB`

async function onDatabase(url: string, folder: string, applied: Watch['applied']): Promise<string[]> {
  const { copyDatabase, createScratch } = await import('./postgres.ts')
  await using scratch = await createScratch(url, `mortise_check_${PROCESS_TAG}`, 'a copy')
  await mkdir(join(folder, 'objects'), { recursive: true })
  await copyDatabase(url, scratch.url, folderArchive(folder))
  return await migrateCopy(scratch.url, applied)
}

async function migrateCopy(url: string, applied: Watch['applied']): Promise<string[]> {
  const store = await openStore(url, { durable: true, shared: true, poolSize: 2 })
  let current = ''
  try {
    return await migrate(store, undefined, { began: (name) => void (current = name), applied })
  } catch (cause) {
    if (isFull(cause)) throw cause
    throw new CannotStart(`${current} fails: ${(cause as Error).message}. Nothing was changed`, { cause })
  } finally {
    await store.close()
  }
}

const isFull = (error: unknown) => isDiskFull(error) || isStoreFull(error)

async function inOneLine<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (isFull(cause)) throw new CannotStart('not enough disk space for a copy of the database', { cause })
    if (cause instanceof Damaged) throw new CannotStart(`the database cannot be copied: ${cause.message}`, { cause })
    throw cause
  }
}
