/**
 * Writes a tar archive while the files are read, so memory does not grow with them. Names of more than 100 bytes are in
 * a separate header (pax), which every current tar reads.
 */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { nullIfMissing } from './system-errors.ts'

const BLOCK = 512
const SHORT_NAME = 100

export interface TarFile {
  /** The name in the archive, with slashes. */
  readonly name: string
  readonly path: string
}

/** A file that disappears is left out; a file that grows is cut at its original size. */
export async function* tarOf(files: AsyncIterable<TarFile>, prefix: string): AsyncGenerator<Buffer> {
  for await (const { name, path } of files) {
    const found = await stat(path).catch(nullIfMissing)
    if (!found?.isFile()) continue
    yield* headerOf(prefix + name, { size: found.size, mtime: found.mtimeMs })
    if (found.size > 0) {
      let left = found.size
      for await (const chunk of createReadStream(path, { end: found.size - 1 }) as AsyncIterable<Buffer>) {
        left -= chunk.length
        yield chunk
      }
      if (left > 0) throw new Error(`${name} became shorter while it was read`)
    }
    yield paddingOf(found.size)
  }
  yield Buffer.alloc(2 * BLOCK)
}

const paddingOf = (size: number) => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)

interface Entry {
  readonly size: number
  readonly mtime: number
  readonly type?: '0' | 'x'
}

function* headerOf(name: string, entry: Entry): Generator<Buffer> {
  const bytes = Buffer.from(name)
  if (bytes.length > SHORT_NAME) {
    const record = paxRecord('path', bytes)
    yield blockOf(Buffer.from('PaxHeader'), { ...entry, size: record.length, type: 'x' })
    yield record
    yield paddingOf(record.length)
  }
  yield blockOf(bytes.subarray(0, SHORT_NAME), entry)
}

/** `<length> <key>=<value>\n`, where the length includes its own digits. */
function paxRecord(key: string, value: Buffer): Buffer {
  const rest = ` ${key}=`.length + value.length + 1
  let length = rest + String(rest).length
  if (String(length).length > String(rest).length) length = rest + String(length).length
  return Buffer.concat([Buffer.from(`${length} ${key}=`), value, Buffer.from('\n')])
}

function blockOf(name: Buffer, { size, mtime, type = '0' }: Entry): Buffer {
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, digits: number) =>
    block.write(value.toString(8).padStart(digits, '0'), at, 'latin1')
  name.copy(block)
  octal(0o644, 100, 7)
  octal(0, 108, 7)
  octal(0, 116, 7)
  if (size < 8 ** 11) octal(size, 124, 11)
  else writeLarge(block, size)
  octal(Math.max(0, Math.floor(mtime / 1000)), 136, 11)
  block.write(`        ${type}`, 148, 'latin1') // the checksum counts its own field as blanks
  block.write('ustar\x0000', 257, 'latin1')
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  )
  block[154] = 0
  return block
}

/** From 8 GB on a size does not fit in its digits, and is written in binary. */
function writeLarge(block: Buffer, size: number): void {
  block[124] = 0x80
  block.writeBigUInt64BE(BigInt(size), 128)
}
