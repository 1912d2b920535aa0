import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSecondStore } from '../../../../test/freshness.ts'
import { Listener } from '../../../../test/live.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import type { Project } from '../../../forge/types.ts'
import { dispatchEvents } from '../../../jobs/bookkeeping.ts'
import { emit, emitAll, forgetEvents } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { hubOf, notifyListeners, type Connection } from './hub.ts'
import { EventStream } from './stream.ts'

let forge: TestForge
let jane: Person
let guest: Person

beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user({ username: 'jane' })
  guest = await forge.user({ username: 'guest' })
})
afterAll(() => forge.close())

const listen = (path: string, { headers }: { headers: Record<string, string> }, since?: number | string | null) =>
  Listener.open(`${forge.url}/api/v4${path}`, { headers, since: since ?? null })

async function privateProject(path: string) {
  const project = await forge.project({ path, visibility: 'private' }, jane)
  await jane.post(`/projects/${project.id}/members`, { user_id: guest.id, access_level: 10 })
  await forge.settle()
  return { ...project, live: `/projects/${project.id}/live` }
}

test('two people hear of a project what each may see at that moment', async () => {
  const project = await privateProject('two')
  await using hers = await listen(project.live, jane)
  await using theirs = await listen(project.live, guest)
  expect([hers.status, hers.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  await Promise.all([hers.until(1, 'ready'), theirs.until(1, 'ready')])

  const open = await forge.issue(project, { title: 'Open' }, jane)
  const hidden = await forge.issue(project, { title: 'Hidden', confidential: true }, jane)
  await forge.note(hidden, { body: 'Psst' }, jane)
  const { id: own } = await forge.issue(project, { title: 'Own', confidential: true }, guest)
  const { id: note } = await forge.note(open, { body: 'For all' }, jane)
  await forge.seed(project, { 'a.txt': 'a' }, { as: jane })
  await jane.put(`/projects/${project.id}/issues/${open.iid}`, { state_event: 'close' })

  const of = ({ event, data }: { event: string; data: { id?: number } }) => `${event} ${data.id ?? ''}`
  const ofHers = (await hers.until(1, 'issue.closed')) && hers.events.map(of)
  const ofTheirs = (await theirs.until(1, 'issue.closed')) && theirs.events.map(of)
  expect(ofTheirs).toEqual([
    'ready ',
    `issue.created ${open.id}`,
    `issue.created ${own}`,
    `note.created ${note}`,
    `issue.updated ${open.id}`,
    `issue.closed ${open.id}`,
  ])
  expect(ofHers).toEqual(expect.arrayContaining([...ofTheirs, `issue.created ${hidden.id}`, 'repository.changed ']))
  expect(ofHers.filter((one) => one.startsWith('note.'))).toHaveLength(2)
  const [, first] = theirs.events
  expect(first).toEqual({
    id: expect.any(Number),
    event: 'issue.created',
    data: {
      kind: 'issue',
      action: 'created',
      project_id: project.id,
      id: open.id,
      iid: open.iid,
      at: expect.any(String),
      by: jane.id,
    },
  })
  const [pushed] = await hers.until(1, 'repository.changed')
  expect(pushed!.data).toMatchObject({ kind: 'repository', refs: ['refs/heads/master'] })
  const ids = hers.events.map(({ id }) => id)
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))

  // The issue becomes confidential: later notes on it are not sent to viewers who could see it when they connected.
  await jane.put(`/projects/${project.id}/issues/${open.iid}`, { confidential: true })
  await forge.note(open, { body: 'No more' }, jane)
  const { id: last } = await forge.issue(project, { title: 'Last' }, jane)
  await expect.poll(() => theirs.events.at(-1)!.data.id).toBe(last)
  expect(theirs.events.slice(6).map(of)).toEqual([`issue.created ${last}`])
})

