import { expect, test } from 'vitest'
import { costOf, openSource } from '../../../../test/sources.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { loadProjectSubject, findProjectById } from '../../projects/projects/queries.ts'
import type { LabelRecord } from './entity.ts'
import { issueKind } from '../issues/kind.ts'
import { labelsOfItems } from '../items/links.ts'
import { findOrCreateLabels } from './service.ts'

const both = (text: string) => ({ message: text, error: text })
const names = ({ body }: { body: { name: string }[] }) => body.map(({ name }) => name)

const member = async (forge: TestForge, url: string, owner: Person, access_level: number) => {
  const person = await forge.user()
  await owner.post(`${url}/members`, { user_id: person.id, access_level })
  return person
}

test('a label of a project is answered whole, found by id and by title, changed and deleted', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const before = await forge.events()
  const label = {
    id: expect.any(Number),
    name: 'Bug & co',
    color: '#FFAABB',
    text_color: '#333333',
    description: 'a <b>',
    description_html: 'a &lt;b&gt;',
    open_issues_count: 0,
    closed_issues_count: 0,
    open_merge_requests_count: 0,
    priority: 3,
    subscribed: false,
    is_project_label: true,
  }
  const created = await owner.post(`${url}/labels`, {
    name: ' Bug <i>&</i> co',
    color: '#FAB',
    description: 'a <b>',
    priority: '3',
  })
  expect(created).toMatchObject({ status: 201 })
  expect(created.body).toEqual(label)
  const { id } = created.body
  const renamed = await owner.put(`${url}/labels`, { name: 'Bug & co', new_name: '12', color: 'rebeccapurple' })
  expect(renamed.body).toEqual({ ...label, id, name: '12', color: '#663399', text_color: '#FFFFFF' })
  for (const given of [id, '12']) expect((await owner.get(`${url}/labels/${given}`)).body).toEqual(renamed.body)
  const cleared = await owner.put(`${url}/labels/${id}`, { priority: '', description: null })
  expect(cleared.body).toEqual({ ...renamed.body, priority: null, description: null, description_html: null })
  expect((await owner.put(`${url}/labels`, { label_id: id, priority: 0 })).body.priority).toBe(0)
  const stale = { 'If-Unmodified-Since': new Date(0).toUTCString() }
  expect((await owner.delete(`${url}/labels/${id}`, undefined, stale)).status).toBe(412)
  expect((await owner.delete(`${url}/labels`, { name: '12' })).status).toBe(204)
  expect(await owner.delete(`${url}/labels`, { name: '12' })).toMatchObject({
    status: 404,
    body: { message: '404 Label Not Found' },
  })
  expect((await forge.events()).slice(before.length)).toEqual([
    'label.created',
    'label.updated',
    'label.updated',
    'label.updated',
    'label.deleted',
  ])
})

