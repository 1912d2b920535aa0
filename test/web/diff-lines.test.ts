import { expect, test } from 'vitest'
import { unifiedDiff } from '../../web/pages/project/wikis/line-diff.ts'
import { linesOf, markWithin, pairsOf } from '../../web/components/diff-lines.ts'

const DIFF = `--- a/x
+++ b/x
@@ -3,4 +3,4 @@ place
 same
-let a = 1
+let a = 2
--- looks like a name
\\ No newline at end of file
`

test('lines have their numbers on both sides, and tell what changed within', () => {
  expect(linesOf(DIFF)).toEqual([
    { kind: 'hunk', old: null, new: null, text: '@@ -3,4 +3,4 @@ place' },
    { kind: 'same', old: 3, new: 3, text: 'same' },
    { kind: 'removed', old: 4, new: null, text: 'let a = 1', changed: [8, 9] },
    { kind: 'added', old: null, new: 4, text: 'let a = 2', changed: [8, 9] },
    { kind: 'removed', old: 5, new: null, text: '-- looks like a name' },
    { kind: 'note', old: null, new: null, text: ' No newline at end of file' },
  ])
})

test('side by side, what was removed stands beside what came in its place', () => {
  const pairs = pairsOf(linesOf(DIFF)).map(({ left, right }) => [left?.old ?? null, right?.new ?? null])
  expect(pairs).toEqual([
    [null, null],
    [3, 3],
    [4, 4],
    [5, null],
    [null, null],
  ])
})

test('two texts are compared line by line, in parts', () => {
  const before = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`).join('\n')
  const after = before.replace('line 2\n', 'second\n').replace('line 18\n', '')
  const lines = linesOf(unifiedDiff(before, after)).filter(({ kind }) => kind !== 'same')
  expect(lines.map(({ kind, old, new: now, text }) => [kind, old, now, text])).toEqual([
    ['hunk', null, null, '@@ -1 +1 @@'],
    ['removed', 2, null, 'line 2'],
    ['added', null, 2, 'second'],
    ['hunk', null, null, '@@ -15 +15 @@'],
    ['removed', 18, null, 'line 18'],
  ])
  expect(unifiedDiff(before, `${before}\n`)).toBe('')
  expect(unifiedDiff('', 'a\n')).toBe('@@ -1 +1 @@\n+a\n')
  // Too large for a table of all pairs.
  const [one, other] = ['x\n', 'y\n'].map((line) => line.repeat(3000))
  expect(unifiedDiff(one!, other!).split('\n')).toHaveLength(6002)
})

test('what changed is marked within marked words', () => {
  const html = '<span class="a">x &lt; <span class="b">yz</span></span>!'
  expect(markWithin(html, 2, 5)).toBe(
    '<span class="a">x </span><mark><span class="a">&lt; <span class="b">y</span></span></mark>' +
      '<span class="a"><span class="b">z</span></span>!',
  )
  expect(markWithin('ab', 1, 2)).toBe('a<mark>b</mark>')
  expect(linesOf('@@ -1 +1 @@\n-a\n+b\n', ['', '<i>a</i>', '<i>b</i>']).map(({ html }) => html)).toEqual([
    undefined,
    '<i>a</i>',
    '<i>b</i>',
  ])
})
