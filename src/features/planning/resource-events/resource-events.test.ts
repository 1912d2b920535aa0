import { expect, test } from 'vitest'
import { costOf, openSource } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

test('labels, milestones and states of an issue are told as they came and went', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const milestone = (await owner.post(`${url}/milestones`, { title: 'v1' })).body
  const { body: made } = await owner.post(`${url}/issues`, { title: 'A', labels: 'bug', milestone_id: milestone.id })
  const issue = `${url}/issues/${made.iid}`
  await owner.put(issue, { labels: 'urgent', state_event: 'close', milestone_id: 0 })
  await owner.put(issue, { state_event: 'reopen' })
  await owner.put(issue, { title: 'Renamed' })

  const common = {
    id: expect.any(Number),
    user: expect.objectContaining({ id: owner.id }),
    created_at: expect.any(String),
    resource_type: 'Issue',
    resource_id: made.id,
  }
  const labels = await owner.get(`${issue}/resource_label_events`)
  expect(labels.body.map((one: { action: string; label: { name: string } }) => [one.action, one.label.name])).toEqual([
    ['add', 'bug'],
    ['add', 'urgent'],
    ['remove', 'bug'],
  ])
  const states = await owner.get(`${issue}/resource_state_events`)
  expect(states.body).toEqual([
    { ...common, state: 'closed' },
    { ...common, state: 'reopened' },
  ])
  const milestones = await owner.get(`${issue}/resource_milestone_events`)
  expect(milestones.body).toEqual([
    { ...common, action: 'add', state: 'opened', milestone: expect.objectContaining({ title: 'v1' }) },
    { ...common, action: 'remove', state: 'closed', milestone: expect.objectContaining({ title: 'v1' }) },
  ])

  for (const [kind, { body }] of [
    ['label', labels],
    ['state', states],
    ['milestone', milestones],
  ] as const) {
    expect((await owner.get(`${issue}/resource_${kind}_events/${body[1].id}`)).body).toEqual(body[1])
    const other = (await owner.post(`${url}/issues`, { title: 'Other' })).body
    expect(await owner.get(`${url}/issues/${other.iid}/resource_${kind}_events/${body[1].id}`)).toMatchObject({
      status: 404,
      body: { message: '404 Not found' },
    })
    const paged = await owner.get(`${issue}/resource_${kind}_events`, { per_page: 1, page: 2 })
    expect(paged.body).toEqual([body[1]])
    expect(paged.headers.get('x-total')).toBe(String(body.length))
  }
})

test('what was done outlives the label, the milestone and who did it', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const jane = await forge.user()
  await owner.post(`${url}/members`, { user_id: jane.id, access_level: 30 })
  const milestone = (await owner.post(`${url}/milestones`, { title: 'v1' })).body
  const { iid } = (await owner.post(`${url}/issues`, { title: 'A' })).body
  const issue = `${url}/issues/${iid}`
  await jane.put(issue, { labels: 'bug', milestone_id: milestone.id, state_event: 'close' })
  await owner.delete(`${url}/labels/bug`)
  await owner.delete(`${url}/milestones/${milestone.id}`)
  await forge.administrator.delete(`/users/${jane.id}`)
  await forge.settle()
  const ghost = expect.objectContaining({ username: 'ghost' })
  for (const [kind, gone] of [
    ['label', { label: null, action: 'add' }],
    ['milestone', { milestone: null, action: 'add' }],
    ['state', { state: 'closed' }],
  ] as const) {
    expect((await owner.get(`${issue}/resource_${kind}_events`)).body).toMatchObject([{ user: ghost, ...gone }])
  }
})

test('a page costs the same however many it shows', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const { iid } = (await owner.post(`${url}/issues`, { title: 'A' })).body
  const list = () => owner.get(`${url}/issues/${iid}/resource_label_events`)
  await owner.put(`${url}/issues/${iid}`, { labels: 'one' })
  const few = await costOf(forge, list)
  await owner.put(`${url}/issues/${iid}`, { labels: 'one,two,three,four,five' })
  expect((await list()).body).toHaveLength(5)
  expect(await costOf(forge, list)).toBe(few)
})
