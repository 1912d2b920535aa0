import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { castFor, groupOf, projectIn, statuses } from '../../../../test/groups.ts'
import { projectBy, repositoriesOf, stateOf } from '../../../../test/projects.ts'
import { sshKey } from '../../../../test/samples.ts'
import { DAY, MINUTE } from '../../../clock.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'
import { sweepSchedules } from '../../ci/schedules/jobs.ts'
import type { Finding } from '../../repository/checking/findings.ts'
import { checkRepositories } from '../../repository/checking/service.ts'
import { emptyBin } from './bin.ts'

/** A forge whose deleted projects stay in the bin for a week. */
async function withBin(days = 7): Promise<TestForge> {
  const forge = await startForge()
  await forge.administrator.put('/application/settings', { deletion_adjourned_period: days })
  return forge
}

async function findings({ app }: TestForge) {
  const found: Finding[] = []
  for await (const finding of checkRepositories(app)) found.push(finding)
  return found
}

const idsOf = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id)
const PENDING = { include_pending_delete: true }

test('the period is a setting from 0 to 90 days', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  for (const days of [-1, 91]) {
    const { status, body } = await root.put('/application/settings', { deletion_adjourned_period: days })
    expect([status, body]).toEqual([400, { message: { deletion_adjourned_period: ['must be between 0 and 90'] } }])
  }
  expect((await root.get('/application/settings')).body.deletion_adjourned_period).toBe(0)
  const { body } = await root.put('/application/settings', { deletion_adjourned_period: 90 })
  expect(body.deletion_adjourned_period).toBe(90)
})

test('a deleted project is hidden at once, comes back whole, and only its owners see it in the bin', async () => {
  await using forge = await withBin()
  const tools = await groupOf(forge, 'tools', { visibility: 'public' })
  const cast = await castFor(forge, tools.id)
  const { id } = await projectIn(forge, tools, 'p', { visibility: 'public', description: 'kept' })
  await forge.seed({ id }, { 'README.md': 'hello' })
  await forge.issue({ id }, { title: 'first' })
  await cast.guest.post(`/projects/${id}/star`)
  await forge.settle()
  const before = (await cast.owner.get(`/projects/${id}`)).body

  expect((await cast.owner.delete(`/projects/${id}`)).status).toBe(204)
  expect((await cast.owner.delete(`/projects/${id}`)).status).toBe(404)
  for (const caller of Object.values(cast).slice(0, -1)) {
    expect((await caller.get(`/projects/${id}`)).status).toBe(404)
    expect((await caller.get('/projects/tools%2Fp')).status).toBe(404)
    expect(idsOf(await caller.get('/projects'))).toEqual([])
    expect((await caller.get(`/projects/${id}/issues`)).status).toBe(404)
  }
  //             anonymous stranger external guest reporter developer master owner administrator blocked
  const seen = [404, 404, 404, 404, 404, 404, 404, 200, 200, 401]
  expect(await statuses(cast, (caller) => caller.get(`/projects/${id}`, PENDING))).toEqual(seen)
  const counts: number[] = []
  for (const caller of [cast.anonymous, cast.stranger, cast.master, cast.owner, cast.administrator]) {
    for (const filter of [PENDING, { only_pending_delete: true }]) {
      const { body, headers } = await caller.get('/projects', filter)
      expect(headers.get('x-total')).toBe(String(body.length))
      counts.push(body.length)
    }
  }
  expect(counts).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
  const day = forge.clock.now().toISOString().slice(0, 10)
  const inBin = (await cast.owner.get(`/projects/${id}`, PENDING)).body
  expect(inBin).toMatchObject({
    path: `p-deletion_scheduled-${id}`,
    marked_for_deletion_on: day,
    marked_for_deletion_at: day,
  })
  expect(idsOf(await cast.owner.get('/projects', { marked_for_deletion_on: day }))).toEqual([id])
  expect(idsOf(await cast.owner.get('/projects', { marked_for_deletion_on: '2001-01-01' }))).toEqual([])
  expect(idsOf(await cast.owner.get(`/groups/${tools.id}/projects`, PENDING))).toEqual([id])

  await forge.settle()
  const restore = (caller: Client) => caller.post(`/projects/${id}/restore`)
  //                                              …owner administrator: the first one restores it
  expect(await statuses(cast, restore)).toEqual([401, 404, 404, 404, 404, 404, 404, 201, 400, 401])
  const after = (await cast.owner.get(`/projects/${id}`)).body
  expect({ ...after, updated_at: before.updated_at }).toEqual(before)
  expect(idsOf(await cast.anonymous.get('/projects'))).toEqual([id])
  expect(idsOf(await cast.owner.get('/projects', { only_pending_delete: true }))).toEqual([])
  expect((await cast.anonymous.get(`/projects/${id}/issues`)).body).toHaveLength(1)
  expect(await forge.git(['ls-remote', `${forge.url}/tools/p.git`, 'HEAD'])).toContain('HEAD')
  expect(idsOf(await cast.guest.get('/projects', { starred: true }))).toEqual([id])
  expect((await forge.events()).filter((name) => /deleted|restored/.test(name))).toEqual([
    'project.deleted',
    'project.restored',
  ])
})

