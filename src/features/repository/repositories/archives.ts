/**
 * A cache of archives. Git writes each archive to a file as fast as it can, and all concurrent readers follow the file.
 * Only a complete archive gets its final name, so no reader finds an incomplete one. An archive that exceeds the limit,
 * or finds no free space, is not cached: the first reader continues with the running git process, and the others start
 * their own.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { DAY, HOUR } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { nullIfMissing } from '../../../lib/files/system-errors.ts'

const MB = 1024 * 1024
const LIMITS = { largest: 512 * MB, files: 1000, bytes: 5 * 1024 * MB }
type Limits = typeof LIMITS
/** The time since the last request, stored as the modification time of the file. */
const KEPT_MS = DAY
const NOTED_EVERY_MS = HOUR

const folderOf = (app: App) => join(app.config.data, 'archives')

/** `key` is a file name. The project id before it lets the sweep delete the archive with the project. */
export const archiveFile = (app: App, projectId: number, key: string): string =>
  join(folderOf(app), `${projectId}-${key}`)

export interface StoredArchive {
  readonly size: number
  /** Destroy a stream that is not read to its end. */
  readonly body: Buffer | Readable
}

/** Up to this size, reading the whole file is faster than streaming. */
const SMALL = 256 * 1024

export async function openArchive(app: App, file: string): Promise<StoredArchive | null> {
  const kept = await open(file).catch(nullIfMissing)
  if (!kept) return null
  const { size, mtimeMs } = await kept.stat()
  const now = app.clock.now()
  if (now.getTime() - mtimeMs > NOTED_EVERY_MS) await kept.utimes(now, now)
  if (size > SMALL) return { size, body: kept.createReadStream() }
  await using _ = kept
  return { size, body: await kept.readFile() }
}

/** Starts git only when the stream is read. */
export function makeArchive(file: string, make: () => Readable, limits: Limits = LIMITS): Readable {
  const gone = new AbortController()
  const chunks = readMaking(file, make, limits, gone.signal)
  return new Readable({
    read() {
      chunks.next().then(
        ({ done, value }) => this.push(done ? null : value),
        (error: Error) => this.destroy(error),
      )
    },
    // A suspended generator notices its end only when it resumes.
    destroy(error, done) {
      gone.abort()
      void chunks.return(undefined).catch(() => {})
      done(error)
    },
  })
}

const running = new Map<string, Making>()

async function* readMaking(
  file: string,
  make: () => Readable,
  limits: Limits,
  gone: AbortSignal,
): AsyncGenerator<Buffer> {
  let making = running.get(file)
  if (!making) running.set(file, (making = new Making(file, make, limits)))
  yield* making.read(gone)
}

const CHUNK = 64 * 1024

class Making {
  readonly #file: string
  readonly #draft: string
  readonly #make: () => Readable
  readonly #limits: Limits
  readonly #source: Readable
  #written: FileHandle | null = null
  #size = 0
  #state: 'running' | 'whole' | 'cut' | 'failed' = 'running'
  #failure: unknown
  /** The part of a cut archive that is not in the file, for the first reader that needs it. */
  #rest: AsyncGenerator<Buffer> | null = null
  #readers = 0
  #progress = Promise.withResolvers<void>()

  constructor(file: string, make: () => Readable, limits: Limits) {
    this.#file = file
    this.#draft = `${file}.${randomUUID()}.new`
    this.#make = make
    this.#limits = limits
    this.#source = make()
    void this.#run()
  }

