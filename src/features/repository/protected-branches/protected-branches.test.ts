import { expect, test } from 'vitest'
import { sshKey } from '../../../../test/samples.ts'
import { callersOf, costOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { MINUTE } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { mayPush } from './matching.ts'
import { findProtection, groupsAmong } from './queries.ts'
import { protectDefaultBranch } from './service.ts'

const headers: unknown = expect.anything()
const WORDS = { 0: 'No one', 30: 'Developers + Masters', 40: 'Masters', 60: 'Instance admins' } as const

const role = (access_level: keyof typeof WORDS) => ({
  id: expect.any(Number) as number,
  access_level,
  access_level_description: WORDS[access_level],
  user_id: null,
  group_id: null,
  deploy_key_id: null,
})
const named = (name: string, whose: { user_id: number } | { group_id: number } | { deploy_key_id: number }) => ({
  ...role(0),
  access_level: null,
  access_level_description: name,
  ...whose,
})

async function open(forge: TestForge) {
  const source = await openSource(forge, 'projects')
  const member = async (access_level: number, more = {}) => {
    const person = await forge.user(more)
    await source.owner.post(`${source.url}/members`, { user_id: person.id, access_level })
    return person
  }
  return { ...source, member, branches: `${source.url}/protected_branches` }
}

const rowOf = (forge: TestForge, { id }: Person) =>
  forge.app.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

test('a branch is protected whole: masters push and merge, nobody forces', async () => {
  await using forge = await startForge()
  const { branches, owner } = await open(forge)
  const events = await forge.events()
  const made = await owner.post(branches, { name: 'release/*' })
  expect(made).toEqual({
    status: 201,
    headers,
    body: {
      id: expect.any(Number),
      name: 'release/*',
      push_access_levels: [role(40)],
      merge_access_levels: [role(40)],
      unprotect_access_levels: [role(40)],
      allow_force_push: false,
      code_owner_approval_required: false,
      inherited: false,
    },
  })
  expect(await owner.get(`${branches}/release%2F*`)).toMatchObject({ status: 200, body: made.body })
  expect((await owner.get(branches)).body).toEqual([made.body])

  const request = { name: 'v1.0', push_access_level: '0', merge_access_level: 30, unprotect_access_level: 60 }
  const more = { allow_force_push: 'true', code_owner_approval_required: true }
  const { body } = await owner.post(branches, { ...request, ...more })
  expect(body).toMatchObject({
    name: 'v1.0',
    push_access_levels: [role(0)],
    merge_access_levels: [role(30)],
    unprotect_access_levels: [role(60)],
    allow_force_push: true,
    code_owner_approval_required: true,
  })
  expect((await owner.get(`${branches}/v1.0`)).body).toEqual(body)
  expect((await owner.get(branches, { search: 'V1' })).body).toEqual([body])
  expect((await owner.get(branches, { search: '_' })).body).toEqual([])
  expect(await forge.events()).toEqual(events)
})

test('people, groups and keys are named instead of a role, or beside one', async () => {
  await using forge = await startForge()
  const { branches, owner, url, group, member } = await open(forge)
  const jane = await member(30, { name: 'Jane' })
  const friends = (await owner.post('/groups', { name: 'Friends', path: 'friends' })).body
  await owner.post(`${url}/share`, { group_id: friends.id, group_access: 30 })
  const key = (await owner.post(`${url}/deploy_keys`, { title: 'robot', key: sshKey(), can_push: true })).body
  const request = {
    name: 'master',
    allowed_to_push: [{ user_id: jane.id }, { deploy_key_id: key.id }, { user_id: jane.id }],
    merge_access_level: 40,
    allowed_to_merge: [{ group_id: friends.id }, { group_id: group.id }],
    allowed_to_unprotect: [{ access_level: 60 }],
  }
  const { status, body } = await owner.post(branches, request)
  expect(status).toBe(201)
  expect(body.push_access_levels).toEqual([
    named('Jane', { user_id: jane.id }),
    named('robot', { deploy_key_id: key.id }),
  ])
  expect(body.merge_access_levels).toEqual([
    role(40),
    named('Friends', { group_id: friends.id }),
    named(expect.stringMatching(/^Tools/) as never, { group_id: group.id }),
  ])
  expect(body.unprotect_access_levels).toEqual([role(60)])

  // In forms, a repeated name starts another entry.
  const form = new URLSearchParams({ name: 'form' })
  for (const { id } of [jane, owner]) form.append('allowed_to_push[][user_id]', String(id))
  await fetch(`${forge.url}/api/v4${branches}`, { method: 'POST', body: form, headers: owner.headers })
  expect((await owner.get(`${branches}/form`)).body.push_access_levels).toMatchObject([
    { user_id: jane.id },
    { user_id: owner.id },
  ])

  await owner.delete(`${url}/deploy_keys/${key.id}`)
  await owner.delete(`${url}/share/${friends.id}`)
  const left = (await owner.get(`${branches}/master`)).body
  expect(left.push_access_levels).toEqual([named('Jane', { user_id: jane.id })])
})

test('a change adds, alters and takes away entries one by one', async () => {
  await using forge = await startForge()
  const { branches, owner, member } = await open(forge)
  const jane = await member(30, { name: 'Jane' })
  const { body: first } = await owner.post(branches, { name: 'a/b', push_access_level: 30 })
  const path = `${branches}/a%2Fb`
  const patch = (input: Record<string, unknown>) => owner.request('PATCH', path, input)

  expect((await patch({})).body).toEqual(first)
  expect(await patch({ allow_force_push: true, code_owner_approval_required: true })).toEqual({
    status: 200,
    headers,
    body: { ...first, allow_force_push: true, code_owner_approval_required: true },
  })
  const [developers] = first.push_access_levels
  const added = await patch({ allow_force_push: null, allowed_to_push: [{ user_id: jane.id }, { access_level: 30 }] })
  expect(added.body).toMatchObject({
    allow_force_push: true,
    push_access_levels: [developers, named('Jane', { user_id: jane.id })],
  })
  const [, janes] = added.body.push_access_levels
  const altered = await patch({
    allowed_to_push: [
      { id: developers.id, _destroy: true },
      { id: janes.id, access_level: 0 },
    ],
    allowed_to_merge: [{ access_level: 30 }],
  })
  expect(altered.body.push_access_levels).toEqual([{ ...role(0), id: janes.id }])
  expect(altered.body.merge_access_levels).toEqual([role(40), role(30)])

  const before = (await owner.get(path)).body
  const [merging] = before.merge_access_levels
  const invalid = (name: string) => ({ message: `${name} is invalid`, error: `${name} is invalid` })
  const refusals: [Record<string, unknown>, number, unknown][] = [
    [{ allowed_to_push: [{ id: 999_999, _destroy: true }] }, 404, { message: '404 Not found' }],
    [{ allowed_to_push: [{ id: merging.id, access_level: 30 }] }, 404, { message: '404 Not found' }],
    [{ allowed_to_push: [{ _destroy: true }] }, 400, invalid('allowed_to_push')],
    [{ allowed_to_push: [{ access_level: 30, user_id: jane.id }] }, 400, invalid('allowed_to_push')],
    [{ allow_force_push: false, allowed_to_push: [{ user_id: 999_999 }] }, 422, expect.anything()],
  ]
  for (const [input, status, body] of refusals) {
    expect(await patch(input), JSON.stringify(input)).toEqual({ status, body, headers })
    expect((await owner.get(path)).body).toEqual(before)
  }
})

const refusal = (text: string) => ({ message: text, error: text })

test('refuses what is no rule, or one that stands', async () => {
  await using forge = await startForge()
  const { branches, owner, url, member } = await open(forge)
  const { body: known } = await owner.post(branches, { name: 'master' })
  const stranger = await forge.user()
  const group = (await owner.post('/groups', { name: 'Foreign', path: 'foreign' })).body
  const elsewhere = await openSource(forge, 'projects')
  const key = (await elsewhere.owner.post(`${elsewhere.url}/deploy_keys`, { title: 'x', key: sshKey() })).body
  const reader = (await owner.post(`${url}/deploy_keys`, { title: 'reader', key: sshKey() })).body
  const guest = await member(10)
  const sentence = (text: string) => ({ message: [text] })
  const refusals: [Record<string, unknown>, number, unknown][] = [
    [{ name: 'master' }, 409, { message: "Protected branch 'master' already exists" }],
    [{ name: ' ' }, 422, sentence("Name can't be blank")],
    [{ name: 'x'.repeat(256) }, 422, sentence('Name is too long (maximum is 255 characters)')],
    [{ name: 'a..b' }, 422, sentence('Name is invalid')],
    [{ name: 'refs/heads/x' }, 422, sentence('Name is invalid')],
    [{ push_access_level: 40 }, 400, { message: '400 (Bad request) name not given', error: 'name is missing' }],
    [{ name: 'x', push_access_level: 35 }, 400, refusal('push_access_level does not have a valid value')],
    [{ name: 'x', merge_access_level: 'all' }, 400, refusal('merge_access_level is invalid')],
    [{ name: 'x', unprotect_access_level: 0 }, 400, refusal('unprotect_access_level does not have a valid value')],
    [{ name: 'x', allow_force_push: 'perhaps' }, 400, refusal('allow_force_push is invalid')],
    [{ name: 'x', allowed_to_push: 'all' }, 400, refusal('allowed_to_push is invalid')],
    [{ name: 'x', allowed_to_push: [{}] }, 400, refusal('allowed_to_push is invalid')],
    [{ name: 'x', allowed_to_merge: [{ deploy_key_id: 1 }] }, 400, refusal('allowed_to_merge is invalid')],
    [
      { name: 'x', allowed_to_push: [{ user_id: stranger.id }] },
      422,
      sentence('Push access levels user is not a member of the project'),
    ],
    [
      { name: 'x', allowed_to_merge: [{ group_id: group.id }] },
      422,
      sentence('Merge access levels group does not have access to the project'),
    ],
    [
      { name: 'x', allowed_to_push: [{ deploy_key_id: key.id }] },
      422,
      sentence('Push access levels deploy key is not enabled for this project'),
    ],
    [
      { name: 'x', allowed_to_push: [{ deploy_key_id: reader.id }] },
      422,
      sentence('Push access levels deploy key is not enabled for this project'),
    ],
    [
      { name: 'x', allowed_to_unprotect: [{ user_id: 999_999 }, { user_id: 999_998 }] },
      422,
      sentence('Unprotect access levels user is not a member of the project'),
    ],
  ]
  for (const [input, status, body] of refusals) {
    expect(await owner.post(branches, input), JSON.stringify(input).slice(0, 80)).toEqual({ status, body, headers })
  }
  expect((await owner.get(branches)).body).toEqual([known])
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const answer = await owner.request(method, `${branches}/other`)
    expect(answer).toEqual({ status: 404, body: { message: '404 Not found' }, headers })
  }
  expect((await owner.get(`${branches}/mast*`)).status).toBe(404)
  // The permission check comes before the validation.
  expect((await guest.post(branches, {})).status).toBe(403)
  expect((await guest.get(`${branches}/other`)).status).toBe(403)
  expect((await stranger.post(branches, {})).body).toEqual({ message: '404 Project Not Found' })
  expect((await owner.get(`${url}/protected_branches/a/b`)).status).toBe(404)
})

