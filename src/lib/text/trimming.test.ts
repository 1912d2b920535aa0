import { expect, test } from 'vitest'
import { startEffort } from '../../../test/effort.ts'
import { pathOf } from '../files/paths.ts'
import { trimEnds, withoutSlashes } from './trimming.ts'

test('only the ends are trimmed', () => {
  expect(withoutSlashes('//a//b/')).toBe('a//b')
  expect(withoutSlashes('///')).toBe('')
  expect(withoutSlashes('')).toBe('')
  expect(trimEnds('abcab', (character) => character === 'a')).toBe('bcab')
  expect(pathOf('-- A, B! --')).toBe('a-b')
})

test('what is full of them is trimmed in a moment', () => {
  const effort = startEffort()
  withoutSlashes(`a${'/'.repeat(1_000_000)}b`)
  pathOf(`a${'-'.repeat(1_000_000)}b`)
  expect(effort()).toBeLessThan(1000)
})
