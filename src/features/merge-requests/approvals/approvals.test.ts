import { expect, test } from 'vitest'
import { proposed } from '../../../../test/approvals.ts'
import { startForge, type Person } from '../../../forge.ts'

const REFUSED = { status: 405, body: { message: '405 Method Not Allowed' } }

test('an approval is given, told, counted and taken back', async () => {
  await using forge = await startForge()
  const { jane, john, mary, one, url } = await proposed(forge)
  expect((await jane.put(url, { reviewer_ids: [john.id] })).status).toBe(200)
  const before = (await john.get(`${url}/approvals`)).body
  expect(before).toEqual({
    id: one.id,
    iid: one.iid,
    project_id: one.project_id,
    title: one.title,
    description: null,
    state: 'opened',
    created_at: one.created_at,
    updated_at: expect.any(String),
    merge_status: 'can_be_merged',
    approved: false,
    approvals_required: 1,
    approvals_left: 1,
    approvals_missing: 1,
    require_password_to_approve: false,
    approved_by: [],
    suggested_approvers: [],
    approvers: [],
    approver_groups: [],
    user_has_approved: false,
    user_can_approve: true,
    approval_rules_left: [{ id: null, name: 'All Members', rule_type: 'any_approver', report_type: null }],
    has_approval_rules: false,
    merge_request_approvers_available: true,
    multiple_approval_rules_available: true,
    invalid_approvers_rules: [],
  })
  expect((await jane.get(`${url}/approvals`)).body).toMatchObject({ user_can_approve: false })
  expect((await jane.get(url)).body.detailed_merge_status).toBe('not_approved')
  expect(await jane.put(`${url}/merge`)).toMatchObject(REFUSED)

  const given = await john.post(`${url}/approve`, { sha: one.sha })
  expect(given).toMatchObject({
    status: 200,
    body: {
      approved: true,
      approvals_required: 1,
      approvals_left: 0,
      approved_by: [{ user: { id: john.id, username: john.username, state: 'active' } }],
      user_has_approved: true,
      user_can_approve: false,
      approval_rules_left: [],
    },
  })
  expect((await mary.get(`${url}/approvals`)).body).toMatchObject({ user_has_approved: false, user_can_approve: true })
  expect((await jane.get(url)).body.detailed_merge_status).toBe('mergeable')
  const reviewers = () => forge.app.db.selectFrom('merge_request_reviewers').select(['user_id', 'state']).execute()
  expect(await reviewers()).toEqual([{ user_id: john.id, state: 'approved' }])
  expect((await john.get('/events', { action: 'approved' })).body).toMatchObject([{ action_name: 'approved' }])
  const activities = forge.app.db.selectFrom('activities').select('merge_request_id')
  expect(await activities.where('kind', '=', 'merge_request.approved').execute()).toEqual([
    { merge_request_id: one.id },
  ])

  expect(await john.post(`${url}/unapprove`)).toMatchObject({
    status: 200,
    body: { approved: false, approvals_left: 1, user_has_approved: false, user_can_approve: true },
  })
  expect(await reviewers()).toEqual([{ user_id: john.id, state: 'unapproved' }])
  expect((await john.post(`${url}/approve`)).status).toBe(200)
  expect(await jane.put(`${url}/merge`)).toMatchObject({ status: 200, body: { state: 'merged' } })

  const events = (await forge.eventLog()).filter(({ name }) => /\.(un)?approved$/.test(name))
  expect(events.map(({ name, payload }) => [name, payload])).toEqual([
    ['merge_request.approved', { id: one.id, project_id: one.project_id, by: john.id, complete: true }],
    ['merge_request.unapproved', { id: one.id, project_id: one.project_id, by: john.id, complete: true }],
    ['merge_request.approved', { id: one.id, project_id: one.project_id, by: john.id, complete: true }],
  ])
  const notes = await forge.app.db
    .selectFrom('notes')
    .select(['body', 'author_id'])
    .where('system', '=', true)
    .execute()
  expect(notes.filter(({ body }) => body.includes('approved'))).toEqual([
    { body: 'approved this merge request', author_id: john.id },
    { body: 'unapproved this merge request', author_id: john.id },
    { body: 'approved this merge request', author_id: john.id },
  ])
})

