/** Databases for forges that live as long as a test: made once, migrated and filled, then copied for each. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { randomHex } from '../lib/secrets.ts'

export interface TemporaryDatabase {
  readonly url: string
  drop(): Promise<void>
}

export interface Template {
  copy(): Promise<TemporaryDatabase>
}

/** `fill` is handed the address of an empty database and must leave it closed. */
export async function sqliteTemplate(root: string, fill: (url: string) => Promise<void>): Promise<Template> {
  const folder = await mkdtemp(join(root, 'mortise-template-'))
  const file = join(folder, 'template.sqlite')
  await fill(`sqlite:${file}`)
  // Kept as bytes: whoever is ended by a signal leaves no file.
  const template = await readFile(file)
  await rm(folder, { recursive: true })
  return {
    async copy() {
      const own = await mkdtemp(join(root, 'mortise-database-'))
      const path = join(own, 'mortise.sqlite')
      await writeFile(path, template)
      return { url: `sqlite:${path}`, drop: () => rm(own, { recursive: true, force: true }) }
    },
  }
}

/** Connections are kept from one database to the next; they keep no process from ending. */
const servers = new Map<string, Promise<Server>>()

interface Server {
  readonly pool: Pool
  /** Files are copied sooner than rows are logged; before PostgreSQL 15 that was the only way. */
  readonly strategy: string
}

async function openServer(connectionString: string): Promise<Server> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString, max: 2, allowExitOnIdle: true })
  pool.on('error', () => {})
  const { rows } = await pool.query(`select current_setting('server_version_num')::int >= 150000 as chooses`)
  return { pool, strategy: rows[0].chooses ? 'strategy file_copy' : '' }
}

function serverAt(url: string): Promise<Server> {
  const known = servers.get(url) ?? openServer(url)
  servers.set(url, known)
  return known
}

/** A database of its own on a server; a copy of `template`, or empty. */
export async function postgresDatabase(
  server: string,
  template = 'template1',
): Promise<TemporaryDatabase & { name: string }> {
  const { pool, strategy } = await serverAt(server)
  const name = `mortise_${randomHex(6)}`
  await pool.query(`create database ${name} template ${template} ${strategy}`)
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
  return { name, url, drop: async () => void (await pool.query(`drop database ${name} with (force)`)) }
}

export async function postgresTemplate(server: string, fill: (url: string) => Promise<void>): Promise<Template> {
  const { name, url } = await postgresDatabase(server)
  await fill(url)
  return { copy: () => postgresDatabase(server, name) }
}
