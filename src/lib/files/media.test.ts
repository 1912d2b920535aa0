import { expect, test } from 'vitest'
import { startEffort } from '../../../test/effort.ts'
import { PIXEL } from '../../../test/samples.ts'
import { MEDIA_HEAD, sniffMedia } from './media.ts'

const latin = (text: string) => Buffer.from(text, 'latin1')

test('files are told apart by their bytes', () => {
  const files: [string, Uint8Array, string, string][] = [
    ['a picture', PIXEL, 'image/png', 'image'],
    ['mp4', latin('\0\0\0\x20ftypisom\0\0\x02\0isomiso2'), 'video/mp4', 'video'],
    ['quicktime', latin('\0\0\0\x14ftypqt  \0\0\0\0'), 'video/quicktime', 'video'],
    ['webm', latin('\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm'), 'video/webm', 'video'],
    ['theora', latin(`OggS\0\x02${'\0'.repeat(22)}\x80theora`), 'video/ogg', 'video'],
    ['vorbis', latin(`OggS\0\x02${'\0'.repeat(22)}\x01vorbis`), 'audio/ogg', 'audio'],
    ['m4a', latin('\0\0\0\x20ftypM4A \0\0\0\0'), 'audio/mp4', 'audio'],
    ['wav', latin('RIFF\x24\0\0\0WAVEfmt '), 'audio/wav', 'audio'],
    ['flac', latin('fLaC\0\0\0\x22'), 'audio/flac', 'audio'],
    ['mp3', latin('ID3\x03\0\0\0\0\0\x23'), 'audio/mpeg', 'audio'],
    ['pdf', latin('%PDF-1.4\n'), 'application/pdf', 'other'],
    ['text', Buffer.from('Grüße\r\n\tund so\x1b[0m'), 'text/plain; charset=utf-8', 'text'],
    ['nothing', Buffer.alloc(0), 'text/plain; charset=utf-8', 'text'],
    ['svg', latin('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml', 'drawing'],
    ['declared svg', latin('<?xml version="1.0"?>\n<!-- x --><!DOCTYPE svg>\n<svg>'), 'image/svg+xml', 'drawing'],
  ]
  for (const [what, bytes, type, kind] of files) expect([what, sniffMedia(bytes)]).toEqual([what, { type, kind }])
})

test('what is none of these is only bytes, whatever it begins like', () => {
  const others: [string, Uint8Array][] = [
    ['a page', latin('<!doctype html><script>alert(1)</script>')],
    ['a page after space', latin('\n\t <html><svg></svg>')],
    ['a page in a comment', latin('<!-- <svg> --><html>')],
    ['an open comment', latin('<!-- <svg>')],
    ['an element like svg', latin('<svgx>')],
    ['the first letters of a picture', latin('GIF89a\0<script>alert(1)</script>')],
    ['still pictures of another kind', latin('\0\0\0\x1cftypheic\0\0\0\0')],
    ['matroska', latin('\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x23\x42\x86\x81\x01')],
    ['an archive', latin('PK\x03\x04')],
    ['a program', latin('\x7fELF\x02\x01\x01')],
    ['text of another encoding', latin('Gr\xfc\xdfe')],
    ['text of two bytes', Buffer.from('hello', 'utf16le')],
  ]
  for (const [what, bytes] of others) {
    expect([what, sniffMedia(bytes)]).toEqual([what, { type: 'application/octet-stream', kind: 'other' }])
  }
})

test('a head that ends within a character is still text', () => {
  expect(sniffMedia(Buffer.from('é'.repeat(10)).subarray(0, 19)).kind).toBe('text')
})

test('no head takes long', () => {
  for (const piece of ['<!--', '<!-- -->', '<!>', '<?', '<? ?>', ' ', '<', 'a']) {
    const effort = startEffort()
    sniffMedia(latin(`<${piece.repeat(MEDIA_HEAD / piece.length)}`).subarray(1))
    expect(effort(), piece).toBeLessThan(2000)
  }
})
