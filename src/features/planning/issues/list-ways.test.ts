/** Totals and orders of issue lists stay correct, whatever changes in between. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { testDatabaseUrl } from '../../../config.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { textList } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectSubject } from '../../projects/projects/queries.ts'
import { filterFrom, filterInput } from './filter.ts'
import { ISSUE_ORDERS, issueLists } from './lists.ts'

const { listAll, listOfProject, ofAll, ofProject } = issueLists

let forge: TestForge
beforeAll(async () => void (forge = await startForge()))
afterAll(() => forge.close())

const FILTERS = [
  { state: 'opened' },
  { labels: 'bug' },
  { labels: 'bug,later' },
  { labels: 'None' },
  { not: { labels: 'bug' } },
  { milestone: 'v1' },
  { milestone: 'Any' },
  { assignee_id: 'None' },
  { author_id: '1' },
  { search: 'engine' },
  { search: 'engine', in: 'title', state: 'closed' },
  { confidential: 'true' },
  { weight: '3' },
  { my_reaction_emoji: 'thumbsup' },
  { updated_after: '2001-01-01T00:00:00Z' },
  { created_before: '2001-01-01T00:00:00Z' },
  { due_date: '0' },
]

test('totals follow every kind of change', async () => {
  const { administrator: root, app } = forge
  const guest = await forge.user()
  const project = await forge.project({ visibility: 'public' })
  await root.post(`/projects/${project.id}/members`, { user_id: guest.id, access_level: 10 })
  const url = `/projects/${project.id}/issues`
  for (const title of ['bug', 'later']) await forge.label(project, { name: title, color: '#ff0000' })
  const milestone = await forge.milestone(project, { title: 'v1' })
  for (let n = 0; n < 6; n++) await root.post(url, { title: `engine ${n}`, labels: n % 2 ? 'bug' : 'bug,later' })

  const viewers = { root: await userOf(root.id), guest: await userOf(guest.id) }
  const listed = async (who: Person, path: string, { not, ...filter }: (typeof FILTERS)[number]) => {
    const excluded = not && { 'not[labels]': not.labels }
    const { headers } = await who.get(path, { ...filter, ...excluded, scope: 'all', per_page: 1 })
    return Number(headers.get('x-total'))
  }
  /** A transaction uses no cached totals. */
  const counted = () =>
    transact(app, async (app) => {
      const none = { limit: 0, offset: 0 }
      const subject = (await findProjectSubject(app, String(project.id), viewers.root))!
      const totals: number[][] = []
      for (const input of FILTERS) {
        const [all, some] = await Promise.all(
          [viewers.root, viewers.guest].map((viewer) => filterFrom(app, viewer, z.object(filterInput).parse(input))),
        )
        const lists = [listOfProject(app, subject, all!, none), listAll(app, viewers.guest, some!, none)]
        totals.push((await Promise.all(lists)).map(({ total }) => total))
      }
      return totals
    })
  const changes: [string, () => Promise<unknown>][] = [
    ['nothing', async () => {}],
    ['an issue', () => root.post(url, { title: 'engine', labels: 'bug', weight: 3 })],
    ['a confidential one', () => root.post(url, { title: 'engine', confidential: true, assignee_ids: [guest.id] })],
    ['state', () => root.put(`${url}/1`, { state_event: 'close' })],
    ['title', () => root.put(`${url}/2`, { title: 'Something else' })],
    ['weight', () => root.put(`${url}/3`, { weight: 3 })],
    ['milestone', () => root.put(`${url}/3`, { milestone_id: milestone.id })],
    ['assignees', () => root.put(`${url}/3`, { assignee_ids: [guest.id] })],
    ['labels', () => root.put(`${url}/4`, { labels: '' })],
    ['dates', () => root.put(`${url}/4`, { due_date: '2030-01-01', created_at: '1999-01-01T00:00:00Z' })],
    ['a reaction', () => root.post(`${url}/4/award_emoji`, { name: 'thumbsup' })],
    ['confidential', () => root.put(`${url}/5`, { confidential: true })],
    ['a label’s title', () => root.put(`/projects/${project.id}/labels/bug`, { new_name: 'defect' })],
    ['a label’s title again', () => root.put(`/projects/${project.id}/labels/defect`, { new_name: 'bug' })],
    ['a milestone’s title', () => root.put(`/projects/${project.id}/milestones/${milestone.id}`, { title: 'v2' })],
    ['a deleted issue', () => root.delete(`${url}/6`)],
    ['a deleted label', () => root.delete(`/projects/${project.id}/labels/later`)],
    ['a deleted milestone', () => root.delete(`/projects/${project.id}/milestones/${milestone.id}`)],
    ['old dates', () => app.db.updateTable('issues').set({ updated_at: '1990-01-01T00:00:00.000Z' }).execute()],
  ]
  for (const [what, change] of changes) {
    await change()
    const totals: number[][] = []
    for (const filter of FILTERS) {
      totals.push(await Promise.all([listed(root, url, filter), listed(guest, '/issues', filter)]))
    }
    expect(totals, what).toEqual(await counted())
  }
  expect(await listed(root, url, { state: 'opened' })).toBe(6)
})

