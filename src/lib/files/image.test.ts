import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { sniffImage } from './image.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const le16 = (value: number) => Buffer.from([value, value >> 8])
const le32 = (value: number) => Buffer.from([value, value >> 8, value >> 16, value >> 24])
const be16 = (value: number) => Buffer.from([value >> 8, value])
const be32 = (value: number) => Buffer.from([value >> 24, value >> 16, value >> 8, value])
const join = (...parts: (Buffer | string | number)[]) =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'number' ? Buffer.from([part]) : typeof part === 'string' ? latin1(part) : part,
    ),
  )

function png({ width = 300, height = 200, depth = 8, colour = 6, interlace = 0, crc = 0 } = {}) {
  const header = join('IHDR', be32(width), be32(height), depth, colour, 0, 0, interlace)
  return join('\x89PNG\r\n\x1a\n', be32(13), header, be32(crc || crc32(header)), be32(0), 'IEND', be32(0xae426082))
}

const jpegFrame = (width: number, height: number, marker = 0xc0, length = 17) =>
  join(0xff, marker, be16(length), 8, be16(height), be16(width), 3, '\x01\x22\0\x02\x11\x01\x03\x11\x01')
const jpegStart = join(
  '\xff\xd8\xff\xe0',
  be16(16),
  'JFIF\0\x01\x01\0\0\x01\0\x01\0\0',
  '\xff\xdb',
  be16(67),
  '\0'.repeat(65),
)

const gifDefaults = {
  width: 300,
  height: 200,
  flags: 0x80,
  blocks: '!\xf9\x04\0\0\0\0\0',
  introducer: ',',
  imageWidth: 300,
  codeSize: 2,
}

function gif(input: Partial<typeof gifDefaults> = {}) {
  const { width, height, flags, blocks, introducer, imageWidth, codeSize } = { ...gifDefaults, ...input }
  const table = flags & 0x80 ? Buffer.alloc(3 << ((flags & 7) + 1)) : ''
  const image = join(introducer, le16(0), le16(0), le16(imageWidth), le16(height), 0, codeSize, '\x02\x44\x01\0;')
  return join('GIF89a', le16(width), le16(height), flags, 0, 0, table, blocks, image)
}

function bmp({ width = 300, height = 200, depth = 24, planes = 1, offset = 54, header = 40, compression = 0 } = {}) {
  const rest = join(le16(planes), le16(depth), le32(compression), Buffer.alloc(20), 'pixels')
  return join('BM', le32(9_999), le32(0), le32(offset), le32(header), le32(width), le32(height), rest)
}

const oldBmp = join('BM', le32(40), le32(0), le32(26), le32(12), le16(300), le16(200), le16(1), le16(24), 'pixels')

function tiff(order: 'II' | 'MM', entries: [tag: number, type: number, value: number][]) {
  const [n16, n32] = order === 'II' ? [le16, le32] : [be16, be32]
  const rows = entries.map(([tag, type, value]) =>
    join(n16(tag), n16(type), n32(1), type === 3 ? join(n16(value), n16(0)) : n32(value)),
  )
  return join(order, n16(42), n32(12), 'data', n16(entries.length), ...rows, n32(0))
}

const webp = (kind: string, data: Buffer, length = data.length) =>
  join('RIFF', le32(12 + length), 'WEBP', kind, le32(data.length), data)

const images = {
  png: png(),
  'interlaced png': png({ interlace: 1, colour: 3, depth: 4 }),
  jpg: join(jpegStart, jpegFrame(300, 200)),
  'progressive jpg': join(jpegStart, jpegFrame(300, 200, 0xc2)),
  'jpg with fill bytes': join(jpegStart, '\xff\xff\xff', jpegFrame(300, 200)),
  gif: gif(),
  'gif without table or extension': gif({ flags: 0, blocks: '' }),
  bmp: bmp(),
  'bmp from the top': bmp({ height: -200 }),
  'bmp of OS/2': oldBmp,
  'tiff, little-endian': tiff('II', [
    [256, 3, 300],
    [257, 4, 200],
    [273, 4, 8],
  ]),
  'tiff, big-endian': tiff('MM', [
    [256, 3, 300],
    [257, 4, 200],
    [324, 4, 8],
  ]),
  webp: webp('VP8 ', join('\x10\0\0\x9d\x01\x2a', le16(300), le16(200))),
  'webp, lossless': webp('VP8L', join(0x2f, le32(299 | (199 << 14)))),
  'webp, extended': webp('VP8X', join(le32(0), le16(299), 0, le16(199), 0)),
}

const mimes = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  bmp: 'image/bmp',
  tiff: 'image/tiff',
  webp: 'image/webp',
}

