/** Totals and orders of merge request lists stay correct, whatever changes in between. */
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
import { MERGE_REQUEST_ORDERS, mergeRequestLists } from './lists.ts'

const { listAll, listOfProject, ofAll, ofProject } = mergeRequestLists

let forge: TestForge
beforeAll(async () => void (forge = await startForge()))
afterAll(() => forge.close())

test('totals follow every kind of change', async () => {
  const { administrator: root, app } = forge
  const { db } = app
  const guest = await forge.user()
  const project = await forge.project({ visibility: 'private' })
  await root.post(`/projects/${project.id}/members`, { user_id: guest.id, access_level: 10 })
  const at = `/projects/${project.id}`
  const url = `${at}/merge_requests`
  for (const name of ['bug', 'later']) await forge.label(project, { name, color: '#ff0000' })
  const milestone = await forge.milestone(project, { title: 'v1' })
  for (let n = 1; n < 6; n++)
    await forge.mergeRequest(project, { source_branch: `b${n}`, title: `engine ${n}`, labels: ['bug'] })
  await root.post(`${at}/repository/branches`, { branch: 'stable', ref: 'master' })

  const FILTERS = [
    { state: 'opened' },
    { state: 'merged' },
    { labels: 'bug' },
    { labels: 'None' },
    { milestone: 'v1' },
    { assignee_id: 'None' },
    { reviewer_id: String(guest.id) },
    { reviewer_id: 'None' },
    { approved_by_ids: String(root.id) },
    { approved_by_ids: 'None' },
    { approved: 'yes' },
    { approver_ids: String(root.id) },
    { approver_ids: 'None' },
    { environment: 'live' },
    { deployed_after: '2001-01-01T00:00:00Z' },
    { merge_user_id: String(root.id) },
    { author_id: String(root.id) },
    { source_branch: 'b1' },
    { target_branch: 'stable' },
    { source_project_id: String(project.id) },
    { wip: 'yes' },
    { wip: 'no' },
    { search: 'engine' },
    { search: 'engine', in: 'title', state: 'closed' },
    { my_reaction_emoji: 'owl' },
    { updated_after: '2001-01-01T00:00:00Z' },
    { created_before: '2001-01-01T00:00:00Z' },
  ]
  const viewers = { root: (await findUser(db, root.id))!, guest: (await findUser(db, guest.id))! }
  const listed = async (who: Person, path: string, filter: object) => {
    const { headers } = await who.get(path, { ...filter, scope: 'all', per_page: 1 })
    return Number(headers.get('x-total'))
  }
  /** A transaction uses no cached totals. */
  const counted = () =>
    transact(app, async (app) => {
      const none = { limit: 0, offset: 0 }
      const subject = (await findProjectSubject(app, String(project.id), viewers.root))!
      const totals: number[][] = []
      for (const input of FILTERS) {
        const given = z.object(filterInput).parse(input)
        const [all, some] = [await filterFrom(app, viewers.root, given), await filterFrom(app, viewers.guest, given)]
        const here = await listOfProject(app, subject, all, none)
        const theirs = await listAll(app, viewers.guest, some, none)
        totals.push([here.total, theirs.total])
      }
      return totals
    })
  const id = async (iid: number) => (await root.get(`${url}/${iid}`)).body.id as number
  const now = '2020-01-01T00:00:00.000Z'
  const repositoryLevel = (level: number) =>
    db.updateTable('projects').set({ repository_access_level: level }).where('id', '=', project.id).execute()
  const changes: [string, () => Promise<unknown>][] = [
    ['nothing', async () => {}],
    ['a new one', () => forge.mergeRequest(project, { title: 'Draft: engine', assignee_ids: [guest.id] })],
    ['assignees', () => root.put(`${url}/1`, { assignee_ids: [guest.id] })],
    ['reviewers', () => root.put(`${url}/2`, { reviewer_ids: [guest.id] })],
    [
      'an approval',
      async () =>
        sql`insert into merge_request_approvals (merge_request_id, user_id, created_at)
        values (${await id(2)}, ${root.id}, ${now})`.execute(db),
    ],
    [
      'a reaction',
      async () =>
        sql`insert into award_emoji (user_id, name, merge_request_id, created_at, updated_at)
        values (${root.id}, 'owl', ${await id(2)}, ${now}, ${now})`.execute(db),
    ],
    ['state', () => root.put(`${url}/1`, { state_event: 'close' })],
    ['a merge', () => root.put(`${url}/3/merge`)],
    [
      'a deployment',
      async () => {
        const sha = (await root.get(`${at}/repository/branches/master`)).body.commit.id
        const request = { environment: 'live', sha, ref: 'master', tag: false, status: 'success' }
        expect((await root.post(`${at}/deployments`, request)).status).toBe(201)
        await forge.settle()
        expect(await listed(root, url, { environment: 'live' })).toBe(1)
      },
    ],
    [
      'an environment’s name',
      async () => {
        const [live] = (await root.get(`${at}/environments`)).body
        await root.put(`${at}/environments/${live.id}`, { name: 'alive' })
        expect(await listed(root, url, { environment: 'live' })).toBe(0)
      },
    ],
    ['a rule', () => root.post(`${at}/approval_rules`, { name: 'r', approvals_required: 0, user_ids: [root.id] })],
    ['a lock', () => db.updateTable('merge_requests').set({ state: 'locked' }).where('iid', '=', 4).execute()],
    ['title', () => root.put(`${url}/2`, { title: 'WIP: Something else' })],
    ['target', () => root.put(`${url}/2`, { target_branch: 'stable' })],
    ['milestone', () => root.put(`${url}/2`, { milestone_id: milestone.id })],
    ['labels', () => root.put(`${url}/2`, { labels: '' })],
    ['a label’s title', () => root.put(`${at}/labels/bug`, { new_name: 'defect' })],
    ['a milestone’s title', () => root.put(`${at}/milestones/${milestone.id}`, { title: 'v2' })],
    ['a level', () => root.put(`${at}/members/${guest.id}`, { access_level: 20 })],
    ['off', () => root.put(at, { merge_requests_access_level: 'disabled' })],
    ['on again', () => root.put(at, { merge_requests_access_level: 'enabled' })],
    ['off with its repository', () => repositoryLevel(0)],
    ['on with it', () => repositoryLevel(20)],
    ['a deleted one', () => root.delete(`${url}/5`)],
    ['a deleted label', () => root.delete(`${at}/labels/defect`)],
    ['old dates', () => db.updateTable('merge_requests').set({ updated_at: '1990-01-01T00:00:00.000Z' }).execute()],
  ]
  for (const [what, change] of changes) {
    await change()
    const isOff = what.startsWith('off')
    const totals = await Promise.all(
      FILTERS.map((filter) =>
        Promise.all([isOff ? -1 : listed(root, url, filter), listed(guest, '/merge_requests', filter)]),
      ),
    )
    const expected = (await counted()).map(([here, there]) => [isOff ? -1 : here!, there!])
    expect(totals, what).toEqual(expected)
    expect(isOff && totals.some(([, there]) => there !== 0), what).toBe(false)
  }
  expect(await listed(root, url, { state: 'opened' })).toBe(3)
})