const userOf = async (id: number) => (await findUser(forge.app.db, id))!

test('what happens in one project leaves the totals of others alone', async () => {
  const { administrator: root } = forge
  const [here, there] = [await forge.project(), await forge.project()]
  for (const project of [here, there]) {
    await forge.milestone(project, { title: 'v1' })
    for (let n = 0; n < 3; n++) await forge.issue(project, { title: `n${n}`, labels: ['bug'] })
  }
  const cost = (filter: Record<string, unknown>) => forge.queries(() => root.get(`/projects/${here.id}/issues`, filter))
  const costs = async () => [
    await cost({ labels: ['bug'] }),
    await cost({ author_id: 1 }),
    await cost({ milestone: 'v1' }),
  ]
  await forge.settle()
  await costs()
  const least = await costs()
  await forge.issue(there, { title: 'new', labels: ['bug', 'new'] })
  await root.put(`/projects/${there.id}/labels/bug`, { new_name: 'defect' })
  await root.put(`/projects/${there.id}/issues/1`, { title: 'changed', assignee_ids: [root.id] })
  await root.post(`/projects/${there.id}/milestones`, { title: 'v2' })
  await forge.settle()
  expect(await costs()).toEqual(least)
})

/** On PostgreSQL, other transactions in the cluster decide how much is counted again. */
test.runIf(testDatabaseUrl() === undefined)(
  'after a change a total asks about the rows that changed, not about all',
  async () => {
    const { administrator: root, app } = forge
    const project = await forge.project()
    for (let n = 0; n < 3; n++) await forge.issue(project, { title: `n${n}`, labels: ['bug'] })
    const values = { project: project.id, labels: textList(app.db, ['bug']), label_total: 1 }
    const total = async () => (await ofProject(app.db, values, { limit: 0, offset: 0 })).total
    const change = (iid: number, labels: string) => root.put(`/projects/${project.id}/issues/${iid}`, { labels })
    expect(await total()).toBe(3)
    await change(1, '')
    expect(await total()).toBe(2) // from now on the matching rows are cached
    // A change that bypasses the change log is not noticed.
    await forge.settle()
    await total()
    await sql`delete from issue_labels where issue_id in (select id from issues where project_id = ${project.id})`.execute(
      app.db,
    )
    await sql`delete from issues_changes where scope = ${project.id} and at = (select max(at) from issues_changes)`.execute(
      app.db,
    )
    expect(await total()).toBe(1)
  },
)

const ORDERED = [
  { weight: 3, milestone: 0, labels: ['soon'] },
  { weight: null, milestone: 1, labels: ['later', 'soon'] },
  { weight: 1, milestone: null, labels: ['later'] },
  { weight: 3, milestone: 0, labels: [] },
  { weight: null, milestone: 2, labels: ['other'] },
]