test('name and path are free at once; restoring to a taken path needs others', async () => {
  await using forge = await withBin()
  const user = await forge.user({ username: 'jane' })
  const { id } = await projectBy(user, 'p', { name: 'Name' })
  await user.put(`/projects/${id}`, { path: 'q' }) // leaves a redirect
  // The usual path of the bin may be taken, too.
  await projectBy(user, `q-deletion_scheduled-${id}`)
  expect((await user.delete(`/projects/${id}`)).status).toBe(204)
  expect((await user.get('/projects/jane%2Fp')).status).toBe(404)
  const other = await projectBy(user, 'q', { name: 'Name' })

  const before = await stateOf(forge)
  const refusals = [
    [{}, { name: ['has already been taken'], path: ['has already been taken'] }],
    [{ path: 'r' }, { name: ['has already been taken'] }],
    [{ name: 'Other' }, { path: ['has already been taken'] }],
  ] as const
  for (const [input, message] of refusals) {
    const { status, body } = await user.post(`/projects/${id}/restore`, input)
    expect([status, body]).toEqual([400, { message }])
  }
  expect((await user.post(`/projects/${id}/restore`, { path: 'a b', name: 'x' })).status).toBe(400)
  expect(await stateOf(forge)).toEqual(before)

  const { status, body } = await user.post(`/projects/${id}/restore`, { path: 'r', name: 'Other' })
  expect([status, body]).toMatchObject([201, { id, path_with_namespace: 'jane/r', name: 'Other' }])
  expect((await user.get('/projects/jane%2Fq')).body.id).toBe(other.id)
  expect((await user.post(`/projects/${other.id}/restore`)).body).toEqual({
    message: 'Project has not been marked for deletion',
  })
})

test('a project in the bin does not count for its owner, and restoring respects the limit', async () => {
  await using forge = await withBin()
  const user = await forge.user()
  await forge.administrator.put(`/users/${user.id}`, { projects_limit: 1 })
  const { id } = await projectBy(user, 'p')
  await user.delete(`/projects/${id}`)
  const other = await projectBy(user, 'q')
  const before = await stateOf(forge)
  expect((await user.post(`/projects/${id}/restore`)).status).toBe(403)
  expect(await stateOf(forge)).toEqual(before)
  await user.delete(`/projects/${other.id}`)
  expect((await user.post(`/projects/${id}/restore`)).status).toBe(201)
})