test('a list is sorted by title and has what the groups around have', async () => {
  await using forge = await startForge()
  const { url, group, owner } = await openSource(forge, 'projects', { visibility: 'public' })
  const { body: inner } = await owner.post('/groups', {
    name: 'In',
    path: 'in',
    parent_id: group.id,
    visibility: 'public',
  })
  const { body: deep } = await owner.post('/projects', { name: 'Deep', namespace_id: inner.id, visibility: 'public' })
  const make = (at: string, name: string, more = {}) => owner.post(`${at}/labels`, { name, color: '#112233', ...more })
  await make(group.url, 'c of outer')
  await make(`/groups/${inner.id}`, 'B of inner', { description: 'Needle' })
  await make(`/projects/${deep.id}`, 'a of deep')
  await make(url, 'd of other')
  const at = `/projects/${deep.id}/labels`
  const inInner = `/groups/${inner.id}/labels`

  expect(names(await owner.get(at))).toEqual(['a of deep', 'B of inner', 'c of outer'])
  expect(names(await owner.get(at, { include_ancestor_groups: false }))).toEqual(['a of deep', 'B of inner'])
  expect(names(await owner.get(at, { search: 'needLE' }))).toEqual(['B of inner'])
  expect(names(await owner.get(at, { search: '%' }))).toEqual([])
  expect(names(await owner.get(at, { per_page: 1, page: 2 }))).toEqual(['B of inner'])
  expect(names(await owner.get(inInner))).toEqual(['B of inner', 'c of outer'])
  expect(names(await owner.get(inInner, { include_ancestor_groups: false }))).toEqual(['B of inner'])
  expect(names(await owner.get(`${group.url}/labels`))).toEqual(['c of outer'])
  const below = { include_descendant_groups: true }
  expect(names(await owner.get(`${group.url}/labels`, below))).toEqual(['B of inner', 'c of outer'])
  const all = { ...below, only_group_labels: false }
  const everything = ['a of deep', 'B of inner', 'c of outer', 'd of other']
  expect(names(await owner.get(`${group.url}/labels`, all))).toEqual(everything)
  expect(names(await owner.get(`${group.url}/labels`, { only_group_labels: false }))).toEqual([
    'c of outer',
    'd of other',
  ])

  const off = { issues_access_level: 'private', merge_requests_access_level: 'disabled' }
  await owner.put(url, off)
  expect(names(await (await forge.user()).get(`${group.url}/labels`, all))).toEqual(everything.slice(0, 3))
  expect(names(await owner.get(`${group.url}/labels`, all))).toEqual(everything)
  await owner.put(url, { issues_access_level: 'enabled' })

  await owner.put(`/projects/${deep.id}`, { visibility: 'private' })
  await owner.put(`/groups/${inner.id}`, { visibility: 'private' })
  const stranger = await forge.user()
  expect(names(await stranger.get(`${group.url}/labels`, all))).toEqual(['c of outer', 'd of other'])
  expect(names(await forge.administrator.get(`${group.url}/labels`, all))).toEqual(everything)
  const [record] = (await owner.get(`${group.url}/labels`)).body
  expect(Object.keys(record)).not.toContain('priority')
  expect(Object.keys((await owner.get(at, { with_counts: false })).body[0])).not.toContain('open_issues_count')
})

test('refusals leave everything as it was', async () => {
  await using forge = await startForge()
  const { url, group, owner } = await openSource(forge, 'projects')
  const color = '#112233'
  const { body: ofGroup } = await owner.post(`${group.url}/labels`, { name: 'taken above', color })
  const { body: own } = await owner.post(`${url}/labels`, { name: 'taken', color })
  await owner.post(`${url}/labels`, { name: 'other', color })
  const state = async () => [
    await forge.app.db.selectFrom('labels').selectAll().orderBy('id').execute(),
    await forge.events(),
  ]
  const before = await state()
  const invalid = (message: object) => ({ message })
  const missing = (...given: string[]) => ({
    message: `400 (Bad request) ${given.join(', ')} not given`,
    error: given.map((name) => `${name} is missing`).join(', '),
  })
  const nothing = both('new_name, color, description, priority are missing, at least one parameter must be provided')
  const tooLong = 'is too long (maximum is 255 characters)'
  const refusals = [
    ['post', '/labels', {}, 400, missing('name', 'color')],
    ['post', '/labels', { name: 'taken', color }, 409, { message: 'Label already exists' }],
    ['post', '/labels', { name: 'taken above', color }, 409, { message: 'Label already exists' }],
    ['post', '/labels', { name: 'x', color: '#12' }, 400, invalid({ color: ['must be a valid color code'] })],
    ['post', '/labels', { name: 'x', color: 'nocolor' }, 400, invalid({ color: ['must be a valid color code'] })],
    ['post', '/labels', { name: 'a,b', color }, 400, invalid({ title: ['is invalid'] })],
    ['post', '/labels', { name: '<b></b> ', color }, 400, invalid({ title: ["can't be blank"] })],
    ['post', '/labels', { name: 'x'.repeat(256), color }, 400, invalid({ title: [tooLong] })],
    ['post', '/labels', { name: 'x', color, priority: -1 }, 400, both('priority is invalid')],
    ['post', '/labels', { name: 'x', color, priority: 'high' }, 400, both('priority is invalid')],
    ['put', '/labels', { color }, 400, missing('name')],
    ['put', '/labels', { name: 'taken' }, 400, nothing],
    ['put', '/labels', { name: 'taken', label_id: 1, color }, 400, both('label_id, name are mutually exclusive')],
    ['put', '/labels', { name: 'nobody', color }, 404, { message: '404 Label Not Found' }],
    ['put', `/labels/${own.id}`, {}, 400, nothing],
    ['put', `/labels/${own.id}`, { new_name: 'other' }, 400, invalid({ title: ['has already been taken'] })],
    ['put', `/labels/${own.id}`, { new_name: 'taken above' }, 400, invalid({ title: ['has already been taken'] })],
    // Labels of the group can only be changed in the group.
    ['put', `/labels/${ofGroup.id}`, { color }, 404, { message: '404 Label Not Found' }],
    ['delete', `/labels/${ofGroup.id}`, undefined, 404, { message: '404 Label Not Found' }],
    ['delete', '/labels', {}, 400, missing('name')],
    ['post', '/labels/nobody/subscribe', undefined, 404, { message: '404 Label Not Found' }],
    ['get', '/labels/nobody', undefined, 404, { message: '404 Label Not Found' }],
  ] as const
  for (const [method, path, input, status, body] of refusals) {
    expect({ path, input, ...(await owner[method](`${url}${path}`, input)) }).toMatchObject({ status, body })
  }
  expect(await state()).toEqual(before)
})

