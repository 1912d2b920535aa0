import { expect, test } from 'vitest'
import { proposed } from '../../../../test/approvals.ts'
import { costOf } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'
import { approvalsOf } from '../approvals/queries.ts'
import type { MergeRequest } from '../merge-requests/model.ts'

const REFUSED = { status: 405, body: { message: '405 Method Not Allowed' } }

test('rules of a project are bars of its merge requests', async () => {
  await using forge = await startForge()
  const { jane, john, mary, root, url, propose } = await proposed(forge, 0)
  const path = `${root}/approval_rules`
  const summary = (id: number): unknown => expect.objectContaining({ id, state: 'active' })
  const made = await jane.post(path, { name: 'Security', approvals_required: 1, user_ids: [john.id], group_ids: '' })
  expect(made).toMatchObject({ status: 201 })
  expect(made.body).toEqual({
    id: expect.any(Number),
    name: 'Security',
    rule_type: 'regular',
    report_type: null,
    eligible_approvers: [summary(john.id)],
    approvals_required: 1,
    users: [summary(john.id)],
    groups: [],
    contains_hidden_groups: false,
    applies_to_all_protected_branches: false,
    protected_branches: [],
  })
  expect((await john.get(path)).body).toEqual([made.body])
  expect((await john.get(`${path}/${made.body.id}`)).body).toEqual(made.body)
  expect((await john.get(`${root}/approval_settings`)).body).toEqual({
    rules: [made.body],
    fallback_approvals_required: 0,
  })
  const status = async () => (await jane.get(`${url}/approvals`)).body
  expect(await status()).toMatchObject({
    approvals_required: 1,
    approvals_left: 1,
    has_approval_rules: true,
    approval_rules_left: [{ id: made.body.id, name: 'Security', rule_type: 'regular' }],
    suggested_approvers: [{ id: john.id }],
    approvers: [{ user: { id: john.id } }],
  })
  await mary.post(`${url}/approve`)
  expect(await status()).toMatchObject({ approvals_left: 1, approved_by: [{ user: { id: mary.id } }] })
  expect(await jane.put(`${url}/merge`)).toMatchObject(REFUSED)
  await john.post(`${url}/approve`)
  expect((await mary.get(`${url}/approval_state`)).body).toMatchObject({
    rules: [{ id: made.body.id, approved: true, approved_by: [{ id: john.id }], code_owner: false }],
  })

  // For any approver, the highest number applies.
  const any = await jane.post(path, { name: 'All', approvals_required: 2, rule_type: 'any_approver' })
  await jane.put(`${root}/approvals`, { approvals_before_merge: 1 })
  expect(await status()).toMatchObject({ approvals_required: 3, approvals_left: 0 })
  await jane.put(`${root}/approvals`, { approvals_before_merge: 3 })
  expect(await status()).toMatchObject({ approvals_required: 4, approvals_left: 1 })
  await jane.put(`${root}/approvals`, { approvals_before_merge: 0 })
  expect((await jane.delete(`${path}/${any.body.id}`)).status).toBe(204)

  // Only for some branches.
  const { body: branch } = await jane.post(`${root}/protected_branches`, { name: 'rel*' })
  const changed = await jane.put(`${path}/${made.body.id}`, {
    protected_branch_ids: [branch.id],
    approvals_required: 2,
  })
  expect(changed.body).toMatchObject({ approvals_required: 2, protected_branches: [{ id: branch.id, name: 'rel*' }] })
  expect(await status()).toMatchObject({ approvals_required: 0, has_approval_rules: false })
  await jane.post(`${root}/repository/branches`, { branch: 'release', ref: 'master' })
  const other = await propose('other', { 'o.txt': 'o' }, jane, { target_branch: 'release' })
  expect((await jane.get(`${other.url}/approvals`)).body).toMatchObject({
    approvals_required: 2,
    invalid_approvers_rules: [{ id: made.body.id }],
  })
  await jane.put(`${path}/${made.body.id}`, { protected_branch_ids: [], applies_to_all_protected_branches: true })
  await jane.delete(`${root}/protected_branches/master`)
  expect(await status()).toMatchObject({ approvals_required: 0 })
  await jane.post(`${root}/protected_branches`, { name: 'master' })
  expect(await status()).toMatchObject({ approvals_required: 2, approvals_left: 1 })
})

