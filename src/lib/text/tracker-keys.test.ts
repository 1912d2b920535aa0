import { expect, test } from 'vitest'
import { startEffort } from '../../../test/effort.ts'
import { addressOfKey, trackerKeysIn } from './tracker-keys.ts'

test.each([
  ['jira', 'Fix SAW-7, (SAW-8) and X_1-22. Not a/SAW-7, saw-7, SAW-7x, SAW-7-8', ['SAW-7', 'SAW-8', 'X_1-22']],
  ['youtrack', 'saw-7 and Saw_2-3', ['saw-7', 'Saw_2-3']],
  ['ewm', 'Task 12 and work item 3, not subtask 4', ['12', '3']],
  ['clickup', 'CU-abc123 #def456 TEAM-9 and #12', ['abc123', 'def456', 'TEAM-9']],
  ['phorge', 'T123 and xT4 T5a', ['123']],
  ['zentao', 'bug-3, Story-4', ['bug-3', 'Story-4']],
  ['slack', 'SAW-7', []],
])('%s: %s', (slug, text, keys) => expect(trackerKeysIn(text, slug).map(({ key }) => key)).toEqual(keys))

test('an address has the key wherever it is to stand, and nothing it could break out with', () => {
  expect(addressOfKey({ issuesUrl: 'https://a.example/:id?x=:issue_id&y=:identity' }, 'A/"1')).toBe(
    'https://a.example/A%2F%221?x=A%2F%221&y=:identity',
  )
  expect(addressOfKey({ issuesUrl: 'https://a.example/:kind-view-:number.html' }, 'Bug-3')).toBe(
    'https://a.example/bug-view-3.html',
  )
})

test('a long text takes no longer than it is long', () => {
  for (const part of ['A', 'A-', 'A1_', 'CU-', '#a', 'task ', 'T1']) {
    const effort = startEffort()
    for (const slug of ['jira', 'youtrack', 'ewm', 'clickup', 'phorge', 'zentao'])
      trackerKeysIn(part.repeat(50_000 / part.length), slug)
    expect(effort()).toBeLessThan(1000)
  }
})
