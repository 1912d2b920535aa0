import { afterAll, beforeAll, expect, test } from 'vitest'
import { costOf, openSource, type Source } from '../../../../test/sources.ts'
import { timestamp } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'

let forge: TestForge
beforeAll(async () => {
  forge = await startForge()
})
afterAll(async () => forge.close())

async function member({ url, owner }: Source, access_level: number): Promise<Person> {
  const person = await forge.user()
  await owner.post(`${url}/members`, { user_id: person.id, access_level })
  return person
}

/** Inserts a note as the notes family does. */
async function note(by: Person, issue: { id: number; project_id: number }, body: string, internal = false) {
  const now = timestamp(forge.clock)
  return transact(forge.app, async (app) => {
    const { id } = await app.db
      .insertInto('notes')
      .values({
        project_id: issue.project_id,
        issue_id: issue.id,
        author_id: by.id,
        discussion_id: 'a'.repeat(40),
        body,
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

async function waiting(who: Person, query: Record<string, unknown> = {}): Promise<string[]> {
  await forge.settle()
  const { status, body, headers } = await who.get('/todos', query)
  expect(status).toBe(200)
  expect(headers.get('x-total')).toBe(String(body.length))
  return body.map(({ action_name, body }: { action_name: string; body: string }) => `${action_name}: ${body}`)
}

test('an assignee has a to-do item until it is done', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner, id } = source
  const jane = await member(source, 30)
  const issue = (await owner.post(`${url}/issues`, { title: 'Broken', assignee_ids: [jane.id] })).body
  await forge.settle()
  const { body } = await jane.get('/todos')
  expect(body).toEqual([
    {
      id: expect.any(Number),
      project: expect.objectContaining({ id, name: 'Saw', path_with_namespace: expect.any(String) }),
      author: expect.objectContaining({ id: owner.id }),
      action_name: 'assigned',
      target_type: 'Issue',
      target: expect.objectContaining({ id: issue.id, iid: issue.iid, subscribed: true }),
      target_url: issue.web_url,
      body: 'Broken',
      state: 'pending',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  ])
  expect((await jane.get('/user_counts')).body).toMatchObject({ todos: 1, assigned_issues: 1 })
  // Actions of other users finish no to-do item, nor do unrelated changes.
  await owner.put(`${url}/issues/${issue.iid}`, { labels: 'bug' })
  await jane.put(`${url}/issues/${issue.iid}`, { weight: 3 })
  expect(await waiting(jane)).toEqual(['assigned: Broken'])
  await jane.put(`${url}/issues/${issue.iid}`, { state_event: 'close' })
  expect(await waiting(jane)).toEqual([])
  expect(await waiting(jane, { state: 'done' })).toEqual(['assigned: Broken'])
  expect((await jane.get('/user_counts')).body).toMatchObject({ todos: 0, assigned_issues: 0 })

  await owner.put(`${url}/issues/${issue.iid}`, { assignee_ids: [owner.id] })
  expect(await waiting(owner)).toEqual(['assigned: Broken'])
  await owner.delete(`${url}/issues/${issue.iid}`)
  expect(await waiting(owner)).toEqual([])
  expect(await waiting(jane, { state: 'done' })).toEqual([])
})

test('a mentioned user with access gets one to-do item while it is pending', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner } = source
  const [jane, joe, guest] = [await member(source, 30), await member(source, 20), await member(source, 10)]
  const stranger = await forge.user()
  const text = `@${jane.username} look\n\nas @${joe.username} and @${stranger.username} said, \`@${guest.username}\``
  const issue = (await owner.post(`${url}/issues`, { title: 'Named', description: text })).body
  expect(await waiting(jane)).toEqual(['directly_addressed: Named'])
  expect(await waiting(joe)).toEqual(['mentioned: Named'])
  for (const nobody of [stranger, guest]) expect(await waiting(nobody)).toEqual([])

  const noteId = await note(owner, issue, `thanks @${jane.username}, @${guest.username}`)
  expect(await waiting(jane)).toEqual(['directly_addressed: Named'])
  expect(await waiting(guest)).toEqual([`mentioned: thanks @${jane.username}, @${guest.username}`])
  expect((await guest.get('/todos')).body[0].target_url).toBe(`${issue.web_url}#note_${noteId}`)
  // A reply finishes the to-do item, and the old mention creates no new one.
  await guest.post(`${url}/issues/${issue.iid}/notes`, { body: 'I see' })
  expect(await waiting(guest)).toEqual([])
  await owner.put(`${url}/issues/${issue.iid}`, { description: `${text} again` })
  expect(await waiting(guest)).toEqual([])
  await owner.put(`${url}/issues/${issue.iid}`, { title: `Named @${guest.username}` })
  expect(await waiting(guest)).toEqual([`mentioned: Named @${guest.username}`])
})

test('what comes after a word of theirs waits for them, though it comes before it is told', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner } = source
  const jane = await member(source, 30)
  const issue = (await owner.post(`${url}/issues`, { title: 'Busy' })).body
  const at = `${url}/issues/${issue.iid}`
  await jane.post(`${at}/notes`, { body: 'one moment' })
  await owner.put(at, { assignee_ids: [jane.id] })
  expect(await waiting(jane)).toEqual(['assigned: Busy'])
  await jane.post(`${at}/notes`, { body: 'later\n/todo' })
  expect(await waiting(jane)).toEqual(['marked: Busy'])
  await jane.post(`${at}/notes`, { body: 'done' })
  expect(await waiting(jane)).toEqual([])
})

