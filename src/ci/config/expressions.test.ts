import { expect, test } from 'vitest'
import { isTrue, parseExpression } from './expressions.ts'
import { Patterns } from './patterns.ts'

const values = new Map(
  Object.entries({ A: 'a', EMPTY: '', BLANK: '  ', V: 'v1.2', RE: '/^v\\d/', WORD: 'v', MAIN: 'main' }),
)

test.each([
  ['$A', true],
  ['$EMPTY', false],
  ['$BLANK', false],
  ['$NONE', false],
  ['"x"', true],
  ['null', false],
  ['$A == "a"', true],
  ["$A == 'a'", true],
  ['"a" == $A', true],
  ['$A != "a"', false],
  ['$NONE == null', true],
  ['$EMPTY == null', false],
  ['$EMPTY == ""', true],
  ['$NONE != null', false],
  ['$A == $A', true],
  ['$V =~ /^v\\d/', true],
  ['$V =~ /^V/', false],
  ['$V =~ /^V/i', true],
  ['$V !~ /^x/', true],
  ['$V =~ $RE', true],
  ['$V !~ $RE', false],
  ['$V =~ $WORD', false],
  ['$V =~ null', false],
  ['$V !~ null', true],
  ['$NONE =~ /a/', false],
  ['$NONE !~ /a/', true],
  ['"a/b" =~ /a\\/b/', true],
  ['$A && $V', true],
  ['$A && $NONE', false],
  ['$NONE || $A', true],
  ['$NONE && $A || $V', true],
  ['$NONE && ($A || $V)', false],
  ['($NONE || $A) && $V == "v1.2"', true],
  ['$A == "a" && $V == "v1.2" && $MAIN == "main"', true],
  ['$A=="a"&&$V', true],
])('%s is %s', async (text, expected) => {
  expect(await isTrue(parseExpression(text)!, (name) => values.get(name), new Patterns())).toBe(expected)
})

test.each([
  '',
  '$',
  '$A ==',
  '== $A',
  '$A $B',
  '$A = "a"',
  '($A',
  '$A)',
  '()',
  '"open',
  '/open',
  '${A}',
  '$A & $B',
  'word',
  '$A && && $B',
  Array(51).fill('$A').join(' || '),
  `${'('.repeat(60)}$A${')'.repeat(60)}`,
  `"${'x'.repeat(20_000)}"`,
])('%s is none', (text) => {
  expect(parseExpression(text)).toBeNull()
})

test('takes as many words as are allowed', () => {
  expect(parseExpression(Array(50).fill('$A').join(' || '))).not.toBeNull()
})