test('refuses those whose it is not to approve, and nothing moves', async () => {
  await using forge = await startForge()
  const { jane, john, url, root, member, propose } = await proposed(forge)
  const reporter = await member(20)
  const closed = await propose('closed', { 'c.txt': 'c' })
  await jane.put(closed.url, { state_event: 'close' })
  const merged = await propose('merged', { 'd.txt': 'd' })
  await john.post(`${merged.url}/approve`)
  await jane.put(`${merged.url}/merge`)
  await john.post(`${url}/approve`)
  await forge.settle()
  const events = await forge.events()
  const state = async () => (await jane.get(`${url}/approvals`)).body
  const before = await state()
  const refused: [string, Person, string, Record<string, unknown>, number, unknown][] = [
    ['the author', jane, `${url}/approve`, {}, 401, '401 Unauthorized'],
    ['a reporter', reporter, `${url}/approve`, {}, 401, '401 Unauthorized'],
    ['twice', john, `${url}/approve`, {}, 401, '401 Unauthorized'],
    ['of one that is closed', john, `${closed.url}/approve`, {}, 401, '401 Unauthorized'],
    ['of one that is merged', john, `${merged.url}/approve`, {}, 401, '401 Unauthorized'],
    ['what was not given', await member(), `${url}/unapprove`, {}, 404, '404 Not found'],
    ['back of one that is merged', john, `${merged.url}/unapprove`, {}, 401, '401 Unauthorized'],
    [
      'another head',
      await member(),
      `${url}/approve`,
      { sha: '0'.repeat(40) },
      409,
      'SHA does not match HEAD of source branch',
    ],
    ['in an odd number', jane, `${url}/approvals`, { approvals_required: -1 }, 400, expect.anything()],
  ]
  for (const [what, who, path, input, status, message] of refused) {
    const answer = await who.post(path, input)
    expect([what, answer.status, answer.body]).toEqual([what, status, { message }])
  }
  expect(await state()).toEqual(before)
  await forge.settle()
  expect((await forge.events()).filter((name) => /approved/.test(name))).toEqual(
    events.filter((name) => /approved/.test(name)),
  )
  expect((await jane.post(`${root}/archive`)).status).toBe(200)
  expect((await john.post(`${url}/unapprove`)).status).toBe(401)
  expect(await state()).toMatchObject({ approved_by: before.approved_by })
})

test('a merge request asks for more than its project, never for less', async () => {
  await using forge = await startForge()
  const { jane, john, mary, url, root } = await proposed(forge, 1)
  const ask = (approvals_required: number) => jane.post(`${url}/approvals`, { approvals_required })
  expect((await ask(2)).body).toMatchObject({ approvals_required: 2, approvals_left: 2 })
  await john.post(`${url}/approve`)
  expect(await jane.put(`${url}/merge`)).toMatchObject(REFUSED)
  expect((await ask(0)).body).toMatchObject({ approvals_required: 1, approvals_left: 0 })
  expect((await ask(3)).body).toMatchObject({ approvals_required: 3, approvals_left: 2 })
  await jane.put(`${root}/approvals`, { disable_overriding_approvers_per_merge_request: true })
  expect((await ask(2)).status).toBe(403)
  expect((await mary.get(`${url}/approvals`)).body).toMatchObject({ approvals_required: 1, approvals_left: 0 })
  await jane.put(`${root}/approvals`, { approvals_before_merge: 0 })
  expect((await mary.get(`${url}/approvals`)).body).toMatchObject({ approvals_required: 0, approvals_left: 0 })
})

test('each setting acts', async () => {
  await using forge = await startForge()
  const { jane, john, url, root, propose } = await proposed(forge)
  const usual = {
    approvals_before_merge: 1,
    reset_approvals_on_push: true,
    disable_overriding_approvers_per_merge_request: false,
    merge_requests_author_approval: false,
    merge_requests_disable_committers_approval: false,
    require_password_to_approve: false,
    require_reauthentication_to_approve: false,
  }
  const set = async (request: Record<string, unknown>) => {
    const answer = await jane.post(`${root}/approvals`, request)
    expect(answer).toMatchObject({ status: 201, body: request })
    expect((await john.get(`${root}/approvals`)).body).toEqual(answer.body)
  }
  expect((await jane.get(`${root}/approvals`)).body).toEqual(usual)
  expect(await jane.put(`${root}/approvals`, {})).toMatchObject({ status: 400 })
  expect(await jane.put(`${root}/approvals`, { approvals_before_merge: -1 })).toMatchObject({ status: 400 })
  expect(await john.put(`${root}/approvals`, { reset_approvals_on_push: false })).toMatchObject({ status: 403 })
  expect((await jane.get(`${root}/approvals`)).body).toEqual(usual)

  await set({ merge_requests_author_approval: true })
  expect((await jane.post(`${url}/approve`)).body).toMatchObject({ approvals_left: 0 })
  await set({ merge_requests_author_approval: false })
  expect((await jane.get(`${url}/approvals`)).body).toMatchObject({ approvals_left: 1, approved_by: [] })
  expect(await jane.put(`${url}/merge`)).toMatchObject(REFUSED)

  const joint = await propose('joint', { 'j.txt': 'j' })
  await forge.seed({ id: joint.project_id }, { 'k.txt': 'k' }, { branch: 'joint', as: john })
  expect((await john.post(`${joint.url}/approve`)).body).toMatchObject({ approvals_left: 0 })
  await set({ merge_requests_disable_committers_approval: true })
  expect((await john.get(`${joint.url}/approvals`)).body).toMatchObject({ approvals_left: 1, user_can_approve: false })
  expect(await jane.put(`${joint.url}/merge`)).toMatchObject(REFUSED)
  await john.post(`${joint.url}/unapprove`)
  expect(await john.post(`${joint.url}/approve`)).toMatchObject({ status: 401 })
  expect(await john.post(`${url}/approve`)).toMatchObject({ status: 200 })
  await john.post(`${url}/unapprove`)
})

