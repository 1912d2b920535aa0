import { expect, test } from 'vitest'
import { longestStall } from '../../../test/effort.ts'
import { BadGlob, compileGlob, matchesGlob } from './globs.ts'

test.each([
  ['a/b.txt', ['a/b.txt', 'a//b.txt'], ['a/b_txt', 'b.txt', 'a/b.txt/c']],
  ['out/', ['out'], ['out/x']],
  ['*.xml', ['a.xml', '.xml', '.hidden.xml'], ['d/a.xml', 'a.xmlx', 'xml']],
  ['**/*.xml', ['a.xml', 'd/a.xml', 'd/e/.f/a.xml'], ['a.xml/b', 'd/a.txt']],
  ['out/**/*', ['out/a', 'out/b/c'], ['a/out', 'out']],
  ['out/**', ['out', 'out/a/b'], ['a']],
  ['a/**/**/b', ['a/b', 'a/x/y/b'], ['a', 'b']],
  ['**a**', ['bab', 'a'], ['x/a', 'b']],
  ['a?c', ['abc', 'aüc', 'a😀c'], ['ac', 'a/c']],
  ['[a-c]x[!0-9]', ['axx', 'cx-'], ['dxx', 'ax1']],
  ['[]a]', [']', 'a'], ['b']],
  ['[a', ['[a'], ['a']],
  ['{src,test}/*.{ts,js}', ['src/a.ts', 'test/b.js'], ['lib/a.ts', 'src/a.css']],
  ['{a,{b,c}d}', ['a', 'bd', 'cd'], ['b', 'd']],
  ['{open', ['{open'], ['open']],
  ['\\*\\{', ['*{'], ['ab']],
  ['*a*b', ['xaxxb', 'ab', 'aabab'], ['ba', 'abc']],
])('%s', (pattern, matching, others) => {
  const glob = compileGlob(pattern)
  for (const path of matching) expect([path, matchesGlob(glob, path)]).toEqual([path, true])
  for (const path of others) expect([path, matchesGlob(glob, path)]).toEqual([path, false])
})

test('no pattern takes long, whatever it is asked about', async () => {
  const path = `${'a'.repeat(250)}/`.repeat(16)
  const { stall } = await longestStall(async () => {
    for (const pattern of ['**/'.repeat(1000) + 'b', '*a'.repeat(2000) + 'b', '[a-z]*'.repeat(600), '{'.repeat(4000)])
      matchesGlob(compileGlob(pattern), path)
  })
  expect(stall).toBeLessThan(2000)
  expect(() => compileGlob('a'.repeat(5000))).toThrow(BadGlob)
})
