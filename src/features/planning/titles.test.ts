import { expect, test } from 'vitest'
import { faultsIn } from '../../api/rules.ts'
import { titleRule } from './titles.ts'

test('titles are counted in characters, not in units of a string', () => {
  const faults = ['is too long (maximum is 255 characters)']
  expect(faultsIn(titleRule, 'x'.repeat(255))).toEqual([])
  expect(faultsIn(titleRule, '🙂'.repeat(255))).toEqual([])
  expect(faultsIn(titleRule, 'x'.repeat(256))).toEqual(faults)
  expect(faultsIn(titleRule, '🙂'.repeat(256))).toEqual(faults)
})
