import { expect, test } from 'vitest'
import { growth } from '../../../test/effort.ts'
import { referenceKey, referenceOfAddress, scanReferences, type Reference } from './references.ts'

/** Short form for a table: the kind, the project and the name. */
const textOf = (reference: Reference) =>
  [reference.kind, reference.project ?? '-', ...referenceKey(reference).split('\0').slice(2)].join(' ').trimEnd()

test.each([
  ['@jan', ['user - jan']],
  ['hello @jan, @piet.', ['user - jan', 'user - piet']],
  ['(@jan)', ['user - jan']],
  ['@Group/Sub-group/x', ['user - group/sub-group/x']],
  ['@all', ['user - all']],
  ['@a.b-c_d', ['user - a.b-c_d']],
  ['jan@example.com', []],
  ['@@jan', []],
  ['-@jan and .@piet, ~@joris', ['user - jan', 'user - piet', 'user - joris']],
  ['https://example.com/@jan', []],
  ['@', []],
  ['é@jan', []],
  ['#1', ['issue - 1']],
  ['#1, !2 and $3', ['issue - 1', 'merge_request - 2', 'snippet - 3']],
  ['#12a', []],
  ['#', []],
  ['##1', []],
  ['#1.', ['issue - 1']],
  ['(#1)', ['issue - 1']],
  ['#99999999999', []],
  ['project#1', ['issue project 1']],
  ['group/sub/project#1', ['issue group/sub/project 1']],
  ['see group/project!2.', ['merge_request group/project 2']],
  ['/project#1', []],
  ['a//b#1', []],
  ['~bug', ['label -  bug']],
  ['~5', ['label - 5 5']],
  ['~"two words"', ['label -  two words']],
  ['~"5"', ['label -  5']],
  ['~type::bug!', ['label -  type::bug']],
  ['group/project~bug', ['label group/project  bug']],
  ['~~gone~~', []],
  ['~ bug', []],
  ['~été?', ['label -  été']],
  ['%v1.0.', ['milestone -  v1.0']],
  ['%2', ['milestone - 2 2']],
  ['%"rc 1"', ['milestone -  rc 1']],
  ['100%', []],
  ['"%d%s"', ['milestone -  d']],
  ['abcdef1', ['commit - abcdef1']],
  ['0123456789abcdef0123456789abcdef01234567', ['commit - 0123456789abcdef0123456789abcdef01234567']],
  ['0123456789abcdef0123456789abcdef012345678', []],
  ['abcdef', []],
  ['xabcdef1', []],
  ['ABCDEF1', []],
  ['abcdef1...abcdef2', ['commit_range - abcdef1 ... abcdef2']],
  ['abcdef1..abcdef2.', ['commit_range - abcdef1 .. abcdef2']],
  ['abcdef1.', ['commit - abcdef1']],
  ['group/project@abcdef1', ['commit group/project abcdef1']],
  ['group/project@abcdef1...abcdef2', ['commit_range group/project abcdef1 ... abcdef2']],
  ['group/project@jan', []],
  ['#1#2', ['issue - 1']],
  ['', []],
])('%j names', (text, references) => expect(scanReferences(text).map(textOf)).toEqual(references))

test('what is found is told with its place', () => {
  const text = 'see g/p#1 and @jan.'
  for (const { text: written, start, end } of scanReferences(text)) expect(text.slice(start, end)).toBe(written)
  expect(scanReferences(text).map(({ start, end }) => [start, end])).toEqual([
    [4, 9],
    [14, 18],
  ])
})

test('one key for one thing', () => {
  const keyOf = (text: string) => referenceKey(scanReferences(text)[0]!)
  expect(keyOf('@Jan')).toBe(keyOf('@jan'))
  expect(keyOf('G/P#1')).toBe(keyOf('g/p#1'))
  expect(new Set(['#1', '!1', '$1', '~1', '%1', 'p#1', '#2', '~"1"', '@1'].map(keyOf)).size).toBe(9)
})

const BASE = 'https://forge.example/git'

test.each([
  ['/g/p/issues/3', 'issue g/p 3', null],
  ['/g/p/-/issues/3#note_12', 'issue g/p 3', 12],
  ['/g/s/p/-/issues/3?x=1#top', 'issue g/s/p 3', null],
  ['/g/p/-/work_items/3', 'issue g/p 3', null],
  ['/g/p/merge_requests/4/diffs', 'merge_request g/p 4', null],
  ['/g/p/-/merge_requests/4', 'merge_request g/p 4', null],
  ['/g/p/snippets/5', 'snippet g/p 5', null],
  ['/snippets/5', 'snippet - 5', null],
  ['/-/snippets/5', 'snippet - 5', null],
  ['/g/p/milestones/6', 'milestone g/p 6 6', null],
  ['/g/p/commit/abcdef1', 'commit g/p abcdef1', null],
  ['/g/p/-/compare/abcdef1...abcdef2', 'commit_range g/p abcdef1 ... abcdef2', null],
])('the address %s leads to %s', (path, reference, note) => {
  const found = referenceOfAddress(BASE + path, BASE)
  expect(found && textOf(found.reference)).toBe(reference)
  expect(found?.note).toBe(note)
})

test.each([
  'https://forge.example/g/p/issues/3',
  'https://elsewhere.example/git/g/p/issues/3',
  'https://forge.example/gitx/g/p/issues/3',
  `${BASE}/g/p/issues`,
  `${BASE}/g/p/issues/x`,
  `${BASE}/g/p/commit/master`,
  `${BASE}/g/p/compare/a...b`,
  `${BASE}/g//p/issues/3`,
  `${BASE}/issues/3`,
  `${BASE}/${'a/'.repeat(2000)}issues/3`,
])('%s leads to no such thing', (address) => expect(referenceOfAddress(address, BASE)).toBeNull())

test.each([
  '@',
  '#',
  'a/',
  'a.',
  '#1',
  '@a',
  'a#1',
  '~"',
  '~"a',
  '%a',
  '~a::',
  'abcdef1',
  'abcdef1..',
  '@a/',
  'a',
  '~a?',
  '...',
  '@a...',
])('%j again and again is read in time that grows with its length', (piece) =>
  expect(growth((text) => scanReferences(`@a${text}b`), piece)).toBeLessThan(3),
)
