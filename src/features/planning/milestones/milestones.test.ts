import { expect, test } from 'vitest'
import { costOf, openSource } from '../../../../test/sources.ts'
import { DAY, timestamp } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { findNamespaceById, findProjectById } from '../../projects/projects/queries.ts'
import { findVisibleMilestone, milestonesOf } from './queries.ts'

const both = (text: string) => ({ message: text, error: text })
const titles = ({ body }: { body: { title: string }[] }) => body.map(({ title }) => title)

const plannedFor = async ({ app }: TestForge, id: number) =>
  (await app.db.selectFrom('issues').select('milestone_id').where('id', '=', id).executeTakeFirstOrThrow()).milestone_id

test('a milestone is answered whole, changed, closed and deleted', async () => {
  await using forge = await startForge()
  const { id: project_id, url, path, owner } = await openSource(forge, 'projects')
  const before = await forge.events()
  const created = await owner.post(`${url}/milestones`, {
    title: ' v1 <b>now</b>',
    description: 'All *of* it',
    start_date: '2026-1-2',
    due_date: '2026-01-02',
  })
  const moment = expect.stringMatching(/^\d{4}-.*Z$/) as string
  expect(created).toMatchObject({ status: 201 })
  expect(created.body).toEqual({
    id: expect.any(Number),
    iid: 1,
    project_id,
    title: 'v1 now',
    description: 'All *of* it',
    state: 'active',
    created_at: moment,
    updated_at: moment,
    start_date: '2026-01-02',
    due_date: '2026-01-02',
    expired: true,
    web_url: `${forge.url}${path}/-/milestones/1`,
  })
  const at = `${url}/milestones/${created.body.id}`
  const { id: one } = await forge.issue({ id: project_id }, { milestone_id: created.body.id })
  expect((await owner.get(at)).body).toEqual(created.body)
  expect((await owner.put(at, { state_event: 'close' })).body.state).toBe('closed')
  expect((await owner.put(at, { state_event: 'close' })).status).toBe(200)
  expect((await owner.put(at, { state_event: 'activate' })).body.state).toBe('active')
  const today = timestamp(forge.clock).slice(0, 10)
  const cleared = await owner.put(at, { start_date: '', due_date: today, title: 'v2', description: null })
  expect(cleared.body).toMatchObject({ start_date: null, due_date: today, expired: false, description: null })
  forge.clock.advance(DAY)
  expect((await owner.get(at)).body.expired).toBe(true)
  const stale = { 'If-Unmodified-Since': new Date(0).toUTCString() }
  expect((await owner.delete(at, undefined, stale)).status).toBe(412)
  expect((await owner.delete(at)).status).toBe(204)
  expect(await owner.get(at)).toMatchObject({ status: 404, body: { message: '404 Not found' } })
  expect(await plannedFor(forge, one)).toBeNull()
  expect((await owner.post(`${url}/milestones`, { title: 'next' })).body.iid).toBe(2)
  expect((await forge.events()).slice(before.length)).toEqual([
    'milestone.created',
    'issue.created',
    'milestone.closed',
    'milestone.updated',
    'milestone.activated',
    'milestone.updated',
    'milestone.deleted',
    'milestone.created',
  ])
})

