/**
 * Reads a zip archive from any source, by its directory: entries are listed one after the other, and an entry is
 * unpacked without the others. No claim of an archive is trusted: counts, sizes, offsets and checksums are bounded and
 * checked, and an entry never gives more bytes than the directory says.
 */
import { Readable } from 'node:stream'
import { createInflateRaw, crc32 } from 'node:zlib'
import {
  DEFLATED,
  DIRECTORY_END,
  DIRECTORY_END_64,
  DIRECTORY_END_64_SIZE,
  DIRECTORY_END_SIZE,
  DIRECTORY_HEADER,
  DIRECTORY_HEADER_SIZE,
  EXTRA_64,
  EXTRA_TIMES,
  FILE_TYPE,
  FLAG_ENCRYPTED,
  FLAG_UTF8,
  FOLDER,
  IN_EXTRA_16,
  IN_EXTRA_32,
  LOCAL_HEADER,
  LOCAL_HEADER_SIZE,
  LOCATOR_64,
  LOCATOR_64_SIZE,
  MADE_ON_UNIX,
  REGULAR_FILE,
  STORED,
  SYMBOLIC_LINK,
} from './format.ts'

/** The file is no archive, is damaged, or exceeds the limits. */
export class BadZip extends Error {
  override name = 'BadZip'
}

export interface ZipSource {
  readonly size: number
  /** The bytes from `start` to `end`, which is exclusive. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

export interface ZipLimits {
  readonly entries: number
  /** Size limit of the directory, which is read but not stored. */
  readonly directory: number
}

const DEFAULT_LIMITS: ZipLimits = { entries: 1_000_000, directory: 256 * 1024 ** 2 }

export interface ZipEntry {
  /** As in the archive: with slashes, and a trailing one for a folder. */
  readonly name: string
  /** The segments of the name, if it stays inside the target folder; else null. */
  readonly path: readonly string[] | null
  readonly type: 'file' | 'folder' | 'link' | 'other'
  /** Permissions; 0 if the archive has none. */
  readonly mode: number
  readonly mtime: Date
  readonly size: number
  readonly compressed: number
  readonly crc: number
  readonly method: number
  readonly isEncrypted: boolean
  /** Offset of its local header. */
  readonly offset: number
}

export interface ZipArchive {
  readonly count: number
  entries(): AsyncGenerator<ZipEntry>
  /** The entry with exactly this name. */
  find(name: string): Promise<ZipEntry | null>
  /** The content of the entry, unpacked while it is read. */
  read(entry: ZipEntry): AsyncGenerator<Buffer>
}

const LONGEST_COMMENT = 0xffff

export async function openZip(source: ZipSource, limits: Partial<ZipLimits> = {}): Promise<ZipArchive> {
  const most = { ...DEFAULT_LIMITS, ...limits }
  const directory = await findDirectory(source)
  if (directory.count > most.entries) throw new BadZip('has too many entries')
  if (directory.end - directory.start > most.directory) throw new BadZip('has too long a directory')
  // Each entry takes at least that much, so the count cannot be too large.
  if (directory.count * DIRECTORY_HEADER_SIZE > directory.end - directory.start) throw new BadZip('is cut short')
  const archive: ZipArchive = {
    count: directory.count,
    entries: () => entriesOf(source, directory),
    read: (entry) => contentOf(source, directory, entry),
    async find(name) {
      for await (const entry of archive.entries()) if (entry.name === name) return entry
      return null
    },
  }
  return archive
}

interface Directory {
  readonly count: number
  readonly start: number
  readonly end: number
}

async function findDirectory(source: ZipSource): Promise<Directory> {
  const from = Math.max(0, source.size - LONGEST_COMMENT - DIRECTORY_END_SIZE - LOCATOR_64_SIZE)
  const tail = await bytesOf(source, from, source.size)
  const at = findEnd(tail)
  if (at < 0) throw new BadZip('is not a zip archive')
  const position = from + at
  const count = tail.readUInt16LE(at + 10)
  const size = tail.readUInt32LE(at + 12)
  const start = tail.readUInt32LE(at + 16)
  const isLarge = count === IN_EXTRA_16 || size === IN_EXTRA_32 || start === IN_EXTRA_32
  const locator = at - LOCATOR_64_SIZE
  if (isLarge && locator >= 0 && tail.readUInt32LE(locator) === LOCATOR_64) {
    return largeDirectory(source, position - LOCATOR_64_SIZE, toNumber(tail.readBigUInt64LE(locator + 8)))
  }
  return checked({ count, start, end: start + size }, position)
}

