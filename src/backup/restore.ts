/**
 * Brings a moment of a backup back as an instance. Everything is written to a folder inside the data folder, checked
 * there, and moved into place at the end, the database last. A failure removes that folder.
 */
import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { openApp } from '../app.ts'
import { CannotStart, usesPostgres, type Config } from '../config.ts'
import { writeKey } from '../features/instance/instance-key/file.ts'
import { checkInstance } from '../features/repository/checking/all.ts'
import { flushFolder } from '../git/storage/drafts.ts'
import { forgetOthers } from '../jobs/processes.ts'
import { allEnded } from '../lib/async/all-ended.ts'
import { batchesOf } from '../lib/async/batches.ts'
import { randomHex, vault } from '../lib/crypto/secrets.ts'
import { makeFolder } from '../lib/files/make-folder.ts'
import { nullIfMissing } from '../lib/files/system-errors.ts'
import { openBlobs } from '../store/blobs/open.ts'
import { listMigrations } from '../store/history.ts'
import type { Archive } from './archive.ts'
import { contentOf, findMoment, rowsAt, type Content } from './history.ts'
import { Damaged, repositoryRecord, type Manifest, type SqlitePart } from './manifest.ts'
import { refsOf, writeRepository } from './repositories.ts'
import { countRows, writeDatabase } from './sqlite.ts'

const AT_ONCE = 4

export interface RestoreOptions {
  /** The last moment that is not after this time; null: the last one. */
  readonly at?: Date | null
  /** The key of an instance on this machine, for a backup without its key. */
  readonly instanceKey?: Buffer | null
  progress?(text: string): void
}

export interface Restored {
  /** The restored moment. */
  readonly time: string
  readonly version: string
  readonly counts: Counts
  /** Differences from the counts of the backup, and what `mortise check` finds in the restored instance. */
  readonly faults: readonly string[]
}

export async function restore(archive: Archive, config: Config, options: RestoreOptions = {}): Promise<Restored> {
  const found = await findMoment(archive, options.at ?? null)
  await assertKnown(found.manifest)
  const key = keyFor(found.manifest, config, options)
  const content = await contentOf(archive, found)
  assertEngine(found.manifest, config)
  await using site = await openSite(config)
  const counts = await writeContent(archive, { ...content, schema: found.manifest.schema }, site, key, options)
  const faults = [...differences(content.counts, counts), ...(await checkRestored(site, options))]
  await site.finish()
  const { version } = found.manifest
  return { time: found.moments.at(-1)!.time, version, counts, faults }
}

/** A newer version may have written something that this one does not know. */
export async function assertKnown({ schema, version }: Manifest): Promise<void> {
  const known = await listMigrations(schema)
  const other = schema.find((name) => !known.has(name))
  if (other !== undefined)
    throw new CannotStart(
      `the backup was made by Mortise ${version}, which is newer than this version (${other}): restore it with that version`,
    )
}

function keyFor({ secret_key }: Manifest, { secretKey }: Config, { instanceKey }: RestoreOptions): Buffer {
  const key = secretKey ?? secret_key
  if (key !== undefined) return Buffer.from(key, 'hex')
  if (instanceKey) return instanceKey
  throw new CannotStart('the backup does not hold the key of the instance: set MORTISE_SECRET_KEY to the key')
}

function assertEngine({ engine }: Manifest, config: Config): void {
  if (engine === 'postgres' && !usesPostgres(config))
    throw new CannotStart('the backup is one of PostgreSQL: set MORTISE_DATABASE_URL to an empty database')
  if (engine === 'sqlite' && usesPostgres(config))
    throw new CannotStart('the backup is one of SQLite: restore it without MORTISE_DATABASE_URL')
}

/** Where the instance is written before it is moved into place. */
interface Site extends AsyncDisposable {
  readonly config: Config
  finish(): Promise<void>
}