test('a list is newest first, and narrowed as it is asked', async () => {
  await using forge = await startForge()
  const { url, group, owner } = await openSource(forge, 'projects')
  const { body: inner } = await owner.post('/groups', { name: 'In', path: 'in', parent_id: group.id })
  const { body: deep } = await owner.post('/projects', { name: 'Deep', namespace_id: inner.id })
  const at = `/projects/${deep.id}/milestones`
  const make = async (where: string, title: string, more = {}) =>
    (await owner.post(`${where}/milestones`, { title, ...more })).body
  await make(group.url, 'outer')
  const { web_url, group_id, iid: first } = await make(`/groups/${inner.id}`, 'inner')
  expect({ web_url, group_id, first }).toEqual({
    web_url: `${forge.url}/groups/${inner.full_path}/-/milestones/1`,
    group_id: inner.id,
    first: 1,
  })
  await make(`/projects/${deep.id}`, 'one', { description: 'A needle' })
  const two = await make(`/projects/${deep.id}`, 'two')
  await make(url, 'elsewhere')
  const since = timestamp(forge.clock)
  forge.clock.advance(DAY)
  await owner.put(`${at}/${two.id}`, { state_event: 'close' })

  expect(titles(await owner.get(at))).toEqual(['two', 'one'])
  const narrowed = [
    [{ state: 'active' }, ['one']],
    [{ state: 'closed' }, ['two']],
    [{ state: 'all' }, ['two', 'one']],
    [{ iids: [2] }, ['two']],
    [{ iids: '1,2' }, ['two', 'one']],
    [{ title: 'one' }, ['one']],
    [{ title: 'On' }, []],
    [{ search: 'NEEDLE' }, ['one']],
    [{ search: 'tw' }, ['two']],
    [{ include_parent_milestones: true }, ['two', 'one', 'inner', 'outer']],
    [{ include_ancestors: true, title: 'outer' }, ['outer']],
    [{ updated_after: since }, ['two']],
    [{ updated_before: since }, ['one']],
    [{ per_page: 1, page: 2 }, ['one']],
  ] as const
  for (const [input, expected] of narrowed)
    expect([input, titles(await owner.get(at, input))]).toEqual([input, expected])
  expect(titles(await owner.get(`/groups/${inner.id}/milestones`))).toEqual(['inner'])
  expect(titles(await owner.get(`/groups/${inner.id}/milestones`, { include_ancestors: true }))).toEqual([
    'inner',
    'outer',
  ])
  expect((await owner.get(at, { state: 'open' })).body).toEqual(both('state does not have a valid value'))

  const list = () => owner.get(at)
  const few = await costOf(forge, list)
  for (let n = 0; n < 10; n++) await make(`/projects/${deep.id}`, `more ${n}`)
  expect((await list()).body).toHaveLength(12)
  expect(await costOf(forge, list)).toBe(few)

  // Matches of the index are counted; the total of a shorter text is cached until a milestone changes.
  const totals = () =>
    Promise.all(
      ['MORE', 'mo'].map(async (search) => (await owner.get(at, { search, per_page: 1 })).headers.get('x-total')),
    )
  expect([await totals(), await totals()]).toEqual([
    ['10', '10'],
    ['10', '10'],
  ])
  const { id } = (await make(`/projects/${deep.id}`, 'one more')) as { id: number }
  expect(await totals()).toEqual(['11', '11'])
  await owner.put(`${at}/${two.id}`, { description: 'and more' })
  expect(await totals()).toEqual(['12', '12'])
  await owner.delete(`${at}/${id}`)
  expect(await totals()).toEqual(['11', '11'])
})