test('counts are of what the viewer sees', async () => {
  await using forge = await startForge()
  const { id, url, group, owner } = await openSource(forge, 'projects', { visibility: 'public' })
  const { body: bug } = await owner.post(`${group.url}/labels`, { name: 'bug', color: 'red' })
  const other = (await owner.post('/projects', { name: 'Other', namespace_id: group.id, visibility: 'private' })).body
  const [stranger, author, assignee, guest, reporter] = [
    await forge.user(),
    await forge.user(),
    await forge.user(),
    await member(forge, url, owner, 10),
    await member(forge, url, owner, 20),
  ]
  const labels = [bug.name]
  await forge.issue({ id }, { labels })
  const closed = await forge.issue({ id }, { labels })
  await owner.put(`${url}/issues/${closed.iid}`, { state_event: 'close' })
  const own = await forge.issue({ id }, { confidential: true }, author)
  await owner.put(`${url}/issues/${own.iid}`, { labels })
  const hidden = await forge.issue({ id }, { labels, confidential: true })
  await forge.app.db.insertInto('issue_assignees').values({ issue_id: hidden.id, user_id: assignee.id }).execute()
  await forge.issue(other, { labels })

  const countsFor = async (who: Person, at: string) => {
    const { open_issues_count, closed_issues_count } = (await who.get(`${at}/labels/bug`)).body
    return [open_issues_count, closed_issues_count]
  }
  const seen = new Map([
    [stranger, 1],
    [guest, 1],
    [author, 2],
    [assignee, 2],
    [reporter, 3],
    [owner, 3],
    [forge.administrator, 3],
  ])
  for (const [who, open] of seen) expect(await countsFor(who, url)).toEqual([open, 1])
  expect(await countsFor(stranger, group.url)).toEqual([1, 1])
  expect(await countsFor(owner, group.url)).toEqual([4, 1])
  expect(await countsFor(forge.administrator, group.url)).toEqual([4, 1])

  await owner.put(url, { issues_access_level: 'private' })
  expect(await countsFor(stranger, url)).toEqual([0, 0])
  expect(await countsFor(guest, url)).toEqual([1, 1])
  await owner.put(url, { issues_access_level: 'disabled' })
  expect(await countsFor(owner, url)).toEqual([0, 0])
})

