import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { castFor, groupOf, projectIn, statuses } from '../../../../test/groups.ts'
import { registerRunner } from '../../../../test/runners.ts'
import { repositoriesOf } from '../../../../test/projects.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'
import { emptyGroupBin } from './bin.ts'

async function withBin(days = 7): Promise<TestForge> {
  const forge = await startForge()
  await forge.administrator.put('/application/settings', { deletion_adjourned_period: days })
  return forge
}

const idsOf = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id)
const PENDING = { include_pending_delete: true }

async function stateOf({ app: { db } }: TestForge) {
  return {
    namespaces: await db.selectFrom('namespaces').selectAll().orderBy('id').execute(),
    projects: await db.selectFrom('projects').selectAll().orderBy('id').execute(),
    shares: await db.selectFrom('deleted_shares').selectAll().orderBy('id').execute(),
    events: (await db.selectFrom('events').select('name').orderBy('id').execute()).map(({ name }) => name),
  }
}

/** A group with a subgroup, a project in each, and shares with it. */
async function tree(forge: TestForge) {
  const { administrator: root } = forge
  const tools = await groupOf(forge, 'tools', { visibility: 'public' })
  const sub = (await root.post('/groups', { name: 'Sub', path: 'sub', parent_id: tools.id, visibility: 'public' })).body
  const outer = await projectIn(forge, tools, 'outer', { visibility: 'public' })
  const inner = await projectIn(forge, sub, 'inner', { visibility: 'public' })
  return { tools, sub, outer, inner }
}

