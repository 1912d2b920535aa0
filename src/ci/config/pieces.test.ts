import { expect, test } from 'vitest'
import { globOf } from '../../lib/text/globs.ts'
import { parseSpan } from './durations.ts'
import { expand } from './variables.ts'
import { parseYaml } from './yaml.ts'

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

test.each([
  ['yes', true],
  ['On', true],
  ['OFF', false],
  ['no', false],
  ['y', 'y'],
  ['~', null],
  ['', null],
  ['null', null],
  ['"null"', 'null'],
  ['12', 12],
  ['-12', -12],
  ['1_000', 1000],
  ['0x1F', 31],
  ['0b11', 3],
  ['0755', 493],
  ['0', 0],
  ['089', '089'],
  ['1.5', 1.5],
  ['1.0', '1.0'],
  ['1e3', '1e3'],
  ['12345678901234567890', '12345678901234567890'],
  ['1:30', 90],
  ['80:80', '80:80'],
  ['1.2.3', '1.2.3'],
  ['2020-01-01', '2020-01-01'],
  ['.inf', '.inf'],
  ['!!str 12', '12'],
  ['|\n a\n  b\n', 'a\n b\n'],
  ['>-\n a\n b\n', 'a b'],
  ['"a\\tb"', 'a\tb'],
])('reads %j', (text, value) => {
  expect(plain(parseYaml({ file: 'f', text: `a: ${text}` }))).toEqual({ a: value })
})

test.each([
  ['a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}', { a: { b: 1, c: 2 }, d: { b: 1, c: 3 } }],
  ['a: &x {b: 1, c: 2}\nd: {c: 3, <<: *x}', { a: { b: 1, c: 2 }, d: { b: 1, c: 3 } }],
  ['a: &x {b: 1}\ne: &y {b: 2, c: 3}\nd: {<<: [*x, *y]}', { a: { b: 1 }, e: { b: 2, c: 3 }, d: { b: 1, c: 3 } }],
  ['a: &x [1, 2]\nb: *x', { a: [1, 2], b: [1, 2] }],
  ['a: 1\na: 2', { a: 2 }],
  ['? a\n: b', { a: 'b' }],
  ['a: 1\n---\nb: 2', { a: 1 }],
  ['\uFEFFa: 1', { a: 1 }],
  ['{"a": 1, b: [c, {d: e}]}', { a: 1, b: ['c', { d: 'e' }] }],
])('reads %j', (text, value) => {
  expect(plain(parseYaml({ file: 'f', text }))).toEqual(value)
})

test('keys of objects are keys like others', () => {
  const value = parseYaml({ file: 'f', text: '__proto__: {a: 1}\nconstructor: 2' }) as Record<string, unknown>
  expect(Object.keys(value)).toEqual(['__proto__', 'constructor'])
  expect(({} as Record<string, unknown>)['a']).toBeUndefined()
})

test.each([
  [30, 30],
  ['30', 30],
  ['3 mins 4 sec', 184],
  ['2h20min', 8400],
  ['1 week', 604_800],
  ['6 mos 1 day', 181 * 86_400],
  ['1 day and 2 hours', 93_600],
  ['1:30', 90],
  ['1:00:00', 3600],
  ['1.5h', 5400],
  ['', null],
  ['soon', null],
  ['1 moon', null],
  ['-1', null],
  [-1, null],
  [null, null],
  [`${'1h'.repeat(200)}`, null],
])('%j is %j seconds', (text, seconds) => {
  expect(parseSpan(text)).toBe(seconds)
})

test.each([
  ['*.md', 'a.md', true],
  ['*.md', 'b/a.md', false],
  ['**/*.md', 'a.md', true],
  ['**/*.md', 'b/c/a.md', true],
  ['docs/**/*', 'docs/a/b', true],
  ['docs/*', 'docs/a/b', false],
  ['docs/**', 'docs/a', true],
  ['docs/**', 'docs/a/b', false],
  ['*', '.env', true],
  ['**/*', '.git/x', true],
  ['?.c', 'a.c', true],
  ['[ab].c', 'b.c', true],
  ['[!ab].c', 'b.c', false],
  ['src/{a,b}/*.ts', 'src/b/x.ts', true],
  ['src/{a,b}/*.ts', 'src/c/x.ts', false],
  ['*.{j,t}s{,x}', 'a.tsx', true],
  ['{a,{b,c}}.md', 'c.md', true],
  ['{a,b', '{a,b', true],
  ['Dockerfile', 'Dockerfile', true],
  ['Dockerfile', 'x/Dockerfile', false],
])('%s on %s is %s', (glob, path, expected) => {
  expect(globOf(glob)(path, () => {})).toBe(expected)
})

test('braces never become many', () => {
  expect(globOf('{a,b}'.repeat(40))('a'.repeat(40), () => {})).toBe(false)
  expect(globOf('{'.repeat(5000))('a', () => {})).toBe(false)
})

test.each([
  ['$A-${B}-%C%', '1-2-3'],
  ['$$A', '$$A'],
  ['$NONE.', '.'],
  ['$NESTED', '<1>'],
  ['$LOOP', '$LOOP'],
  ['100%', '100%'],
  ['$', '$'],
])('%s becomes %s', (text, expected) => {
  const values = new Map(Object.entries({ A: '1', B: '2', C: '3', NESTED: '<$A>', LOOP: '$LOOP' }))
  expect(expand(text, (name) => values.get(name))).toBe(expected)
})

test('values that double each other have an end', () => {
  const lookup = (name: string) => (name === 'V0' ? 'x'.repeat(1000) : `$V${Number(name.slice(1)) - 1}`.repeat(10))
  expect(expand('$V15', lookup).length).toBeLessThan(2_000_000)
})