async function openSite(config: Config): Promise<Site> {
  const { data, storages } = config
  const mark = `restoring-${randomHex(6)}`
  const own = join(data, mark)
  const outside = Object.values(storages).filter((folder) => !folder.startsWith(`${data}/`))
  for (const folder of [data, ...outside])
    if (((await readdir(folder).catch(nullIfMissing)) ?? []).length > 0)
      throw new CannotStart(`${folder} is not empty: restore into an empty folder`)
  const created = await Promise.all(
    [data, ...outside].map(async (folder) => [folder, await isMissing(folder)] as const),
  )
  const moved = (folder: string) =>
    folder.startsWith(`${data}/`) ? join(own, folder.slice(data.length + 1)) : join(folder, mark)
  const folders = Object.entries(storages).map(([name, folder]) => [name, moved(folder)] as const)
  for (const folder of [own, ...folders.map(([, folder]) => folder)]) await makeFolder(folder)
  return {
    config: Object.freeze({ ...config, data: own, storages: Object.freeze(Object.fromEntries(folders)) }),
    async finish() {
      for (const folder of outside) await raise(join(folder, mark), folder)
      await raise(own, data)
    },
    async [Symbol.asyncDispose]() {
      for (const folder of [own, ...outside.map((one) => join(one, mark))])
        await rm(folder, { recursive: true, force: true })
      // A failed restore leaves no folder of its own.
      for (const [folder, isNew] of created) if (isNew) await rmdir(folder).catch(() => {})
    },
  }
}

const isMissing = async (folder: string) => (await readdir(folder).catch(nullIfMissing)) === null

/** Moves the content of a folder one level up. The database comes last: without it, there is no instance. */
async function raise(from: string, to: string): Promise<void> {
  const isDatabase = (name: string) => Number(name === DATABASE)
  for (const name of (await readdir(from)).toSorted((a, b) => isDatabase(a) - isDatabase(b)))
    await rename(join(from, name), join(to, name))
  await flushFolder(to)
}

const DATABASE = 'mortise.sqlite'

async function writeContent(
  archive: Archive,
  content: Content & { schema: readonly string[] },
  { config }: Site,
  key: Buffer,
  { progress }: RestoreOptions,
): Promise<Counts> {
  const database = usesPostgres(config)
    ? postgresTarget(archive, content, config)
    : sqliteTarget(archive, content, config)
  assertKey(await database.keyCheck(), key)
  await writeKey(config, key)
  for (const [path, sealed] of Object.entries(content.sealedFiles))
    await writeSealed(config, path, vault(key).open(sealed))
  const refs = await writeRepositories(archive, content, config, progress)
  await writeBlobs(archive, content, config, progress)
  progress?.('writing the database')
  const rows = await database.write()
  return { rows, repositories: content.repositories.size, refs, blobs: content.blobs.size }
}

type Counts = Required<Content['counts']>

/** Not every moment has numbers of rows. */
function differences(expected: Content['counts'], found: Counts): string[] {
  const pairs = ({ rows = {}, ...others }: Content['counts']) => {
    return [...Object.entries(rows).map(([table, n]) => [`rows of ${table}`, n] as const), ...Object.entries(others)]
  }
  const restored = new Map(pairs(found))
  return pairs(expected)
    .filter(([what, n]) => restored.get(what) !== n)
    .map(([what, n]) => `${what}: ${n} in the backup, ${restored.get(what) ?? 0} restored`)
}

interface DatabaseTarget {
  /** The value that only the right key opens; before the work that takes long. */
  keyCheck(): Promise<string | null>
  /** Returns the rows by table, before the instance is opened: opening adds rows. */
  write(): Promise<Record<string, number>>
}

function sqliteTarget(archive: Archive, { database }: Content, { data }: Config): DatabaseTarget {
  const file = join(data, DATABASE)
  const inDatabase = <T>(read: (database: Database.Database) => T): T => {
    const opened = new Database(file)
    try {
      return read(opened)
    } finally {
      opened.close()
    }
  }
  return {
    async keyCheck() {
      await writeDatabase(archive, file, database as SqlitePart[])
      const check = inDatabase((opened) => opened.prepare('select check_value from instance_key').pluck().get())
      return (check as string | undefined) ?? null
    },
    write: async () => inDatabase(countRows),
  }
}