  async *read(gone: AbortSignal): AsyncGenerator<Buffer> {
    this.#readers++
    gone.addEventListener('abort', () => this.#tell())
    try {
      let at = 0
      for (;;) {
        if (at < this.#size) {
          const chunk = await this.#readAt(at)
          at += chunk.length
          yield chunk
        } else if (this.#state === 'running' && !gone.aborted) await this.#progress.promise
        else break
      }
      if (gone.aborted) return
      if (this.#state === 'failed') throw this.#failure
      if (this.#state === 'cut') yield* this.#readRest(at, gone)
    } finally {
      if (--this.#readers === 0) this.#leave()
    }
  }

  async #readAt(at: number): Promise<Buffer> {
    const length = Math.min(CHUNK, this.#size - at)
    const { bytesRead, buffer } = await this.#written!.read(Buffer.allocUnsafe(length), 0, length, at)
    if (bytesRead === 0) throw new Error('an archive has become shorter')
    return buffer.subarray(0, bytesRead)
  }

  #readRest(at: number, gone: AbortSignal): AsyncGenerator<Buffer> {
    const rest = this.#rest
    this.#rest = null
    const stream = rest ? this.#source : this.#make()
    gone.addEventListener('abort', () => stream.destroy())
    return rest ?? without(stream, at)
  }

  async #run(): Promise<void> {
    const chunks = this.#source[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    try {
      this.#written = await this.#begin().catch(() => null)
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
        if (await this.#write(next.value)) continue
        this.#rest = continued(next.value, chunks)
        return this.#end('cut')
      }
      await this.#keep().catch(() => this.#discard())
      this.#end('whole')
    } catch (error) {
      this.#failure = error
      this.#end('failed')
    }
  }

  /** Null without free space. A failure to cache never fails the download, here and below. */
  async #begin(): Promise<FileHandle | null> {
    return (await evictOldest(dirname(this.#file), this.#limits)) ? open(this.#draft, 'wx+') : null
  }

  async #keep(): Promise<void> {
    await this.#written?.sync()
    if (this.#written) await rename(this.#draft, this.#file)
  }

  /** The sweep deletes the file if this fails. */
  #discard(): void {
    void rm(this.#draft, { force: true }).catch(() => {})
  }

  async #write(chunk: Buffer): Promise<boolean> {
    if (!this.#written || this.#size + chunk.length > this.#limits.largest) return false
    const isWritten = await this.#written.appendFile(chunk).then(
      () => true,
      () => false,
    )
    if (isWritten) this.#size += chunk.length
    this.#tell()
    return isWritten
  }

  #tell(): void {
    this.#progress.resolve()
    this.#progress = Promise.withResolvers()
  }

  #end(state: 'whole' | 'cut' | 'failed'): void {
    this.#forget()
    this.#state = state
    this.#tell()
    if (state !== 'whole') this.#discard()
    if (this.#readers === 0) this.#leave()
  }

  /** Later readers find the file, or start again. */
  #forget(): void {
    if (running.get(this.#file) === this) running.delete(this.#file)
  }

  /** The last reader stops git and discards the unfinished archive. */
  #leave(): void {
    this.#forget()
    if (this.#state === 'running' || this.#rest) this.#source.destroy()
    if (this.#state !== 'running') void this.#written?.close().catch(() => {})
  }
}

async function* continued(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield first
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
  } finally {
    await chunks.return?.()
  }
}

/** Skips this number of bytes, because git writes the same bytes every time. */
async function* without(stream: Readable, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (chunk.length > left) yield chunk.subarray(left)
    left = Math.max(0, left - chunk.length)
  }
}

interface Found {
  readonly path: string
  readonly name: string
  readonly size: number
  readonly usedAt: number
}

/** Least recently used first. */
async function archivesIn(folder: string): Promise<Found[]> {
  const found: Found[] = []
  for (const name of (await readdir(folder).catch(nullIfMissing)) ?? []) {
    const one = await stat(join(folder, name)).catch(nullIfMissing)
    if (one) found.push({ path: join(folder, name), name, size: one.size, usedAt: one.mtimeMs })
  }
  return found.toSorted((a, b) => a.usedAt - b.usedAt)
}

const isDraft = ({ name }: Found) => name.endsWith('.new')

/** Makes space for one more archive of any size. False if running archives take all the space. */
async function evictOldest(folder: string, most: Limits): Promise<boolean> {
  await mkdir(folder, { recursive: true })
  const found = await archivesIn(folder)
  let bytes = found.reduce((sum, { size }) => sum + size, most.largest)
  let files = found.length + 1
  const isFull = () => bytes > most.bytes || files > most.files
  for (const one of found.filter((one) => !isDraft(one))) {
    if (!isFull()) break
    await rm(one.path, { force: true })
    bytes -= one.size
    files--
  }
  return !isFull()
}

/** Deletes archives that were not used for a while, unfinished ones, and those of deleted projects. */
export async function sweepArchives(app: App): Promise<void> {
  const found = await archivesIn(folderOf(app))
  const idOf = ({ name }: Found) => Number.parseInt(name, 10) || 0
  const oldest = app.clock.now().getTime() - KEPT_MS
  const ids = [...new Set(found.map(idOf))]
  const projects =
    ids.length === 0 ? [] : await app.db.selectFrom('projects').select('id').where('id', 'in', ids).execute()
  const present = new Set(projects.map(({ id }) => id))
  for (const one of found) if (one.usedAt < oldest || !present.has(idOf(one))) await rm(one.path, { force: true })
}
