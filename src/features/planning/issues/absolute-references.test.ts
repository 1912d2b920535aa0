import { expect, test } from 'vitest'
import { absoluteReferences } from './absolute-references.ts'

const origin = { namespace: 'group', path: 'group/engine' }

test.each([
  [
    '#1 and !2, ~bug %"rc 1" $3',
    'group/engine#1 and group/engine!2, group/engine~bug group/engine%"rc 1" group/engine$3',
  ],
  ['0123456 0123456...789abcd', 'group/engine@0123456 group/engine@0123456...789abcd'],
  ['wheel#1', 'group/wheel#1'],
  ['other/wheel#1 @jane', 'other/wheel#1 @jane'],
  ['`#1` #2 ``#3 ` #4`` #5', '`#1` group/engine#2 ``#3 ` #4`` group/engine#5'],
  ['#1\n```\n#2\n```\n#3', 'group/engine#1\n```\n#2\n```\ngroup/engine#3'],
  ['nothing\r\n', 'nothing\r\n'],
])('%j becomes %j', (text, expected) => {
  expect(absoluteReferences(text, origin)).toBe(expected)
})
