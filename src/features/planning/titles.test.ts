import { expect, test } from 'vitest'
import { titleFaults } from './titles.ts'

test('titles are counted in characters, not in units of a string', () => {
  const faults = ['is too long (maximum is 255 characters)']
  expect(titleFaults('x'.repeat(255))).toEqual([])
  expect(titleFaults('🙂'.repeat(255))).toEqual([])
  expect(titleFaults('x'.repeat(256))).toEqual(faults)
  expect(titleFaults('🙂'.repeat(256))).toEqual(faults)
})
