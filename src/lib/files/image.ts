/**
 * Detects the raster image type of bytes, by their structure and never by their name. The header is parsed up to the
 * dimensions, and invalid structure on the way is rejected, so that a page or script with the first bytes of an image
 * does not pass. Pixels are not decoded. Null for anything else; no input makes it throw.
 */
import { crc32 } from 'node:zlib'

export interface Image {
  format: 'png' | 'jpg' | 'gif' | 'bmp' | 'tiff' | 'webp'
  mime: string
  width: number
  height: number
}

interface Size {
  width: number
  height: number
}

type Read = (view: DataView, bytes: Uint8Array) => Size | null

const readers: [Image['format'], mime: string, Read][] = [
  ['png', 'image/png', readPng],
  ['jpg', 'image/jpeg', readJpeg],
  ['gif', 'image/gif', readGif],
  ['bmp', 'image/bmp', readBmp],
  ['tiff', 'image/tiff', readTiff],
  ['webp', 'image/webp', readWebp],
]

export function sniffImage(bytes: Uint8Array): Image | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (const [format, mime, read] of readers) {
    const size = readWithin(read, view, bytes)
    if (size && size.width > 0 && size.height > 0) return { format, mime, width: size.width, height: size.height }
  }
  return null
}

/** A DataView throws when reading past the end: then the file is truncated, and so no image. */
function readWithin(read: Read, view: DataView, bytes: Uint8Array): Size | null {
  try {
    return read(view, bytes)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function textAt(bytes: Uint8Array, start: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(start, start + length))
}

const pngDepths: Record<number, number[]> = { 0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16] }

function readPng(view: DataView, bytes: Uint8Array): Size | null {
  if (textAt(bytes, 0, 8) !== '\x89PNG\r\n\x1a\n') return null
  if (view.getUint32(8) !== 13 || textAt(bytes, 12, 4) !== 'IHDR') return null
  if (view.getUint32(29) !== crc32(bytes.subarray(12, 29))) return null
  const depth = view.getUint8(24)
  const colour = view.getUint8(25)
  const [compression, filter, interlace] = [view.getUint8(26), view.getUint8(27), view.getUint8(28)]
  if (!pngDepths[colour]?.includes(depth) || compression !== 0 || filter !== 0 || interlace > 1) return null
  return { width: view.getInt32(16), height: view.getInt32(20) } // 31 bits: a negative number is rejected as too large
}

function readJpeg(view: DataView): Size | null {
  if (view.getUint16(0) !== 0xffd8) return null
  for (let at = 2; ;) {
    if (view.getUint8(at) !== 0xff) return null
    while (view.getUint8(at) === 0xff) at++ // any number of fill bytes may come before a marker
    const marker = view.getUint8(at++)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    const isSegment = isFrame || [0xc4, 0xcc, 0xdb, 0xdd, 0xfe].includes(marker) || (marker >= 0xe0 && marker <= 0xef)
    if (!isSegment) return null // nothing else may come before the frame
    const length = view.getUint16(at)
    if (isFrame) return readJpegFrame(view, at, length)
    at += length
  }
}

function readJpegFrame(view: DataView, at: number, length: number): Size | null {
  const precision = view.getUint8(at + 2)
  const components = view.getUint8(at + 7)
  if (precision < 2 || precision > 16 || components < 1 || components > 4) return null
  if (length !== 8 + 3 * components) return null
  return { height: view.getUint16(at + 3), width: view.getUint16(at + 5) }
}

function readGif(view: DataView, bytes: Uint8Array): Size | null {
  if (!['GIF87a', 'GIF89a'].includes(textAt(bytes, 0, 6))) return null
  const size = { width: view.getUint16(6, true), height: view.getUint16(8, true) }
  let at = 13 + colourTableLength(view.getUint8(10))
  for (let kind = view.getUint8(at++); kind === 0x21; kind = view.getUint8(at++)) {
    at++ // the label
    for (let length = view.getUint8(at++); length > 0; length = view.getUint8(at++)) at += length
  }
  if (view.getUint8(at - 1) !== 0x2c) return null // extensions must lead to an image
  const isEmpty = view.getUint16(at + 4, true) === 0 || view.getUint16(at + 6, true) === 0
  at += 9 + colourTableLength(view.getUint8(at + 8))
  const codeSize = view.getUint8(at)
  return isEmpty || codeSize < 2 || codeSize > 8 || view.getUint8(at + 1) === 0 ? null : size
}

function colourTableLength(flags: number): number {
  return flags & 0x80 ? 3 << ((flags & 7) + 1) : 0
}

function readBmp(view: DataView, bytes: Uint8Array): Size | null {
  if (textAt(bytes, 0, 2) !== 'BM') return null
  const pixels = view.getUint32(10, true)
  const header = view.getUint32(14, true)
  if (![12, 40, 52, 56, 64, 108, 124].includes(header)) return null
  if (pixels < 14 + header || pixels >= bytes.length) return null
  const isOld = header === 12
  const planes = view.getUint16(isOld ? 22 : 26, true)
  const depth = view.getUint16(isOld ? 24 : 28, true)
  if (planes !== 1 || ![1, 4, 8, 16, 24, 32].includes(depth)) return null
  if (isOld) return { width: view.getUint16(18, true), height: view.getUint16(20, true) }
  if (view.getUint32(30, true) > 6) return null // compression
  return { width: view.getInt32(18, true), height: Math.abs(view.getInt32(22, true)) } // negative: top row first
}

const tiffTags = { width: 256, height: 257, strips: 273, tiles: 324 }

function readTiff(view: DataView, bytes: Uint8Array): Size | null {
  const little = textAt(bytes, 0, 4) === 'II*\0'
  if (!little && textAt(bytes, 0, 4) !== 'MM\0*') return null
  const directory = view.getUint32(4, little)
  const values = new Map<number, number>()
  const entries = view.getUint16(directory, little)
  for (let entry = 0; entry < entries; entry++) {
    const at = directory + 2 + 12 * entry
    const type = view.getUint16(at + 2, little)
    const value = type === 3 ? view.getUint16(at + 8, little) : type === 4 ? view.getUint32(at + 8, little) : 0
    values.set(view.getUint16(at, little), value)
  }
  if (!values.has(tiffTags.strips) && !values.has(tiffTags.tiles)) return null // position of the pixels
  return { width: values.get(tiffTags.width) ?? 0, height: values.get(tiffTags.height) ?? 0 }
}

function readWebp(view: DataView, bytes: Uint8Array): Size | null {
  if (textAt(bytes, 0, 4) !== 'RIFF' || textAt(bytes, 8, 4) !== 'WEBP') return null
  const chunk = view.getUint32(16, true)
  if (chunk + 12 > view.getUint32(4, true)) return null
  const kind = textAt(bytes, 12, 4)
  if (kind === 'VP8X' && chunk >= 10) {
    const packed = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16) + 1
    return { width: packed(24), height: packed(27) }
  }
  if (kind === 'VP8L' && view.getUint8(20) === 0x2f) {
    const packed = view.getUint32(21, true)
    if (packed >>> 29 !== 0) return null // the version
    return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 }
  }
  const isKeyFrame = (view.getUint8(20) & 1) === 0
  if (kind !== 'VP8 ' || !isKeyFrame || textAt(bytes, 23, 3) !== '\x9d\x01\x2a') return null
  return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
}
