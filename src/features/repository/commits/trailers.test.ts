import { expect, test } from 'vitest'
import { runGit } from '../../../../test/git-origin.ts'
import { trailersIn } from './trailers.ts'

test.each([
  'T\n\nA: 1\nB: 2\n',
  'T\n\nbody\n\nA: 1\n\n\n',
  'T\n\nA: 1\n  more\n\tand more\nB: 2\n',
  'T\n\nSigned-off-by: x\n[y: tweaked]\nSigned-off-by: z\n',
  'T\n\nSigned-off-by: x\n(cherry picked from commit abc)\n',
  'T\n\none\ntwo\nthree\nSigned-off-by: x\n',
  'T\n\none\ntwo\nthree\nfour\nSigned-off-by: x\n',
  'T\n\nFixes: x\nnot a trailer\n',
  'T\n\nA : 1\nB:\nC:2\nA: x: y\na: 3\n',
  'T\n\nKey with: x\n',
  'T\n\n  A: 1\n',
  'T\n\nA: 1\n# remark\nB: 2\n',
  'T\n\nA: 1\r\nB: 2\r\n',
  'A: 1\n',
  'T\nA: 1\n',
  '',
])('%j has the trailers that git finds in it', async (message) => {
  const found = await runGit(['interpret-trailers', '--parse', '--no-divider'], Buffer.from(message))
  const lines = found.split('\n').filter((line) => /^[\w-]+:/.test(line))
  const expected = lines.map((line) => line.replace(/\s*$/, ''))
  const trailers = [...trailersIn(message)].flatMap(([name, values]) =>
    values.map((value) => `${name}: ${value}`.trimEnd()),
  )
  expect(trailers.toSorted()).toEqual(expected.toSorted())
})

test('values of one name stay together, in their order', () => {
  expect([...trailersIn('T\n\nBy: 1\nOther: x\nBy: 2\n')]).toEqual([
    ['By', ['1', '2']],
    ['Other', ['x']],
  ])
})