test('editing a note notifies newly mentioned users only', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner } = source
  const [jane, joe] = [await member(source, 30), await member(source, 30)]
  const issue = (await owner.post(`${url}/issues`, { title: 'Typo' })).body
  const notes = `${url}/issues/${issue.iid}/notes`
  const group = source.path.split('/')[1]!
  const inGroup = await forge.user()
  await owner.post(`${source.group.url}/members`, { user_id: inGroup.id, access_level: 30 })
  const { id } = (await owner.post(notes, { body: `hi @${jane.username} and @${group}, lok` })).body
  expect([await waiting(jane), await waiting(inGroup)].map(({ length }) => length)).toEqual([1, 1])
  for (const one of [jane, inGroup]) await one.post('/todos/mark_as_done')
  const master = await member(source, 40)
  await master.put(`${notes}/${id}`, { body: `hi @${jane.username} and @${group}, look` })
  for (const one of [jane, joe, inGroup]) expect(await waiting(one)).toEqual([])
  await master.put(`${notes}/${id}`, { body: `hi @${jane.username} and @${joe.username}` })
  expect([await waiting(jane), (await waiting(joe)).length]).toEqual([[], 1])
  expect((await joe.get('/todos')).body[0].author.username).toBe(master.username)
})

test('what is confidential or internal is told to those who see it', async () => {
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  const { url, owner } = source
  const [reporter, guest] = [await member(source, 20), await member(source, 10)]
  const both = `@${reporter.username} @${guest.username}`
  await owner.post(`${url}/issues`, { title: 'Secret', description: both, confidential: true })
  const open = (await owner.post(`${url}/issues`, { title: 'Open' })).body
  await note(owner, open, `${both} between us`, true)
  expect(await waiting(guest)).toEqual([])
  expect(await waiting(reporter)).toEqual([`directly_addressed: ${both} between us`, 'directly_addressed: Secret'])
  await owner.put(`${url}/members/${reporter.id}`, { access_level: 10 })
  expect(await waiting(reporter)).toEqual([])
  expect((await reporter.get('/user_counts')).body.todos).toBe(0)
})

test('as many are counted as are seen, whatever becomes of them', async () => {
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  const { url, owner } = source
  const [reporter, guest] = [await member(source, 20), await member(source, 10)]
  const issues: { id: number; iid: number; project_id: number }[] = []
  for (const title of ['One', 'Two', 'Three'])
    issues.push((await owner.post(`${url}/issues`, { title, assignee_ids: [reporter.id, guest.id] })).body)
  const mentioned = (await owner.post(`${url}/issues`, { title: 'Four' })).body
  await note(owner, mentioned, `@${reporter.username} @${guest.username}`)
  await forge.settle()
  const counted = async (who: Person, query = {}) => {
    const { headers } = await who.get('/todos', { per_page: 1, ...query })
    const { body } = await who.get('/todos', query)
    expect(headers.get('x-total')).toBe(String(body.length))
    return body.length
  }
  expect([await counted(reporter), await counted(guest)]).toEqual([4, 4])
  expect(await counted(guest, { action: 'assigned' })).toBe(3)
  // Assigned issues stay visible; an issue with only a mention does not.
  for (const { iid } of [issues[0]!, mentioned]) await owner.put(`${url}/issues/${iid}`, { confidential: true })
  expect([await counted(reporter), await counted(guest)]).toEqual([4, 3])
  expect((await guest.get('/user_counts')).body.todos).toBe(3)
  await owner.put(`${url}/issues/${mentioned.iid}`, { confidential: false })
  expect([await counted(reporter), await counted(guest)]).toEqual([4, 4])
  await owner.put(url, { visibility: 'private', issues_access_level: 'disabled' })
  expect([await counted(reporter), await counted(guest)]).toEqual([0, 0])
})