test('groups stand for their own members, and those one does not see stay hidden', async () => {
  await using forge = await startForge()
  const { jane, john, mary, root, url } = await proposed(forge, 0)
  const above = await forge.group({ visibility: 'private' }, jane)
  const group = await forge.group({ visibility: 'private', parent_id: above.id }, jane)
  await jane.post(`/groups/${group.id}/members`, { user_id: john.id, access_level: 10 })
  await jane.post(`/groups/${above.id}/members`, { user_id: mary.id, access_level: 30 })
  const outsider = await forge.user()
  await jane.post(`/groups/${group.id}/members`, { user_id: outsider.id, access_level: 50 })
  const path = `${root}/approval_rules`
  const { body: rule } = await jane.post(path, { name: 'Team', approvals_required: 1, group_ids: [group.id] })
  expect(rule).toMatchObject({ groups: [{ id: group.id }], contains_hidden_groups: false })
  expect(rule.eligible_approvers.map(({ id }: { id: number }) => id).toSorted((a: number, b: number) => a - b)).toEqual(
    [jane.id, john.id].toSorted((a, b) => a - b),
  )
  const reader = await forge.user()
  await jane.post(`${root}/members`, { user_id: reader.id, access_level: 40 })
  expect((await reader.get(`${path}/${rule.id}`)).body).toMatchObject({ groups: [], contains_hidden_groups: true })
  // A user who cannot see the groups does not change them.
  expect((await reader.put(`${path}/${rule.id}`, { group_ids: [] })).body).toMatchObject({
    contains_hidden_groups: true,
  })
  expect((await jane.get(`${path}/${rule.id}`)).body).toMatchObject({ groups: [{ id: group.id }] })
  await mary.post(`${url}/approve`)
  expect((await jane.get(`${url}/approvals`)).body).toMatchObject({ approvals_left: 1 })
  await john.post(`${url}/approve`)
  expect((await jane.get(`${url}/approvals`)).body).toMatchObject({ approvals_left: 0 })
  const removed = await reader.put(`${path}/${rule.id}`, { group_ids: [], remove_hidden_groups: true })
  expect(removed.body).toMatchObject({ contains_hidden_groups: false })
})