test('a deleted group is hidden with everything in it, and comes back as one', async () => {
  await using forge = await withBin()
  const { administrator: root } = forge
  const { tools, sub, outer, inner } = await tree(forge)
  const cast = await castFor(forge, tools.id)
  const elsewhere = await forge.project({ path: 'elsewhere' })
  await root.post(`/projects/${elsewhere.id}/share`, { group_id: sub.id, group_access: 30 })
  const other = await groupOf(forge, 'other')
  await root.post(`/groups/${other.id}/share`, { group_id: tools.id, group_access: 20 })
  await forge.settle()
  const paths = [`/groups/${tools.id}`, `/groups/${sub.id}`, `/projects/${outer.id}`, `/projects/${inner.id}`]
  const shared = [`/projects/${elsewhere.id}`, `/groups/${other.id}`]
  const read = async (caller: Client, from = paths) => {
    const found: unknown[] = []
    for (const path of from) found.push(await caller.get(path).then(({ status, body }) => ({ status, ...body })))
    return found.map((one) => JSON.parse(JSON.stringify(one).replace(/"updated_at":"[^"]*"/g, '"updated_at":""')))
  }
  const before = [await read(cast.owner), await read(cast.anonymous)]
  const codes = async (caller: Client, from: string[]) => {
    const found: number[] = []
    for (const path of from) found.push((await caller.get(path)).status)
    return found
  }
  expect(await codes(cast.developer, shared)).toEqual([200, 200])

  expect((await cast.owner.delete(`/groups/${tools.id}`)).status).toBe(204)
  expect((await cast.owner.delete(`/groups/${tools.id}`)).status).toBe(404)
  await forge.settle()
  for (const caller of [cast.anonymous, cast.developer, cast.owner, root]) {
    expect(await codes(caller, paths)).toEqual([404, 404, 404, 404])
    expect(idsOf(await caller.get('/groups', { all_available: true }))).toEqual(caller === root ? [other.id] : [])
    expect(idsOf(await caller.get('/projects', PENDING))).toEqual(caller === root ? [elsewhere.id] : [])
  }
  expect(await codes(cast.developer, shared)).toEqual([404, 404])
  //             anonymous stranger external guest reporter developer master owner administrator blocked
  const seen = [404, 404, 404, 404, 404, 404, 404, 200, 200, 401]
  expect(await statuses(cast, (caller) => caller.get(`/groups/${tools.id}`, PENDING))).toEqual(seen)
  const day = forge.clock.now().toISOString().slice(0, 10)
  for (const filter of [PENDING, { only_pending_delete: true }, { marked_for_deletion_on: day }]) {
    expect((await cast.owner.get('/groups', filter)).body).toMatchObject([
      { id: tools.id, path: `tools-deletion_scheduled-${tools.id}`, marked_for_deletion_on: day },
    ])
    expect(idsOf(await cast.master.get('/groups', filter))).toEqual([])
  }
  // Parts of the group are not restored by themselves.
  expect((await root.post(`/groups/${sub.id}/restore`)).status).toBe(404)
  expect((await root.post(`/projects/${inner.id}/restore`)).status).toBe(404)

  const restore = (caller: Client) => caller.post(`/groups/${tools.id}/restore`)
  expect(await statuses(cast, restore)).toEqual([401, 404, 404, 404, 404, 404, 404, 201, 400, 401])
  await forge.settle()
  expect([await read(cast.owner), await read(cast.anonymous)]).toEqual(before)
  expect(await codes(cast.developer, shared)).toEqual([200, 200])
  expect((await forge.events()).filter((name) => /deleted|restored/.test(name))).toEqual([
    'project.deleted',
    'project.deleted',
    'group.deleted',
    'project.restored',
    'project.restored',
    'group.restored',
  ])
})

test('other records do not show a deleted group or its projects, and name them again once it is restored', async () => {
  await using forge = await withBin()
  const { administrator: root } = forge
  const { tools, sub, inner } = await tree(forge)
  const jane = await forge.user({ password: 'correct horse battery' })
  await root.post(`/groups/${sub.id}/members`, { user_id: jane.id, access_level: 30 })
  await root.put(`/groups/${tools.id}`, { require_two_factor_authentication: true, two_factor_grace_period: 48 })
  const elsewhere = await forge.project({ path: 'elsewhere' })
  const at = `/projects/${elsewhere.id}`
  await root.post(`${at}/share`, { group_id: sub.id, group_access: 30 })
  const rule = { name: 'experts', approvals_required: 1 }
  await root.post(`${at}/approval_rules`, { ...rule, group_ids: [tools.id] })
  await root.post(`${at}/protected_branches`, { name: 'b*', allowed_to_push: [{ group_id: sub.id }] })
  await root.post(`${at}/job_token_scope/allowlist`, { target_project_id: inner.id })
  await root.post(`${at}/job_token_scope/groups_allowlist`, { target_group_id: sub.id })
  const { token } = (await root.post(`/groups/${sub.id}/runners/reset_registration_token`)).body
  const runner = await registerRunner(forge, {}, token)
  await forge.seed(inner, { '.gitlab-ci.yml': 'build: { script: make }' })
  const { body: job } = await runner.request()
  await runner.put(job, { state: 'success' })
  await forge.settle()
  const shown = async () => {
    const get = async (path: string, who: Client = root) => (await who.get(path)).body
    const [approval] = await get(`${at}/approval_rules`)
    return {
      approval: [idsOf({ body: approval.groups }), approval.contains_hidden_groups],
      push: (await get(`${at}/protected_branches/b*`)).push_access_levels,
      projects: await get(`${at}/job_token_scope/allowlist`),
      groups: await get(`${at}/job_token_scope/groups_allowlist`),
      runner: (await get(`/runners/${runner.id}`)).groups,
      jobs: await get(`/runners/${runner.id}/jobs`),
      factor: (await get('/user/second_factor', jane)).required_by,
    }
  }
  const before = await shown()
  expect(before).toMatchObject({
    approval: [[tools.id], false],
    push: [{ group_id: sub.id, access_level_description: 'Sub' }],
    projects: [{ id: inner.id }],
    groups: [{ id: sub.id }],
    runner: [{ id: sub.id }],
    jobs: [{ id: job.id }],
    factor: 'tools',
  })

  await root.delete(`/groups/${tools.id}`)
  await forge.settle()
  expect(await shown()).toEqual({
    approval: [[], true],
    push: [],
    projects: [],
    groups: [],
    runner: [],
    jobs: [],
    factor: null,
  })
  await root.post(`${at}/approval_rules`, { ...rule, name: 'others', group_ids: [tools.id] })
  expect((await root.get(`${at}/approval_rules`)).body[1].contains_hidden_groups).toBe(false)

  await root.post(`/groups/${tools.id}/restore`)
  await forge.settle()
  expect(await shown()).toEqual(before)
})

test('what was deleted before its group stays in the bin', async () => {
  await using forge = await withBin()
  const { administrator: root } = forge
  const { tools, sub, outer, inner } = await tree(forge)
  await root.delete(`/projects/${outer.id}`)
  await root.delete(`/groups/${sub.id}`)
  await root.delete(`/groups/${tools.id}`)
  const before = await stateOf(forge)
  expect((await root.post(`/projects/${outer.id}/restore`)).body.message).toBe(
    'The group of the project is deleted. Restore the group first.',
  )
  expect((await root.post(`/groups/${sub.id}/restore`)).body.message).toBe(
    'The parent group is deleted. Restore the parent group first.',
  )
  expect(await stateOf(forge)).toEqual(before)
  expect((await root.post(`/groups/${tools.id}/restore`)).status).toBe(201)
  for (const path of [`/projects/${outer.id}`, `/groups/${sub.id}`, `/projects/${inner.id}`])
    expect((await root.get(path)).status).toBe(404)
  expect((await root.post(`/groups/${sub.id}/restore`)).body.full_path).toBe('tools/sub')
  expect((await root.post(`/projects/${outer.id}/restore`)).body.path_with_namespace).toBe('tools/outer')
  expect((await root.get(`/projects/${inner.id}`)).body.path_with_namespace).toBe('tools/sub/inner')
})

test('name and path are free at once; restoring to a taken path needs others', async () => {
  await using forge = await withBin()
  const { administrator: root } = forge
  const { tools, inner } = await tree(forge)
  await root.put(`/groups/${tools.id}`, { path: 'moved' })
  await groupOf(forge, `moved-deletion_scheduled-${tools.id}`)
  await root.delete(`/groups/${tools.id}`)
  expect((await root.get('/groups/tools')).status).toBe(404)
  await groupOf(forge, 'moved')
  const before = await stateOf(forge)
  const refused = await root.post(`/groups/${tools.id}/restore`)
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('already been taken')])
  expect((await root.post(`/groups/${tools.id}/restore`, { path: 'a b' })).status).toBe(400)
  expect(await stateOf(forge)).toEqual(before)
  const { status, body } = await root.post(`/groups/${tools.id}/restore`, { path: 'back', name: 'Back' })
  expect([status, body]).toMatchObject([201, { full_path: 'back', name: 'Back' }])
  expect((await root.get(`/projects/${inner.id}`)).body.path_with_namespace).toBe('back/sub/inner')
})

