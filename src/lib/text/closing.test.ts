import { expect, test } from 'vitest'
import { growth } from '../../../test/effort.ts'
import { closingReferences, type ClosingReference } from './closing.ts'

const BASE = 'https://forge.example'

const textOf = (one: ClosingReference) => (one.kind === 'issue' ? `${one.project ?? ''}#${one.id}` : one.name)

const WORDS = [
  'close',
  'closes',
  'closed',
  'closing',
  'fix',
  'fixes',
  'fixed',
  'fixing',
  'resolve',
  'resolves',
  'resolved',
  'resolving',
]

test.each(WORDS)('%s is a promise, in either case', (word) => {
  const capital = word[0]!.toUpperCase() + word.slice(1)
  for (const text of [`${word} #1`, `${capital} #1`, `${capital}: #1`, `This ${word} #1.`])
    expect(closingReferences(text, BASE).map(textOf)).toEqual(['#1'])
  expect(closingReferences(`un${word} #1`, BASE)).toEqual([])
})

test.each([
  ['closes #1, #2 and #3', ['#1', '#2', '#3']],
  ['closes #1, #2, and #3', ['#1', '#2', '#3']],
  ['Fixes issue #1', ['#1']],
  ['Fixes issues #1 and #2', ['#1', '#2']],
  ['closes group/project#1', ['group/project#1']],
  ['closes project#1, #2', ['project#1', '#2']],
  ['closes g/s/p#1', ['g/s/p#1']],
  [`closes ${BASE}/g/p/issues/1`, ['g/p#1']],
  [`closes ${BASE}/g/p/-/issues/1, #2`, ['g/p#1', '#2']],
  [`closes <${BASE}/g/p/-/issues/1>.`, ['g/p#1']],
  [`closes ${BASE}/g/p/-/issues/1.`, ['g/p#1']],
  ['closes ABC-1 and #2', ['ABC-1', '#2']],
  ['closes #1\nfixes #2', ['#1', '#2']],
  ['closes #1, closes #1', ['#1']],
  ['closes #1 fixes #2', ['#1', '#2']],
  ['closes\t#1', ['#1']],
  ['closes#1', []],
  ['closes :#1', []],
  ['closes\n#1', []],
  ['CLOSES #1', []],
  ['closes the #1', []],
  ['closes #1 and others, #2', ['#1']],
  ['closes #1a', []],
  ['closes !1', []],
  [`closes ${BASE}/g/p/merge_requests/1`, []],
  ['closes https://elsewhere.example/g/p/issues/1', []],
  ['`closes #1`', []],
  ['`` closes ` #1 `` closes #2', ['#2']],
  ['` closes #1', ['#1']],
  ['```\ncloses #1\n```\ncloses #2', ['#2']],
  ['#1', []],
  ['', []],
])('%j closes', (text, closed) => expect(closingReferences(text, BASE).map(textOf)).toEqual(closed))

test.each([
  'fix ',
  'fix #1 ',
  'fix #1, ',
  'closes issues ',
  '`',
  '` `` ',
  'fix a/',
  'fix http://',
  'fix A',
  '#1 and ',
  'fix:',
])('%j again and again is read in time that grows with its length', (piece) =>
  expect(growth((text) => closingReferences(`fix ${text}`, BASE), piece)).toBeLessThan(3),
)