test('refusals leave everything as it was', async () => {
  await using forge = await startForge()
  const { url, group, owner } = await openSource(forge, 'projects')
  const { body: one } = await owner.post(`${url}/milestones`, { title: 'one', due_date: '2026-02-01' })
  await owner.post(`${url}/milestones`, { title: 'two' })
  const { body: above } = await owner.post(`${group.url}/milestones`, { title: 'above' })
  const { body: other } = await owner.post('/projects', { name: 'Other', namespace_id: group.id })
  const state = async () => [
    await forge.app.db.selectFrom('milestones').selectAll().orderBy('id').execute(),
    await forge.app.db.selectFrom('iid_counters').selectAll().orderBy('last').execute(),
    await forge.events(),
  ]
  const before = await state()
  const taken = '{:title=>["already being used for another group or project milestone."]}'
  const create = (faults: string) => ({ message: `Failed to create milestone ${faults}` })
  const update = (faults: string) => ({ message: `Failed to update milestone ${faults}` })
  const missing = { message: '400 (Bad request) title not given', error: 'title is missing' }
  const nothing = both(
    'title, description, start_date, due_date, state_event are missing, at least one parameter must be provided',
  )
  const at = `${url}/milestones/${one.id}`
  const refusals = [
    ['post', `${url}/milestones`, {}, 400, missing],
    ['post', `${url}/milestones`, { title: 'one' }, 400, create(taken)],
    ['post', `${url}/milestones`, { title: 'above' }, 400, create(taken)],
    ['post', `${group.url}/milestones`, { title: 'two' }, 400, create(taken)],
    ['post', `${url}/milestones`, { title: ' ' }, 400, create(`{:title=>["can't be blank"]}`)],
    [
      'post',
      `${url}/milestones`,
      { title: 'x'.repeat(256), start_date: '2026-01-02', due_date: '2026-01-01' },
      400,
      create(`{:title=>["is too long (maximum is 255 characters)"], :start_date=>["Can't be greater than due date"]}`),
    ],
    ['post', `${url}/milestones`, { title: 'x', due_date: 'soon' }, 400, both('due_date is invalid')],
    ['put', at, {}, 400, nothing],
    ['put', at, { title: 'two' }, 400, update(taken)],
    ['put', at, { start_date: '2026-02-02' }, 400, update(`{:start_date=>["Can't be greater than due date"]}`)],
    ['put', at, { state_event: 'open' }, 400, both('state_event does not have a valid value')],
    ['put', `${url}/milestones/${above.id}`, { title: 'x' }, 404, { message: '404 Not found' }],
    ['get', `${url}/milestones/4000000`, undefined, 404, { message: '404 Not found' }],
    ['get', `${url}/milestones/one`, undefined, 400, both('milestone_id is invalid')],
  ] as const
  for (const [method, path, input, status, body] of refusals)
    expect({ path, input, ...(await owner[method](path, input)) }).toMatchObject({ status, body })
  expect(await state()).toEqual(before)
  // Two projects in a group may have the same title.
  expect((await owner.post(`/projects/${other.id}/milestones`, { title: 'one' })).status).toBe(201)

  await owner.put(url, { issues_access_level: 'disabled', merge_requests_access_level: 'disabled' })
  for (const answer of [await owner.get(`${url}/milestones`), await owner.get(at), await owner.put(at, { title: 'x' })])
    expect(answer.status).toBe(403)
  await owner.put(url, { issues_access_level: 'enabled' })
  await owner.post(`${url}/archive`)
  expect((await owner.get(at)).status).toBe(200)
  for (const answer of [await owner.put(at, { title: 'x' }), await owner.delete(at)]) expect(answer.status).toBe(403)
})