test('permanent deletion needs a group in the bin and its full path', async () => {
  await using forge = await withBin()
  const { administrator: root, app } = forge
  const { tools, sub } = await tree(forge)
  const robot = { name: 'robot', scopes: ['api'], expires_at: '2999-01-01', access_level: 40 }
  const { body: bot } = await root.post(`/groups/${tools.id}/access_tokens`, robot)
  const asBot = async () => (await forge.as({ 'PRIVATE-TOKEN': bot.token }).get('/user')).status
  const remove = (id: number, full_path?: string) =>
    root.delete(`/groups/${id}`, { permanently_remove: true, ...(full_path && { full_path }) })
  expect((await remove(tools.id, 'tools')).body.message).toBe('Group must be marked for deletion first.')
  await root.delete(`/groups/${tools.id}`)
  await forge.settle()
  expect(await asBot()).toBe(401)
  await root.post(`/groups/${tools.id}/restore`)
  expect(await asBot()).toBe(200)
  await root.delete(`/groups/${tools.id}`)
  await forge.settle()
  const before = await stateOf(forge)
  for (const path of [undefined, 'sub', 'tools/sub']) {
    expect((await remove(tools.id, path)).body.message).toBe(
      '`full_path` is incorrect. You must enter the complete path for the group.',
    )
  }
  expect((await remove(sub.id, 'tools/sub')).status).toBe(404)
  expect(await stateOf(forge)).toEqual(before)
  expect((await remove(tools.id, 'tools')).status).toBe(204)
  expect((await root.post(`/groups/${tools.id}/restore`)).status).toBe(404)
  await forge.settle()
  const left = app.db.selectFrom('namespaces').select('id').where('kind', '=', 'group').execute()
  expect([await left, await repositoriesOf(forge)]).toEqual([[], []])
  expect((await root.get('/users', { search: 'robot' })).body).toEqual([])
  const names = (await forge.events()).filter((name) => /project\.deleted|purged/.test(name)).toSorted()
  expect(names).toEqual(['group.purged', ...Array(4).fill('project.deleted'), 'project.purged', 'project.purged'])
})