/** The last position where a directory end can start such that its comment ends the file. */
function findEnd(tail: Buffer): number {
  for (let at = tail.length - DIRECTORY_END_SIZE; at >= 0; at--) {
    if (tail[at] !== 0x50 || tail.readUInt32LE(at) !== DIRECTORY_END) continue
    if (at + DIRECTORY_END_SIZE + tail.readUInt16LE(at + 20) === tail.length) return at
  }
  return -1
}

async function largeDirectory(source: ZipSource, before: number, position: number): Promise<Directory> {
  if (position + DIRECTORY_END_64_SIZE > before) throw new BadZip('is cut short')
  const end = await bytesOf(source, position, position + DIRECTORY_END_64_SIZE)
  if (end.readUInt32LE(0) !== DIRECTORY_END_64) throw new BadZip('has a broken directory')
  const [count, size, start] = [32, 40, 48].map((at) => toNumber(end.readBigUInt64LE(at))) as [number, number, number]
  return checked({ count, start, end: start + size }, position)
}

function checked(directory: Directory, before: number): Directory {
  if (directory.end > before) throw new BadZip('is cut short')
  return directory
}

function toNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new BadZip('has a broken directory')
  return Number(value)
}

async function bytesOf(source: ZipSource, start: number, end: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of source.read(start, end)) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  if (bytes.length !== end - start) throw new BadZip('is cut short')
  return bytes
}

async function* entriesOf(source: ZipSource, { count, start, end }: Directory): AsyncGenerator<ZipEntry> {
  const chunks = source.read(start, end)[Symbol.asyncIterator]()
  let buffered: Buffer = Buffer.alloc(0)
  const need = async (bytes: number) => {
    while (buffered.length < bytes) {
      const next = await chunks.next()
      if (next.done) throw new BadZip('is cut short')
      buffered = Buffer.concat([buffered, next.value])
    }
  }
  try {
    for (let n = 0; n < count; n++) {
      await need(DIRECTORY_HEADER_SIZE)
      const length = [28, 30, 32].reduce((sum, at) => sum + buffered.readUInt16LE(at), DIRECTORY_HEADER_SIZE)
      await need(length)
      yield entryOf(buffered.subarray(0, length))
      buffered = buffered.subarray(length)
    }
  } finally {
    await chunks.return?.()
  }
}

function entryOf(header: Buffer): ZipEntry {
  if (header.readUInt32LE(0) !== DIRECTORY_HEADER) throw new BadZip('has a broken directory')
  const flags = header.readUInt16LE(8)
  const nameEnd = DIRECTORY_HEADER_SIZE + header.readUInt16LE(28)
  const name = nameOf(header.subarray(DIRECTORY_HEADER_SIZE, nameEnd), flags)
  const extra = extrasOf(header.subarray(nameEnd, nameEnd + header.readUInt16LE(30)))
  const large = extra.get(EXTRA_64) ?? Buffer.alloc(0)
  let at = 0
  // Only values that do not fit their own field are in the extra field, in this order.
  const [size, compressed, offset] = [24, 20, 42].map((field) => {
    const value = header.readUInt32LE(field)
    if (value !== IN_EXTRA_32 || at + 8 > large.length) return value
    at += 8
    return toNumber(large.readBigUInt64LE(at - 8))
  }) as [number, number, number]
  const mode = header.readUInt16LE(4) >> 8 === MADE_ON_UNIX ? header.readUInt16LE(40) : 0
  return {
    name,
    path: pathOf(name),
    type: typeOf(name, mode),
    mode: mode & 0o777,
    mtime: timeOf(header.readUInt32LE(12), extra.get(EXTRA_TIMES)),
    size,
    compressed,
    crc: header.readUInt32LE(16),
    method: header.readUInt16LE(10),
    isEncrypted: (flags & FLAG_ENCRYPTED) !== 0,
    offset,
  }
}

/** Without the flag the encoding is unknown; most writers that omit it still use UTF-8. */
function nameOf(bytes: Buffer, flags: number): string {
  const name = bytes.toString('utf8')
  return (flags & FLAG_UTF8) !== 0 || Buffer.from(name).equals(bytes) ? name : bytes.toString('latin1')
}

