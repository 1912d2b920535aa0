/** Where a backup is kept: a folder, or a bucket of an S3-compatible store. */
import { createHash, hash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readFile, readdir, realpath, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import type { z } from 'zod'
import { CannotStart, backupUrl, type Config } from '../config.ts'
import { flushFolder } from '../git/storage/drafts.ts'
import { hasCode, isDiskFull, isSystemError, nullIfMissing } from '../lib/files/system-errors.ts'
import { BlobStoreUnavailable, type Blob, type Blobs } from '../store/blobs/blobs.ts'
import { isDigest } from '../store/blobs/content.ts'
import { folderBlobs } from '../store/blobs/folder.ts'
import { isStoreFull } from '../store/dialect.ts'
import { Damaged, TooNew, isManifestName, type Parts } from './manifest.ts'

/** Small files with a name, which are replaced as a whole. */
interface NamedFiles {
  names(): Promise<string[]>
  /** Null if there is none. */
  read(name: string): Promise<string | null>
  write(name: string, text: string): Promise<void>
  remove(name: string): Promise<void>
  /** All objects, and when each was stored. */
  objects(): AsyncIterable<{ digest: string; modified: Date }>
}

export class Archive {
  readonly objects: Blobs
  readonly #files: NamedFiles
  /** As a message shows it. */
  readonly label: string

  constructor(label: string, objects: Blobs, files: NamedFiles) {
    this.label = label
    this.objects = objects
    this.#files = files
  }

  /** Oldest first. */
  async manifestNames(): Promise<string[]> {
    return (await this.#files.names()).filter(isManifestName).toSorted()
  }

  async readManifest(name: string): Promise<string> {
    const text = await this.#files.read(name)
    if (text === null) throw new Damaged(`${name} is missing`)
    return text
  }

  writeManifest = (name: string, text: string): Promise<void> => this.#files.write(name, text)

  removeManifest = (name: string): Promise<void> => this.#files.remove(name)

  /** An object that the archive has already is not stored again. */
  async put(content: Uint8Array): Promise<Blob> {
    const digest = hash('sha256', content)
    return (await this.objects.has(digest)) ? { digest, size: content.length } : this.objects.put(content)
  }

  list = (): AsyncIterable<{ digest: string; modified: Date }> => this.#files.objects()

  async putJson(value: unknown): Promise<string> {
    const bytes = await compress(Buffer.from(JSON.stringify(value)))
    return (await this.put(bytes)).digest
  }

  async readJson<T>(digest: string, schema: z.ZodType<T>): Promise<T> {
    const text = (await this.readCompressed(digest)).toString()
    const parsed = schema.safeParse(JSON.parse(text))
    if (!parsed.success) throw damagedObject(digest)
    return parsed.data
  }

  async readCompressed(digest: string): Promise<Buffer> {
    return decompress(await this.read(digest))
  }

  /** The whole object. Its content was compared with its name. */
  async read(digest: string): Promise<Buffer> {
    const bytes = await buffer(await this.#open(digest))
    if (hash('sha256', bytes) !== digest) throw damagedObject(digest)
    return bytes
  }

  /** The content of a file in parts. Fails at the end of a part that is not as it was written. */
  async *readParts({ parts }: Pick<Parts, 'parts'>): AsyncGenerator<Buffer> {
    for (const digest of parts) {
      const hash = createHash('sha256')
      for await (const chunk of (await this.#open(digest)) as AsyncIterable<Buffer>) {
        hash.update(chunk)
        yield chunk
      }
      if (hash.digest('hex') !== digest) throw damagedObject(digest)
    }
  }

  async #open(digest: string): Promise<Readable> {
    const opened = await this.objects.open(digest)
    if (!opened) throw new Damaged(`the object ${digest} is missing`)
    return opened.stream
  }
}

const damagedObject = (digest: string) => new Damaged(`the object ${digest} is damaged`)

const zstd = promisify(zstdCompress)
const unzstd = promisify(zstdDecompress)
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }

/** Equal content gives equal bytes, and so the same object. */
export const compress = (bytes: Uint8Array): Promise<Buffer> => zstd(bytes, LEVEL)

async function decompress(bytes: Buffer): Promise<Buffer> {
  try {
    return await unzstd(bytes)
  } catch (cause) {
    throw new Damaged('an object cannot be decompressed', { cause })
  }
}

type Where = Pick<Config, 'data' | 's3AccessKey' | 's3SecretKey'>

/** With `create`, an empty or missing folder becomes an archive. */
export async function openArchive(address: string, config: Where, { create = false } = {}): Promise<Archive> {
  if (/^s3:/i.test(address)) return openBucket(address, config)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) throw new CannotStart('a backup goes to a folder or to s3://bucket')
  return openFolder(resolve(address), config, create)
}

async function openFolder(root: string, { data }: Where, create: boolean): Promise<Archive> {
  if (`${root}/`.startsWith(`${data}/`))
    throw new CannotStart(`${root} is inside the data folder, and would be lost together with it`)
  const names = await readdir(root).catch(nullIfMissing)
  const isArchive = names?.some((name) => name === 'objects' || isManifestName(name)) ?? false
  if (!isArchive && !create) throw new CannotStart(`${root} holds no backup`)
  if (!isArchive && names !== null && names.length > 0)
    throw new CannotStart(`${root} is not empty and holds no backup: choose an empty folder`)
  if (create) await mkdir(join(root, 'objects'), { recursive: true, mode: 0o700 })
  // The same folder by another name is the same destination.
  return folderArchive(await realpath(root))
}

/** A folder that is known to be an archive, or to become one. */
export function folderArchive(root: string): Archive {
  const objects = folderBlobs(join(root, 'objects'))
  return new Archive(root, objects, folderFiles(root, objects))
}

function folderFiles(root: string, objects: Blobs): NamedFiles {
  return {
    objects: () => objects.list()!,
    names: () => readdir(root),
    read: (name) => readFile(join(root, name), 'utf8').catch(nullIfMissing),
    remove: (name) => rm(join(root, name), { force: true }),
    async write(name, text) {
      const draft = join(root, `${name}.${randomUUID()}`)
      try {
        await using file = await open(draft, 'wx', 0o600)
        await file.writeFile(text)
        await file.sync()
        await rename(draft, join(root, name))
      } finally {
        await rm(draft, { force: true })
      }
      await flushFolder(root)
    },
  }
}

async function openBucket(address: string, { data, s3AccessKey, s3SecretKey }: Where): Promise<Archive> {
  const { bucketFiles, bucketOf, s3Blobs } = await import('../store/blobs/s3.ts')
  const bucket = orCannotStart(() => bucketOf(backupUrl(address), { accessKey: s3AccessKey, secretKey: s3SecretKey }))
  const spool = existsSync(data) ? join(data, 'spool') : (await import('node:os')).tmpdir()
  const inner = { ...bucket, prefix: `${bucket.prefix}objects/` }
  const files = bucketFiles(bucket)
  return new Archive(`${bucket.url}/${bucket.prefix}`, s3Blobs(inner, spool), {
    ...files,
    objects: () => digestsIn(bucketFiles(inner)),
  })
}

/** A wrong address, or no keys. */
function orCannotStart<T>(open: () => T): T {
  try {
    return open()
  } catch (cause) {
    throw new CannotStart(`the backup cannot be opened: ${(cause as Error).message}`, { cause })
  }
}

async function* digestsIn(files: { list(): AsyncIterable<{ name: string; modified: Date }> }) {
  for await (const { name, modified } of files.list()) {
    const digest = name.replaceAll('/', '')
    if (isDigest(digest)) yield { digest, modified }
  }
}

/** Why a backup could not be written or read, in one line that says what to do; null for a bug. */
export function archiveFault(error: unknown): string | null {
  if (error instanceof Damaged)
    return `the backup is not whole: ${error.message}. Choose another moment or another copy`
  if (error instanceof TooNew) return error.message
  if (isDiskFull(error) || isStoreFull(error)) return 'the disk is full: free some space, then try again'
  if (error instanceof BlobStoreUnavailable || (error instanceof Error && error.message.startsWith('the blob store ')))
    return bucketFault(error)
  // The end of a connection while an object is read.
  if (hasCode(error, 'ECONNRESET') && (error as Error).message === 'aborted')
    return 'the bucket has closed the connection: try again'
  if (isSystemError(error)) return (error as Error).message
  return null
}

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/answers 404 NoSuchBucket/, 'create the bucket, or correct its name'],
  [/answers 40[13]/, 'check MORTISE_S3_ACCESS_KEY, MORTISE_S3_SECRET_KEY and the permissions of this key'],
  [/answers (5|429)|closed/, 'try again later'],
  [/reached|has not answered/, 'check the endpoint and the network, then try again'],
]

function bucketFault({ message, cause }: Error): string {
  const reason = isSystemError(cause) ? ` (${(cause as Error).message})` : ''
  const advice = ADVICE.find(([pattern]) => pattern.test(message))?.[1]
  return `${message.replace('the blob store', 'the bucket')}${reason}${advice ? `: ${advice}` : ''}`
}
