import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProposals } from '../../../../test/proposals.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

let forge: TestForge
let owner: Person
beforeAll(async () => {
  forge = await startForge()
  owner = await forge.user()
})
afterAll(async () => forge.close())

const newGroup = async (path: string) =>
  (await owner.post('/groups', { name: path, path })).body as { id: number; full_path: string }

test('labels and milestones that become the group’s stay on merge requests, and follow a move', async () => {
  const [group, other] = [await newGroup('planners'), await newGroup('others')]
  const { at, propose } = await openProposals(forge, owner, { namespace_id: group.id })
  const label = (await owner.post(`${at}/labels`, { name: 'bug', color: 'red' })).body
  const milestone = (await owner.post(`${at}/milestones`, { title: 'v1' })).body
  await owner.post(`/groups/${group.id}/labels`, { name: 'bug', color: 'blue' })
  const one = await propose('Planned', { labels: 'bug', milestone_id: milestone.id })
  expect((await owner.put(`${at}/labels/${label.id}/promote`)).status).toBe(200)
  expect((await owner.post(`${at}/milestones/${milestone.id}/promote`)).status).toBeLessThan(300)
  expect((await owner.get(one.url)).body).toMatchObject({
    labels: ['bug'],
    milestone: { title: 'v1', group_id: group.id },
  })

  expect((await owner.put(`${at}/transfer`, { namespace: other.id })).status).toBe(200)
  await forge.settle()
  const { body } = await owner.get(one.url)
  expect(body).toMatchObject({ labels: ['bug'], milestone: { title: 'v1', project_id: one.project_id } })
  expect((await owner.get(`${at}/labels`)).body).toMatchObject([{ name: 'bug', is_project_label: true }])
})

test('former members of a private project get no more mails about its merge requests', async () => {
  const { at, propose, member } = await openProposals(forge, owner)
  const jane = await member(30)
  const one = await propose('Left')
  expect((await jane.post(`${one.url}/subscribe`)).status).toBe(200)
  const subscriptions = () =>
    forge.app.db.selectFrom('subscriptions').select('merge_request_id').where('user_id', '=', jane.id).execute()
  expect(await subscriptions()).toEqual([{ merge_request_id: one.id }])
  expect((await owner.delete(`${at}/members/${jane.id}`)).status).toBe(204)
  await forge.settle()
  expect(await subscriptions()).toEqual([])
})

test('a group that its text names takes part, as far as its people are the project’s', async () => {
  const group = await newGroup('crew')
  const { propose, member } = await openProposals(forge, owner)
  const [jane, joe] = [await member(30), await forge.user()]
  for (const { id } of [jane, joe]) await owner.post(`/groups/${group.id}/members`, { user_id: id, access_level: 30 })
  const one = await propose('For all', { description: `@${group.full_path}` })
  await forge.settle()
  const ids = (await owner.get(`${one.url}/participants`)).body.map(({ id }: { id: number }) => id)
  expect(ids).toContain(jane.id)
  expect(ids).not.toContain(joe.id)
  expect((await jane.get(one.url)).body.subscribed).toBe(true)
})

test('labels tell how many open merge requests have them, to those who see them', async () => {
  const { at, propose, member } = await openProposals(forge, owner)
  const guest = await member(10)
  const counted = async (who: Person) => (await who.get(`${at}/labels`)).body[0]?.open_merge_requests_count as number
  const one = await propose('One', { labels: 'bug' })
  const two = await propose('Two', { labels: 'bug' })
  expect([await counted(owner), await counted(guest)]).toEqual([2, 0])
  await owner.put(one.url, { state_event: 'close' })
  expect(await counted(owner)).toBe(1)
  await owner.put(one.url, { state_event: 'reopen' })
  expect((await owner.put(`${two.url}/merge`)).status).toBe(200)
  expect(await counted(owner)).toBe(1)
  await owner.put(one.url, { remove_labels: 'bug' })
  expect(await counted(owner)).toBe(0)
  await owner.put(one.url, { labels: 'bug' })
  expect(await counted(owner)).toBe(1)
  await owner.delete(one.url)
  expect(await counted(owner)).toBe(0)
})