test('rules of a merge request only add to what is asked', async () => {
  await using forge = await startForge()
  const { jane, john, mary, root, url } = await proposed(forge, 0)
  const { body: first } = await jane.post(`${root}/approval_rules`, {
    name: 'Security',
    approvals_required: 1,
    usernames: [john.username],
  })
  const path = `${url}/approval_rules`
  const status = async () => (await jane.get(`${url}/approvals`)).body
  const copy = await mary.post(path, {
    name: 'Security',
    approvals_required: 0,
    approval_project_rule_id: first.id,
    user_ids: [mary.id],
  })
  expect(copy).toMatchObject({
    status: 201,
    body: { users: [{ id: mary.id }], source_rule: { id: first.id }, section: null, overridden: false },
  })
  expect(await status()).toMatchObject({ approvals_required: 1, approvals_left: 1 })
  expect((await mary.put(`${path}/${copy.body.id}`, { approvals_required: 1 })).body).toMatchObject({
    approvals_required: 1,
  })
  expect(await status()).toMatchObject({ approvals_required: 2, approvals_left: 2 })
  await mary.post(`${url}/approve`)
  expect(await status()).toMatchObject({ approvals_left: 1 })
  expect((await mary.get(path)).body).toHaveLength(1)

  const refused: [string, Record<string, unknown>, number, unknown][] = [
    [path, { name: ' ', approvals_required: 1 }, 400, { message: 'name is empty' }],
    [
      path,
      { name: 'x'.repeat(256), approvals_required: 1 },
      400,
      { message: { name: ['is too long (maximum is 255 characters)'] } },
    ],
    [
      path,
      { name: 'Negative', approvals_required: -1 },
      400,
      { message: { approvals_required: ['must be greater than or equal to 0'] } },
    ],
    [
      path,
      { name: 'Many', approvals_required: 101 },
      400,
      { message: { approvals_required: ['must be less than or equal to 100'] } },
    ],
    [path, { name: 'Security', approvals_required: 1 }, 400, { message: { name: ['has already been taken'] } }],
    [
      `${root}/approval_rules`,
      { name: 'Security', approvals_required: 1 },
      400,
      { message: { name: ['has already been taken'] } },
    ],
    [path, { name: 'None', approvals_required: 1, approval_project_rule_id: 999 }, 404, { message: '404 Not found' }],
    [
      path,
      { name: 'Any', approvals_required: 1, rule_type: 'any_approver', user_ids: [mary.id] },
      400,
      expect.anything(),
    ],
    [path, { name: 'Owner', approvals_required: 1, rule_type: 'code_owner' }, 400, expect.anything()],
  ]
  const before = [(await jane.get(path)).body, (await jane.get(`${root}/approval_rules`)).body]
  for (const [at, input, code, body] of refused)
    expect(await jane.post(at, input)).toMatchObject({ status: code, body })
  await jane.put(`${root}/approvals`, { disable_overriding_approvers_per_merge_request: true })
  expect(await mary.post(path, { name: 'More', approvals_required: 1 })).toMatchObject({ status: 403 })
  expect(await mary.delete(`${path}/${copy.body.id}`)).toMatchObject({ status: 403 })
  expect([(await jane.get(path)).body, (await jane.get(`${root}/approval_rules`)).body]).toEqual(before)
  await jane.put(`${root}/approvals`, { disable_overriding_approvers_per_merge_request: false })
  expect(await mary.delete(`${path}/${copy.body.id}`)).toMatchObject({ status: 204 })
  expect(await status()).toMatchObject({ approvals_required: 1, approvals_left: 1 })
})

test('rules cost the same number of queries however many there are', async () => {
  await using forge = await startForge()
  const { jane, john, root, url, propose } = await proposed(forge, 1)
  const add = (name: string) =>
    jane.post(`${root}/approval_rules`, { name, approvals_required: 1, user_ids: [john.id] })
  await add('first')
  await john.post(`${url}/approve`)
  const asks = [
    () => jane.get(`${root}/approval_rules`, { per_page: 100 }),
    () => jane.get(`${url}/approvals`),
    () => jane.get(`${url}/approval_state`),
    () => jane.get(url),
  ]
  const costs = async () => {
    const all = []
    for (const ask of asks) all.push(await costOf(forge, ask))
    return all
  }
  const few = await costs()
  for (let n = 0; n < 15; n++) {
    await add(`rule ${n}`)
    await jane.post(`${url}/approval_rules`, { name: `own ${n}`, approvals_required: 1 })
  }
  expect(await costs()).toEqual(few)
  // The same for a page as for one.
  const { db } = forge.app
  const all = async () => db.selectFrom('merge_requests').selectAll().execute()
  const judged = async (some: MergeRequest[]) => forge.queries(() => approvalsOf(db, some))
  // The first time, PostgreSQL is also asked for the columns.
  await judged(await all())
  const one = await judged(await all())
  for (const branch of ['second', 'third', 'fourth']) await propose(branch, { [branch]: 'x' })
  expect(await judged(await all())).toBe(one)
  expect((await jane.get(`${url}/approvals`)).body).toMatchObject({ approvals_required: 32, approvals_left: 0 })
})