test('counts follow whatever happens to issues', async () => {
  await using forge = await startForge()
  const { id, url, group, owner } = await openSource(forge, 'projects')
  const { db } = forge.app
  const [bug, chore] = [
    (await owner.post(`${group.url}/labels`, { name: 'bug', color: 'red' })).body,
    (await owner.post(`${url}/labels`, { name: 'chore', color: 'red' })).body,
  ]
  const counts = async () => {
    const { body } = await owner.get(`${url}/labels`)
    return body.map((one: LabelRecord) => [one.name, one.open_issues_count, one.closed_issues_count])
  }
  const { id: one } = await forge.issue({ id }, { labels: [bug.name, chore.name] })
  const { id: two } = await forge.issue({ id }, { labels: [bug.name], confidential: true })
  expect(await counts()).toEqual([
    ['bug', 2, 0],
    ['chore', 1, 0],
  ])
  await db.updateTable('issues').set({ state: 'closed' }).where('id', '=', one).execute()
  await db.updateTable('issues').set({ confidential: false }).where('id', '=', two).execute()
  expect(await counts()).toEqual([
    ['bug', 1, 1],
    ['chore', 0, 1],
  ])
  await db.deleteFrom('issue_labels').where('issue_id', '=', one).where('label_id', '=', bug.id).execute()
  expect(await counts()).toEqual([
    ['bug', 1, 0],
    ['chore', 0, 1],
  ])
  await db.deleteFrom('issues').where('id', '=', two).execute()
  expect(await counts()).toEqual([
    ['bug', 0, 0],
    ['chore', 0, 1],
  ])
  // Concurrent changes of state and labels, many times: the counts miss none.
  const made = await Promise.all(Array.from({ length: 10 }, () => forge.issue({ id })))
  const many = made.map((issue) => issue.id)
  await Promise.all(
    many.flatMap((issue_id) => [
      db.updateTable('issues').set({ state: 'closed' }).where('id', '=', issue_id).execute(),
      db.insertInto('issue_labels').values({ issue_id, label_id: bug.id }).execute(),
    ]),
  )
  expect(await counts()).toEqual([
    ['bug', 0, 10],
    ['chore', 0, 1],
  ])
  const kinds = () => db.selectFrom('issue_labels_facets').select(['label_id', 'project_id']).distinct().execute()
  await owner.delete(`${url}/labels/chore`)
  expect(await kinds()).toEqual([{ label_id: bug.id, project_id: id }])
  await owner.delete(url)
  await forge.settle()
  expect(await kinds()).toEqual([])
})

test('without issues and merge requests there are no labels, and archived projects take none', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects', { visibility: 'public' })
  const request = { name: 'bug', color: 'red' }
  const { body: label } = await owner.post(`${url}/labels`, request)
  await owner.put(url, { issues_access_level: 'disabled', merge_requests_access_level: 'disabled' })
  expect(await owner.get(`${url}/labels`)).toMatchObject({ status: 200, body: [] })
  expect((await owner.get(`${url}/labels/bug`)).status).toBe(404)
  expect((await owner.post(`${url}/labels`, { ...request, name: 'x' })).status).toBe(403)
  await owner.put(url, { issues_access_level: 'private' })
  expect(names(await owner.get(`${url}/labels`))).toEqual(['bug'])
  expect((await (await forge.user()).get(`${url}/labels`)).body).toEqual([])
  await owner.post(`${url}/archive`)
  expect((await owner.get(`${url}/labels/${label.id}`)).status).toBe(200)
  for (const answer of [
    await owner.post(`${url}/labels`, { ...request, name: 'x' }),
    await owner.put(`${url}/labels/bug`, { color: 'blue' }),
    await owner.delete(`${url}/labels/bug`),
  ])
    expect(answer.status).toBe(403)
})

test('subscriptions are of one place each, and a second time changes nothing', async () => {
  await using forge = await startForge()
  const { url, group, owner } = await openSource(forge, 'projects')
  const { body: label } = await owner.post(`${group.url}/labels`, { name: 'bug', color: 'red' })
  const at = `${url}/labels/bug`
  expect(await owner.post(`${at}/unsubscribe`)).toMatchObject({ status: 304, body: '' })
  expect(await owner.post(`${at}/subscribe`)).toMatchObject({ status: 201, body: { id: label.id, subscribed: true } })
  expect((await owner.post(`${at}/subscribe`)).status).toBe(304)
  expect((await owner.get(at)).body.subscribed).toBe(true)
  expect((await owner.get(`${group.url}/labels/bug`)).body.subscribed).toBe(false)
  expect((await owner.post(`${group.url}/labels/${label.id}/subscribe`)).body.subscribed).toBe(true)
  expect((await owner.post(`${at}/unsubscribe`)).body.subscribed).toBe(false)
  expect((await owner.get(`${group.url}/labels`)).body).toMatchObject([{ subscribed: true }])

  const guest = await member(forge, url, owner, 10)
  const answers = await Promise.all(Array.from({ length: 6 }, () => guest.post(`${at}/subscribe`)))
  expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['201', '304', '304', '304', '304', '304'])
})

