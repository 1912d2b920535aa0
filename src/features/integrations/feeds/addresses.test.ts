import { expect, test } from 'vitest'
import { feedAddresses } from './addresses.ts'

const commits = (path: string, ...rests: string[]) => ({
  of: 'commits',
  path,
  rests: rests.map((rest) => rest.split('/').filter(Boolean)),
})
const activity = (path: string) => ({ of: 'activity', path })

test.each([
  ['jane.atom', undefined, [activity('jane')]],
  ['a/b.atom', undefined, [activity('a/b')]],
  ['a/b', 'atom', [activity('a/b')]],
  ['a/b', undefined, []],
  ['a/b/.atom', undefined, []],
  ['a/b/issues.atom', undefined, [{ of: 'issues', path: 'a/b' }, activity('a/b/issues')]],
  ['a/issues.atom', undefined, [activity('a/issues')]],
  ['a/b/-/issues.atom', undefined, [{ of: 'issues', path: 'a/b' }]],
  ['a/b/c/-/merge_requests', 'atom', [{ of: 'merge_requests', path: 'a/b/c' }]],
  ['a/b/-/tags', 'atom', [{ of: 'tags', path: 'a/b' }]],
  ['a/b/-/tags/v1', 'atom', []],
  ['a/b/-/releases.atom', undefined, [{ of: 'releases', path: 'a/b' }]],
  ['a/b/commits/master.atom', undefined, [commits('a/b', 'master', 'master.atom')]],
  ['a/b/-/commits/feature/x', 'atom', [commits('a/b', 'feature/x')]],
  ['a/b/-/commits', 'atom', [commits('a/b', '')]],
  ['a/commits/master.atom', undefined, [activity('a/commits/master')]],
] as const)('%s, format %s', (address, format, expected) => {
  expect(feedAddresses(address.split('/'), format)).toEqual(expected)
})
