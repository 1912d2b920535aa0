import { expect, test } from 'vitest'
import { startEffort } from '../../test/effort.ts'
import { patternFault } from './patterns.ts'

test('patterns of RE2 pass', async () => {
  for (const pattern of [
    '',
    '^(feature|hotfix)/.*',
    '(?i)JIRA-\\d+',
    '\\.(exe|dll)$',
    '\\p{L}{1,1000}',
    '[[:word:]]',
  ]) {
    expect([pattern, await patternFault(pattern)]).toEqual([pattern, null])
  }
})

test('everything else is told apart, also what other engines would take', async () => {
  const faults = [
    ['(', 'missing closing )'],
    ['[a', 'missing closing ]'],
    ['a**', 'invalid nested repetition operator'],
    ['(?=x)', 'invalid or unsupported Perl syntax'],
    ['(a)\\1', 'invalid escape sequence'],
    ['((a{100}){100}){100}', 'invalid repeat count'],
  ]
  for (const [pattern, fault] of faults) expect([pattern, await patternFault(pattern!)]).toEqual([pattern, fault])
})

test('the largest pattern of a form is read in a moment', async () => {
  const effort = startEffort()
  await patternFault('(\\w+x?){999}'.repeat(42))
  expect(effort()).toBeLessThan(5000)
})