test.each(Object.entries(images))('knows %s', (name, bytes) => {
  const format = (Object.keys(mimes) as (keyof typeof mimes)[]).find((each) => name.includes(each))!
  expect(sniffImage(bytes)).toEqual({ format, mime: mimes[format], width: 300, height: 200 })
})

test('reads a view into a larger buffer', () => {
  const larger = join('before', png(), 'behind')
  expect(sniffImage(larger.subarray(6))).toMatchObject({ format: 'png', width: 300 })
  expect(sniffImage(larger)).toBeNull()
})

test.each([
  ['nothing', latin1('')],
  ['text', latin1('BM is also the beginning of a text, and this one goes on for a good while longer')],
  ['html', latin1('<!doctype html><html><body>hello</body></html>')],
  ['svg', latin1('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>')],
  ['a script after the letters GIF89a', latin1(`GIF89a<script>alert(1)</script>${'x'.repeat(2_000)}`)],
  ['a script hidden as a gif of wrong blocks', latin1(`GIF89a=1;alert(document.domain)//${' '.repeat(2_000)}`)],
  ['a gif with no image', gif({ introducer: ';' })],
  ['a gif of no width', gif({ width: 0 })],
  ['a gif whose image has no width', gif({ imageWidth: 0 })],
  ['a gif of one-bit codes', gif({ codeSize: 1 })],
  ['a gif of nine-bit codes', gif({ codeSize: 9 })],
  ['a png of no width', png({ width: 0 })],
  ['a png too high', png({ height: 0x80000000 })],
  ['a png with a wrong checksum', png({ crc: 1 })],
  ['a png of an impossible depth', png({ colour: 2, depth: 4 })],
  ['a png of an unknown colour type', png({ colour: 5 })],
  ['a png with an unknown interlacing', png({ interlace: 2 })],
  ['a jpg of no height', join(jpegStart, jpegFrame(300, 0))],
  ['a jpg whose scan comes before its frame', join(jpegStart, '\xff\xda\0\x02', jpegFrame(300, 200))],
  ['a jpg that ends before its frame', join(jpegStart, '\xff\xd9', jpegFrame(300, 200))],
  ['a jpg with text between segments', join(jpegStart, 'text', jpegFrame(300, 200))],
  ['a jpg segment shorter than its length', join('\xff\xd8\xff\xe0\0\x01', jpegFrame(300, 200))],
  ['a jpg frame of a wrong length', join(jpegStart, jpegFrame(300, 200, 0xc0, 18))],
  ['a bmp of no width', bmp({ width: 0 })],
  ['a bmp of negative width', bmp({ width: -300 })],
  ['a bmp of two planes', bmp({ planes: 2 })],
  ['a bmp of 23 bits', bmp({ depth: 23 })],
  ['a bmp of an unknown compression', bmp({ compression: 7 })],
  ['a bmp with an unknown header', bmp({ header: 41 })],
  ['a bmp whose pixels lie in its header', bmp({ offset: 20 })],
  ['a bmp whose pixels lie behind its end', bmp({ offset: 5_000 })],
  [
    'a tiff without height',
    tiff('II', [
      [256, 3, 300],
      [273, 4, 8],
    ]),
  ],
  [
    'a tiff of no width',
    tiff('MM', [
      [256, 3, 0],
      [257, 3, 200],
      [273, 4, 8],
    ]),
  ],
  [
    'a tiff without pixels',
    tiff('II', [
      [256, 3, 300],
      [257, 3, 200],
    ]),
  ],
  [
    'a tiff whose width is text',
    tiff('II', [
      [256, 2, 300],
      [257, 3, 200],
      [273, 4, 8],
    ]),
  ],
  ['a webp whose chunk is larger than the file says', webp('VP8X', Buffer.alloc(10), 2)],
  ['a webp that begins inside a film', webp('VP8 ', join('\x11\0\0\x9d\x01\x2a', le16(300), le16(200)))],
  ['a lossless webp of a later version', webp('VP8L', join(0x2f, le32(299 | (1 << 29))))],
  ['a webp of an unknown kind', webp('ICCP', Buffer.alloc(20))],
  ['another kind of RIFF', join('RIFF', le32(36), 'WAVE', 'VP8X', le32(10), Buffer.alloc(10))],
])('refuses %s', (_what, bytes) => {
  expect(sniffImage(bytes)).toBeNull()
})

test.each(Object.entries(images))('survives any cut or flipped bit of %s', (_name, bytes) => {
  for (let at = 0; at < bytes.length; at++) {
    expect(() => sniffImage(bytes.subarray(0, at))).not.toThrow()
    for (let bit = 0; bit < 8; bit++) {
      const bent = Buffer.from(bytes)
      bent[at]! ^= 1 << bit
      const image = sniffImage(bent)
      expect(image === null || (image.width > 0 && image.height > 0)).toBe(true)
    }
  }
  expect(sniffImage(bytes.subarray(0, 12))).toBeNull()
})