test('a group or the team is named as one', async () => {
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  const { url, owner, group } = source
  const [inGroup, inTeam, stranger] = [await forge.user(), await member(source, 20), await forge.user()]
  await owner.post(`${group.url}/members`, { user_id: inGroup.id, access_level: 20 })
  const path = (await owner.get(group.url)).body.full_path
  await owner.post(`${url}/issues`, { title: 'Group', description: `all of @${path}` })
  expect(await waiting(inGroup)).toEqual(['mentioned: Group'])
  expect(await waiting(inTeam)).toEqual([])
  await stranger.post(`${url}/issues`, { title: 'Not mine', description: 'hello @all' })
  expect(await waiting(inTeam)).toEqual([])
  await owner.post(`${url}/issues`, { title: 'Team', description: 'hello @all' })
  expect(await waiting(inTeam)).toEqual(['mentioned: Team'])
  expect(await waiting(stranger)).toEqual([])
})

test('one reminds oneself once, and is done one by one or all at once', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner, id, group } = source
  const jane = await member(source, 20)
  const iids: number[] = []
  for (const title of ['one', 'two', 'three']) iids.push((await owner.post(`${url}/issues`, { title })).body.iid)
  const mark = (iid: number) => jane.post(`${url}/issues/${iid}/todo`)
  const first = await mark(iids[0]!)
  expect(first).toMatchObject({ status: 201, body: { action_name: 'marked', state: 'pending', body: 'one' } })
  expect((await mark(iids[0]!)).status).toBe(304)
  expect(await waiting(jane)).toEqual(['marked: one'])

  const done = (who: Person) => who.post(`/todos/${first.body.id}/mark_as_done`)
  expect(await done(owner)).toMatchObject({ status: 404, body: { message: '404 Not found' } })
  expect(await waiting(jane)).toEqual(['marked: one'])
  expect(await done(jane)).toMatchObject({ status: 201, body: { id: first.body.id, state: 'done' } })
  expect(await waiting(jane)).toEqual([])
  expect((await mark(iids[0]!)).status).toBe(201)

  await mark(iids[1]!)
  await owner.put(`${url}/issues/${iids[2]}`, { assignee_ids: [jane.id] })
  expect(await waiting(jane, { action: 'marked' })).toEqual(['marked: two', 'marked: one'])
  expect(await waiting(jane, { author_id: owner.id })).toEqual(['assigned: three'])
  expect(await waiting(jane, { project_id: id, group_id: group.id, type: 'Issue' })).toHaveLength(3)
  for (const query of [{ project_id: id + 1000 }, { group_id: group.id + 1000 }, { type: 'MergeRequest' }])
    expect(await waiting(jane, query)).toEqual([])
  expect(await jane.get('/todos', { state: 'asleep' })).toMatchObject({
    status: 400,
    body: { error: 'state does not have a valid value' },
  })
  expect((await jane.post('/todos/mark_as_done', { action: 'assigned' })).status).toBe(204)
  expect(await waiting(jane)).toEqual(['marked: two', 'marked: one'])
  expect((await jane.post('/todos/mark_as_done')).status).toBe(204)
  expect(await waiting(jane)).toEqual([])
})