test('a rule is taken away by those it names, unless it changed since', async () => {
  await using forge = await startForge()
  const { branches, owner, member } = await open(forge)
  const jane = await member(40)
  const john = await member(40)
  await owner.post(branches, { name: 'master', allowed_to_unprotect: [{ user_id: jane.id }] })
  const path = `${branches}/master`
  for (const person of [john, owner]) {
    expect(await person.delete(path)).toMatchObject({ status: 403, body: { message: '403 Forbidden' } })
    expect((await person.request('PATCH', path, { allow_force_push: true })).status).toBe(403)
  }
  const long = { 'If-Unmodified-Since': new Date(Date.now() - 10 * MINUTE).toUTCString() }
  const early = await jane.delete(path, undefined, long)
  expect(early).toMatchObject({ status: 412, body: { message: '412 Precondition Failed' } })
  expect((await owner.get(path)).body.allow_force_push).toBe(false)
  const soon = { 'If-Unmodified-Since': new Date(Date.now() + 10 * MINUTE).toUTCString() }
  expect(await jane.delete(path, undefined, soon)).toMatchObject({ status: 204, body: '' })
  expect((await jane.delete(path)).status).toBe(404)
  expect((await owner.get(branches)).body).toEqual([])
  const levels = await forge.app.db.selectFrom('protected_branch_levels').selectAll().execute()
  expect(levels).toEqual([])
})