test('iids have no gaps and titles no twins, however many ask at once', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const made = await Promise.all(
    Array.from({ length: 12 }, (_, n) => owner.post(`${url}/milestones`, { title: `m ${n % 8}` })),
  )
  expect(made.filter(({ status }) => status === 201)).toHaveLength(8)
  const iids = (await owner.get(`${url}/milestones`)).body.map((one: { iid: number }) => one.iid)
  expect(iids.toSorted((a: number, b: number) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
})

test('a promoted milestone is one of the group, in every project that had one so titled', async () => {
  await using forge = await startForge()
  const { id, url, group, owner } = await openSource(forge, 'projects')
  const { body: other } = await owner.post('/projects', { name: 'Other', namespace_id: group.id })
  const { body: first } = await owner.post(`${url}/milestones`, { title: 'v1' })
  const { body: second } = await owner.post(`/projects/${other.id}/milestones`, { title: 'v1' })
  const [one, two] = [
    (await forge.issue({ id }, { milestone_id: first.id })).id,
    (await forge.issue(other, { milestone_id: second.id })).id,
  ]
  const promoted = await owner.post(`${url}/milestones/${first.id}/promote`)
  expect(promoted).toMatchObject({ status: 200, body: { id: first.id, iid: 1, group_id: group.id, title: 'v1' } })
  expect(promoted.body).not.toHaveProperty('project_id')
  expect([await plannedFor(forge, one), await plannedFor(forge, two)]).toEqual([first.id, first.id])
  expect((await owner.get(`/projects/${other.id}/milestones`)).body).toEqual([])

  const { body: comer } = await owner.post('/projects', { name: 'Comer' })
  const { body: third } = await owner.post(`/projects/${comer.id}/milestones`, { title: 'v1' })
  const { id: three } = await forge.issue(comer, { milestone_id: third.id })
  await owner.put(`/projects/${comer.id}/transfer`, { namespace: group.id })
  const merged = await owner.post(`/projects/${comer.id}/milestones/${third.id}/promote`)
  expect(merged).toMatchObject({ status: 200, body: { id: first.id, group_id: group.id } })
  expect(await plannedFor(forge, three)).toBe(first.id)

  const personal = await forge.project({}, owner)
  const { body: alone } = await owner.post(`/projects/${personal.id}/milestones`, { title: 'v1' })
  expect((await owner.post(`/projects/${personal.id}/milestones/${alone.id}/promote`)).status).toBe(403)
})

test('what was told of a milestone follows it to its group, and from it', async () => {
  await using forge = await startForge()
  const { url, group, owner } = await openSource(forge, 'projects')
  const { body: other } = await owner.post('/projects', { name: 'Other', namespace_id: group.id })
  const at = `/projects/${other.id}`
  const { body: first } = await owner.post(`${url}/milestones`, { title: 'v1' })
  const { body: second } = await owner.post(`${at}/milestones`, { title: 'v1' })
  await owner.post(`${at}/issues`, { title: 'An issue', milestone_id: second.id })
  await owner.put(`${at}/issues/1`, { milestone_id: 0 })
  await owner.put(`${at}/issues/1`, { milestone_id: second.id })
  const events = async () =>
    (await owner.get(`${at}/issues/1/resource_milestone_events`)).body.map(
      ({ action, milestone }: { action: string; milestone: { id: number } | null }) => [action, milestone?.id],
    )
  const happened = async () =>
    (await owner.get(`${at}/events`, { target_type: 'milestone' })).body.map(
      ({ target_id, target_title }: { target_id: number; target_title: string }) => [target_id, target_title],
    )
  const before = await events()
  expect(before.at(-1)).toEqual(['add', second.id])
  expect(await happened()).toEqual([[second.id, 'v1']])
  await owner.post(`${url}/milestones/${first.id}/promote`)
  expect(await events()).toEqual(before.map(([action]: [string]) => [action, first.id]))
  expect(await happened()).toEqual([[first.id, 'v1']])

  const target = await forge.group({}, owner)
  await owner.put(`${at}/transfer`, { namespace: target.id })
  await forge.settle()
  const [kept] = (await owner.get(`${at}/milestones`)).body
  expect(kept).toMatchObject({ title: 'v1', project_id: other.id })
  expect(await events()).toEqual(before.map(([action]: [string]) => [action, kept.id]))
  expect((await happened()).map(([id]: [number]) => id)).toContain(kept.id)
})

test('a project that moves to another group keeps the milestones of its issues', async () => {
  await using forge = await startForge()
  const { id, url, group, owner } = await openSource(forge, 'projects')
  const target = (await owner.post('/groups', { name: 'To', path: 'to' })).body
  const { body: v1 } = await owner.post(`${group.url}/milestones`, { title: 'v1', due_date: '2026-01-02' })
  const { body: v2 } = await owner.post(`${group.url}/milestones`, { title: 'v2' })
  await owner.put(`${group.url}/milestones/${v1.id}`, { state_event: 'close' })
  const { body: there } = await owner.post(`/groups/${target.id}/milestones`, { title: 'v2' })
  const [one, two] = [
    (await forge.issue({ id }, { milestone_id: v1.id })).id,
    (await forge.issue({ id }, { milestone_id: v2.id })).id,
  ]
  await owner.put(`${url}/transfer`, { namespace: target.id })
  await forge.settle()
  expect(await plannedFor(forge, two)).toBe(there.id)
  const [kept] = (await owner.get(`${url}/milestones`)).body
  expect(kept).toMatchObject({ title: 'v1', due_date: '2026-01-02', state: 'closed', project_id: id, iid: 1 })
  expect(await plannedFor(forge, one)).toBe(kept.id)
  expect(titles(await owner.get(`${group.url}/milestones`))).toEqual(['v2', 'v1'])
})

test('others find the milestones that a project sees, and their paths for a page at once', async () => {
  await using forge = await startForge()
  const { id, url, group, owner } = await openSource(forge, 'projects')
  const own = (await owner.post(`${url}/milestones`, { title: 'own' })).body
  const above = (await owner.post(`${group.url}/milestones`, { title: 'above' })).body
  const personal = await forge.project({}, owner)
  const hidden = (await owner.post(`/projects/${personal.id}/milestones`, { title: 'own' })).body
  const { db } = forge.app
  const project = (await findProjectById(db, id))!
  const scope = { project, namespace: (await findNamespaceById(db, project.namespace_id))! }
  const found = await Promise.all([own, above, hidden].map((one) => findVisibleMilestone(db, scope, one.id)))
  expect(found.map((one) => one?.title)).toEqual(['own', 'above', undefined])
  const loaded = await milestonesOf(db, [own.id, null, above.id, hidden.id, own.id])
  expect([...loaded.values()].map(({ path }) => path).toSorted()).toEqual(
    [own, above, hidden]
      .map(({ web_url }: { web_url: string }) =>
        web_url.replace(/^.*?:\/\/[^/]+\/(groups\/)?/, '').replace(/\/-\/.*/, ''),
      )
      .toSorted(),
  )
})

test('a release names the milestones it was planned as', async () => {
  await using forge = await startForge()
  const { id, url, group, owner } = await openSource(forge, 'projects')
  await forge.seed({ id }, { a: 'a' }, { as: owner })
  const { body: own } = await owner.post(`${url}/milestones`, { title: 'v1' })
  const { body: above } = await owner.post(`${group.url}/milestones`, { title: 'all' })
  await forge.issue({ id }, { milestone_id: own.id })
  const { iid } = await forge.issue({ id }, { milestone_id: own.id })
  await owner.put(`${url}/issues/${iid}`, { state_event: 'close' })
  await forge.issue({ id }, { milestone_id: own.id, confidential: true })
  const created = await owner.post(`${url}/releases`, { tag_name: 'v1', ref: 'master', milestones: ['v1', 'all'] })
  expect(created.body.milestones).toEqual([
    { ...own, issue_stats: { total: 2, closed: 1 } },
    { ...above, issue_stats: { total: 0, closed: 0 } },
  ])
  const at = `${url}/releases/v1`
  expect(await owner.put(at, { milestones: ['v1', 'v9'] })).toMatchObject({
    status: 400,
    body: { message: 'Milestone(s) not found: v9' },
  })
  expect((await owner.put(at, { name: 'x' })).body.milestones).toHaveLength(2)
  expect(titles({ body: (await owner.put(at, { milestones: ['all'] })).body.milestones })).toEqual(['all'])
  expect((await owner.put(at, { milestones: [] })).body.milestones).toEqual([])
  await owner.put(at, { milestones: ['v1'] })
  await owner.post(`${url}/milestones/${own.id}/promote`)
  expect((await owner.get(at)).body.milestones).toMatchObject([{ id: own.id, group_id: group.id }])
  await owner.delete(`${group.url}/milestones/${own.id}`)
  expect((await owner.get(`${url}/releases`)).body[0].milestones).toEqual([])
})