function postgresTarget(
  archive: Archive,
  { database, schema }: Content & { schema: readonly string[] },
  { databaseUrl }: Config,
): DatabaseTarget {
  const part = rowsAt(database)
  const postgres = () => import('./postgres.ts')
  return {
    async keyCheck() {
      const rows = await (await postgres()).readRows<{ check_value: string }>(archive, part, 'instance_key')
      return rows[0]?.check_value ?? null
    },
    write: async () => (await postgres()).writeRows(archive, databaseUrl!, schema, part),
  }
}

function assertKey(check: string | null, key: Buffer): void {
  if (check !== null && !vault(key).canOpen(check))
    throw new CannotStart(
      'the key is not the one that the secrets of this backup were sealed with: set MORTISE_SECRET_KEY to that key',
    )
}

const SEALED = /^(ssh\/ssh_host_\w+_key|mortise\.config\.json)$/

async function writeSealed({ data }: Config, path: string, text: string): Promise<void> {
  if (!SEALED.test(path)) throw new Damaged(`it holds a file with an unknown name`)
  const file = join(data, path)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, text, { mode: 0o600, flush: true, flag: 'wx' })
}

const KEY = /^([\w-]{1,64})\/((?:[0-9a-f]{2}\/[0-9a-f]{2}|@pools\/[0-9a-f]{2})\/[0-9a-f]+(?:\.wiki)?\.git)$/

export async function writeRepositories(
  archive: Archive,
  { repositories }: Pick<Content, 'repositories'>,
  { storages }: Config,
  progress: RestoreOptions['progress'],
): Promise<number> {
  const write = async ([key, digest]: [string, string]) => {
    const [, storage, path] = KEY.exec(key) ?? []
    if (storage === undefined) throw new Damaged('it holds a repository with an unknown name')
    const dir = join(storages[storage] ?? storages['default']!, path!)
    await writeRepository(archive, dir, await archive.readJson(digest, repositoryRecord))
    return (await refsOf(dir)).size
  }
  let done = 0
  let refs = 0
  for (const some of batchesOf([...repositories], AT_ONCE)) {
    for (const count of await allEnded(some.map(write))) refs += count
    done += some.length
    progress?.(`repositories: ${done} of ${repositories.size}`)
  }
  return refs
}

export async function writeBlobs(
  archive: Archive,
  { blobs }: Pick<Content, 'blobs'>,
  config: Config,
  progress: RestoreOptions['progress'],
): Promise<void> {
  const store = await openBlobs(config)
  let done = 0
  for (const some of batchesOf([...blobs], AT_ONCE)) {
    await allEnded(some.map((digest) => copyBlob(archive, store, digest)))
    done += some.length
    progress?.(`files: ${done} of ${blobs.size}`)
  }
}

async function copyBlob(archive: Archive, store: Awaited<ReturnType<typeof openBlobs>>, digest: string): Promise<void> {
  const opened = await archive.objects.open(digest)
  if (!opened) throw new Damaged(`the object ${digest} is missing`)
  const stored = await store.put(opened.stream)
  if (stored.digest === digest) return
  await store.remove(stored.digest)
  throw new Damaged(`the object ${digest} is damaged`)
}

/** Opening the instance also applies newer migrations. */
async function checkRestored({ config }: Site, { progress }: RestoreOptions): Promise<string[]> {
  progress?.('checking the restored instance')
  await using opened = await openApp(config, { logTo: SILENT, mustExist: true })
  await forgetOthers(opened.app.db, opened.app.holder)
  const faults: string[] = []
  for await (const finding of checkInstance(opened.app))
    faults.push(...finding.faults.map((fault) => `${finding.path}: ${fault}`))
  return faults
}

export const SILENT = { write: () => {} }