function extrasOf(bytes: Buffer): Map<number, Buffer> {
  const extras = new Map<number, Buffer>()
  for (let at = 0; at + 4 <= bytes.length;) {
    const end = at + 4 + bytes.readUInt16LE(at + 2)
    if (end > bytes.length) break
    extras.set(bytes.readUInt16LE(at), bytes.subarray(at + 4, end))
    at = end
  }
  return extras
}

function typeOf(name: string, mode: number): ZipEntry['type'] {
  const type = mode & FILE_TYPE
  if (name.endsWith('/') || type === FOLDER) return 'folder'
  if (type === SYMBOLIC_LINK) return 'link'
  return type === 0 || type === REGULAR_FILE ? 'file' : 'other'
}

/** The segments of a relative path that stays inside its folder; null if it does not. */
function pathOf(name: string): string[] | null {
  const parts = (name.endsWith('/') ? name.slice(0, -1) : name).split('/')
  while (parts.length > 1 && parts[0] === '.') parts.shift()
  const isUnsafe = (part: string) => part === '' || part === '.' || part === '..' || /[\\\0]/.test(part)
  return parts.some(isUnsafe) || /^[a-z]:/i.test(name) ? null : parts
}

function timeOf(dos: number, times: Buffer | undefined): Date {
  if (times && times.length >= 5 && (times[0]! & 1) !== 0) return new Date(times.readInt32LE(1) * 1000)
  const [date, clock] = [dos >>> 16, dos & 0xffff]
  return new Date(
    Date.UTC(
      1980 + (date >> 9),
      Math.max(0, ((date >> 5) & 15) - 1),
      Math.max(1, date & 31),
      clock >> 11,
      (clock >> 5) & 63,
      (clock & 31) * 2,
    ),
  )
}

const MOST_PACKED = 1032
const LEAST_PACKED = 64

/** Whether the compressed bytes can unpack to the stated size. */
export const isPossible = ({ method, size, compressed }: ZipEntry): boolean =>
  method === STORED ? size === compressed : size <= (compressed + LEAST_PACKED) * MOST_PACKED

async function* contentOf(source: ZipSource, directory: Directory, entry: ZipEntry): AsyncGenerator<Buffer> {
  if (entry.isEncrypted) throw new BadZip('has an encrypted entry')
  if (entry.method !== STORED && entry.method !== DEFLATED) throw new BadZip('has an entry packed in an unknown way')
  if (entry.offset + LOCAL_HEADER_SIZE > directory.start) throw new BadZip('has a broken directory')
  const header = await bytesOf(source, entry.offset, entry.offset + LOCAL_HEADER_SIZE)
  if (header.readUInt32LE(0) !== LOCAL_HEADER) throw new BadZip('has a broken entry')
  const start = entry.offset + LOCAL_HEADER_SIZE + header.readUInt16LE(26) + header.readUInt16LE(28)
  if (start + entry.compressed > directory.start) throw new BadZip('has a broken entry')

  let size = 0
  let crc = 0
  // Not every source accepts an empty range.
  const packed = entry.compressed > 0 ? source.read(start, start + entry.compressed) : nothing()
  for await (const chunk of unpacked(packed, entry.method)) {
    size += chunk.length
    if (size > entry.size) throw new BadZip('has an entry that is larger than it says')
    crc = crc32(chunk, crc)
    yield chunk
  }
  if (size !== entry.size) throw new BadZip('has an entry that is smaller than it says')
  if (crc !== entry.crc) throw new BadZip('has an entry with a wrong checksum')
}

async function* nothing(): AsyncGenerator<never> {}

async function* unpacked(packed: AsyncIterable<Uint8Array>, method: number): AsyncGenerator<Buffer> {
  if (method === STORED) {
    for await (const chunk of packed) yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    return
  }
  const source = Readable.from(packed, { objectMode: false })
  const inflate = createInflateRaw()
  source.once('error', (error) => inflate.destroy(error))
  try {
    yield* source.pipe(inflate) as AsyncIterable<Buffer>
  } catch (error) {
    // Errors of zlib; an error of the source is not the archive's fault.
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw new BadZip('has a broken entry')
    throw error
  } finally {
    source.destroy()
    inflate.destroy()
  }
}
