/** Databases for test forges: created, migrated and filled once, then copied for each test. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { hasProcessEnded, PROCESS_TAG, TAG_PATTERN } from '../lib/async/process-tag.ts'
import { randomHex } from '../lib/crypto/secrets.ts'
import { makeTemporaryFolder } from '../lib/files/temporary-folder.ts'

export interface TemporaryDatabase {
  readonly url: string
  drop(): Promise<void>
}

export interface CopiedDatabase extends TemporaryDatabase {
  /** Replaces the database by a new copy of the template, at the same URL; no connection may be open. */
  reset(): Promise<void>
}

export interface Template {
  /** A SQLite database is created in `folder`. */
  copy(folder: string): Promise<CopiedDatabase>
}

/** `fill` gets the URL of an empty database and must leave it closed. */
export async function sqliteTemplate(fill: (url: string) => Promise<void>): Promise<Template> {
  const folder = await makeTemporaryFolder()
  const file = join(folder, 'template.sqlite')
  await fill(`sqlite:${file}`)
  // Kept in memory, so that a process killed by a signal leaves no file behind.
  const template = await readFile(file)
  await rm(folder, { recursive: true })
  return {
    async copy(into) {
      const path = join(into, 'mortise.sqlite')
      const drop = async () => {
        for (const end of ['', '-wal', '-shm']) await rm(path + end, { force: true })
      }
      const reset = async () => {
        await drop()
        await writeFile(path, template)
      }
      await reset()
      return { url: `sqlite:${path}`, drop, reset }
    },
  }
}

/** Connections are reused for all databases; they do not keep the process alive. */
const servers = new Map<string, Promise<Server>>()

interface Server {
  readonly pool: Pool
  /** Copying files is faster than logging rows; before PostgreSQL 15 it was the only way. */
  readonly strategy: string
}

async function openServer(connectionString: string): Promise<Server> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString, max: 2, allowExitOnIdle: true })
  pool.on('error', () => {})
  const { rows } = await pool.query(`select current_setting('server_version_num')::int >= 150000 as chooses`)
  await sweepDatabases(pool)
  return { pool, strategy: rows[0].chooses ? 'strategy file_copy' : '' }
}

/** The rest is left to the next process. */
const MOST_SWEPT = 20
const LEFTOVER = new RegExp(`^mortise_(${TAG_PATTERN.source})_`)

/** Drops the databases of processes that ended without dropping them. */
async function sweepDatabases(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ datname: string }>(`select datname from pg_database where datname ~ '^mortise_'`)
  const gone = rows.filter(({ datname }) => hasProcessEnded(LEFTOVER.exec(datname)?.[1] ?? '')).slice(0, MOST_SWEPT)
  // Another process may be sweeping too.
  for (const { datname } of gone) await pool.query(`drop database if exists ${datname} with (force)`).catch(() => {})
}

function serverAt(url: string): Promise<Server> {
  const known = servers.get(url) ?? openServer(url)
  servers.set(url, known)
  known.catch(() => servers.delete(url))
  return known
}

/** A new database on a server: a copy of `template`, or empty. */
export async function postgresDatabase(
  server: string,
  template = 'template1',
): Promise<CopiedDatabase & { name: string }> {
  const { pool, strategy } = await serverAt(server)
  const name = `mortise_${PROCESS_TAG}_${randomHex(6)}`
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
  const create = async () => void (await pool.query(`create database ${name} template ${template} ${strategy}`))
  const drop = async () => void (await pool.query(`drop database ${name} with (force)`))
  const reset = async () => {
    await drop()
    await create()
  }
  await create()
  return { name, url, drop, reset }
}

export async function postgresTemplate(server: string, fill: (url: string) => Promise<void>): Promise<Template> {
  const { name, url } = await postgresDatabase(server)
  await fill(url)
  return { copy: () => postgresDatabase(server, name) }
}