test('permanent deletion needs a project in the bin and its full path', async () => {
  await using forge = await withBin()
  const tools = await groupOf(forge, 'tools', { visibility: 'public' })
  const cast = await castFor(forge, tools.id)
  const { id } = await projectIn(forge, tools, 'p', { visibility: 'public' })
  const remove = (full_path?: string) => (caller: Client) =>
    caller.delete(`/projects/${id}`, { permanently_remove: true, ...(full_path && { full_path }) })
  const messageOf = async (full_path?: string) => (await remove(full_path)(cast.owner)).body.message
  expect(await messageOf('tools/p')).toBe('Project must be marked for deletion first.')
  await cast.owner.delete(`/projects/${id}`)
  await forge.settle()
  const before = await stateOf(forge)
  for (const path of [undefined, 'p', 'tools/q']) {
    expect(await messageOf(path)).toBe('`full_path` is incorrect. You must enter the complete path for the project.')
  }
  const { owner: _o, administrator: _a, ...others } = cast
  for (const caller of Object.values(others)) expect((await remove('tools/p')(caller)).status).toBeGreaterThan(400)
  expect(await stateOf(forge)).toEqual(before)

  expect((await remove('tools/p')(cast.owner)).status).toBe(204)
  expect((await cast.owner.post(`/projects/${id}/restore`)).status).toBe(404)
  await forge.settle()
  expect(await forge.app.db.selectFrom('projects').select('id').execute()).toEqual([])
  expect(await repositoriesOf(forge)).toEqual([])
  expect((await forge.events()).filter((name) => /deleted|purged/.test(name))).toEqual([
    'project.deleted',
    'project.purged',
  ])
  const { body } = await cast.administrator.get('/audit_events')
  const kinds = body.map((one: { details: { custom_message: string } }) => one.details.custom_message)
  expect(kinds.filter((text: string) => text.startsWith('Delete a project'))).toHaveLength(2)
})

test('what is due is deleted for good, and what was restored or is not due stays', async () => {
  await using forge = await withBin(3)
  const { administrator: root, app } = forge
  const user = await forge.user()
  const [early, restored, late] = [await projectBy(user, 'a'), await projectBy(user, 'b'), await projectBy(user, 'c')]
  await user.delete(`/projects/${early.id}`)
  await user.delete(`/projects/${restored.id}`)
  await user.post(`/projects/${restored.id}/restore`)
  // The day that was promised stays.
  await root.put('/application/settings', { deletion_adjourned_period: 1 })
  forge.clock.advance(2 * DAY)
  await user.delete(`/projects/${late.id}`)
  const left = async () =>
    (await app.db.selectFrom('projects').select('id').orderBy('id').execute()).map(({ id }) => id)
  await emptyBin.handle(app, {})
  await forge.settle()
  expect(await left()).toEqual([early.id, restored.id, late.id])
  forge.clock.advance(DAY)
  await emptyBin.handle(app, {})
  await forge.settle()
  expect(await left()).toEqual([restored.id])
  expect(await repositoriesOf(forge)).toHaveLength(1)
})

test('restoring and deleting for good at once: one of them wins', async () => {
  await using forge = await withBin()
  const user = await forge.user({ username: 'jane' })
  for (let round = 0; round < 4; round++) {
    const { id } = await projectBy(user, `p${round}`)
    await user.delete(`/projects/${id}`)
    const restore = () => user.post(`/projects/${id}/restore`)
    const purge = () => user.delete(`/projects/${id}`, { permanently_remove: true, full_path: `jane/p${round}` })
    const answers = await atOnce(forge, ...(round % 2 ? [restore, purge] : [purge, restore]))
    await forge.settle()
    const isBack = answers.some(({ status }) => status === 201)
    expect(answers.map(({ status }) => status)).toEqual(isBack ? [201, 404] : [204, 400])
    expect((await user.get(`/projects/${id}`)).status).toBe(isBack ? 200 : 404)
    expect((await repositoriesOf(forge)).length > 0).toBe(isBack)
    if (isBack) await user.delete(`/projects/${id}`).then(() => purge())
    await forge.settle()
  }
})

test('two restores at once: one of them wins', async () => {
  await using forge = await withBin()
  const user = await forge.user()
  const { id } = await projectBy(user, 'p')
  await user.delete(`/projects/${id}`)
  const restore = () => user.post(`/projects/${id}/restore`)
  expect((await atOnce(forge, restore, restore)).map(({ status }) => status)).toEqual([201, 400])
  await user.delete(`/projects/${id}`)
  const taken = await atOnce(forge, restore, () => user.post('/projects', { path: 'p' }))
  expect(taken.map(({ status }) => status)).toEqual([201, 400])
})

