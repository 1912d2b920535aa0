/** Counts of merge requests in milestones, labels and issues. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

let forge: TestForge
beforeAll(async () => void (forge = await startForge()))
afterAll(() => forge.close())

const titlesOf = ({ body }: { body: { title: string }[] }) => body.map(({ title }) => title)

async function openProject(visibility: 'private' | 'public') {
  const { administrator: root } = forge
  const path = `counts-${visibility}`
  const { body: group } = await root.post('/groups', { name: path, path, visibility })
  const project = await forge.project({ namespace_id: group.id, visibility })
  const at = `/projects/${project.id}`
  const [guest, reporter, stranger] = [await forge.user(), await forge.user(), await forge.user()]
  await root.post(`${at}/members`, { user_id: guest.id, access_level: 10 })
  await root.post(`${at}/members`, { user_id: reporter.id, access_level: 20 })
  return { root, group, project, at, guest, reporter, stranger }
}

test('merge requests of a milestone, by the priority of their labels', async () => {
  const { root, group, project, at, guest, reporter } = await openProject('private')
  const { body: own } = await root.post(`${at}/milestones`, { title: 'own' })
  const { body: shared } = await root.post(`/groups/${group.id}/milestones`, { title: 'shared' })
  for (const [name, priority] of [
    ['soon', 1],
    ['later', 5],
  ] as const)
    await root.post(`${at}/labels`, { name, color: '#ff0000', priority })
  const ofMilestone = { milestone_id: own.id }
  await forge.mergeRequest(project, { title: 'plain', ...ofMilestone })
  await forge.mergeRequest(project, { title: 'later', labels: ['later'], ...ofMilestone })
  await forge.mergeRequest(project, { title: 'soon', labels: ['soon', 'later'], ...ofMilestone })
  await forge.mergeRequest(project, { title: 'other', milestone_id: shared.id })
  const url = `${at}/milestones/${own.id}/merge_requests`
  expect(titlesOf(await root.get(url))).toEqual(['soon', 'later', 'plain'])
  expect(titlesOf(await root.get(`/groups/${group.id}/milestones/${shared.id}/merge_requests`))).toEqual(['other'])
  expect(titlesOf(await root.get(`/groups/${group.id}/merge_requests`, { milestone: 'shared' }))).toEqual(['other'])

  await root.put(`${at}/labels/soon`, { priority: 9 })
  expect(titlesOf(await root.get(url))).toEqual(['later', 'soon', 'plain'])
  await root.put(`${at}/labels/later`, { priority: null })
  expect(titlesOf(await root.get(url))).toEqual(['soon', 'plain', 'later'])
  await root.put(`${at}/merge_requests/1`, { labels: 'soon' })
  expect(titlesOf(await root.get(url))).toEqual(['plain', 'soon', 'later'])
  await root.delete(`${at}/labels/soon`)
  expect(titlesOf(await root.get(url))).toEqual(['plain', 'later', 'soon'])

  expect(titlesOf(await reporter.get(url))).toHaveLength(3)
  expect(await guest.get(url)).toMatchObject({ status: 200, body: [] })
  expect((await forge.as({}).get(url)).status).toBe(401)
})

test.each(['private', 'public'] as const)('labels of a %s project tell how many open ones have them', async (kind) => {
  const { root, project, at, guest, reporter, stranger } = await openProject(kind)
  const count = async (who: Person) => {
    const { body } = await who.get(`${at}/labels`, { with_counts: true })
    return Array.isArray(body) ? body.map((label) => label.open_merge_requests_count) : body
  }
  await root.post(`${at}/labels`, { name: 'bug', color: '#ff0000' })
  for (let n = 0; n < 3; n++) await forge.mergeRequest(project, { labels: ['bug'] })
  const url = `${at}/merge_requests`
  const seen = kind === 'private' ? 0 : 3
  const outside = (total: number) => (kind === 'private' ? { message: '404 Project Not Found' } : [total])
  expect(await count(stranger)).toEqual(outside(3))
  expect([await count(root), await count(reporter), await count(guest)]).toEqual([[3], [3], [seen]])
  const { db } = forge.app
  const { id: merge_request_id } = (await root.get(`${url}/1`)).body
  await db.insertInto('merge_request_assignees').values({ merge_request_id, user_id: guest.id }).execute()
  expect(await count(guest)).toEqual([kind === 'private' ? 1 : 3])
  await db.updateTable('merge_requests').set({ state: 'locked' }).where('id', '=', merge_request_id).execute()
  expect(await count(root)).toEqual([3])
  await db.updateTable('merge_requests').set({ state: 'opened' }).where('id', '=', merge_request_id).execute()
  await root.put(`${url}/1`, { state_event: 'close' })
  expect([await count(root), await count(guest)]).toEqual([[2], [kind === 'private' ? 0 : 2]])
  await root.put(`${url}/1`, { state_event: 'reopen' })
  await root.put(`${url}/2`, { labels: '' })
  expect(await count(root)).toEqual([2])
  await root.delete(`${url}/3`)
  expect(await count(root)).toEqual([1])
  await root.put(at, { merge_requests_access_level: 'disabled' })
  expect(await count(root)).toEqual([0])
  await root.put(at, { merge_requests_access_level: 'private' })
  expect(await count(root)).toEqual([1])
  expect(await count(stranger)).toEqual(outside(0))
  await root.delete(`${at}/labels/bug`)
  expect(
    await db.selectFrom('merge_request_labels_facets').selectAll().where('project_id', '=', project.id).execute(),
  ).toEqual([])
})

test('an issue tells how many merge requests would close it', async () => {
  const { administrator: root, app } = forge
  const project = await forge.project()
  await forge.issue(project, { title: 'Broken' })
  const url = `/projects/${project.id}/issues/1`
  const version = async () =>
    (await app.db.selectFrom('issues').select('version').where('project_id', '=', project.id).executeTakeFirstOrThrow())
      .version
  const counts = async () => {
    const [one, [listed]] = [(await root.get(url)).body, (await root.get(`/projects/${project.id}/issues`)).body]
    expect(listed.merge_requests_count).toBe(one.merge_requests_count)
    return one.merge_requests_count
  }
  expect(await counts()).toBe(0)
  const before = await version()
  await forge.mergeRequest(project, { title: 'First', description: 'Closes #1' })
  await forge.mergeRequest(project, { title: 'Second', description: 'Fixes #1' })
  await forge.settle()
  expect(await counts()).toBe(2)
  expect(await version()).toBeGreaterThan(before)
  await root.put(`/projects/${project.id}/merge_requests/1`, { description: 'Not at all' })
  await forge.settle()
  expect(await counts()).toBe(1)
  await root.delete(`/projects/${project.id}/merge_requests/2`)
  expect(await counts()).toBe(0)
})
