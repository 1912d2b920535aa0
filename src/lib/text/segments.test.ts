import { expect, test } from 'vitest'
import { decodeSegments, encodeSegments } from './segments.ts'

test('names come back as they were, whatever is in them', () => {
  for (const path of ['a', 'a/b', 'fix/#1-50%', 'a?b&c=d/ü x', '%2F/%zz', "-._~!$'()*+,;=:@"]) {
    expect(decodeSegments(`/${encodeSegments(path)}?x=/y#/z`), path).toEqual(path.split('/'))
  }
  expect(encodeSegments('fix/#1 50%?&')).toBe('fix/%231%2050%25%3F%26')
})

test('what cannot be decoded, or only looks like a segment afterwards, is none', () => {
  for (const address of ['/a%', '/%zz', '/%c3', '/a%2Fb']) expect(decodeSegments(address), address).toBeNull()
  expect(decodeSegments('//a///b/')).toEqual(['a', 'b'])
  expect(decodeSegments('/a#%zz')).toEqual(['a'])
})