test('a group hears of its projects and itself, somebody of the projects that are theirs', async () => {
  const group = await forge.group({ path: 'heard', visibility: 'private' }, jane)
  const below = await forge.group({ path: 'below', parent_id: group.id, visibility: 'private' }, jane)
  const project = await forge.project({ path: 'in', namespace_id: below.id, visibility: 'private' }, jane)
  const other = await forge.project({ path: 'elsewhere', visibility: 'public' }, jane)
  await jane.post(`/projects/${project.id}/members`, { user_id: guest.id, access_level: 10 })
  await forge.settle()
  await using ofGroup = await listen(`/groups/${group.id}/live`, jane)
  await using guests = await listen(`/groups/${group.id}/live`, guest)
  await using own = await listen('/user/live', guest)
  await Promise.all([ofGroup, guests, own].map((one) => one.until(1, 'ready')))

  await forge.issue(other, {}, jane)
  const label = await forge.label(below, {}, jane)
  const { id } = await forge.issue(project, {}, jane)
  expect((await ofGroup.until(2)).map(({ event, data }) => [event, data.id, data.group_id ?? null])).toEqual([
    ['label.created', label.id, below.id],
    ['issue.created', id, null],
  ])
  await forge.issue(project, { assignee_ids: [guest.id] }, jane)
  const [todo] = await own.until(1, 'todo.created')
  expect(todo!.data).toEqual({ kind: 'todo', action: 'created', at: expect.any(String), by: jane.id })
  await guest.post('/todos/mark_as_done')
  await own.until(1, 'todo.done')
  expect([...ofGroup.events, ...guests.events].filter(({ event }) => event.startsWith('todo.'))).toEqual([])
  for (const one of [guests, own])
    expect((await one.until(1)).slice(0, 1).map(({ event, data }) => [event, data.project_id])).toEqual([
      ['issue.created', project.id],
    ])
})

test('of requests for access to a group, only members who can accept them hear', async () => {
  const group = await forge.group({ path: 'asked', visibility: 'public', request_access_enabled: true }, jane)
  const [master, developer, stranger] = [await forge.user(), await forge.user(), await forge.user()]
  for (const [{ id: user_id }, access_level] of [
    [master, 40],
    [developer, 30],
  ] as const)
    await jane.post(`/groups/${group.id}/members`, { user_id, access_level })
  await forge.settle()
  await using masters = await listen(`/groups/${group.id}/live`, master)
  await using developers = await listen(`/groups/${group.id}/live`, developer)
  await Promise.all([masters, developers].map((one) => one.until(1, 'ready')))

  expect((await stranger.post(`/groups/${group.id}/access_requests`)).status).toBe(201)
  const label = await forge.label(group, {}, jane)
  const heard = async (one: Listener) =>
    (await one.until(1, 'label.created')) && one.events.map(({ event, data }) => [event, data.id ?? data.user_id])
  const end = ['label.created', label.id]
  expect(await heard(masters)).toEqual([['ready', undefined], ['access_request.made', stranger.id], end])
  expect(await heard(developers)).toEqual([['ready', undefined], end])
})

/** Creates one event of each kind, and at last an issue, which marks the end for all listeners. */
async function everyKind(project: Project): Promise<void> {
  const at = `/projects/${project.id}`
  const ci = 'work:\n  script: make\n'
  await forge.seed(project, { '.gitlab-ci.yml': ci }, { as: jane })
  await forge.seed(project, { 'more.txt': 'more' }, { as: jane, branch: 'more' })
  const made = [
    await jane.post(`${at}/merge_requests`, { title: 'More', source_branch: 'more', target_branch: 'master' }),
    await jane.post(`${at}/releases`, { tag_name: 'v1', ref: 'master' }),
    await jane.post(`${at}/snippets`, { title: 'x', file_name: 'x', code: 'x', visibility: project.visibility }),
    await jane.post(`${at}/wikis`, { title: 'home', content: 'x' }),
  ]
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201])
  await forge.issue(project, { title: 'The end' }, jane)
}

const CODE = ['job', 'merge_request', 'pipeline', 'release', 'repository']
const ALL = [...CODE, 'snippet', 'wiki'].toSorted()

/** The kinds of events received up to the end marker. */
async function kindsReceived(listener: Listener): Promise<string[]> {
  await listener.until(1, 'issue.created')
  const kinds = listener.events.map(({ event, data }) => (data.wiki ? 'wiki' : event.split('.')[0]!))
  return [...new Set(kinds)].filter((kind) => ALL.includes(kind)).toSorted()
}

