/** Records of a list are cached, and still show every change at once. */
import { expect, test } from 'vitest'
import { DAY } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'

test('a list shows what each of its issues shows, after every change', async () => {
  await using forge = await startForge()
  const { administrator: root, app } = forge
  const { body: top } = await root.post('/groups', { name: 'Top', path: 'top' })
  const { body: group } = await root.post('/groups', { name: 'Inner', path: 'inner', parent_id: top.id })
  const project = await forge.project({ name: 'Engine', path: 'engine', namespace_id: group.id })
  const scope = `/projects/${project.id}`
  const url = `${scope}/issues`
  const [ann, bob] = [await forge.user({ username: 'ann' }), await forge.user({ username: 'bob' })]
  for (const { id } of [ann, bob]) await root.post(`${scope}/members`, { user_id: id, access_level: 30 })
  const bug = await forge.label(project, { name: 'bug', color: '#ff0000' })
  const { body: shared } = await root.post(`/groups/${group.id}/labels`, { name: 'shared', color: '#00ff00' })
  const milestone = await forge.milestone(project, { title: 'v1', due_date: inDays(2) })
  const { body: far } = await root.post(`/groups/${top.id}/milestones`, { title: 'far' })

  const dressed = { labels: 'bug,shared', milestone_id: milestone.id, assignee_ids: [ann.id, bob.id] }
  await ann.post(url, { title: 'one', ...dressed })
  await ann.post(url, { title: 'two', labels: 'shared', milestone_id: far.id, description: '- [ ] do' })
  await bob.post(url, { title: 'three' })

  const set = (values: Record<string, unknown>) => () =>
    app.db.updateTable('issues').set(values).where('project_id', '=', project.id).execute()
  const changes: [string, () => Promise<unknown>][] = [
    ['nothing', async () => {}],
    ['the label’s name', () => root.put(`${scope}/labels/${bug.id}`, { new_name: 'defect' })],
    ['the label’s colour', () => root.put(`${scope}/labels/${bug.id}`, { color: '#0000ff' })],
    ['the label’s description', () => root.put(`${scope}/labels/${bug.id}`, { description: 'Broken' })],
    ['a group’s label', () => root.put(`/groups/${group.id}/labels/${shared.id}`, { new_name: 'common' })],
    ['the milestone’s title', () => root.put(`${scope}/milestones/${milestone.id}`, { title: 'v2' })],
    ['the milestone’s state', () => root.put(`${scope}/milestones/${milestone.id}`, { state_event: 'close' })],
    ['a group’s milestone', () => root.put(`/groups/${top.id}/milestones/${far.id}`, { description: 'Later' })],
    ['somebody’s name', () => root.put(`/users/${ann.id}`, { name: 'Ann Ada' })],
    ['somebody’s username', () => root.put(`/users/${bob.id}`, { username: 'bobby' })],
    ['somebody’s state', () => root.post(`/users/${bob.id}/block`)],
    ['gravatar', () => root.put('/application/settings', { gravatar_enabled: false })],
    ['the project’s path', () => root.put(scope, { path: 'machine' })],
    ['the path of a group above', () => root.put(`/groups/${top.id}`, { path: 'summit' })],
    ['labels', () => root.put(`${url}/3`, { add_labels: 'new' })],
    ['fewer labels', () => root.put(`${url}/1`, { remove_labels: 'common' })],
    ['assignees', () => root.put(`${url}/1`, { assignee_ids: [ann.id] })],
    ['milestone', () => root.put(`${url}/3`, { milestone_id: milestone.id })],
    ['closed', () => root.put(`${url}/2`, { state_event: 'close' })],
    ['a note', () => root.post(`${url}/2/notes`, { body: 'Done' })],
    ['a vote', () => root.post(`${url}/2/award_emoji`, { name: 'thumbsup' })],
    ['time', () => root.post(`${url}/2/add_spent_time`, { duration: '3h' })],
    ['a subscription', () => ann.post(`${url}/2/unsubscribe`)],
    ['days', async () => void forge.clock.advance(5 * DAY)],
    ['a duplicate', () => root.post(`${url}/3/notes`, { body: '/duplicate #1' })],
    ['a deleted label', () => root.delete(`${scope}/labels/${bug.id}`)],
    ['a deleted milestone', () => root.delete(`${scope}/milestones/${milestone.id}`)],
    ['a deleted user', () => root.delete(`/users/${ann.id}`)],
    ['a column', set({ discussion_locked: true, weight: 7, due_date: '2030-01-01' })],
    ['other columns', set({ confidential: true, issue_type: 'incident', time_estimate: 60 })],
    ['dates', set({ updated_at: '2020-01-01T00:00:00.000Z', closed_at: null })],
    ['texts', set({ title: 'Another', description: null })],
  ]
  for (const [what, change] of changes) {
    await change()
    await forge.settle()
    const single: Record<string, unknown>[] = []
    for (const iid of [3, 2, 1]) {
      const { subscribed: _, ...record } = (await root.get(`${url}/${iid}`)).body
      single.push(record)
    }
    const input = { order_by: 'relative_position' }
    expect((await root.get(url, input)).body, what).toEqual(single)
    const mixed = (await root.get(`/groups/${group.id}/issues`, input)).body
    expect(
      mixed.map(({ title, web_url }: Visible) => ({ title, web_url })),
      what,
    ).toEqual(single.map(({ title, web_url }) => ({ title, web_url })))
    const detailed = (await root.get(url, { ...input, with_labels_details: true })).body as Visible[]
    const labels = (await root.get(`${scope}/labels`)).body as Details[]
    for (const { labels: shown } of detailed) {
      for (const one of shown) expect(labels, what).toContainEqual(expect.objectContaining(one))
    }
  }
})

interface Details {
  name: string
  color: string
}
interface Visible {
  title: string
  web_url: string
  labels: Details[]
}

const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10)

test('a page that is known costs few queries', async () => {
  await using forge = await startForge()
  const project = await forge.project()
  for (let n = 0; n < 5; n++) await forge.issue(project, { title: `n${n}`, labels: [`label${n}`] })
  await forge.settle()
  const read = () => forge.administrator.get(`/projects/${project.id}/issues`)
  const twice = async () => void [await read(), await read()]
  const [once, both] = [await forge.queries(read), await forge.queries(twice)]
  // Credential, project, total, page and version keys; no further query per kind of record.
  expect(both - once).toBeLessThanOrEqual(6)
})