test('readers of code read the rules, maintainers manage them', async () => {
  await using forge = await startForge()
  const source = await open(forge)
  const callers = await callersOf(forge, source)
  const one = `${source.branches}/master`
  await source.owner.post(source.branches, { name: 'master' })
  const table: [string, string, Record<string, unknown> | undefined, number[]][] = [
    ['GET', source.branches, undefined, [404, 404, 404, 403, 200, 200, 200, 200, 200, 401]],
    ['GET', one, undefined, [404, 404, 404, 403, 200, 200, 200, 200, 200, 401]],
    ['PATCH', one, {}, [401, 404, 404, 403, 403, 403, 200, 200, 200, 401]],
    ['POST', source.branches, { name: 'master' }, [401, 404, 404, 403, 403, 403, 409, 409, 409, 401]],
    ['DELETE', `${source.branches}/other`, undefined, [401, 404, 404, 403, 403, 403, 404, 404, 404, 401]],
  ]
  for (const [method, path, input, expected] of table) {
    const statuses = await statusesOf(callers, (caller) => caller.request(method, path, input))
    expect(statuses, `${method} ${path}`).toEqual(expected)
  }
})

test('who is let in by name is told to those who push, and rules to masters while the code is off', async () => {
  await using forge = await startForge()
  const { branches, owner, member, url } = await open(forge)
  const jane = await member(30, { name: 'Jane' })
  const reporter = await member(20)
  await owner.post(branches, { name: 'master', push_access_level: 40, allowed_to_push: [{ user_id: jane.id }] })
  const pushersSeenBy = async (person: Person) => [
    (await person.get(branches)).body[0].push_access_levels,
    (await person.get(`${branches}/master`)).body.push_access_levels,
  ]
  const all = [role(40), named('Jane', { user_id: jane.id })]
  expect(await pushersSeenBy(jane)).toEqual([all, all])
  expect(await pushersSeenBy(reporter)).toEqual([[role(40)], [role(40)]])

  await owner.put(url, { repository_access_level: 'disabled' })
  expect((await reporter.get(branches)).status).toBe(403)
  expect((await owner.get(branches)).status).toBe(200)
})