// Guests see pipelines where builds are public, which is the default, and code where the project is public.
test.each([
  ['private', 'enabled', { guest: ['job', 'pipeline', 'snippet', 'wiki'], reporter: ALL, developer: ALL }],
  ['public', 'enabled', { visitor: ALL, stranger: ALL, guest: ALL, reporter: ALL }],
  ['public', 'private', { visitor: [], stranger: [], guest: ALL, reporter: ALL }],
] as const)(
  'each role hears the kinds it may see: a %s project whose features are %s',
  async (visibility, access, expected) => {
    const features = ['repository', 'builds', 'merge_requests', 'snippets', 'wiki'] as const
    const levels = Object.fromEntries(features.map((feature) => [`${feature}_access_level`, access]))
    const project = await forge.project({ visibility, ...levels }, jane)
    const at = `/projects/${project.id}`
    const ROLES = { guest: 10, reporter: 20, developer: 30 } as Record<string, number>
    await using stack = new AsyncDisposableStack()
    const listeners = new Map<string, Listener>()
    for (const role of Object.keys(expected)) {
      const person = role === 'visitor' ? { headers: {} } : await forge.user()
      if ('id' in person && ROLES[role])
        await jane.post(`${at}/members`, { user_id: person.id, access_level: ROLES[role] })
      listeners.set(role, stack.use(await listen(`${at}/live`, person)))
    }
    await Promise.all([...listeners.values()].map((one) => one.until(1, 'ready')))
    await everyKind(project)
    const received: Record<string, string[]> = {}
    for (const [role, listener] of listeners) received[role] = await kindsReceived(listener)
    expect(received).toEqual(expected)
  },
)

test('who comes again goes on where they were, without a gap or anything twice, whatever is written meanwhile', async () => {
  const project = await privateProject('again')
  await using witness = await listen(project.live, jane)
  await witness.until(1, 'ready')
  const created = (listener: Listener) => listener.events.filter(({ event }) => event === 'label.created')
  const seen: number[] = []
  let since: string | null = null
  const writing = Promise.all(
    [1, 2, 3].map(async () => {
      for (let n = 0; n < 12; n++) await forge.label(project, {}, jane)
    }),
  )
  for (let n = 0; n < 8; n++) {
    const request: Listener = await listen(project.live, jane, since)
    const update = request.until(1, since === null ? 'ready' : undefined).catch(() => {})
    await Promise.race([update, writing])
    await request.close()
    seen.push(...created(request).map(({ id }) => id))
    since = request.lastId ?? since
  }
  await writing
  const all = (await witness.until(36, 'label.created')).map(({ id }) => id)
  await using rest = await listen(project.live, jane, since)
  await rest.until(all.filter((id) => id > Number(since)).length, 'label.created')
  seen.push(...created(rest).map(({ id }) => id))
  const first = all.indexOf(seen[0]!)
  expect(seen).toEqual(all.slice(first))
  expect(new Set(all).size).toBe(36)
})

test('without a stream it is what there was and the end; what is too old or unknown begins anew', async () => {
  const project = await privateProject('short')
  const ask = async (since?: string, headers: Record<string, string> = {}) =>
    (await jane.get(project.live, since === undefined ? {} : { last_event_id: since }, headers)).body as string
  await forge.settle()
  const [, start] = /^retry: 3000\n\nid: (\d+)\nevent: ready\ndata: {}\n\n$/.exec(await ask())!
  const { id } = await forge.issue(project, {}, jane)
  await forge.settle()
  expect(await ask(start)).toMatch(
    new RegExp(`^retry: 3000\\n\\nid: \\d+\\nevent: issue.created\\ndata: .*"id":${id},.*\\n\\n$`),
  )
  // The browser's header is newer than the parameter of the page.
  const [, end] = /id: (\d+)\n/.exec(await ask(start))!
  expect(await ask(start, { 'Last-Event-ID': end! })).toBe('retry: 3000\n\n')
  for (const odd of ['999999999', '-1', 'x', '1'.repeat(400), '1\n2'])
    expect([odd, await ask(odd)]).toEqual([odd, `retry: 3000\n\nid: ${end}\nevent: reset\ndata: {}\n\n`])
  await forgetEvents(forge.app)
  expect(await ask(start)).toContain('event: reset')
  expect(await ask(end)).toBe('retry: 3000\n\n')
})

test('blocked users, former members and revoked tokens are disconnected', async () => {
  const project = await privateProject('cut')
  const john = await forge.user({ username: 'john' })
  await jane.post(`/projects/${project.id}/members`, { user_id: john.id, access_level: 30 })
  const { body: token } = await jane.post('/user/personal_access_tokens', { name: 'x', scopes: ['read_api'] })
  await using byToken = await listen(project.live, { headers: { 'PRIVATE-TOKEN': token.token } })
  await using johns = await listen('/user/live', john)
  await using guests = await listen(project.live, guest)
  await using public_ = await listen(`/projects/${(await forge.project({ visibility: 'public' }, jane)).id}/live`, john)
  await Promise.all([byToken, johns, guests, public_].map((one) => one.until(1, 'ready')))
  await forge.administrator.post(`/users/${john.id}/block`)
  await Promise.all([johns.over, public_.over])
  await jane.delete(`/projects/${project.id}/members/${guest.id}`)
  await guests.over
  await jane.delete(`/personal_access_tokens/${token.id}`)
  await byToken.over
  expect((await listen(project.live, guest)).status).toBe(404)
  expect((await listen('/user/live', john)).status).toBe(401)
})

