/**
 * The schema as the migrations create it, for empty databases. The build stores it next to the program. When run from
 * sources, it is created on first use and cached by the digest of the migrations and all their imports.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { randomHex } from '../lib/crypto/secrets.ts'
import { hasCode, nullIfMissing } from '../lib/files/system-errors.ts'
import type { Store } from './database.ts'
import { listMigrations } from './history.ts'

type Engine = Store['engine']

const fileOf = (engine: Engine): string => (engine === 'sqlite' ? 'schema.sqlite.gz' : 'schema.sql.gz')

const BUILT = new URL('./schema/', import.meta.url)
const CACHE = new URL('../../node_modules/.cache/mortise-schema/', import.meta.url)
const IS_SOURCE = import.meta.url.endsWith('.ts')

const decompress = promisify(gunzip)

/** For the build. */
export async function writeSchemas(folder: string): Promise<void> {
  const { makeSchema } = await import('./make-schema.ts')
  await mkdir(folder, { recursive: true })
  for (const engine of ['sqlite', 'postgres'] as const)
    await writeFile(join(folder, fileOf(engine)), await makeSchema(engine))
}

/** An image of a SQLite database, or a script for PostgreSQL; null if it was not built. */
export async function readySchema(engine: Engine): Promise<Buffer | null> {
  const schema = IS_SOURCE
    ? await keptSchema(engine)
    : await readFile(new URL(fileOf(engine), BUILT)).catch(nullIfMissing)
  return schema && decompress(schema)
}

/** Creates a SQLite database with the ready schema if there is no file yet. The file is complete or absent. */
export async function writeImage(file: string, { durable }: { durable: boolean }): Promise<void> {
  if (existsSync(file)) return
  const image = await readySchema('sqlite')
  if (!image) return
  const draft = `${file}-${randomHex(6)}`
  try {
    await writeFile(draft, image, { flag: 'wx', flush: durable })
    await link(draft, file)
  } catch (error) {
    // Another process was first.
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    await rm(draft, { force: true })
  }
}

async function keptSchema(engine: Engine): Promise<Buffer> {
  const name = `${await digestOfMigrations()}-${fileOf(engine)}`
  const kept = await readFile(new URL(name, CACHE)).catch(nullIfMissing)
  if (kept) return kept
  const { makeSchema } = await import('./make-schema.ts')
  const schema = await makeSchema(engine)
  // If the folder is not writable, the next process spends the same time again.
  await keep(name, schema).catch(() => {})
  return schema
}

const KEPT_FOR_MS = 7 * 24 * 3600 * 1000

async function keep(name: string, schema: Buffer): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  const draft = new URL(`${name}-${randomHex(6)}`, CACHE)
  await writeFile(draft, schema)
  await rename(draft, new URL(name, CACHE))
  for (const other of await readdir(CACHE)) {
    const file = new URL(other, CACHE)
    const { mtimeMs } = await stat(file)
    if (Date.now() - mtimeMs > KEPT_FOR_MS) await rm(file, { force: true })
  }
}

const IMPORTS = /\bfrom '(\.[^']+)'/g

/**
 * Digest of every migration, of the code that creates a schema from them, and of every source file that they import.
 */
async function digestOfMigrations(): Promise<string> {
  const makers = ['../../package.json', './make-schema.ts'].map((path) => new URL(path, import.meta.url))
  const roots = [...makers, ...(await listMigrations()).values()].filter((url) => url !== null)
  const seen = new Map(roots.map((url) => [url.href, url]))
  const digest = createHash('sha256')
  for (const url of seen.values()) {
    const text = await readFile(url, 'utf8')
    digest.update(`${url.pathname.split('/').at(-1)}\0${text.length}\0${text}`)
    for (const [, path] of text.matchAll(IMPORTS)) {
      const imported = new URL(path!, url)
      seen.set(imported.href, imported)
    }
  }
  return digest.digest('hex').slice(0, 32)
}
