/**
 * Writes a zip archive as a stream: contents are read once, compressed and passed on, so memory grows only with the
 * number of entries. Large files and archives use zip64.
 */
import { Readable } from 'node:stream'
import { createDeflateRaw, crc32 } from 'node:zlib'
import {
  DATA_DESCRIPTOR,
  DEFLATED,
  DIRECTORY_END,
  DIRECTORY_END_64,
  DIRECTORY_END_64_SIZE,
  DIRECTORY_END_SIZE,
  DIRECTORY_HEADER,
  DIRECTORY_HEADER_SIZE,
  EXTRA_64,
  EXTRA_TIMES,
  FLAG_DESCRIPTOR,
  FLAG_UTF8,
  IN_EXTRA_16,
  IN_EXTRA_32,
  LOCAL_HEADER,
  LOCAL_HEADER_SIZE,
  LOCATOR_64,
  LOCATOR_64_SIZE,
  MADE_ON_UNIX,
  STORED,
} from './format.ts'

export interface ZipInput {
  /** With slashes; a folder has a trailing slash. */
  readonly name: string
  /** As from stat, including the type. */
  readonly mode: number
  readonly mtime: Date
  /** A longer content is cut at this size, a shorter one fails. */
  readonly size: number
  content(): AsyncIterable<Uint8Array>
}

/** From this size on a compressed file may need more than 32 bits. */
const LARGE_FILE = 0xf0000000
const VERSION_PLAIN = 20
const VERSION_64 = 45

interface Written {
  readonly input: ZipInput
  readonly name: Buffer
  readonly method: number
  readonly offset: number
  crc: number
  compressed: number
}

export async function* zipOf(
  inputs: AsyncIterable<ZipInput> | Iterable<ZipInput>,
  { level = 6 }: { level?: number } = {},
): AsyncGenerator<Buffer> {
  const directory: Buffer[] = []
  let offset = 0
  for await (const input of inputs) {
    const name = Buffer.from(input.name)
    if (name.length > IN_EXTRA_16) throw new RangeError('the name of a file is too long for an archive')
    const entry: Written = { input, name, method: input.size > 0 ? DEFLATED : STORED, offset, crc: 0, compressed: 0 }
    for await (const chunk of entryOf(entry, level)) {
      offset += chunk.length
      yield chunk
    }
    directory.push(directoryHeader(entry))
  }
  const start = offset
  for (const header of directory) {
    offset += header.length
    yield header
  }
  yield directoryEnd({ count: directory.length, start, end: offset })
}

async function* entryOf(entry: Written, level: number): AsyncGenerator<Buffer> {
  const { input } = entry
  yield localHeader(entry)
  if (entry.method === STORED) return
  const deflate = createDeflateRaw({ level })
  const source = Readable.from(measured(entry), { objectMode: false })
  source.once('error', (error) => deflate.destroy(error))
  try {
    for await (const chunk of source.pipe(deflate) as AsyncIterable<Buffer>) {
      entry.compressed += chunk.length
      yield chunk
    }
  } finally {
    source.destroy()
    deflate.destroy()
  }
  yield descriptor(entry, input.size > LARGE_FILE)
}

async function* measured(entry: Written): AsyncGenerator<Uint8Array> {
  let left = entry.input.size
  for await (const whole of entry.input.content()) {
    const chunk = whole.length > left ? whole.subarray(0, left) : whole
    left -= chunk.length
    entry.crc = crc32(chunk, entry.crc)
    yield chunk
    if (left === 0) return
  }
  if (left > 0) throw new Error(`${entry.input.name} became shorter while it was read`)
}

function localHeader({ input, name, method }: Written): Buffer {
  const isLarge = input.size > LARGE_FILE
  const extra = Buffer.concat([isLarge ? extra64([0, 0]) : Buffer.alloc(0), extraTimes(input.mtime)])
  const header = Buffer.alloc(LOCAL_HEADER_SIZE)
  header.writeUInt32LE(LOCAL_HEADER, 0)
  header.writeUInt16LE(isLarge ? VERSION_64 : VERSION_PLAIN, 4)
  header.writeUInt16LE(flagsOf(method), 6)
  header.writeUInt16LE(method, 8)
  header.writeUInt32LE(dosTime(input.mtime), 10)
  if (isLarge) {
    header.writeUInt32LE(IN_EXTRA_32, 18)
    header.writeUInt32LE(IN_EXTRA_32, 22)
  }
  header.writeUInt16LE(name.length, 26)
  header.writeUInt16LE(extra.length, 28)
  return Buffer.concat([header, name, extra])
}

const flagsOf = (method: number) => FLAG_UTF8 | (method === STORED ? 0 : FLAG_DESCRIPTOR)

function descriptor({ crc, compressed, input: { size } }: Written, isLarge: boolean): Buffer {
  const bytes = Buffer.alloc(isLarge ? 24 : 16)
  bytes.writeUInt32LE(DATA_DESCRIPTOR, 0)
  bytes.writeUInt32LE(crc, 4)
  if (isLarge) {
    bytes.writeBigUInt64LE(BigInt(compressed), 8)
    bytes.writeBigUInt64LE(BigInt(size), 16)
  } else {
    bytes.writeUInt32LE(compressed, 8)
    bytes.writeUInt32LE(size, 12)
  }
  return bytes
}