test('a promoted label is one of the group, in every project that had one so titled', async () => {
  await using forge = await startForge()
  const { id, url, group, owner } = await openSource(forge, 'projects')
  const { body: other } = await owner.post('/projects', { name: 'Other', namespace_id: group.id })
  const make = (at: string, more = {}) => owner.post(`${at}/labels`, { name: 'bug', color: 'red', ...more })
  const { body: first } = await make(url, { priority: 1 })
  const { body: second } = await make(`/projects/${other.id}`, { priority: 2 })
  const [one, two] = [
    (await forge.issue({ id }, { labels: [first.name] })).id,
    (await forge.issue(other, { labels: [second.name] })).id,
  ]
  await owner.post(`/projects/${other.id}/labels/bug/subscribe`)

  const promoted = await owner.put(`${url}/labels/promote`, { name: 'bug' })
  expect(promoted).toMatchObject({ status: 200, body: { id: first.id, is_project_label: false, priority: 1 } })
  expect((await owner.get(`${group.url}/labels`)).body).toMatchObject([{ id: first.id, open_issues_count: 2 }])
  const inOther = (await owner.get(`/projects/${other.id}/labels`)).body
  expect(inOther).toMatchObject([{ id: first.id, priority: 2, subscribed: true, open_issues_count: 1 }])
  const labelled = await labelsOfItems(forge.app.db, issueKind, [one, two])
  expect([one, two].map((issue) => labelled.get(issue)!.map((label) => label.id))).toEqual([[first.id], [first.id]])

  const personal = await forge.project({}, owner)
  const { body: alone } = await make(`/projects/${personal.id}`)
  expect(await owner.put(`/projects/${personal.id}/labels/${alone.id}/promote`)).toMatchObject({
    status: 400,
    body: { message: 'Failed to promote project label to group label' },
  })
  const reporter = await member(forge, url, owner, 20)
  await make(url, { name: 'mine' })
  expect((await reporter.put(`${url}/labels/mine/promote`)).status).toBe(403)
})

test('boards and what happened to issues follow a label to its group, and from it', async () => {
  await using forge = await startForge()
  const { url, group, owner } = await openSource(forge, 'projects')
  const { body: comer } = await owner.post('/projects', { name: 'Comer' })
  const at = `/projects/${comer.id}`
  const make = async (scope: string, name = 'bug') =>
    (await owner.post(`${scope}/labels`, { name, color: 'red' })).body.id as number
  const [own, other] = [await make(at), await make(at, 'other')]
  await owner.post(`${at}/issues`, { title: 'An issue', labels: 'bug' })
  await owner.put(`${at}/issues/1`, { remove_labels: 'bug' })
  const [board] = (await owner.get(`${at}/boards`)).body
  const addList = (label_id: number) => owner.post(`${at}/boards/${board.id}/lists`, { label_id })
  await addList(own)
  await addList(other)
  const ofGroup = await make(group.url)
  await owner.put(`${at}/transfer`, { namespace: group.id })
  await forge.settle()
  await addList(ofGroup)
  const lists = async () =>
    (await owner.get(`${at}/boards/${board.id}/lists`)).body.map(
      ({ label, position }: { label: { id: number }; position: number }) => [label.id, position],
    )
  const events = async () =>
    (await owner.get(`${at}/issues/1/resource_label_events`)).body.map(
      ({ action, label }: { action: string; label: { id: number } | null }) => [action, label?.id],
    )
  expect(await lists()).toEqual([
    [own, 0],
    [other, 1],
    [ofGroup, 2],
  ])
  expect((await owner.put(`${at}/labels/${own}/promote`)).body.id).toBe(ofGroup)
  expect(await lists()).toEqual([
    [other, 0],
    [ofGroup, 1],
  ])
  expect(await events()).toEqual([
    ['add', ofGroup],
    ['remove', ofGroup],
  ])

  const target = await forge.group({}, owner)
  await owner.put(`${at}/transfer`, { namespace: target.id })
  await forge.settle()
  const kept = (await owner.get(`${at}/labels/bug`)).body.id
  expect(kept).not.toBe(ofGroup)
  expect(await lists()).toEqual([
    [other, 0],
    [kept, 1],
  ])
  expect(await events()).toEqual([
    ['add', kept],
    ['remove', kept],
  ])
  expect((await owner.get(`${url}/labels`)).body).toMatchObject([{ id: ofGroup }])
})

