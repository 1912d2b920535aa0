import { expect, test } from 'vitest'
import { startEffort } from '../../../../test/effort.ts'
import { Developer, Guest, Master, NoAccess, Owner, Reporter } from '../../../lib/levels.ts'
import {
  isProtected,
  matches,
  mayCreateTag,
  mayForcePush,
  mayMerge,
  mayPush,
  mayUnprotect,
  type Allowance,
  type Rule,
} from './matching.ts'

test.each([
  ['master', 'master', true],
  ['master', 'Master', false],
  ['master', 'master2', false],
  ['*', '', true],
  ['*', 'a/b/c', true],
  ['*-stable', '10-0-stable', true],
  ['*-stable', '-stable', true],
  ['*-stable', 'a/b-stable', true],
  ['*-stable', '10-0-stable-ee', false],
  ['release/*', 'release/', true],
  ['release/*', 'release/1/2', true],
  ['release/*', 'old/release/1', false],
  ['*gitlab*', 'my/gitlab/staging', true],
  ['*gitlab*', 'my/git/lab', false],
  ['a*b*c', 'aXbXc', true],
  ['a*b*c', 'abc', true],
  ['a*b*c', 'acb', false],
  ['a*a', 'a', false],
  ['ab*ba', 'aba', false],
  ['a**b', 'ab', true],
  ['a.c', 'abc', false],
  ['[ab]*', 'a', false],
])('%s matches %s: %s', (pattern, name, expected) => {
  expect(matches(pattern, name)).toBe(expected)
})

test('a pattern of many stars is matched in time', () => {
  const effort = startEffort()
  expect(matches('*a'.repeat(100) + '*b', 'a'.repeat(100_000))).toBe(false)
  expect(effort()).toBeLessThan(500)
})

const NOBODY = { access_level: null, user_id: null, group_id: null, deploy_key_id: null }
const entry = (ability: Allowance['ability'], who: Partial<Allowance>): Allowance => ({ ...NOBODY, ability, ...who })
const rule = (name: string, ...allowances: Allowance[]): Rule => ({ name, allow_force_push: false, allowances })
const person = (level: number, more: { id?: number; admin?: boolean } = {}) => ({
  user: { id: more.id ?? 7, admin: more.admin ?? false },
  level,
})
const administrator = person(Owner, { admin: true })
const pushes = (allowances: Partial<Allowance>[]) => [rule('master', ...allowances.map((one) => entry('push', one)))]

/** Guest, reporter, developer, master, owner, administrator. */
const LADDER = [Guest, Reporter, Developer, Master, Owner].map((level) => person(level)).concat(administrator)

test.each([
  ['no one', [{ access_level: NoAccess }], [false, false, false, false, false, false]],
  ['developers', [{ access_level: Developer }], [false, false, true, true, true, true]],
  ['masters', [{ access_level: Master }], [false, false, false, true, true, true]],
  ['administrators', [{ access_level: 60 }], [false, false, false, false, false, true]],
  ['nobody named', [], [false, false, false, false, false, false]],
  [
    'no one and masters',
    [{ access_level: NoAccess }, { access_level: Master }],
    [false, false, false, true, true, true],
  ],
  // Named, but only with push permission on the project.
  ['this user', [{ user_id: 7 }], [false, false, true, true, true, true]],
  ['another user', [{ user_id: 8 }], [false, false, false, false, false, true]],
  ['a deploy key', [{ deploy_key_id: 7 }], [false, false, false, false, false, false]],
])('a branch to which %s may push', (_what, allowances, expected) => {
  expect(LADDER.map((who) => mayPush(pushes(allowances), 'master', who))).toEqual(expected)
})

test('a group opens to those who belong to it', () => {
  const rules = pushes([{ group_id: 3 }])
  expect(mayPush(rules, 'master', { ...person(Developer), groups: [3, 4] })).toBe(true)
  expect(mayPush(rules, 'master', { ...person(Reporter), groups: [3] })).toBe(false)
  expect(mayPush(rules, 'master', { ...person(Developer), groups: [4] })).toBe(false)
  expect(mayPush(rules, 'master', person(Master))).toBe(false)
})

test('a deploy key has the access of rules that name it, regardless of its creator', () => {
  const key = { ...administrator, deployKeyId: 5 }
  expect(mayPush(pushes([{ deploy_key_id: 5 }]), 'master', key)).toBe(true)
  expect(mayPush(pushes([{ deploy_key_id: 5 }]), 'master', { user: null, level: NoAccess, deployKeyId: 5 })).toBe(true)
  expect(mayPush(pushes([{ deploy_key_id: 6 }, { access_level: Developer }]), 'master', key)).toBe(false)
  expect(mayPush([], 'master', key)).toBe(true)
})

test('of several rules that match, what any allows holds', () => {
  const strict = rule('*', entry('push', { access_level: NoAccess }))
  const stable = { ...rule('*-stable', entry('push', { access_level: Developer })), allow_force_push: true }
  const rules = [strict, stable]
  expect(mayPush(rules, '1-stable', person(Developer))).toBe(true)
  expect(mayForcePush(rules, '1-stable')).toBe(true)
  expect(mayPush(rules, 'master', administrator)).toBe(false)
  expect(mayForcePush(rules, 'master')).toBe(false)
  expect(isProtected(rules, 'anything')).toBe(true)
})

test('no rule, no bar', () => {
  const rules = [rule('master')]
  expect(isProtected(rules, 'topic')).toBe(false)
  expect(mayPush(rules, 'topic', person(Guest))).toBe(true)
  expect(mayMerge(rules, 'topic', person(Guest))).toBe(true)
  expect(mayForcePush(rules, 'topic')).toBe(true)
  expect(mayCreateTag(rules, 'topic', person(Guest))).toBe(true)
})

test('permission to push includes permission to merge, but not the reverse', () => {
  const merging = [rule('master', entry('push', { access_level: Master }), entry('merge', { access_level: Developer }))]
  expect([mayPush, mayMerge].map((may) => may(merging, 'master', person(Developer)))).toEqual([false, true])
  const pushing = [rule('master', entry('push', { access_level: Developer }), entry('merge', { access_level: Master }))]
  expect([mayPush, mayMerge].map((may) => may(pushing, 'master', person(Developer)))).toEqual([true, true])
  const closed = [rule('master', entry('push', { access_level: NoAccess }), entry('merge', { access_level: NoAccess }))]
  expect([mayPush, mayMerge].map((may) => may(closed, 'master', administrator))).toEqual([false, false])
})

test('tags are created by those a rule names, and rules taken away by those they name', () => {
  const tags = [rule('v*', entry('create', { access_level: Master }))]
  expect(mayCreateTag(tags, 'v1', person(Developer))).toBe(false)
  expect(mayCreateTag(tags, 'v1', person(Master))).toBe(true)
  expect(mayUnprotect(rule('master'), person(Master))).toBe(true)
  expect(mayUnprotect(rule('master', entry('unprotect', { user_id: 8 })), person(Owner))).toBe(false)
  expect(mayUnprotect(rule('master', entry('unprotect', { user_id: 8 })), administrator)).toBe(true)
})
