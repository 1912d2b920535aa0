import { afterAll, beforeAll, expect, test } from 'vitest'
import { costOf, openSource } from '../../../../test/sources.ts'
import { DAY, after, timestamp } from '../../../clock.ts'
import { startForge, type Client, type Person, type TestForge } from '../../../forge.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { purgeActivities } from './jobs.ts'

let forge: TestForge
beforeAll(async () => {
  forge = await startForge()
})
afterAll(async () => forge.close())

interface Visible {
  action_name: string
  target_type: string | null
  target_title: string | null
  author_username: string
}

const shown = ({ action_name, target_type, target_title }: Visible) =>
  [action_name, target_type, target_title].filter((one) => one !== null).join(' ')

async function eventsOf(who: Client, path: string, query: Record<string, unknown> = {}): Promise<string[]> {
  await forge.settle()
  const { status, body, headers } = await who.get(path, { per_page: 100, ...query })
  expect(status).toBe(200)
  expect(headers.get('x-total')).toBe(String(body.length))
  return body.map(shown)
}

async function member(url: string, owner: Person, access_level: number): Promise<Person> {
  const person = await forge.user()
  await owner.post(`${url}/members`, { user_id: person.id, access_level })
  return person
}

/** Inserts a note as the notes family does. */
async function note(by: Person, issue: { id: number; project_id: number }, internal = false): Promise<number> {
  const { app } = forge
  const now = timestamp(app.clock)
  return transact(app, async (app) => {
    const { id } = await app.db
      .insertInto('notes')
      .values({
        project_id: issue.project_id,
        issue_id: issue.id,
        author_id: by.id,
        discussion_id: 'a'.repeat(40),
        body: internal ? 'Between us' : 'Well',
        internal,
        created_at: now,
        updated_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await emit(app, 'note.created', { id, project_id: issue.project_id, by: by.id })
    return id
  })
}

test('what happens in a project is listed, newest first', async () => {
  const { id, url, owner, group } = await openSource(forge, 'projects')
  await forge.settle()
  const jane = await member(url, owner, 30)
  await forge.settle()
  const milestone = (await owner.post(`${url}/milestones`, { title: 'v1' })).body
  await owner.post(`${group.url}/milestones`, { title: 'of the group' })
  await owner.post(`${url}/labels`, { name: 'bug', color: 'red' })
  const issue = (await jane.post(`${url}/issues`, { title: 'Broken' })).body
  await owner.put(`${url}/issues/${issue.iid}`, { title: 'Still broken', labels: 'bug' })
  await owner.put(`${url}/issues/${issue.iid}`, { state_event: 'close' })
  await owner.put(`${url}/issues/${issue.iid}`, { state_event: 'reopen' })
  await owner.put(`${url}/milestones/${milestone.id}`, { state_event: 'close' })
  await owner.put(`${url}/milestones/${milestone.id}`, { state_event: 'activate' })
  const noteId = await note(jane, issue)
  await forge.settle()
  await owner.delete(`${url}/members/${jane.id}`)
  expect(await eventsOf(owner, `${url}/events`)).toEqual([
    'left',
    'commented on Note Still broken',
    'opened Milestone v1',
    'closed Milestone v1',
    'opened Issue Still broken',
    'closed Issue Still broken',
    'opened Issue Still broken',
    'opened Milestone v1',
    'joined',
    'created',
  ])
  const { body } = await owner.get(`${url}/events`)
  expect(body[1]).toEqual({
    id: expect.any(Number),
    project_id: id,
    action_name: 'commented on',
    target_id: noteId,
    target_iid: noteId,
    target_type: 'Note',
    author_id: jane.id,
    target_title: 'Still broken',
    created_at: expect.any(String),
    author: expect.objectContaining({ id: jane.id }),
    author_username: jane.username,
    imported: false,
    imported_from: 'none',
    note: expect.objectContaining({ id: noteId, body: 'Well', noteable_type: 'Issue', noteable_iid: issue.iid }),
  })

  await owner.delete(`${url}/milestones/${milestone.id}`)
  await owner.delete(`${url}/issues/${issue.iid}`)
  expect(await eventsOf(owner, `${url}/events`)).toEqual(['destroyed Milestone v1', 'left', 'joined', 'created'])
  const [destroyed] = (await owner.get(`${url}/events`)).body
  expect(destroyed).toMatchObject({ target_id: milestone.id, target_iid: milestone.iid })
})

test('a push is an event for each ref, with what it brought', async () => {
  const { url, owner } = await openSource(forge, 'projects', { initialize_with_readme: true })
  const head = (await owner.get(`${url}/repository/commits`)).body[0].id
  const commit = async (branch: string, message: string) =>
    (
      await owner.post(`${url}/repository/commits`, {
        branch,
        commit_message: message,
        actions: [{ action: 'create', file_path: `${message.slice(0, 3)}${Math.random()}`, content: 'x' }],
      })
    ).body.id as string
  await owner.post(`${url}/repository/branches`, { branch: 'work', ref: 'master' })
  const title = 'A title that goes on and on, far beyond the seventy characters that are shown of it'
  const second = await commit('work', title)
  await owner.post(`${url}/repository/tags`, { tag_name: 'v1', ref: 'work' })
  await owner.delete(`${url}/repository/branches/work`)
  await forge.settle()
  const { body } = await owner.get(`${url}/events`, { action: 'pushed', sort: 'asc' })
  const push = { ref_count: null, ref_type: 'branch' }
  expect(body.map((one: { action_name: string; push_data: unknown }) => [one.action_name, one.push_data])).toEqual([
    [
      'pushed new',
      {
        ...push,
        action: 'created',
        ref: 'master',
        commit_count: 1,
        commit_from: null,
        commit_to: head,
        commit_title: expect.any(String),
      },
    ],
    [
      'pushed new',
      {
        ...push,
        action: 'created',
        ref: 'work',
        commit_count: 0,
        commit_from: null,
        commit_to: head,
        commit_title: expect.any(String),
      },
    ],
    [
      'pushed to',
      {
        ...push,
        action: 'pushed',
        ref: 'work',
        commit_count: 1,
        commit_from: head,
        commit_to: second,
        commit_title: title.slice(0, 70),
      },
    ],
    [
      'pushed new',
      {
        ...push,
        action: 'created',
        ref_type: 'tag',
        ref: 'v1',
        commit_count: 1,
        commit_from: null,
        commit_to: second,
        commit_title: title.slice(0, 70),
      },
    ],
    [
      'deleted',
      {
        ...push,
        action: 'removed',
        ref: 'work',
        commit_count: 0,
        commit_from: second,
        commit_to: null,
        commit_title: null,
      },
    ],
  ])
  expect(body[0]).toMatchObject({ target_id: null, target_type: null, target_title: null })
})

test('lists are narrowed by action, kind of target and day', async () => {
  const { url, owner } = await openSource(forge, 'projects')
  const issue = (await owner.post(`${url}/issues`, { title: 'A' })).body
  await owner.post(`${url}/milestones`, { title: 'v1' })
  await forge.settle()
  const first = timestamp(forge.clock).slice(0, 10)
  forge.clock.advance(2 * 86_400_000)
  const last = timestamp(forge.clock).slice(0, 10)
  await owner.put(`${url}/issues/${issue.iid}`, { state_event: 'close' })
  const list = (query: Record<string, unknown>) => eventsOf(owner, `${url}/events`, query)
  expect(await list({ action: 'created' })).toEqual(['opened Milestone v1', 'opened Issue A', 'created'])
  expect(await list({ target_type: 'issue' })).toEqual(['closed Issue A', 'opened Issue A'])
  expect(await list({ target_type: 'issue', action: 'closed' })).toEqual(['closed Issue A'])
  expect(await list({ target_type: 'project' })).toEqual(['created'])
  expect(await list({ action: 'merged' })).toEqual([])
  expect(await list({ target_type: 'merge_request' })).toEqual([])
  expect(await list({ after: first })).toEqual(['closed Issue A'])
  expect(await list({ before: last, sort: 'asc' })).toEqual(['created', 'opened Issue A', 'opened Milestone v1'])
  expect(await list({ before: first })).toEqual([])
  expect(await list({ after: last })).toEqual([])
  for (const [name, value] of [
    ['action', 'danced'],
    ['target_type', 'Issue'],
  ] as const) {
    expect(await owner.get(`${url}/events`, { [name]: value })).toMatchObject({
      status: 400,
      body: { error: `${name} does not have a valid value` },
    })
  }
})

test('one’s own events, those of another, and those of all one’s projects', async () => {
  const [hidden, open] = [
    await openSource(forge, 'projects'),
    await openSource(forge, 'projects', { visibility: 'public' }),
  ]
  const jane = await member(hidden.url, hidden.owner, 30)
  await forge.settle()
  await jane.post(`${hidden.url}/issues`, { title: 'Hidden' })
  await jane.post(`${open.url}/issues`, { title: 'Open' })
  const own = ['opened Issue Open', 'opened Issue Hidden', 'joined']
  expect(await eventsOf(jane, '/events')).toEqual(own)
  expect(await eventsOf(jane, `/users/${jane.username}/events`)).toEqual(own)
  expect(await eventsOf(hidden.owner, `/users/${jane.id}/events`)).toEqual(own)
  expect(await eventsOf(forge.administrator, `/users/${jane.id}/events`)).toEqual(own)
  for (const who of [open.owner, forge.visitor])
    expect(await eventsOf(who, `/users/${jane.id}/events`)).toEqual(['opened Issue Open'])
  expect(await eventsOf(jane, '/events', { scope: 'all' })).toEqual(['opened Issue Hidden', 'joined', 'created'])
  expect(await eventsOf(jane, '/events', { scope: 'all', target_type: 'issue' })).toEqual(['opened Issue Hidden'])
  expect(await jane.get('/users/nobody-here/events')).toMatchObject({
    status: 404,
    body: { message: '404 User Not Found' },
  })

  await hidden.owner.delete(`${hidden.url}/members/${jane.id}`)
  expect(await eventsOf(jane, '/events')).toEqual(['opened Issue Open'])
  expect(await eventsOf(jane, '/events', { scope: 'all' })).toEqual([])
})

test('what happens to a confidential issue is seen by those who see the issue', async () => {
  const { url, owner } = await openSource(forge, 'projects', { visibility: 'public' })
  const guest = await member(url, owner, 10)
  const author = await member(url, owner, 10)
  const reporter = await member(url, owner, 20)
  const assignee = await member(url, owner, 10)
  const stranger = await forge.user()
  const issue = (await author.post(`${url}/issues`, { title: 'Secret' })).body
  await owner.put(`${url}/issues/${issue.iid}`, { assignee_ids: [assignee.id] })
  await owner.put(`${url}/issues/${issue.iid}`, { confidential: true })
  await note(owner, issue)
  await note(owner, issue, true)
  const everyone = { author, assignee, reporter, owner, guest, stranger, visitor: forge.visitor }
  const seen = async () => {
    const rows = Object.entries(everyone).map(
      async ([name, who]) =>
        [name, (await eventsOf(who, `${url}/events`)).filter((one) => /Secret/.test(one)).length] as const,
    )
    return Object.fromEntries(await Promise.all(rows))
  }
  expect(await seen()).toEqual({ author: 2, assignee: 2, reporter: 3, owner: 3, guest: 0, stranger: 0, visitor: 0 })
  expect((await eventsOf(stranger, `/users/${author.id}/events`)).filter((one) => /Secret/.test(one))).toEqual([])
  await owner.put(`${url}/issues/${issue.iid}`, { confidential: false })
  expect(await seen()).toEqual({ author: 2, assignee: 2, reporter: 3, owner: 3, guest: 2, stranger: 2, visitor: 2 })
  await owner.put(`${url}/issues/${issue.iid}`, { confidential: true })
  expect(await seen()).toMatchObject({ author: 2, assignee: 2, reporter: 3, guest: 0, visitor: 0 })
})

test('the total of events between two days equals the list, for every viewer', async () => {
  const { url, owner } = await openSource(forge, 'projects', { visibility: 'public' })
  const author = await member(url, owner, 10)
  const guest = await member(url, owner, 10)
  const assignee = await member(url, owner, 10)
  const make = async (more: object) => (await author.post(`${url}/issues`, { title: 'Work', ...more })).body
  const issues = [await make({}), await make({}), await make({ confidential: true })]
  for (const change of [{ assignee_ids: [assignee.id] }, { confidential: true }])
    await owner.put(`${url}/issues/${issues[1].iid}`, change)
  for (const issue of issues) await note(owner, issue)
  await note(owner, issues[1], true)
  const day = (days: number) => after(forge.clock, days * DAY).slice(0, 10)
  const around = { after: day(-2), before: day(2) }
  const listed = async (who: Client, path: string, query: object = {}): Promise<string[]> => {
    const { body, headers } = await who.get(path, { per_page: 100, ...query })
    expect(headers.get('x-total')).toBe(String(body.length))
    return body.map(shown)
  }
  const alike = async () => {
    await forge.settle()
    const totals: Record<string, number> = {}
    for (const [name, who] of Object.entries({ owner, author, assignee, guest, visitor: forge.visitor })) {
      const mine = who === forge.visitor ? [] : ['/events', '/events?scope=all']
      for (const path of [`${url}/events`, `/users/${author.id}/events`, ...mine]) {
        const all = await listed(who, path)
        expect([name, path, await listed(who, path, around)]).toEqual([name, path, all])
        const commented = all.filter((one) => one.startsWith('commented'))
        expect(await listed(who, path, { ...around, action: 'commented' })).toEqual(commented)
        if (path === `${url}/events`) totals[name] = all.length
      }
    }
    return totals
  }
  const before = await alike()
  expect(before.owner! - before.visitor!).toBe(5)
  expect([
    before.author! - before.visitor!,
    before.assignee! - before.visitor!,
    before.guest! - before.visitor!,
  ]).toEqual([4, 2, 0])
  await owner.put(`${url}/issues/${issues[1].iid}`, { confidential: false })
  await owner.delete(`${url}/issues/${issues[2].iid}`)
  await purgeActivities.handle(forge.app, {})
  const then = await alike()
  expect(await listed(owner, `${url}/events`, { before: day(-1) })).toEqual([])
  expect(await listed(owner, `${url}/events`, { after: day(1) })).toEqual([])
  expect(then.owner! - then.visitor!).toBe(1)
})

test('what is switched off, or for members, is left out', async () => {
  const { url, owner } = await openSource(forge, 'projects', { visibility: 'public', initialize_with_readme: true })
  await owner.post(`${url}/issues`, { title: 'A' })
  await owner.post(`${url}/milestones`, { title: 'v1' })
  const guest = await member(url, owner, 10)
  const stranger = await forge.user()
  const actions = async (who: Client) =>
    new Set((await eventsOf(who, `${url}/events`)).map((one) => one.split(' ').slice(0, 2).join(' ')))
  const all = ['created', 'joined', 'opened Issue', 'opened Milestone', 'pushed new']
  const sorted = async (who: Client) => [...(await actions(who))].toSorted()
  expect(await sorted(stranger)).toEqual(all)
  await owner.put(url, { issues_access_level: 'private', repository_access_level: 'private' })
  expect(await sorted(guest)).toEqual(all)
  expect(await sorted(stranger)).toEqual(all.filter((one) => one !== 'opened Issue' && one !== 'pushed new'))
  await owner.put(url, { issues_access_level: 'disabled', merge_requests_access_level: 'disabled' })
  expect(await sorted(owner)).toEqual(['created', 'joined', 'pushed new'])
  await owner.put(url, { visibility: 'private', issues_access_level: 'enabled' })
  // Guests of a private project do not read code.
  expect(await sorted(guest)).toEqual(['created', 'joined', 'opened Issue', 'opened Milestone'])
})

test('news told twice is written once', async () => {
  const { id, url, owner } = await openSource(forge, 'projects')
  await member(url, owner, 20)
  await forge.settle()
  const before = await eventsOf(owner, `${url}/events`)
  await forge.app.db.updateTable('events').set({ dispatched_at: null }).execute()
  expect(await eventsOf(owner, `${url}/events`)).toEqual(before)
  expect(before).toEqual(['joined', 'created'])
  const rows = await forge.app.db.selectFrom('activities').select('id').where('project_id', '=', id).execute()
  expect(rows).toHaveLength(2)
})

test('a membership that runs out is told as such', async () => {
  const { url, owner } = await openSource(forge, 'projects')
  const jane = await forge.user()
  const until = new Date(forge.clock.now().getTime() + 2 * 86_400_000).toISOString().slice(0, 10)
  await owner.post(`${url}/members`, { user_id: jane.id, access_level: 20, expires_at: until })
  await forge.settle()
  forge.clock.advance(3 * 86_400_000)
  expect((await eventsOf(owner, `${url}/events`)).slice(0, 2)).toEqual([
    'removed due to membership expiration from',
    'joined',
  ])
})

test('what happened long ago is forgotten, and goes with who did it', async () => {
  const { url, owner } = await openSource(forge, 'projects')
  const jane = await member(url, owner, 20)
  await jane.post(`${url}/issues`, { title: 'Old' })
  await forge.settle()
  await forge.app.db
    .updateTable('activities')
    .set({ created_at: '2001-01-01T00:00:00.000Z' })
    .where('author_id', '=', owner.id)
    .execute()
  await purgeActivities.handle(forge.app, {})
  expect(await eventsOf(owner, `${url}/events`)).toEqual(['opened Issue Old', 'joined'])
  await forge.administrator.delete(`/users/${jane.id}`)
  expect(await eventsOf(owner, `${url}/events`)).toEqual([])
})

test('a page costs the same however many it shows', async () => {
  const { url, owner } = await openSource(forge, 'projects')
  const list = () => owner.get(`${url}/events`)
  const make = async () => {
    const issue = (await owner.post(`${url}/issues`, { title: 'A' })).body
    await note(owner, issue)
    await owner.post(`${url}/milestones`, { title: `v${Math.random()}` })
    await forge.settle()
  }
  await make()
  const few = await costOf(forge, list)
  for (let n = 0; n < 5; n++) await make()
  expect(await costOf(forge, list)).toBe(few)
})