test('what is due is deleted for good', async () => {
  await using forge = await withBin(3)
  const { administrator: root, app } = forge
  const { tools } = await tree(forge)
  await root.delete(`/groups/${tools.id}`)
  const count = async () => (await app.db.selectFrom('projects').select('id').execute()).length
  forge.clock.advance(2 * DAY)
  await emptyGroupBin.handle(app, {})
  await forge.settle()
  expect(await count()).toBe(2)
  forge.clock.advance(DAY)
  await emptyGroupBin.handle(app, {})
  await forge.settle()
  expect(await count()).toBe(0)
  expect((await root.post(`/groups/${tools.id}/restore`)).status).toBe(404)
})

test('restoring and deleting for good at once, or restoring twice: one of them wins', async () => {
  await using forge = await withBin()
  const { administrator: root } = forge
  for (const round of [0, 1, 2]) {
    const group = await groupOf(forge, `g${round}`)
    await root.delete(`/groups/${group.id}`)
    const restore = () => root.post(`/groups/${group.id}/restore`)
    const purge = () => root.delete(`/groups/${group.id}`, { permanently_remove: true, full_path: `g${round}` })
    const answers = await atOnce(forge, restore, round === 2 ? restore : purge)
    await forge.settle()
    const isBack = answers.some(({ status }) => status === 201)
    expect(answers.map(({ status }) => status)).toEqual(round === 2 ? [201, 400] : isBack ? [201, 404] : [204, 400])
    expect((await root.get(`/groups/${group.id}`)).status).toBe(isBack ? 200 : 404)
  }
})

test('members of a deleted subgroup do not see its private parent, and are not counted there', async () => {
  await using forge = await withBin()
  const { administrator: root } = forge
  const secret = await groupOf(forge, 'secret')
  const { body: sub } = await root.post('/groups', { name: 'Sub', path: 'sub', parent_id: secret.id })
  const user = await forge.user()
  await root.post(`/groups/${sub.id}/members`, { user_id: user.id, access_level: 30 })
  const counted = async () => (await root.get(`/namespaces/${secret.id}`)).body.members_count_with_descendants
  expect([(await user.get(`/groups/${secret.id}`)).status, await counted()]).toEqual([200, 2])
  await root.delete(`/groups/${sub.id}`)
  expect([(await user.get(`/groups/${secret.id}`)).status, await counted()]).toEqual([404, 1])
})

test('a group deleted in a parent that became private comes back private', async () => {
  await using forge = await withBin()
  const { administrator: root } = forge
  const { tools, sub, outer, inner } = await tree(forge)
  await root.delete(`/groups/${sub.id}`)
  await root.delete(`/projects/${outer.id}`)
  expect((await root.put(`/groups/${tools.id}`, { visibility: 'private' })).status).toBe(200)
  expect((await root.post(`/groups/${sub.id}/restore`)).body.visibility).toBe('private')
  expect((await root.get(`/projects/${inner.id}`)).body.visibility).toBe('private')
})