test('forks are unlinked and requests between them closed, also after restoring', async () => {
  await using forge = await withBin()
  const { administrator: root } = forge
  const source = await forge.project({ path: 'source' })
  await forge.seed(source, { a: '1' })
  const user = await forge.user({ username: 'jane' })
  await root.post(`/projects/${source.id}/members`, { user_id: user.id, access_level: 40 })
  const fork = (await user.post(`/projects/${source.id}/fork`)).body
  await forge.settle()
  await forge.seed(fork, { b: '2' }, { branch: 'topic' })
  const request = await user.post(`/projects/${fork.id}/merge_requests`, {
    source_branch: 'topic',
    target_branch: 'master',
    target_project_id: source.id,
    title: 'from the fork',
  })
  expect(request.status).toBe(201)
  const countOf = async () => (await root.get(`/projects/${source.id}`)).body.forks_count
  expect(await countOf()).toBe(1)

  await root.delete(`/projects/${source.id}`)
  await forge.settle()
  expect((await user.get(`/projects/${fork.id}`)).body.forked_from_project).toBeUndefined()
  await root.post(`/projects/${source.id}/restore`)
  expect(await countOf()).toBe(0)
  const { body } = await root.get(`/projects/${source.id}/merge_requests/${request.body.iid}`)
  expect(body.state).toBe('closed')
  expect((await user.get(`/projects/${fork.id}`)).body.forked_from_project).toBeUndefined()
})

test('deleting a fork closes its requests and lowers the count of its source', async () => {
  await using forge = await withBin()
  const { administrator: root } = forge
  const source = await forge.project({ path: 'source' })
  await forge.seed(source, { a: '1' })
  const user = await forge.user({ username: 'jane' })
  await root.post(`/projects/${source.id}/members`, { user_id: user.id, access_level: 40 })
  const fork = (await user.post(`/projects/${source.id}/fork`)).body
  await forge.settle()
  await user.delete(`/projects/${fork.id}`)
  await forge.settle()
  expect((await root.get(`/projects/${source.id}`)).body.forks_count).toBe(0)
  await user.post(`/projects/${fork.id}/restore`)
  expect(await forge.git(['ls-remote', `${forge.url}/jane/source.git`], { as: user })).toContain('master')
  expect((await root.get(`/projects/${source.id}`)).body.forks_count).toBe(0)
})

test('a project deleted in a group that became private comes back private', async () => {
  await using forge = await withBin()
  const { administrator: root } = forge
  const tools = await groupOf(forge, 'tools', { visibility: 'public' })
  const { id } = await projectIn(forge, tools, 'p', { visibility: 'public' })
  await root.delete(`/projects/${id}`)
  expect((await root.put(`/groups/${tools.id}`, { visibility: 'private' })).status).toBe(200)
  expect((await root.post(`/projects/${id}/restore`)).body.visibility).toBe('private')
})

test('a list with the bin shows what is deleted first, and pages add up', async () => {
  await using forge = await withBin()
  const { administrator: root } = forge
  const user = await forge.user()
  const ids: number[] = []
  for (const path of ['a', 'b', 'c', 'd', 'e']) ids.push((await projectBy(user, path)).id)
  for (const id of [ids[1]!, ids[3]!]) await user.delete(`/projects/${id}`)
  const order = [ids[1], ids[3], ids[0], ids[2], ids[4]]
  const filter = { ...PENDING, order_by: 'id', sort: 'asc' }
  for (const caller of [user, root]) {
    expect(idsOf(await caller.get('/projects', filter))).toEqual(order)
    for (let page = 1; page <= 3; page++) {
      const { body, headers } = await caller.get('/projects', { ...filter, per_page: 2, page })
      expect([idsOf({ body }), headers.get('x-total')]).toEqual([order.slice(2 * page - 2, 2 * page), '5'])
    }
    const keyset = await caller.get('/projects', { ...filter, pagination: 'keyset', per_page: 3 })
    expect(idsOf(keyset)).toEqual(ids.slice(0, 3))
  }
  const queries = async () => {
    await user.get('/projects', filter) // counts
    return forge.queries(() => user.get('/projects', filter))
  }
  const few = await queries()
  await user.delete(`/projects/${ids[0]}`)
  expect(await queries()).toBe(few)
})

