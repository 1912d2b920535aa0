import { expect, test } from 'vitest'
import { growth } from '../../../test/effort.ts'
import { taskCompletion, taskItems, taskStatus, toggledTasks } from './tasks.ts'

test.each([
  ['- [ ] a', [{ line: 0, checked: false, text: 'a' }]],
  ['* [x] a\n+ [X] b', [true, true].map((checked, line) => ({ line, checked, text: 'ab'[line] }))],
  ['1. [ ] a\n2) [x] b', [false, true].map((checked, line) => ({ line, checked, text: 'ab'[line] }))],
  ['text\n\n  - [x] **a** b  \r\n', [{ line: 2, checked: true, text: '**a** b' }]],
  ['> - [ ] quoted', [{ line: 0, checked: false, text: 'quoted' }]],
  ['- [ ]', []],
  ['- [ ]a', []],
  ['-[ ] a', []],
  ['- [y] a', []],
  ['[ ] a', []],
  ['text - [ ] a', []],
  ['```\n- [ ] a\n```\n- [x] b', [{ line: 3, checked: true, text: 'b' }]],
  ['', []],
])('the tasks of %j', (text, items) => expect(taskItems(text)).toEqual(items))

test('tasks are counted', () => {
  const counted = taskCompletion('- [ ] a\n- [x] b\n- [x] c')
  expect(counted).toEqual({ count: 3, completed_count: 2 })
  expect(taskStatus(counted)).toBe('2 of 3 tasks completed')
  expect(taskStatus(taskCompletion('- [ ] a'))).toBe('0 of 1 task completed')
  expect(taskStatus(taskCompletion('none'))).toBeNull()
})

test.each([
  ['one box', '- [ ] a\n- [x] b', '- [x] a\n- [x] b', [{ line: 0, checked: true, text: 'a' }]],
  [
    'two boxes',
    '- [ ] a\n- [x] b',
    '- [x] a\n- [ ] b',
    [true, false].map((checked, line) => ({ line, checked, text: 'ab'[line] })),
  ],
  ['another spelling of ticked', '- [x] a', '- [X] a', []],
  ['a word too', '- [ ] a', '- [x] b', null],
  ['one task more', '- [ ] a', '- [x] a\n- [ ] b', null],
  ['nothing', '- [ ] a', '- [ ] a', null],
  ['no task', 'a', 'b', null],
])('toggled between two texts: %s', (_, before, after, toggled) => expect(toggledTasks(before, after)).toEqual(toggled))

test.each(['- [ ] a\n', '>', '- ', '```\n', '<a>\n', '>>>\n', '</a>\n<b>\n', ' ', '1'])(
  '%j again and again is counted in time that grows with its length',
  (piece) => expect(growth(taskItems, piece)).toBeLessThan(3),
)