test('a page of rules costs the same however many they are', async () => {
  await using forge = await startForge()
  const { branches, owner } = await open(forge)
  for (const name of ['one', 'two']) await owner.post(branches, { name })
  const few = await costOf(forge, () => owner.get(branches))
  for (let n = 0; n < 10; n++) await owner.post(branches, { name: `more-${n}` })
  expect(await costOf(forge, () => owner.get(branches))).toBe(few)
  const page = await owner.get(branches, { per_page: 5, page: 2 })
  expect(page.body.map(({ name }: { name: string }) => name)).toEqual([3, 4, 5, 6, 7].map((n) => `more-${n}`))
  expect(['x-total', 'x-next-page', 'x-prev-page'].map((name) => page.headers.get(name))).toEqual(['12', '3', '1'])
})

test('the gate asks once for all rules, and for groups only where rules name some', async () => {
  await using forge = await startForge()
  const { branches, owner, id, url, member } = await open(forge)
  const jane = await member(30)
  await owner.post(branches, { name: 'master' })
  await owner.post(branches, { name: 'rel-*', push_access_level: 30 })
  const { db } = forge.app
  const rules = await findProtection(db, id, 'branch')
  const who = { user: await rowOf(forge, jane), level: 30 }
  expect(['master', 'rel-1', 'topic'].map((name) => mayPush(rules, name, who))).toEqual([false, true, true])
  expect(await findProtection(db, id, 'tag')).toEqual([])
  expect(await groupsAmong(db, who.user, rules)).toEqual([])

  const friends = (await owner.post('/groups', { name: 'Friends', path: 'friends' })).body
  await owner.post(`${url}/share`, { group_id: friends.id, group_access: 30 })
  await owner.post(branches, { name: 'shared', allowed_to_push: [{ group_id: friends.id }] })
  const more = await findProtection(db, id, 'branch')
  expect(await groupsAmong(db, who.user, more)).toEqual([])
  await owner.post(`/groups/${friends.id}/members`, { user_id: jane.id, access_level: 10 })
  const groups = await groupsAmong(db, who.user, more)
  expect(groups).toEqual([friends.id])
  expect(mayPush(more, 'shared', { ...who, groups })).toBe(true)
})