test('nothing of a project in the bin works, and everything does again after restoring', async () => {
  await using forge = await withBin()
  const { administrator: root, app } = forge
  const project = await forge.project({ path: 'p' })
  const url = `/projects/${project.id}`
  await forge.seed(project, { '.gitlab-ci.yml': 'build: { script: make }' })
  const { body: record } = await root.get(url)
  const receiver = await forge.receiver()
  await root.post(`${url}/hooks`, { url: receiver.url, push_events: true, issues_events: true })
  const { body: runner } = await root.post('/runners', { token: record.runners_token })
  const { body: schedule } = await root.post(`${url}/pipeline_schedules`, {
    description: 'often',
    ref: 'master',
    cron: '*/10 * * * *',
  })
  const { body: trigger } = await root.post(`${url}/triggers`, { description: 'x' })
  const { body: deploy } = await root.post(`${url}/deploy_tokens`, { name: 'x', scopes: ['read_repository'] })
  const { body: key } = await root.post(`${url}/deploy_keys`, { title: 'x', key: sshKey() })
  const robot = { name: 'robot', scopes: ['api'], expires_at: '2999-01-01', access_level: 40 }
  const { body: bot } = await root.post(`${url}/access_tokens`, robot)
  await root.post(`${url}/pipeline`, { ref: 'master' })
  await forge.settle()

  const clone = (path: string) => {
    const address = forge.url.replace('://', `://${deploy.username}:${deploy.token}@`)
    return forge.git(['ls-remote', `${address}/${path}.git`]).then(
      () => 'cloned',
      () => 'refused',
    )
  }
  const schedules = async () => {
    forge.clock.advance(61 * MINUTE)
    await sweepSchedules.handle(app, {})
    await forge.settle()
    const rows = app.db.selectFrom('pipelines').select('id').where('schedule_id', '=', schedule.id).execute()
    return (await rows).length
  }
  const ask = async () => ({
    job: (await root.post('/jobs/request', { token: runner.token })).status,
    trigger: (await root.post(`${url}/trigger/pipeline`, { token: trigger.token, ref: 'master' })).status,
    bot: (await forge.as({ 'PRIVATE-TOKEN': bot.token }).get('/user')).status,
    clone: await clone(record.path_with_namespace),
    schedules: await schedules(),
    hook: receiver.deliveries.length,
  })
  await root.delete(url)
  await forge.settle()
  const delivered = receiver.deliveries.length
  const name = `${record.path_with_namespace}-deletion_scheduled-${project.id}`
  expect(await ask()).toEqual({ job: 204, trigger: 404, bot: 401, clone: 'refused', schedules: 0, hook: delivered })
  expect(await clone(name)).toBe('refused')
  expect((await root.get('/deploy_keys')).body).toHaveLength(1)
  expect((await findings(forge)).map(({ path, faults }) => [path, faults])).toEqual([[name, []]])

  await root.post(`${url}/restore`)
  await forge.settle()
  expect(await ask()).toMatchObject({ job: 201, trigger: 201, bot: 200, clone: 'cloned', schedules: 1 })
  await root.post(`${url}/issues`, { title: 'heard' })
  await forge.settle()
  expect(receiver.deliveries.length).toBeGreaterThan(delivered)
  expect((await root.get(`${url}/deploy_keys`)).body.map((one: { id: number }) => one.id)).toEqual([key.id])

  await root.delete(url)
  await root.delete(url, { permanently_remove: true, full_path: record.path_with_namespace })
  await forge.settle()
  expect((await root.get('/deploy_keys')).body).toEqual([])
  expect((await root.get('/users', { search: 'robot' })).body).toEqual([])
})

test('a push during the deletion is there after restoring', async () => {
  await using forge = await withBin()
  const { administrator: root } = forge
  const project = await forge.project({ path: 'p' })
  const pushed = forge.seed(project, { 'README.md': 'hello' }).then(
    () => true,
    () => false,
  )
  const [isPushed, deleted] = await Promise.all([pushed, root.delete(`/projects/${project.id}`)])
  expect(deleted.status).toBe(204)
  await forge.settle()
  expect((await root.post(`/projects/${project.id}/restore`)).status).toBe(201)
  const { body } = await root.get(`/projects/${project.id}/repository/branches`)
  const { empty_repo } = (await root.get(`/projects/${project.id}`)).body
  expect(empty_repo).toBe(body.length === 0)
  expect(body.length >= Number(isPushed)).toBe(true)
  expect((await findings(forge)).flatMap(({ faults }) => faults)).toEqual([])
})
