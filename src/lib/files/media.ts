/**
 * Detects the media type of bytes for safe display: images, video, audio and plain text may be shown inline, everything
 * else is only downloaded. The first bytes are enough; names and declared types are ignored.
 */
import { sniffImage } from './image.ts'

export interface Media {
  readonly type: string
  readonly kind: 'image' | 'drawing' | 'video' | 'audio' | 'text' | 'other'
}

/** Enough for the largest header that cameras write before the image. */
export const MEDIA_HEAD = 256 * 1024

const OTHER: Media = { type: 'application/octet-stream', kind: 'other' }
const PDF: Media = { type: 'application/pdf', kind: 'other' }
const PLAIN: Media = { type: 'text/plain; charset=utf-8', kind: 'text' }
const SVG: Media = { type: 'image/svg+xml', kind: 'drawing' }
const audio = (type: string): Media => ({ type: `audio/${type}`, kind: 'audio' })
const video = (type: string): Media => ({ type: `video/${type}`, kind: 'video' })

/** `head` is the first `MEDIA_HEAD` bytes, or the whole file if it is shorter. */
export function sniffMedia(head: Uint8Array): Media {
  const image = sniffImage(head)
  if (image) return { type: image.mime, kind: 'image' }
  return sniffContainer(head) ?? sniffText(head) ?? OTHER
}

const latin = (bytes: Uint8Array, start: number, end: number) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', start, end)

/** Brands of ISO media files; still images are not among them. */
const BRANDS: Record<string, Media> = { qt: video('quicktime'), M4A: audio('mp4'), M4B: audio('mp4') }
const MP4 = /^(isom|iso[2-9]|mp4[12]|avc1|dash|M4V[ HP]|MSNV|3g[2p].|f4v )$/

function sniffContainer(bytes: Uint8Array): Media | null {
  const start = latin(bytes, 0, 64)
  if (start.startsWith('%PDF-')) return PDF
  if (start.slice(4, 8) === 'ftyp') {
    const brand = start.slice(8, 12)
    return BRANDS[brand.trim()] ?? (MP4.test(brand) ? video('mp4') : null)
  }
  if (start.startsWith('\x1a\x45\xdf\xa3')) return start.includes('webm') ? video('webm') : null
  if (start.startsWith('OggS\0')) return start.includes('theora') ? video('ogg') : audio('ogg')
  if (start.startsWith('RIFF') && start.slice(8, 12) === 'WAVE') return audio('wav')
  if (start.startsWith('fLaC')) return audio('flac')
  return start.startsWith('ID3') && start.charCodeAt(3) < 5 ? audio('mpeg') : null // the version follows
}

// oxlint-disable-next-line no-control-regex -- plain text contains none of these
const BINARY = /[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/

/** UTF-8 text. Text that starts like markup might be treated as a page, so it is not plain text. */
function sniffText(bytes: Uint8Array): Media | null {
  const text = readText(bytes)
  if (text === null || BINARY.test(text)) return null
  if (!/^\s*</.test(text)) return PLAIN
  return isSvg(text) ? SVG : null
}

const PROLOGUE = { '<!--': '-->', '<?': '?>', '<!': '>' }

/** An SVG element, preceded only by a declaration, comments and a document type. Each character is read once. */
function isSvg(text: string): boolean {
  const space = /\s*/y
  for (let at = 0; ;) {
    space.lastIndex = at
    space.test(text)
    at = space.lastIndex
    const opening = Object.entries(PROLOGUE).find(([open]) => text.startsWith(open, at))
    if (!opening) return /^<svg[\s>]/.test(text.slice(at, at + 5))
    const [, close] = opening
    const end = text.indexOf(close, at)
    if (end < 0) return false
    at = end + close.length
  }
}

function readText(bytes: Uint8Array): string | null {
  try {
    // Streaming, because the head may end in the middle of a character.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return null
  }
}
