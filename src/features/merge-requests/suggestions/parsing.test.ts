import { expect, test } from 'vitest'
import { suggestionsIn } from './parsing.ts'

test.each([
  ['```suggestion\nnew\n```', [{ above: 0, below: 0, content: 'new\n' }]],
  [
    'Try\n```suggestion:-1+2\na\r\nb\r\n```\nor\n~~~suggestion\n~~~',
    [
      { above: 1, below: 2, content: 'a\nb\n' },
      { above: 0, below: 0, content: '' },
    ],
  ],
  ['````suggestion\n```\nx\n```\n````', [{ above: 0, below: 0, content: '```\nx\n```\n' }]],
  ['```suggestion:-999+0\nx\n```', [{ above: 100, below: 0, content: 'x\n' }]],
  ['```\n```suggestion\n```', []],
  ['```suggestion:+1\nx\n```', []],
  ['```suggestions\nx\n```', []],
  ['```suggestion\nnever closed', []],
  ['    ```suggestion\n    x\n    ```', []],
])('%j', (text, expected) => {
  expect(suggestionsIn(text)).toEqual(expected)
})