function directoryHeader({ input, name, method, offset, crc, compressed }: Written): Buffer {
  const isLarge = input.size > LARGE_FILE
  const isFar = offset >= IN_EXTRA_32
  const large = [...(isLarge ? [input.size, compressed] : []), ...(isFar ? [offset] : [])]
  const extra = Buffer.concat([large.length > 0 ? extra64(large) : Buffer.alloc(0), extraTimes(input.mtime)])
  const header = Buffer.alloc(DIRECTORY_HEADER_SIZE)
  const version = large.length > 0 ? VERSION_64 : VERSION_PLAIN
  header.writeUInt32LE(DIRECTORY_HEADER, 0)
  header.writeUInt16LE((MADE_ON_UNIX << 8) | version, 4)
  header.writeUInt16LE(version, 6)
  header.writeUInt16LE(flagsOf(method), 8)
  header.writeUInt16LE(method, 10)
  header.writeUInt32LE(dosTime(input.mtime), 12)
  header.writeUInt32LE(crc, 16)
  header.writeUInt32LE(isLarge ? IN_EXTRA_32 : compressed, 20)
  header.writeUInt32LE(isLarge ? IN_EXTRA_32 : input.size, 24)
  header.writeUInt16LE(name.length, 28)
  header.writeUInt16LE(extra.length, 30)
  // The lower half is for DOS, where one bit marks folders.
  header.writeUInt32LE((((input.mode & 0xffff) << 16) | (input.name.endsWith('/') ? 0x10 : 0)) >>> 0, 38)
  header.writeUInt32LE(isFar ? IN_EXTRA_32 : offset, 42)
  return Buffer.concat([header, name, extra])
}

function directoryEnd({ count, start, end }: { count: number; start: number; end: number }): Buffer {
  const isLarge = count >= IN_EXTRA_16 || start >= IN_EXTRA_32 || end - start >= IN_EXTRA_32
  const bytes = Buffer.alloc(DIRECTORY_END_SIZE)
  bytes.writeUInt32LE(DIRECTORY_END, 0)
  bytes.writeUInt16LE(isLarge ? IN_EXTRA_16 : count, 8)
  bytes.writeUInt16LE(isLarge ? IN_EXTRA_16 : count, 10)
  bytes.writeUInt32LE(isLarge ? IN_EXTRA_32 : end - start, 12)
  bytes.writeUInt32LE(isLarge ? IN_EXTRA_32 : start, 16)
  if (!isLarge) return bytes

  const large = Buffer.alloc(DIRECTORY_END_64_SIZE)
  large.writeUInt32LE(DIRECTORY_END_64, 0)
  large.writeBigUInt64LE(BigInt(DIRECTORY_END_64_SIZE - 12), 4)
  large.writeUInt16LE((MADE_ON_UNIX << 8) | VERSION_64, 12)
  large.writeUInt16LE(VERSION_64, 14)
  large.writeBigUInt64LE(BigInt(count), 24)
  large.writeBigUInt64LE(BigInt(count), 32)
  large.writeBigUInt64LE(BigInt(end - start), 40)
  large.writeBigUInt64LE(BigInt(start), 48)
  const locator = Buffer.alloc(LOCATOR_64_SIZE)
  locator.writeUInt32LE(LOCATOR_64, 0)
  locator.writeBigUInt64LE(BigInt(end), 8)
  locator.writeUInt32LE(1, 16)
  return Buffer.concat([large, locator, bytes])
}

function extra64(values: number[]): Buffer {
  const bytes = Buffer.alloc(4 + 8 * values.length)
  bytes.writeUInt16LE(EXTRA_64, 0)
  bytes.writeUInt16LE(8 * values.length, 2)
  values.forEach((value, n) => bytes.writeBigUInt64LE(BigInt(value), 4 + 8 * n))
  return bytes
}

/** The time with seconds and in UTC, which the DOS format does not have. */
function extraTimes(mtime: Date): Buffer {
  const seconds = Math.floor(mtime.getTime() / 1000)
  if (seconds < 0 || seconds > 0x7fffffff) return Buffer.alloc(0)
  const bytes = Buffer.alloc(9)
  bytes.writeUInt16LE(EXTRA_TIMES, 0)
  bytes.writeUInt16LE(5, 2)
  bytes.writeUInt8(1, 4)
  bytes.writeInt32LE(seconds, 5)
  return bytes
}

const FIRST_DOS_YEAR = 1980
const LAST_DOS_YEAR = 2107

/** The date in the upper half, the time in the lower half. */
function dosTime(time: Date): number {
  const year = Math.min(Math.max(time.getUTCFullYear(), FIRST_DOS_YEAR), LAST_DOS_YEAR)
  const date = ((year - FIRST_DOS_YEAR) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate()
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1)
  return ((date << 16) | clock) >>> 0
}