test.each([
  [0, null],
  [1, [30, 40]],
  [2, [40, 40]],
  [3, [40, 30]],
])('with a default protection of %i the first branch is given %j', async (request, expected) => {
  await using forge = await startForge()
  const { branches, owner, id } = await open(forge)
  await forge.administrator.put('/application/settings', { default_branch_protection: request })
  await protectDefaultBranch(forge.app, { id }, 'main')
  await protectDefaultBranch(forge.app, { id }, 'main')
  const { body } = await owner.get(branches)
  const shown = body.map((rule: Record<string, unknown>) => [
    rule.name,
    rule.push_access_levels,
    rule.merge_access_levels,
  ])
  expect(shown).toEqual(expected ? [['main', [role(expected[0] as 30)], [role(expected[1] as 30)]]] : [])
})

const at = (access_level: number) => [{ access_level }]

test.each([
  [{ allowed_to_push: at(30), allowed_to_merge: at(40) }, [[30], [40], false]],
  [{ allowed_to_push: [...at(0), ...at(0)], allowed_to_merge: [...at(30), ...at(40)] }, [[0], [30, 40], false]],
  [{ allowed_to_push: at(60), allow_force_push: true }, [[60], [40], true]],
  [{ developer_can_initial_push: true }, [[40], [40], false]],
  [{ allowed_to_push: [], of_later: 'x' }, [[40], [40], false]],
  [{ allowed_to_push: at(30), allowed_to_merge: at(30), allow_force_push: true }, null],
])('single rights %j stand for the level of protection', async (rights, expected) => {
  await using forge = await startForge()
  const { branches, owner, id } = await open(forge)
  const settings = { default_branch_protection: 3, default_branch_protection_defaults: rights }
  expect(await forge.administrator.put('/application/settings', settings)).toMatchObject({
    status: 200,
    body: { default_branch_protection_defaults: rights },
  })
  await protectDefaultBranch(forge.app, { id }, 'main')
  const { body } = await owner.get(branches)
  const levels = (list: { access_level: number }[]) =>
    list.map(({ access_level }) => access_level).toSorted((one, other) => one - other)
  const shown = body.map((rule: Record<string, never>) => [
    levels(rule.push_access_levels!),
    levels(rule.merge_access_levels!),
    rule.allow_force_push,
  ])
  expect(shown).toEqual(expected ? [expected] : [])
})

test.each([
  [{ allowed_to_push: at(40) }, 400],
  [{ allowed_to_push: at(40), developer_can_initial_push: true }, 201],
  [{ allowed_to_push: at(30) }, 201],
])('with %j a developer who begins an empty repository is answered %i', async (rights, status) => {
  await using forge = await startForge()
  const owner = await forge.user()
  const { id } = await forge.project({}, owner)
  const developer = await forge.user()
  await owner.post(`/projects/${id}/members`, { user_id: developer.id, access_level: 30 })
  await forge.administrator.put('/application/settings', { default_branch_protection_defaults: rights })
  const file = { branch: 'master', content: 'x', commit_message: 'Begin' }
  const answer = await developer.post(`/projects/${id}/repository/files/a.txt`, file)
  expect(answer.status).toBe(status)
  const { body: project } = await owner.get(`/projects/${id}`)
  expect(project.empty_repo).toBe(status !== 201)
})