test('each has so many connections, and those of the public are counted by where they come from', async () => {
  const project = await forge.project({ path: 'crowd', visibility: 'public' }, jane)
  const path = `/projects/${project.id}/live`
  const mary = await forge.user({ username: 'mary' })
  const all = await Promise.all(Array.from({ length: 20 }, () => listen(path, mary)))
  expect(all.map(({ status }) => status)).toEqual(Array(20).fill(200))
  const refused = await listen(path, mary)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3'])
  await using visitor = await listen(path, { headers: {} })
  await visitor.until(1, 'ready')
  await forge.issue(project, {}, jane)
  expect((await visitor.until(1)).map(({ event }) => event)).toEqual(['issue.created'])
  await all[0]!.close()
  await expect
    .poll(async () => {
      const next = await listen(path, mary)
      await next.close()
      return next.status
    })
    .toBe(200)
  await Promise.all(all.map((one) => one.close()))
})

test('anonymous connections together are half of all at most', async () => {
  const project = await forge.project({ path: 'half', visibility: 'public' }, jane)
  const path = `/projects/${project.id}/live`
  const streams = Array.from({ length: 1000 }, (_, n) => {
    const caller = { key: `network ${n}`, isAnonymous: true }
    const stream = new EventStream()
    hubOf(forge.app).admit({ caller, stream } as Connection)
    return stream
  })
  const refused = await listen(path, { headers: {} })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '3'])
  await using known = await listen(path, jane)
  expect(known.status).toBe(200)
  for (const stream of streams) stream.destroy()
  await using visitor = await listen(path, { headers: {} })
  expect(visitor.status).toBe(200)
})

test('one reader of the log serves all: what it asks does not grow with who listens', async () => {
  const project = await forge.project({ path: 'shared', visibility: 'public' }, jane)
  const path = `/projects/${project.id}/live`
  const cost = async (count: number) => {
    const people = await Promise.all(Array.from({ length: count }, () => forge.user()))
    const all = await Promise.all(people.map((person) => listen(path, person)))
    await Promise.all(all.map((one) => one.until(1, 'ready')))
    await forge.settle()
    const before = forge.app.store.queries
    const labels = Array.from({ length: 50 }, (_, id) => ({ id, project_id: project.id, group_id: null, by: jane.id }))
    await transact(forge.app, (app) => emitAll(app, 'label.created', labels))
    await Promise.all(all.map((one) => one.until(50)))
    const queries = forge.app.store.queries - before
    await Promise.all(all.map((one) => one.close()))
    return queries
  }
  await cost(1)
  const few = await cost(2)
  expect(await cost(15)).toBeLessThan(few + 40)
})

test('what another process has handed out is told here', async () => {
  await using here = await startForge()
  const project = await here.project({ visibility: 'public' })
  await here.settle()
  await using listener = await Listener.open(`${here.url}/api/v4/projects/${project.id}/live`)
  await listener.until(1, 'ready')
  await here.stopWorker()
  const beside = await openSecondStore(here)
  try {
    const there = { ...here.app, store: beside, db: beside.db }
    await transact(there, async (app) => {
      await emit(app, 'label.created', { id: 7, project_id: project.id, group_id: null, by: 1 })
      await dispatchEvents(app)
      await notifyListeners(app)
    })
    expect((await listener.until(1, 'label.created'))[0]!.data.id).toBe(7)
  } finally {
    await beside.close()
  }
})

test('who reads too slowly is let go', () => {
  const stream = new EventStream()
  for (let n = 0; n < 1000; n++) stream.tell('x'.repeat(200))
  expect(stream.destroyed).toBe(false)
  for (let n = 0; n < 1000; n++) stream.tell('x'.repeat(200))
  expect(stream.destroyed).toBe(true)
})

test('it ends with the server, which waits for nobody who listens', async () => {
  // A caller that waits would wait longer than the test may take.
  const short = await startForge({ patience: 600_000 })
  const listener = await Listener.open(`${short.url}/api/v4/user/live`, { headers: short.administrator.headers })
  await listener.until(1, 'ready')
  await short.close()
  await listener.over
  await expect(fetch(short.url)).rejects.toThrow('fetch failed')
})
