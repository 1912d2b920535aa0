import { expect, test } from 'vitest'
import { readRange } from './ranges.ts'

test('a range is one piece of the file', () => {
  const ranges = [
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=2-5', { start: 2, end: 5 }],
    ['bytes=2-', { start: 2, end: 9 }],
    ['bytes=2-99', { start: 2, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-99', { start: 0, end: 9 }],
    ['bytes= 2 - 5', { start: 2, end: 5 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=10-12', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
  ] as const
  for (const [header, piece] of ranges) expect([header, readRange(header, 10)]).toEqual([header, piece])
  expect(readRange('bytes=0-', 0)).toBe('unsatisfiable')
})

test('what is no range is not heeded', () => {
  const others = [undefined, '', 'bytes=-', 'bytes=5-2', 'bytes=0-1,4-5', 'lines=1-2', 'bytes=a-b', 'bytes=1-2x', '1-2']
  for (const header of others) expect([header, readRange(header, 10)]).toEqual([header, null])
  expect(readRange(`bytes=${'9'.repeat(400)}-`, 10)).toBeNull()
})
