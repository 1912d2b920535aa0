/** Opens the database and the blobs of an instance for a backup. Changes nothing, and applies no migrations. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CannotStart, usesPostgres, type Config } from '../config.ts'
import { openBlobs } from '../store/blobs/open.ts'
import type { Archive } from './archive.ts'
import { Capturer, occupied, type CaptureOptions } from './capture.ts'
import type { Source } from './source.ts'

export async function openCapturer(
  config: Config,
  archive: Archive,
  options: CaptureOptions,
): Promise<Capturer & AsyncDisposable> {
  const source = await openSource(config)
  const capturer = new Capturer(config, archive, source, await openBlobs(config), options)
  return Object.assign(capturer, { [Symbol.asyncDispose]: () => source[Symbol.asyncDispose]() })
}

/** Until its end, no other process of the instance writes to the archive. Null if this machine has no instance. */
export async function leaseArchive(config: Config, archive: Archive): Promise<AsyncDisposable | null> {
  if (!hasInstance(config)) return null
  const source = await openSource(config)
  if (await source.takeLease(archive.label)) return source
  await source[Symbol.asyncDispose]()
  throw occupied(archive)
}

/** Before anything is written to the destination. */
export function assertInstance(config: Config): void {
  if (!hasInstance(config)) throw new CannotStart(`${config.data} holds no instance`)
}

function hasInstance(config: Config): boolean {
  const file = fileOf(config)
  return file === null || existsSync(file)
}

/** Null with PostgreSQL. */
export function fileOf({ data, databaseUrl }: Config): string | null {
  if (usesPostgres({ databaseUrl })) return null
  return databaseUrl?.replace(/^sqlite:/, '') ?? join(data, DATABASE)
}

const DATABASE = 'mortise.sqlite'

async function openSource(config: Config): Promise<Source> {
  const file = fileOf(config)
  if (file === null) {
    const { openPostgresSource } = await import('./postgres.ts')
    return openPostgresSource(config.databaseUrl!)
  }
  const { SqliteSource } = await import('./sqlite.ts')
  return new SqliteSource(file)
}
