/**
 * Reads the write-ahead log of a SQLite database: which pages the commits since an earlier position have changed. The
 * format is described at https://sqlite.org/fileformat2.html#walformat. The caller holds the write lock meanwhile, so
 * nothing is appended.
 */
import { readSync } from 'node:fs'

const HEADER = 32
const FRAME_HEADER = 24
const LITTLE_ENDIAN = 0x377f0682
const BIG_ENDIAN = 0x377f0683

/** The end of a commit in the log. */
export interface Position {
  /** Changes whenever the log starts again from its beginning. */
  readonly salt: string
  readonly offset: number
  readonly sums: readonly [number, number]
}

export interface Commits {
  /** The offset of the newest content of each changed page, by its number. */
  readonly pages: ReadonlyMap<number, number>
  /** The number of pages of the database after the last commit; null if there is no commit. */
  readonly size: number | null
  readonly end: Position | null
}

const NONE: Commits = { pages: new Map(), size: null, end: null }

/** The salt in the header of the log; null for an empty log. */
export function saltOf(log: number): string | null {
  const header = Buffer.alloc(HEADER)
  return readSync(log, header, 0, HEADER, 0) === HEADER ? header.toString('hex', 16, 24) : null
}

/** All commits after `since`, or in the whole log if the log has started again. */
export function readCommits(log: number, pageSize: number, since: Position | null): Commits {
  const header = Buffer.alloc(HEADER)
  if (readSync(log, header, 0, HEADER, 0) < HEADER) return NONE
  const magic = header.readUInt32BE(0)
  if ((magic !== LITTLE_ENDIAN && magic !== BIG_ENDIAN) || header.readUInt32BE(8) !== pageSize) return NONE
  const add = adder(magic === LITTLE_ENDIAN)
  const salt = header.toString('hex', 16, 24)
  const start = add([0, 0], header.subarray(0, 24))
  if (start[0] !== header.readUInt32BE(24) || start[1] !== header.readUInt32BE(28)) return NONE

  const isContinued = since?.salt === salt
  let sums: readonly [number, number] = isContinued ? since.sums : start
  let end: Position | null = isContinued ? since : null
  let size: number | null = null
  const pages = new Map<number, number>()
  const uncommitted = new Map<number, number>()
  const frame = Buffer.alloc(FRAME_HEADER + pageSize)
  for (let offset = isContinued ? since.offset : HEADER; ; offset += frame.length) {
    if (readSync(log, frame, 0, frame.length, offset) < frame.length || frame.toString('hex', 8, 16) !== salt) break
    sums = add(add(sums, frame.subarray(0, 8)), frame.subarray(FRAME_HEADER))
    if (sums[0] !== frame.readUInt32BE(16) || sums[1] !== frame.readUInt32BE(20)) break
    uncommitted.set(frame.readUInt32BE(0), offset + FRAME_HEADER)
    const sizeAfter = frame.readUInt32BE(4)
    if (sizeAfter === 0) continue
    for (const [page, at] of uncommitted) pages.set(page, at)
    uncommitted.clear()
    size = sizeAfter
    end = { salt, offset: offset + frame.length, sums }
  }
  return { pages, size, end }
}

/** The checksum of the format: two sums over words of 32 bits. */
const adder =
  (isLittle: boolean) =>
  (sums: readonly [number, number], bytes: Buffer): [number, number] => {
    let [a, b] = sums
    for (let at = 0; at < bytes.length; at += 8) {
      a = (a + (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)) + b) | 0
      b = (b + (isLittle ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at + 4)) + a) | 0
    }
    return [a >>> 0, b >>> 0]
  }