test('the password is asked for where the project says so', async () => {
  await using forge = await startForge()
  const { jane, url, root } = await proposed(forge)
  const john = await forge.user({ password: 'correct horse' })
  await jane.post(`${root}/members`, { user_id: john.id, access_level: 30 })
  await jane.put(`${root}/approvals`, { require_password_to_approve: true })
  for (const approval_password of [undefined, '', 'wrong horse'])
    expect(await john.post(`${url}/approve`, { approval_password })).toMatchObject({ status: 401 })
  expect((await jane.get(`${url}/approvals`)).body).toMatchObject({
    approvals_left: 1,
    require_password_to_approve: true,
  })
  expect(await john.post(`${url}/approve`, { approval_password: 'correct horse' })).toMatchObject({
    status: 200,
    body: { approvals_left: 0 },
  })
})

test('approvals of users who lost permission do not count until it returns', async () => {
  await using forge = await startForge()
  const { jane, john, url, root, propose, project } = await proposed(forge)
  const admin = await forge.user({ admin: true })
  const rule = await jane.post(`${root}/approval_rules`, { name: 'John', approvals_required: 1, user_ids: [john.id] })
  expect(rule.status).toBe(201)
  await jane.put(root, { merge_commit_template: 'By %{approved_by}' })
  const merged = await propose('merged', { 'm.txt': 'm' })
  await john.post(`${merged.url}/approve`)
  expect((await jane.put(`${merged.url}/merge`)).body).toMatchObject({ state: 'merged' })
  expect((await john.post(`${url}/approve`)).body).toMatchObject({ approvals_left: 0 })
  const membership = `${root}/members/${john.id}`
  const losses: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    [
      'removed',
      () => jane.delete(membership),
      () => jane.post(`${root}/members`, { user_id: john.id, access_level: 30 }),
    ],
    ['a Reporter', () => jane.put(membership, { access_level: 20 }), () => jane.put(membership, { access_level: 30 })],
    ['blocked', () => admin.post(`/users/${john.id}/block`), () => admin.post(`/users/${john.id}/unblock`)],
  ]
  for (const [what, lose, regain] of losses) {
    await lose()
    await forge.settle()
    const { body } = await jane.get(`${url}/approvals`)
    expect([what, body.approvals_left, body.approved_by]).toEqual([what, 2, []])
    const state = await jane.get(`${url}/approval_state`)
    expect(state.body.rules.map((one: { approved_by: unknown[] }) => one.approved_by)).toEqual([[], []])
    expect((await jane.get(url)).body.detailed_merge_status).toBe('not_approved')
    expect(await jane.put(`${url}/merge`)).toMatchObject(REFUSED)
    const over = await jane.get(`${merged.url}/approvals`)
    expect(over.body).toMatchObject({ approvals_left: 0, approved_by: [{ user: { id: john.id } }] })
    await regain()
    await forge.settle()
    expect((await jane.get(`${url}/approvals`)).body).toMatchObject({ approvals_left: 0 })
  }
  await jane.delete(`${root}/approval_rules/${rule.body.id}`)
  await jane.put(`${root}/approvals`, { approvals_before_merge: 0 })
  await jane.delete(membership)
  await forge.settle()
  const last = await jane.put(`${url}/merge`)
  const commit = await jane.get(`/projects/${project.id}/repository/commits/${last.body.merge_commit_sha}`)
  expect(commit.body.message).not.toContain(john.username)
  expect(commit.body.message.trim()).toBe('By')
})
