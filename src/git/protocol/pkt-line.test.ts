import { describe, expect, test } from 'vitest'
import { startEffort } from '../../../test/effort.ts'
import {
  BadPktLine,
  band,
  DELIM,
  FLUSH,
  MAX_BAND,
  MAX_LINE,
  type Packet,
  pktLine,
  PktLineDecoder,
  RESPONSE_END,
  splitBand,
} from './pkt-line.ts'

/** A seeded random generator, so that a failure can be reproduced. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function decode(chunks: Iterable<Buffer>): Packet[] {
  const decoder = new PktLineDecoder()
  const packets: Packet[] = []
  for (const chunk of chunks) {
    decoder.push(chunk)
    for (let packet = decoder.next(); packet !== null; packet = decoder.next()) packets.push(packet)
  }
  decoder.end()
  return packets
}

function outcome(read: () => unknown): string {
  try {
    read()
    return 'lines'
  } catch (error) {
    return (error as Error).name
  }
}

test('lines and signs as git writes them', () => {
  expect(pktLine('a\n').toString()).toBe('0006a\n')
  expect(pktLine('').toString()).toBe('0004')
  expect(pktLine('é').toString('latin1')).toBe('0006Ã©')
  expect(pktLine(new Uint8Array(MAX_LINE)).subarray(0, 4).toString()).toBe('fff0')
  expect(() => pktLine(new Uint8Array(MAX_LINE + 1))).toThrow(RangeError)
  expect(decode([Buffer.from('00000001000200040006a\n000Bhello\r\n')])).toEqual([
    'flush',
    'delim',
    'response-end',
    Buffer.from(''),
    Buffer.from('a\n'),
    Buffer.from('hello\r\n'),
  ])
})

test('the borders of chunks make no difference', () => {
  const below = random(7)
  for (let round = 0; round < 300; round++) {
    const packets = Array.from({ length: below(8) }, (): Packet => {
      const kind = below(6)
      if (kind === 0) return 'flush'
      if (kind === 1) return 'delim'
      if (kind === 2) return 'response-end'
      return Buffer.from(Array.from({ length: below(kind === 3 ? 3 : 200) }, () => below(256)))
    })
    const signs = { flush: FLUSH, delim: DELIM, 'response-end': RESPONSE_END }
    const bytes = Buffer.concat(packets.map((packet) => (Buffer.isBuffer(packet) ? pktLine(packet) : signs[packet])))
    const chunks: Buffer[] = []
    for (let at = 0; at < bytes.length;) {
      const size = below(12)
      chunks.push(bytes.subarray(at, at + size))
      at += size
    }
    expect(decode(chunks)).toEqual(packets)
  }
})

test('a line that comes byte by byte costs no more than its bytes', () => {
  const bytes = pktLine(new Uint8Array(MAX_LINE).fill(120))
  const effort = startEffort()
  expect(decode([...bytes].map((byte) => Buffer.of(byte)))[0]).toHaveLength(MAX_LINE)
  expect(effort()).toBeLessThan(1000)
})

describe('refused at its first four bytes:', () => {
  test.each([
    ['no hex', 'GET '],
    ['a sign', '-001'],
    ['blanks', ' 004'],
    ['the length no line has', '0003'],
    ['more than a line may hold', 'fff1'],
    ['the most four digits can say', 'ffff'],
  ])('%s', (_what, header) => {
    expect(() => decode([Buffer.from(header)])).toThrow(BadPktLine)
  })

  test('a line longer than this reader takes', () => {
    const decoder = new PktLineDecoder({ longest: 10 })
    decoder.push(pktLine('0123456789'))
    expect(decoder.next()).toEqual(Buffer.from('0123456789'))
    decoder.push(Buffer.from('000f'))
    expect(() => decoder.next()).toThrow(BadPktLine)
  })
})

test('a stream cut at any place is a stream cut', () => {
  const bytes = Buffer.concat([pktLine('one'), FLUSH, pktLine('three')])
  const borders = [0, 7, 11, bytes.length]
  for (let at = 0; at <= bytes.length; at++) {
    const read = () => decode([bytes.subarray(0, at)])
    expect(outcome(read), String(at)).toBe(borders.includes(at) ? 'lines' : 'BadPktLine')
  }
})

test('random bytes are lines or refused, nothing else', () => {
  const below = random(11)
  for (let round = 0; round < 2000; round++) {
    const digits = '0123456789abcdefg\0'
    const bytes = Buffer.from(Array.from({ length: below(24) }, () => digits.charCodeAt(below(digits.length))))
    expect(['lines', 'BadPktLine']).toContain(outcome(() => decode([bytes])))
  }
})

test('what follows the lines is handed over untouched', () => {
  const decoder = new PktLineDecoder()
  decoder.push(Buffer.from('0006a\n00'))
  expect(decoder.next()).toEqual(Buffer.from('a\n'))
  expect(decoder.next()).toBeNull()
  decoder.push(Buffer.from('00PA'))
  decoder.push(Buffer.from('CK'))
  expect(decoder.next()).toBe('flush')
  expect(decoder.rest().toString()).toBe('PACK')
  expect(decoder.rest()).toHaveLength(0)
})

test('bands carry any length, and nothing', () => {
  const content = Buffer.alloc(2 * MAX_BAND + 5, 'abc')
  const lines = decode(band(2, content)) as Buffer[]
  expect(lines.map((line) => line.length)).toEqual([MAX_LINE, MAX_LINE, 6])
  expect(lines.every((line) => splitBand(line).band === 2)).toBe(true)
  expect(Buffer.concat(lines.map((line) => splitBand(line).content)).equals(content)).toBe(true)
  expect([...band(2, '')].map(String)).toEqual(['0005\x02'])
  expect(() => splitBand(Buffer.from(''))).toThrow(BadPktLine)
  expect(() => splitBand(Buffer.of(4))).toThrow(BadPktLine)
})