test('after a change a total asks about the rows that changed, not about all', async () => {
  const { administrator: root, app } = forge
  const project = await forge.project()
  for (let n = 0; n < 3; n++) await forge.mergeRequest(project, { labels: ['bug'] })
  const values = { project: project.id, labels: textList(app.db, ['bug']), label_total: 1 }
  const total = async () => (await ofProject(app.db, values, { limit: 0, offset: 0 })).total
  const label = (iid: number, labels: string) => root.put(`/projects/${project.id}/merge_requests/${iid}`, { labels })
  expect(await total()).toBe(3)
  await label(1, '')
  expect(await total()).toBe(2)
  const cost = async () => {
    await forge.settle()
    return forge.queries(total)
  }
  let labels = 'bug'
  // On PostgreSQL, other transactions in the cluster cause one more query while they are open.
  await expect
    .poll(async () => {
      await total()
      const least = await cost()
      await label(2, (labels = labels === '' ? 'bug' : ''))
      return (await cost()) - least
    })
    .toBe(1)
  expect(await total()).toBe(labels === '' ? 1 : 2)
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
    { source_branch: 'x' },
    { target_branch: 'x', state: 'opened' as const },
    { source_project: 1 },
    { merge_user: 1 },
    { draft: true as const },
    { approved: true },
    { named: '[1]', named_total: 1, one_named: 1 },
    { has_named: false },
    { deployed: true as const, deployed_to: 'live', deployed_for: 7 },
    { deployed: true as const, deployed_after: '2001-01-01', deployed_before: '2002-01-01' },
    { updated_before: '2001-01-01' },
    { group: 1, non_archived: true as const },
  ]
  for (const values of narrowed) {
    for (const order of MERGE_REQUEST_ORDERS) {
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
          expect(steps[0], label).toMatch(/^(SCAN|SEARCH) merge_requests USING (COVERING )?INDEX/)
          const byState = 'state' in values && order === 'created_at'
          expect(!byState || steps[0]!.includes('told_state'), label).toBe(true)
        }
      }
    }
  }
})