test('orders go by what stands elsewhere as it is now', async () => {
  const { administrator: root } = forge
  const { body: group } = await root.post('/groups', { name: 'Orders', path: 'orders' })
  const project = await forge.project({ namespace_id: group.id })
  const url = `/projects/${project.id}/issues`
  const labels = `/projects/${project.id}/labels`
  for (const [name, priority] of [
    ['soon', 1],
    ['later', 5],
    ['other', null],
  ] as const)
    await root.post(labels, { name, color: '#ff0000', ...(priority && { priority }) })
  const milestones: number[] = []
  for (const due_date of ['2031-01-01', '2030-01-01', null])
    milestones.push((await forge.milestone(project, { title: `v${due_date}`, due_date })).id)
  for (const { weight, milestone, labels } of ORDERED) {
    const milestone_id = milestone === null ? null : milestones[milestone]
    await root.post(url, { title: 'x', weight, labels: labels.join(), milestone_id })
  }
  const by = async (order_by: string, sort = 'asc') => {
    const request = { order_by, sort, scope: 'all' }
    const [own, ofGroup] = [await root.get(url, request), await root.get(`/groups/${group.id}/issues`, request)]
    const order = own.body.map(({ iid }: { iid: number }) => iid).join('')
    expect(ofGroup.body.map(({ iid }: { iid: number }) => iid).join('')).toBe(order)
    return order
  }
  expect([await by('weight'), await by('weight', 'desc')]).toEqual(['31425', '41352'])
  expect([await by('milestone_due'), await by('milestone_due', 'desc')]).toEqual(['21435', '41253'])
  expect([await by('label_priority'), await by('label_priority', 'desc')]).toEqual(['12345', '32154'])
  expect([await by('priority'), await by('priority', 'desc')]).toEqual(['21435', '14235'])

  await root.put(`${labels}/soon`, { priority: 9 })
  expect(await by('label_priority')).toBe('23145')
  await root.put(`${labels}/later`, { priority: null })
  expect(await by('label_priority')).toBe('12345')
  await root.put(`${labels}/other`, { priority: 0 })
  expect(await by('label_priority')).toBe('51234')
  await root.put(`${url}/4`, { labels: 'other,soon' })
  expect(await by('label_priority')).toBe('45123')
  await root.delete(`${labels}/other`)
  expect(await by('label_priority')).toBe('12435')

  await root.put(`/projects/${project.id}/milestones/${milestones[1]}`, { due_date: '2032-01-01' })
  expect(await by('milestone_due')).toBe('14235')
  await root.put(`${url}/4`, { milestone_id: milestones[1] })
  expect(await by('milestone_due')).toBe('12435')
  await root.delete(`/projects/${project.id}/milestones/${milestones[0]}`)
  expect(await by('milestone_due')).toBe('24135')
})

test.runIf(testDatabaseUrl() === undefined)('every order walks an index, whatever it is narrowed by', async () => {
  const { db } = forge.app
  const narrowed = [
    {},
    { state: 'opened' as const },
    { seen_by: 7 },
    { labels: '["x"]', label_total: 1 },
    { milestone: 'x' },
    { author: 1, not_assignee: 2 },
    { updated_before: '2001-01-01' },
    { group: 1, non_archived: true as const },
  ]
  for (const values of narrowed) {
    for (const order of ISSUE_ORDERS) {
      for (const sort of ['asc', 'desc'] as const) {
        const way = { [`by ${order} ${sort}`]: true, walked: true as const, limit: 20, offset: 0 }
        for (const [list, scope] of [
          [ofProject, { project: 1 }],
          [ofAll, {}],
        ] as const) {
          const page = list.page.compile(db, { ...values, ...scope, ...way })
          const explain = { ...page, sql: `explain query plan ${page.sql}` }
          const { rows } = await db.executeQuery<{ detail: string }>(explain)
          const steps = rows.map(({ detail }) => detail)
          const label = `${order} ${sort} ${JSON.stringify({ ...values, ...scope })}: ${steps.join('; ')}`
          expect(steps.join(), label).not.toContain('FOR ORDER BY')
          expect(steps[0], label).toMatch(/^(SCAN|SEARCH) issues USING (COVERING )?INDEX/)
        }
      }
    }
  }
})