test('a label that goes is on nothing any more', async () => {
  await using forge = await startForge()
  const { id, url, owner } = await openSource(forge, 'projects')
  const { body: label } = await owner.post(`${url}/labels`, { name: 'bug', color: 'red', priority: 1 })
  const { id: one } = await forge.issue({ id }, { labels: [label.name] })
  await owner.post(`${url}/labels/bug/subscribe`)
  await owner.delete(`${url}/labels/bug`)
  expect(await labelsOfItems(forge.app.db, issueKind, [one])).toEqual(new Map())
  for (const table of ['issue_labels', 'label_priorities', 'subscriptions'] as const)
    expect(await forge.app.db.selectFrom(table).selectAll().execute()).toEqual([])
})

test('what a group plans with goes with it', async () => {
  await using forge = await startForge()
  const { id, group, owner } = await openSource(forge, 'projects')
  const { body: label } = await owner.post(`${group.url}/labels`, { name: 'bug', color: 'red' })
  const { body: milestone } = await owner.post(`${group.url}/milestones`, { title: 'v1' })
  await forge.issue({ id }, { labels: [label.name], milestone_id: milestone.id })
  const [board] = (await owner.get(`${group.url}/boards`)).body
  await owner.post(`${group.url}/boards/${board.id}/lists`, { label_id: label.id })
  await owner.post(`${group.url}/labels/bug/subscribe`)
  expect((await owner.delete(group.url)).status).toBe(204)
  await forge.settle()
  const tables = [
    'labels',
    'milestones',
    'boards',
    'board_lists',
    'subscriptions',
    'issue_labels',
    'issue_labels_facets',
    'iid_counters',
  ] as const
  for (const table of tables)
    expect([table, await forge.app.db.selectFrom(table).selectAll().execute()]).toEqual([table, []])
})

test('a project that moves to another group keeps the labels of its issues', async () => {
  await using forge = await startForge()
  const { id, url, group, owner } = await openSource(forge, 'projects')
  const target = (await owner.post('/groups', { name: 'To', path: 'to' })).body
  const make = async (at: string, name: string) => (await owner.post(`${at}/labels`, { name, color: 'red' })).body
  const [used, known, unused] = [
    await make(group.url, 'used'),
    await make(group.url, 'known'),
    await make(group.url, 'unused'),
  ]
  const there = await make(`/groups/${target.id}`, 'known')
  const { id: one } = await forge.issue({ id }, { labels: [used.name, known.name] })
  await owner.post(`${url}/labels/used/subscribe`)

  expect((await owner.put(`${url}/transfer`, { namespace: target.id })).status).toBe(200)
  await forge.settle()
  const labels = (await labelsOfItems(forge.app.db, issueKind, [one])).get(one)!
  expect(labels.map(({ title, project_id }) => [title, project_id])).toEqual([
    ['known', null],
    ['used', id],
  ])
  expect(labels[0]!.id).toBe(there.id)
  expect((await owner.get(`${url}/labels`)).body).toMatchObject([
    { name: 'known', open_issues_count: 1 },
    { name: 'used', color: '#FF0000', subscribed: true, open_issues_count: 1 },
  ])
  const left = (await owner.get(`${group.url}/labels`)).body
  expect(left.map((label: { id: number }) => label.id)).toEqual([known.id, unused.id, used.id])
})