const PEOPLE = {
  assignee: 'merge_request_assignees',
  reviewer: 'merge_request_reviewers',
  approver: 'merge_request_approvals',
} as const

test('those of a person come in the order they were made, whichever of them that is', async () => {
  const { administrator: root, app } = forge
  const { db } = app
  const jane = await forge.user()
  const project = await forge.project()
  await root.post(`/projects/${project.id}/members`, { user_id: jane.id, access_level: 40 })
  const url = `/projects/${project.id}/merge_requests`
  for (let n = 1; n < 6; n++) {
    const people = n === 3 ? {} : { assignee_ids: [jane.id], reviewer_ids: [jane.id] }
    const made = await forge.mergeRequest(project, { source_branch: `p${n}`, ...people })
    if (n !== 3) await jane.post(`${url}/${made.iid}/approve`)
  }
  // A row with an earlier creation time moves in every list.
  await db
    .updateTable('merge_requests')
    .set({ created_at: '2001-01-01T00:00:00.000Z' })
    .where('project_id', '=', project.id)
    .where('iid', '=', 4)
    .execute()
  const viewer = (await findUser(db, root.id))!
  const subject = (await findProjectSubject(app, String(project.id), viewer))!
  const FILTERS = [{ assignee: jane.id }, { reviewer: jane.id }, { approvers: [jane.id] }]
  for (const filter of FILTERS) {
    for (const [sort, iids] of [
      ['asc', [4, 1, 2, 5]],
      ['desc', [5, 2, 1, 4]],
    ] as const) {
      const cut = { limit: 3, offset: 1 }
      const order = { order_by: 'created_at', sort } as const
      const here = await listOfProject(app, subject, { ...filter, ...order }, cut)
      const all = await listAll(app, viewer, { ...filter, ...order, state: 'opened' }, cut)
      const rows = await db.selectFrom('merge_requests').select(['id', 'iid']).execute()
      const iidsOf = (items: readonly { id: number }[]) => items.map(({ id }) => rows.find((row) => row.id === id)?.iid)
      expect([filter, sort, here.total, iidsOf(here.items)]).toEqual([filter, sort, 4, iids.slice(1)])
      expect([filter, sort, all.total, iidsOf(all.items)]).toEqual([filter, sort, 4, iids.slice(1)])
    }
  }
  expect(await listOfProject(app, subject, { assignee: root.id }, { limit: 20, offset: 0 })).toEqual({
    items: [],
    total: 0,
  })
})

test.runIf(testDatabaseUrl() === undefined)(
  'links to people walk the usual order, and all others an index',
  async () => {
    const { db } = forge.app
    for (const [name, table] of Object.entries(PEOPLE)) {
      for (const order of MERGE_REQUEST_ORDERS) {
        for (const sort of ['asc', 'desc'] as const) {
          for (const [list, scope] of [
            [ofProject, { project: 1, state: 'opened' as const }],
            [ofAll, { seen_by: 7 }],
          ] as const) {
            const way = { [`by ${order} ${sort}`]: true, walked: true as const, limit: 20, offset: 0 }
            const page = list.page.compile(db, { [name]: 1, ...scope, ...way })
            const { rows } = await db.executeQuery<{ detail: string }>({
              ...page,
              sql: `explain query plan ${page.sql}`,
            })
            const steps = rows.map(({ detail }) => detail)
            const label = `${name} ${order} ${sort} ${JSON.stringify(scope)}: ${steps.join('; ')}`
            expect(steps.join(), label).not.toContain('FOR ORDER BY')
            const first = order === 'created_at' ? `led USING COVERING INDEX ${table}_since` : 'merge_requests USING'
            expect(steps[0], label).toContain(first)
          }
        }
      }
    }
  },
)