test('a former member loses the to-do items of the project and keeps all others', async () => {
  const [hidden, open, kept] = [
    await openSource(forge, 'projects'),
    await openSource(forge, 'projects', { visibility: 'public' }),
    await openSource(forge, 'projects'),
  ]
  const jane = await forge.user()
  const assignees = async ({ url, owner }: Source) =>
    (await owner.get(`${url}/issues`)).body.map((one: { assignees: unknown[] }) => one.assignees.length)
  for (const { url, owner, path } of [hidden, open, kept]) {
    await owner.post(`${url}/members`, { user_id: jane.id, access_level: 30 })
    await owner.post(`${url}/issues`, { title: path, assignee_ids: [jane.id] })
  }
  const done = (await open.owner.post(`${open.url}/issues`, { title: 'Done', assignee_ids: [jane.id] })).body
  await open.owner.put(`${open.url}/issues/${done.iid}`, { state_event: 'close' })
  await kept.owner.post(`${kept.group.url}/members`, { user_id: jane.id, access_level: 20 })
  for (const { url, owner } of [hidden, open, kept]) await owner.delete(`${url}/members/${jane.id}`)
  expect(await waiting(jane)).toEqual([`assigned: ${kept.path}`])
  // Closed issues keep their assignee.
  expect([await assignees(hidden), await assignees(open), await assignees(kept)]).toEqual([[0], [1, 0], [1]])
  await kept.owner.delete(`${kept.group.url}/members/${jane.id}`)
  expect(await waiting(jane)).toEqual([])
  expect(await assignees(kept)).toEqual([0])
})

test('what a deleted user wrote is the heir’s, or goes with them', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner } = source
  const [gone, erased] = [await member(source, 30), await member(source, 30)]
  for (const one of [gone, erased]) await one.post(`${url}/issues`, { title: one.username, assignee_ids: [owner.id] })
  expect(await waiting(owner)).toHaveLength(2)
  expect((await forge.administrator.delete(`/users/${gone.id}`)).status).toBe(204)
  expect((await forge.administrator.delete(`/users/${erased.id}`, { hard_delete: true })).status).toBe(204)
  expect(await waiting(owner)).toEqual([`assigned: ${gone.username}`])
  expect((await owner.get('/todos')).body[0].author.username).toBe('ghost')
  expect((await owner.get(`${url}/issues`)).body).toMatchObject([
    { title: gone.username, author: { username: 'ghost' } },
  ])
  expect((await owner.get(url)).body.open_issues_count).toBe(1)
})

test('a note on a commit waits for those it names who read the code', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner, id } = source
  const sha = (await forge.seed({ id }, { 'a.txt': 'a' }, { as: owner })).id
  const [jane, guest, stranger] = [await member(source, 30), await member(source, 10), await forge.user()]
  const all = `@${jane.username} @${guest.username} @${stranger.username}`
  const note = await owner.post(`${url}/repository/commits/${sha}/discussions`, { body: `${all} look` })
  expect(await waiting(jane)).toEqual([`directly_addressed: ${all} look`])
  for (const nobody of [guest, stranger]) expect(await waiting(nobody)).toEqual([])
  const [todo] = (await jane.get('/todos', { type: 'Commit' })).body
  const commit = (await jane.get(`${url}/repository/commits`)).body[0]
  expect(todo).toMatchObject({
    target_type: 'Commit',
    target: commit,
    target_url: `${commit.web_url}#note_${note.body.notes[0].id}`,
    project: { id },
  })
  expect(await waiting(jane, { type: 'Issue' })).toEqual([])
  await owner.post(`${url}/repository/commits/${sha}/comments`, { note: `again @${jane.username}` })
  expect(await waiting(jane)).toEqual([`directly_addressed: ${all} look`])
  expect((await jane.get('/user_counts')).body.todos).toBe(1)
  // A reply finishes the to-do item. A user who can no longer read code sees none.
  await jane.post(`${url}/repository/commits/${sha}/comments`, { note: 'I see' })
  expect(await waiting(jane)).toEqual([])
  await owner.post(`${url}/repository/commits/${sha}/comments`, { note: `once more @${jane.username}` })
  expect(await waiting(jane)).toEqual([`mentioned: once more @${jane.username}`])
  await owner.put(`${url}/members/${jane.id}`, { access_level: 10 })
  expect(await waiting(jane)).toEqual([])
  expect((await jane.get('/user_counts')).body.todos).toBe(0)
})

test('a page costs the same however many it shows', async () => {
  const { url, owner } = await openSource(forge, 'projects')
  const list = () => owner.get('/todos')
  const make = () => owner.post(`${url}/issues`, { title: 'A', assignee_ids: [owner.id] })
  await make()
  const few = await costOf(forge, list)
  for (let n = 0; n < 5; n++) await make()
  expect((await list()).body).toHaveLength(6)
  expect(await costOf(forge, list)).toBe(few)
})