test('projects of a group that moves keep what they plan with', async () => {
  await using forge = await startForge()
  const { group, owner } = await openSource(forge, 'projects')
  const below = await forge.group({ parent_id: group.id }, owner)
  const project = await forge.project({ namespace_id: below.id }, owner)
  const at = `/projects/${project.id}`
  await owner.post(`${group.url}/labels`, { name: 'bug', color: 'red' })
  const { body: milestone } = await owner.post(`${group.url}/milestones`, { title: 'v1' })
  await owner.post(`${at}/issues`, { title: 'An issue', labels: 'bug', milestone_id: milestone.id })
  const target = await forge.group({}, owner)
  expect((await owner.post(`/groups/${below.id}/transfer`, { group_id: target.id })).status).toBe(201)
  await forge.settle()
  expect((await owner.get(`${at}/issues/1`)).body).toMatchObject({
    labels: ['bug'],
    milestone: { title: 'v1', project_id: project.id },
  })
  expect((await owner.get(`${at}/labels`)).body).toMatchObject([{ name: 'bug', is_project_label: true }])
  expect((await owner.get(`${group.url}/labels`)).body).toMatchObject([{ name: 'bug', open_issues_count: 0 }])
})

test('unknown titles become labels for those who may make them', async () => {
  await using forge = await startForge()
  const { id, url, group, owner } = await openSource(forge, 'projects', { visibility: 'public' })
  await owner.post(`${group.url}/labels`, { name: 'above', color: 'red' })
  const { app } = forge
  const project = (await findProjectById(app.db, id))!
  const user = async (person: Person) =>
    app.db.selectFrom('users').selectAll().where('id', '=', person.id).executeTakeFirstOrThrow()
  const find = async (person: Person, titles: string[]) => {
    const actor = await user(person)
    const labels = await findOrCreateLabels(app, actor, await loadProjectSubject(app, project, actor), titles)
    return labels.map(({ title }) => title)
  }
  expect(await find(await forge.user(), ['new', 'above'])).toEqual(['above'])
  expect(await find(owner, ['new', 'above', ' new ', 'a,b', '', 'x'.repeat(256)])).toEqual(['new', 'above'])
  const many = await Promise.all(Array.from({ length: 6 }, () => find(owner, ['one', 'two', 'Two'])))
  expect(new Set(many.map(String))).toEqual(new Set(['one,two,Two']))
  const labels: { name: string; color: string }[] = (await owner.get(`${url}/labels`)).body
  expect(labels.map(({ name, color }) => `${name} ${color}`)).toEqual([
    'above #FF0000',
    'new #428BCA',
    'one #428BCA',
    'two #428BCA',
    'Two #428BCA',
  ])
  expect((await owner.get(`${url}/labels/new`)).body.is_project_label).toBe(true)
})

test('a title is given once, however many ask at once', async () => {
  await using forge = await startForge()
  const { url, group, owner } = await openSource(forge, 'projects')
  const request = { name: 'bug', color: 'red' }
  const answers = await Promise.all(Array.from({ length: 6 }, () => owner.post(`${url}/labels`, request)))
  expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['201', '409', '409', '409', '409', '409'])
  // A group does not see its projects' labels. In a project, its own label goes before one of the group.
  const above = await owner.post(`${group.url}/labels`, request)
  expect(above.status).toBe(201)
  expect((await owner.get(`${url}/labels/bug`)).body.is_project_label).toBe(true)
})

test('a page costs the same number of queries however many labels are on it', async () => {
  await using forge = await startForge()
  const { id, url, owner } = await openSource(forge, 'projects')
  const make = async (n: number) =>
    (await owner.post(`${url}/labels`, { name: `label ${n}`, color: 'red', priority: n })).body.name
  await forge.issue({ id }, { labels: [await make(0)] })
  const list = () => owner.get(`${url}/labels`, { per_page: 100 })
  const few = await costOf(forge, list)
  for (let n = 1; n < 15; n++) await forge.issue({ id }, { labels: [await make(n)] })
  expect((await list()).body).toHaveLength(15)
  expect(await costOf(forge, list)).toBe(few)
})
