/** Databases for forges that live as long as a test: made once, migrated and filled, then copied for each. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
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
  process.once('exit', () => void rm(folder, { recursive: true, force: true }))
  return {
    async copy() {
      const own = await mkdtemp(join(root, 'mortise-database-'))
      const path = join(own, 'mortise.sqlite')
      await copyFile(file, path)
      return { url: `sqlite:${path}`, drop: () => rm(own, { recursive: true, force: true }) }
    },
  }
}

/** A database of its own on a server; a copy of `template`, or empty. */
export async function postgresDatabase(
  server: string,
  template = 'template1',
): Promise<TemporaryDatabase & { name: string }> {
  const { default: pg } = await import('pg')
  const command = async (sql: string) => {
    const client = new pg.Client({ connectionString: server })
    await client.connect()
    try {
      await client.query(sql)
    } finally {
      await client.end()
    }
  }
  const name = `mortise_${randomHex(6)}`
  await command(`create database ${name} template ${template}`)
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
  return { name, url, drop: () => command(`drop database ${name} with (force)`) }
}

export async function postgresTemplate(server: string, fill: (url: string) => Promise<void>): Promise<Template> {
  const { name, url } = await postgresDatabase(server)
  await fill(url)
  return { copy: () => postgresDatabase(server, name) }
}
