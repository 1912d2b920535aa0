/**
 * Reads a SQLite database while other processes use it. A snapshot is one commit: a read transaction keeps its pages
 * in the file and in the log, and pages are read from there without SQLite. From one snapshot to the next, the log tells
 * which pages have changed.
 */
import { hash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { open as openFile, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { CannotStart } from '../config.ts'
import type { BlobColumn } from '../context.ts'
import { batchesOf } from '../lib/async/batches.ts'
import { compress, type Archive } from './archive.ts'
import { Damaged, imageList, type DatabasePart, type ImageList, type SqlitePart } from './manifest.ts'
import type { Snapshot, Source } from './source.ts'
import { readCommits, saltOf, type Position } from './wal.ts'

/** How long another process may hold the write lock. */
const PATIENCE_MS = 60_000
const PAUSE_MS = 5

/** The log is moved into the file when it is longer. */
const LONGEST_LOG = 16 * 1024 * 1024

/** 256 KB with pages of the usual size. */
const CHUNK_PAGES = 64
/** The pages of one object with changed pages: 4 MB. */
const DELTA_PAGES = 1024

/** The database file. Stays open between snapshots, so that no commit in between is missed. */
export class SqliteSource implements Source {
  readonly engine = 'sqlite'
  readonly #file: string
  readonly #writer: Database.Database
  readonly #database: number
  #log: number | null = null
  readonly #pageSize: number
  #last: SqliteSnapshot | null = null
  #lease: Database.Database | null = null
  #position: Position | null = null
  /** The offsets of the pages in the log. */
  #logged = new Map<number, number>()
  /** Changed pages that no archive has. */
  readonly #unsaved = new Set<number>()

  constructor(file: string) {
    this.#file = file
    this.#writer = new Database(file, { fileMustExist: true, timeout: 0 })
    if (this.#writer.pragma('journal_mode', { simple: true }) !== 'wal')
      throw new CannotStart(`${file} is not in WAL mode: start the server once`)
    this.#pageSize = this.#writer.pragma('page_size', { simple: true }) as number
    // Closing a file ends all locks of the process on it, so both files stay open as long as the connections.
    this.#database = openSync(file, 'r')
  }

  async snapshot(): Promise<SqliteSnapshot> {
    await this.#lock()
    const time = new Date()
    try {
      const known = this.#last
      // The log exists while the writer has it open.
      this.#log ??= openSync(`${this.#file}-wal`, 'r')
      const since = readCommits(this.#log, this.#pageSize, this.#position)
      if (since.end?.salt !== this.#position?.salt) this.#logged = new Map()
      for (const [page, offset] of since.pages) {
        this.#logged.set(page, offset)
        this.#unsaved.add(page)
      }
      this.#position = since.end
      // Without a reader, the log could start again and lose commits: the lock prevents commits meanwhile.
      known?.end()
      if ((since.end?.offset ?? 0) > LONGEST_LOG) this.#moveLog()
      const snapshot = new SqliteSnapshot(time, pinned(this.#file), {
        database: this.#database,
        log: this.#log,
        salt: saltOf(this.#log),
        pageSize: this.#pageSize,
        logged: new Map(this.#logged),
        changed: known === null ? null : new Set(this.#unsaved),
        onSaved: () => this.#unsaved.clear(),
      })
      this.#last = snapshot
      return snapshot
    } finally {
      this.#writer.exec('rollback')
    }
  }

  /** Copies the log into the file. The next commit then starts the log again, unless another process reads from it. */
  #moveLog(): void {
    const other = new Database(this.#file, { fileMustExist: true, timeout: 0 })
    try {
      other.pragma('wal_checkpoint(PASSIVE)')
    } finally {
      other.close()
    }
  }

  async #lock(): Promise<void> {
    for (const start = performance.now(); ; await pause(PAUSE_MS)) {
      try {
        this.#writer.exec('begin immediate')
        return
      } catch (error) {
        if (!isBusy(error)) throw error
        if (performance.now() - start > PATIENCE_MS) throw new CannotStart('another process has locked the database')
      }
    }
  }

  async rows<T>(sql: string): Promise<T[]> {
    return this.#writer.prepare(sql).all() as T[]
  }

  /** A lock on an empty file beside the database: the system ends the lock with the process. */
  async takeLease(destination: string): Promise<boolean> {
    if (this.#lease) return true
    const name = `backup-${hash('sha256', destination).slice(0, 16)}.lock`
    const lease = new Database(join(dirname(this.#file), name), { timeout: 0 })
    try {
      lease.exec('begin exclusive')
      this.#lease = lease
      return true
    } catch (error) {
      lease.close()
      if (!isBusy(error)) throw error
      return false
    }
  }

  async assertLease(): Promise<void> {
    if (!this.#lease) throw new Error('the lease was not taken')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lease?.close()
    this.#last?.end()
    this.#writer.close()
    closeSync(this.#database)
    if (this.#log !== null) closeSync(this.#log)
  }
}

const isBusy = (error: unknown) => error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')

/** A read transaction at the newest commit. */
function pinned(file: string): Database.Database {
  const reader = new Database(file, { readonly: true, fileMustExist: true })
  reader.exec('begin')
  reader.prepare('select count(*) from sqlite_master').get()
  return reader
}

interface Files {
  readonly database: number
  readonly log: number
  readonly salt: string | null
  readonly pageSize: number
  /** The offsets of pages in the log. */
  readonly logged: ReadonlyMap<number, number>
  /** The pages that differ from the last saved snapshot; null if all may differ. */
  readonly changed: ReadonlySet<number> | null
  onSaved(): void
}

/** Columns that are the only one of an index. */
const INDEXED_ALONE = `select m.name || '.' || min(c.name) from sqlite_schema m join pragma_index_list(m.name) i join pragma_index_info(i.name) c where m.type = 'table' group by m.name, i.name having count(*) = 1`

/** Tables that change all the time, even if nothing happens. */
const RESTLESS = `('processes')`

class SqliteSnapshot implements Snapshot {
  readonly time: Date
  readonly #reader: Database.Database
  readonly #files: Files
  /** The number of pages. */
  readonly #size: number

  constructor(time: Date, reader: Database.Database, files: Files) {
    this.time = time
    this.#reader = reader
    this.#files = files
    this.#size = reader.pragma('page_count', { simple: true }) as number
  }

  get isUnchanged(): boolean {
    const { changed } = this.#files
    if (changed === null) return false
    const roots = this.#reader.prepare(`select rootpage from sqlite_master where tbl_name in ${RESTLESS}`).pluck().all()
    return [...changed].every((page) => roots.includes(page))
  }

  saved(): void {
    this.#files.onSaved()
  }

  get bytes(): number {
    return this.#size * this.#files.pageSize
  }

  get changedBytes(): number {
    return (this.#files.changed?.size ?? this.#size) * this.#files.pageSize
  }

  async rows<T>(sql: string): Promise<T[]> {
    return this.#reader.prepare(sql).all() as T[]
  }

  async countRows(): Promise<Record<string, number>> {
    return countRows(this.#reader)
  }

  /**
   * A new value of a column is in a changed page of the index of this column, where the length and the type of a number
   * stand before the value: never a hex digit.
   */
  async changedDigests(columns: readonly BlobColumn[]): Promise<Set<string> | null> {
    const { changed } = this.#files
    const indexed = new Set(this.#reader.prepare(INDEXED_ALONE).pluck().all())
    if (changed === null || !columns.every(({ table, column }) => indexed.has(`${table}.${column}`))) return null
    const digests = new Set<string>()
    for (const some of batchesOf(this.#present(changed), DELTA_PAGES))
      for (const [digest] of this.#read(some)
        .toString('latin1')
        .matchAll(/(?<![0-9a-f])[0-9a-f]{64}/g))
        digests.add(digest)
    return digests
  }

  /** Sorted, and without those after the end of the file. */
  #present(pages: ReadonlySet<number>): number[] {
    return [...pages].filter((page) => page <= this.#size).toSorted((a, b) => a - b)
  }

  async storeWhole(archive: Archive, before: DatabasePart | null): Promise<SqlitePart> {
    const pages = this.#size
    const { pageSize: page_size } = this.#files
    const image = before && 'image' in before ? before.image : undefined
    const known = new Map(image === undefined ? [] : (await archive.readJson(image, imageList)).chunks)
    const chunks: [string, string][] = []
    for (let first = 1; first <= pages; first += CHUNK_PAGES) {
      const numbers = Array.from({ length: Math.min(CHUNK_PAGES, pages - first + 1) }, (_, n) => first + n)
      const bytes = this.#read(numbers)
      const raw = hash('sha256', bytes)
      const object = known.get(raw) ?? (await archive.put(await compress(bytes))).digest
      known.set(raw, object)
      chunks.push([raw, object])
    }
    const list: ImageList = { chunk_pages: CHUNK_PAGES, chunks }
    return { page_size, pages, image: await archive.putJson(list) }
  }

  async storeChanges(archive: Archive): Promise<SqlitePart> {
    const pages = this.#size
    const { pageSize: page_size, changed } = this.#files
    const delta: string[] = []
    for (const some of batchesOf(this.#present(changed!), DELTA_PAGES)) {
      const head = Buffer.from(Uint32Array.of(some.length, ...some).buffer)
      delta.push((await archive.put(await compress(Buffer.concat([head, this.#read(some)])))).digest)
    }
    return { page_size, pages, delta }
  }

  #read(numbers: readonly number[]): Buffer {
    const { log, salt, logged } = this.#files
    const bytes = this.#readFrom(numbers, logged)
    // The log can start again below a reader that needs nothing of it: then the file has all pages, and keeps them.
    return numbers.some((page) => logged.has(page)) && saltOf(log) !== salt ? this.#readFrom(numbers, new Map()) : bytes
  }

  #readFrom(numbers: readonly number[], logged: ReadonlyMap<number, number>): Buffer {
    const { database, log, pageSize } = this.#files
    const bytes = Buffer.alloc(numbers.length * pageSize)
    for (const [n, page] of numbers.entries()) {
      const offset = logged.get(page)
      const [file, at] = offset === undefined ? [database, (page - 1) * pageSize] : [log, offset]
      // A page after the end of the file has no content yet.
      readSync(file, bytes, n * pageSize, pageSize, at)
    }
    return bytes
  }

  end(): void {
    if (this.#reader.open) this.#reader.close()
  }
}

/** By table, without the inner tables of full-text indexes. */
export function countRows(database: Database.Database): Record<string, number> {
  const tables = database
    .prepare(`select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'`)
    .pluck()
    .all() as string[]
  const count = (table: string) => database.prepare(`select count(*) from "${table}"`).pluck().get() as number
  return Object.fromEntries(tables.toSorted().map((table) => [table, count(table)]))
}

/** Writes the database file of a moment: an image, then the changes of each later moment. */
export async function writeDatabase(archive: Archive, file: string, parts: readonly SqlitePart[]): Promise<void> {
  await using target = await openFile(file, 'wx', 0o600)
  for (const part of parts) {
    if (part.image !== undefined) await writeImage(archive, target, part)
    for (const digest of part.delta ?? []) await writeChanges(archive, target, part, digest)
    await target.truncate(part.pages * part.page_size)
  }
  await target.sync()
}

async function writeImage(archive: Archive, target: FileHandle, { image, page_size }: SqlitePart): Promise<void> {
  const { chunk_pages, chunks } = await archive.readJson(image!, imageList)
  for (const [n, [raw, object]] of chunks.entries()) {
    const bytes = await archive.readCompressed(object)
    if (hash('sha256', bytes) !== raw) throw new Damaged(`the object ${object} is damaged`)
    await target.write(bytes, 0, bytes.length, n * chunk_pages * page_size)
  }
}

async function writeChanges(
  archive: Archive,
  target: FileHandle,
  { page_size }: SqlitePart,
  digest: string,
): Promise<void> {
  const bytes = await archive.readCompressed(digest)
  const count = bytes.length < 4 ? 0 : bytes.readUInt32LE(0)
  const start = 4 + count * 4
  if (bytes.length !== start + count * page_size) throw new Damaged(`the object ${digest} is damaged`)
  for (let n = 0; n < count; n++)
    await target.write(bytes, start + n * page_size, page_size, (bytes.readUInt32LE(4 + n * 4) - 1) * page_size)
}
