import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Client, type Person, type TestForge } from '../../../forge.ts'

let forge: TestForge
let owner: Person

beforeAll(async () => {
  forge = await startForge()
  owner = await forge.user({ username: 'olive' })
})
afterAll(async () => forge.close())

interface Crew {
  readonly id: number
  readonly url: string
  readonly people: Record<'guest' | 'reporter' | 'developer', Person>
}

async function crew(request: Record<string, unknown> = {}): Promise<Crew> {
  const { body } = await owner.post('/projects', { name: `p${Math.random().toString(36).slice(2)}`, ...request })
  const people = {} as Crew['people']
  for (const [role, access_level] of [
    ['guest', 10],
    ['reporter', 20],
    ['developer', 30],
  ] as const) {
    people[role] = await forge.user()
    await owner.post(`/projects/${body.id}/members`, { user_id: people[role].id, access_level })
  }
  return { id: body.id, url: `/projects/${body.id}/issues`, people }
}

const iids = (body: { iid: number }[]) => body.map(({ iid }) => iid)

test('an issue is created, read, changed, closed, reopened and deleted', async () => {
  const { id, url, people } = await crew()
  const created = await people.reporter.post(url, {
    title: '  Broken  ',
    description: 'It is\n\n- [x] one\n- [ ] two',
    labels: 'bug,urgent',
    assignee_ids: [people.developer.id],
    due_date: '2030-01-02',
    weight: 3,
  })
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({
    iid: 1,
    project_id: id,
    title: 'Broken',
    state: 'opened',
    labels: ['bug', 'urgent'],
    author: { id: people.reporter.id },
    assignee: { id: people.developer.id },
    assignees: [{ id: people.developer.id }],
    due_date: '2030-01-02',
    weight: 3,
    has_tasks: true,
    task_status: '1 of 2 tasks completed',
    task_completion_status: { count: 2, completed_count: 1 },
    references: { short: '#1', relative: '#1', full: expect.stringMatching(/^olive\/p\w+#1$/) },
    web_url: expect.stringMatching(/\/-\/issues\/1$/),
    subscribed: true,
  })
  expect((await people.guest.get(`${url}/1`)).body).toEqual({ ...created.body, subscribed: false })
  expect((await people.guest.get(url)).body).toEqual([without(created.body, 'subscribed')])

  const closed = await people.developer.put(`${url}/1`, {
    state_event: 'close',
    add_labels: 'done',
    remove_labels: 'bug',
  })
  expect(closed.body).toMatchObject({
    state: 'closed',
    closed_by: { id: people.developer.id },
    labels: ['done', 'urgent'],
  })
  expect((await owner.get(`/projects/${id}`)).body.open_issues_count).toBe(0)
  const reopened = await people.reporter.put(`${url}/1`, { state_event: 'reopen', assignee_id: 0, due_date: '' })
  expect(reopened.body).toMatchObject({
    state: 'opened',
    closed_at: null,
    closed_by: null,
    assignees: [],
    due_date: null,
  })
  expect((await owner.get(`/projects/${id}`)).body.open_issues_count).toBe(1)

  expect((await owner.delete(`${url}/1`)).status).toBe(204)
  expect((await owner.get(`${url}/1`)).body).toEqual({ message: '404 Not found' })
  expect((await owner.get(`/projects/${id}`)).body.open_issues_count).toBe(0)
  expect((await people.guest.post(url, { title: 'Next' })).body.iid).toBe(2)
})

function without<T extends object>(record: T, name: string): Partial<T> {
  const { [name as keyof T]: _, ...rest } = record
  return rest as Partial<T>
}

test('a user below Reporter sets title and description, and no planning fields', async () => {
  const { url, people } = await crew()
  const planned = { labels: 'bug', assignee_ids: [people.developer.id], due_date: '2030-01-02', weight: 2 }
  const { status, body } = await people.guest.post(url, { title: 'x', confidential: true, ...planned })
  expect(status).toBe(201)
  const plain = { labels: [], assignees: [], due_date: null, weight: null }
  expect(body).toMatchObject({ confidential: true, ...plain })
  const updated = await people.guest.put(`${url}/1`, { title: 'y', ...planned, iid: 7 })
  expect(updated.body).toMatchObject({ iid: 1, title: 'y', ...plain })
})

test.each([
  ['no title', {}, '400 (Bad request) title not given'],
  ['a blank title', { title: ' ' }, { title: ["can't be blank"] }],
  ['a long title', { title: 'x'.repeat(256) }, { title: ['is too long (maximum is 255 characters)'] }],
  ['a long title of emoji', { title: '🙂'.repeat(256) }, { title: ['is too long (maximum is 255 characters)'] }],
  ['no boolean', { title: 'x', confidential: 'perhaps' }, 'confidential is invalid'],
  ['no state', { title: 'x', issue_type: 'wish' }, 'issue_type does not have a valid value'],
  ['a negative weight', { title: 'x', weight: -1 }, { weight: ['must be greater than or equal to 0'] }],
  ['a large weight', { title: 'x', weight: 2_147_483_648 }, { weight: ['must be less than or equal to 2147483647'] }],
] as const)('%s is refused, and nothing moves', async (_what, input, message) => {
  const { url, people } = await crew()
  const before = await forge.events()
  expect(await people.reporter.post(url, input)).toMatchObject({ status: 400, body: { message } })
  expect((await people.reporter.get(url)).body).toEqual([])
  expect(await forge.events()).toEqual(before)
})

test('characters of a title are counted without the space around it', async () => {
  const { url, people } = await crew()
  const title = '🙂'.repeat(255)
  expect(await people.reporter.post(url, { title: `  ${title} ` })).toMatchObject({ status: 201, body: { title } })
})

test('an update without anything to change is refused', async () => {
  const { url, people } = await crew()
  await people.reporter.post(url, { title: 'x' })
  const { status, body } = await people.reporter.put(`${url}/1`, {})
  expect(status).toBe(400)
  expect(body.error).toMatch(/^title, .* are missing, at least one parameter must be provided$/)
})

test('what is confidential is seen by author, assignee, Reporters and up', async () => {
  const { id, url, people } = await crew({ visibility: 'public' })
  const stranger = await forge.user()
  const assignee = await forge.user()
  await stranger.post(url, { title: 'secret', confidential: true })
  await people.reporter.post(url, { title: 'open' })
  const seenBy = async (who: Person) => [
    iids((await who.get(url)).body),
    (await who.get(`${url}/1`)).status,
    iids((await who.get('/issues', { scope: 'all', author_id: stranger.id })).body),
    (await who.get(`/projects/${id}/issues_statistics`)).body.statistics.counts.all,
  ]
  const [hidden, seen] = [
    [[2], 404, [], 1],
    [[2, 1], 200, [1], 2],
  ]
  expect(await seenBy(people.guest)).toEqual(hidden)
  expect(await seenBy(assignee)).toEqual(hidden)
  for (const who of [stranger, people.reporter, people.developer, owner, forge.administrator])
    expect(await seenBy(who)).toEqual(seen)
  expect(iids((await forge.visitor.get(url)).body)).toEqual([2])
  expect((await owner.get(`/projects/${id}`)).body.open_issues_count).toBe(1)
  expect((await people.guest.put(`${url}/1`, { title: 'mine' })).status).toBe(404)
})

test('where issues are off there are none, and none are made', async () => {
  const { id, url, people } = await crew()
  await people.reporter.post(url, { title: 'switched off' })
  await owner.put(`/projects/${id}`, { issues_access_level: 'disabled' })
  expect((await people.reporter.get(url)).body).toEqual([])
  expect((await people.reporter.get(`${url}/1`)).status).toBe(404)
  expect((await people.reporter.post(url, { title: 'y' })).status).toBe(403)
  expect((await owner.get('/issues', { scope: 'all', search: 'switched off' })).body).toEqual([])
})

test('an archived project is read only', async () => {
  const { id, url, people } = await crew()
  await people.reporter.post(url, { title: 'x' })
  await owner.post(`/projects/${id}/archive`)
  expect((await people.reporter.get(`${url}/1`)).status).toBe(200)
  expect((await people.reporter.put(`${url}/1`, { title: 'y' })).status).toBe(403)
  expect((await people.reporter.post(url, { title: 'y' })).status).toBe(403)
  expect((await owner.delete(`${url}/1`)).status).toBe(403)
})

test('lists are narrowed by every filter', async () => {
  const { id, url, people } = await crew()
  const { reporter, developer } = people
  const milestone = (await owner.post(`/projects/${id}/milestones`, { title: 'v1', due_date: '2999-01-01' })).body
  await reporter.post(url, { title: 'alpha beta', labels: 'bug', milestone_id: milestone.id, due_date: '2000-01-01' })
  await reporter.post(url, { title: 'beta gamma', description: 'alpha', labels: 'bug,docs', assignee_id: developer.id })
  await developer.post(url, { title: 'delta', issue_type: 'incident', weight: 5 })
  await reporter.put(`${url}/3`, { state_event: 'close' })
  const found = async (filter: Record<string, unknown>, who = reporter) => iids((await who.get(url, filter)).body)
  for (const [filter, expected] of [
    [{}, [3, 2, 1]],
    [{ state: 'opened' }, [2, 1]],
    [{ state: 'closed' }, [3]],
    [{ labels: 'bug' }, [2, 1]],
    [{ labels: 'bug,docs' }, [2]],
    [{ labels: 'bug,none such' }, []],
    [{ labels: 'No Label' }, [3]],
    [{ labels: 'None' }, [3]],
    [{ labels: 'Any' }, [2, 1]],
    [{ milestone: 'v1' }, [1]],
    [{ milestone: 'None' }, [3, 2]],
    [{ milestone: 'Any' }, [1]],
    [{ milestone: '#upcoming' }, [1]],
    [{ milestone_id: 'Started' }, []],
    [{ author_id: developer.id }, [3]],
    [{ author_username: developer.username }, [3]],
    [{ author_id: 999_999 }, []],
    [{ assignee_id: developer.id }, [2]],
    [{ assignee_username: developer.username }, [2]],
    [{ assignee_id: 'None' }, [3, 1]],
    [{ assignee_id: 0 }, [3, 1]],
    [{ assignee_id: 'Any' }, [2]],
    [{ scope: 'created_by_me' }, [2, 1]],
    [{ scope: 'assigned-to-me' }, []],
    [{ iids: [1, 3] }, [3, 1]],
    [{ search: 'alpha' }, [2, 1]],
    [{ search: 'alpha gamma' }, [2]],
    [{ search: '"alpha beta"' }, [1]],
    [{ search: 'alpha', in: 'title' }, [1]],
    [{ search: 'alpha', in: 'description' }, [2]],
    [{ search: 'al be' }, [2, 1]],
    [{ search: '100%' }, []],
    [{ due_date: 'overdue' }, [1]],
    [{ due_date: '0' }, [3, 2]],
    [{ due_date: 'any' }, [1]],
    [{ due_date: 'week' }, []],
    [{ issue_type: 'incident' }, [3]],
    [{ weight: 5 }, [3]],
    [{ weight: 'None' }, [2, 1]],
    [{ confidential: true }, []],
    [{ confidential: false }, [3, 2, 1]],
    [{ created_after: '2999-01-01' }, []],
    [{ created_before: '2999-01-01' }, [3, 2, 1]],
    [{ updated_after: '2000-01-01' }, [3, 2, 1]],
    [{ 'not[labels]': 'docs' }, [3, 1]],
    [{ 'not[author_id]': reporter.id }, [3]],
    [{ 'not[assignee_id]': developer.id }, [3, 1]],
    [{ 'not[milestone]': 'v1' }, [3, 2]],
    [{ 'not[iids][]': 2 }, [3, 1]],
    [{ order_by: 'title', sort: 'asc' }, [1, 2, 3]],
    [{ order_by: 'due_date', sort: 'asc' }, [1, 2, 3]],
    [{ order_by: 'due_date' }, [1, 3, 2]],
    [{ order_by: 'milestone_due', sort: 'asc' }, [1, 2, 3]],
    [{ order_by: 'relative_position', sort: 'asc' }, [1, 2, 3]],
    [{ order_by: 'updated_at' }, [3, 2, 1]],
  ] as const) {
    expect(await found(filter), JSON.stringify(filter)).toEqual([...expected])
    const { counts } = (await reporter.get(`/projects/${id}/issues_statistics`, { ...filter, state: 'all' })).body
      .statistics
    const ofAll = await found({ ...filter, state: 'all' })
    expect([counts.opened + counts.closed, counts.all]).toEqual([ofAll.length, ofAll.length])
  }
  const details = (await reporter.get(url, { with_labels_details: true, labels: 'docs' })).body
  expect(details[0].labels).toMatchObject([{ name: 'bug', color: '#428BCA' }, { name: 'docs' }])
})

test.each([
  [{ state: 'some' }, 'state does not have a valid value'],
  [{ order_by: 'colour' }, 'order_by does not have a valid value'],
  [{ scope: 'mine' }, 'scope does not have a valid value'],
  [{ created_after: 'yesterday' }, 'created_after is invalid'],
  [{ author_id: 1, author_username: 'x' }, 'author_id, author_username are mutually exclusive'],
] as const)('a list by %o is refused', async (filter, error) => {
  expect(await owner.get('/issues', filter)).toMatchObject({ status: 400, body: { error } })
})

test('lists of a group and of everything hold what one may see', async () => {
  const { body: group } = await owner.post('/groups', {
    name: 'Crew',
    path: `g${Math.random().toString(36).slice(2)}`,
    visibility: 'public',
  })
  const { body: below } = await owner.post('/groups', {
    name: 'Below',
    path: 'below',
    parent_id: group.id,
    visibility: 'public',
  })
  const first = await crew({ namespace_id: group.id })
  const second = await crew({ namespace_id: below.id, visibility: 'public' })
  const mark = `mark${Math.random().toString(36).slice(2)}`
  await owner.post(first.url, { title: `${mark} hidden` })
  await owner.post(second.url, { title: `${mark} shown` })
  const titles = async (who: Pick<Person, 'get'>, path: string) =>
    (await who.get(path, { scope: 'all', search: mark })).body.map((one: { title: string }) => one.title.split(' ')[1])
  const stranger = await forge.user()
  for (const path of ['/issues', `/groups/${group.id}/issues`]) {
    expect(await titles(owner, path)).toEqual(['shown', 'hidden'])
    expect(await titles(forge.administrator, path)).toEqual(['shown', 'hidden'])
    expect(await titles(first.people.guest, path)).toEqual(['shown', 'hidden'])
  }
  expect(await titles(stranger, '/issues')).toEqual(['shown'])
  expect(await titles(forge.visitor, '/issues')).toEqual(['shown'])
  expect((await forge.visitor.get('/issues')).status).toBe(401)
  await owner.post(`/projects/${second.id}/archive`)
  expect(await titles(owner, '/issues')).toEqual(['hidden'])
})

test('changes are told as system notes, in the words people know', async () => {
  const { id, url, people } = await crew()
  const { reporter, developer, guest } = people
  await reporter.post(url, { title: 'The old one', description: '- [ ] a task' })
  const milestone = (await owner.post(`/projects/${id}/milestones`, { title: 'v1' })).body
  const label = (await owner.post(`/projects/${id}/labels`, { name: 'bug', color: '#ff0000' })).body
  await reporter.put(`${url}/1`, { title: 'The new one' })
  await reporter.put(`${url}/1`, { description: '- [x] a task' })
  await reporter.put(`${url}/1`, { description: 'Other' })
  await reporter.put(`${url}/1`, { assignee_ids: [developer.id, guest.id], milestone_id: milestone.id, labels: 'bug' })
  await reporter.put(`${url}/1`, { assignee_ids: [guest.id], milestone_id: 0, labels: '', due_date: '2030-12-31' })
  await reporter.put(`${url}/1`, { confidential: true, discussion_locked: true, state_event: 'close', weight: 2 })
  const notes = await forge.app.db.selectFrom('notes').selectAll().orderBy('id').where('project_id', '=', id).execute()
  expect(notes.map(({ body }) => body)).toEqual([
    'changed title from **The {-old-} one** to **The {+new+} one**',
    'marked the task **a task** as completed',
    'changed the description',
    `assigned to @${guest.username} and @${developer.username}`,
    `added ~${label.id} label`,
    `changed milestone to %${milestone.iid}`,
    `unassigned @${developer.username}`,
    `removed ~${label.id} label`,
    'removed milestone',
    'changed due date to December 31, 2030',
    'changed weight to **2**',
    'made the issue confidential',
    'locked the discussion in this issue',
    'closed',
  ])
  expect(new Set(notes.map(({ author_id, system }) => `${author_id} ${system}`)).size).toBe(1)
})

test('200 are created at once: numbers from 1 on, none twice, none left out', async () => {
  const { url, people } = await crew()
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => people.guest.post(url, { title: `n${n}` })))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  expect(answers.map(({ body }) => body.iid).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 200 }, (_, n) => n + 1),
  )
})

test('an owner chooses a number once, and the next lie beyond it', async () => {
  const { url, people } = await crew()
  expect((await owner.post(url, { title: 'x', iid: 40, created_at: '2001-02-03T04:05:06Z' })).body).toMatchObject({
    iid: 40,
    created_at: '2001-02-03T04:05:06.000Z',
  })
  expect(await owner.post(url, { title: 'x', iid: 40 })).toMatchObject({
    status: 409,
    body: { message: 'Duplicated issue' },
  })
  expect((await people.reporter.post(url, { title: 'y' })).body.iid).toBe(41)
})

test('an issue moves with its notes, and leaves a pointer', async () => {
  const [from, to] = [await crew(), await crew()]
  await owner.post(from.url, { title: 'Wanders', description: 'As it is', labels: 'bug,other' })
  await owner.post(`/projects/${to.id}/labels`, { name: 'bug', color: '#ff0000' })
  await owner.put(`${from.url}/1`, { title: 'Wanders on' })
  await owner.put(`/projects/${from.id}/labels/bug`, { priority: 1 })
  const moved = await owner.post(`${from.url}/1/move`, { to_project_id: to.id })
  expect(moved).toMatchObject({
    status: 201,
    body: { iid: 1, project_id: to.id, title: 'Wanders on', description: 'As it is', labels: ['bug'], state: 'opened' },
  })
  const copy = forge.app.db.selectFrom('issues').select('label_priority').where('id', '=', moved.body.id)
  expect(await copy.executeTakeFirst()).toEqual({ label_priority: null }) // the label of the new project has no priority
  const left = (await owner.get(`${from.url}/1`)).body
  expect(left).toMatchObject({ state: 'closed', moved_to_id: moved.body.id })
  const bodies = async (issue: number) =>
    (await forge.app.db.selectFrom('notes').select('body').where('issue_id', '=', issue).orderBy('id').execute()).map(
      ({ body }) => body,
    )
  expect((await bodies(left.id)).at(-1)).toMatch(/^moved to olive\/p\w+#1$/)
  expect(await bodies(moved.body.id)).toEqual([
    'changed title from **Wanders** to **Wanders{+ on+}**',
    expect.stringMatching(/^moved from olive\/p\w+#1$/),
  ])
  expect(await owner.post(`${from.url}/1/move`, { to_project_id: to.id })).toMatchObject({
    status: 400,
    body: { message: 'Cannot move issue due to insufficient permissions!' },
  })
  expect(await owner.post(`${to.url}/1/move`, { to_project_id: to.id })).toMatchObject({
    status: 400,
    body: { message: 'Cannot move issue to project it originates from!' },
  })
  expect((await to.people.reporter.post(`${to.url}/1/move`, { to_project_id: from.id })).status).toBe(404)
})

test('what an issue holds goes with it, and readers of its new place see it', async () => {
  const [from, to] = [await crew(), await crew()]
  const here = (await owner.get(`/projects/${from.id}`)).body.path_with_namespace
  const reader = to.people.guest
  await owner.post(`/projects/${from.id}/members`, { user_id: to.people.reporter.id, access_level: 20 })
  const upload = async (name: string) => {
    const form = new FormData()
    form.set('file', new Blob([`content of ${name}`]), name)
    return (await owner.post(`/projects/${from.id}/uploads`, form)).body
  }
  const [picture, log, other] = [await upload('a.png'), await upload('b.log'), await upload('c.txt')]
  await owner.post(from.url, {
    title: 'Wanders',
    description: `${picture.markdown} ${forge.url}${picture.full_path} ${other.url.replace(/[0-9a-f]{32}/, '0'.repeat(32))}`,
    labels: 'bug,other',
    due_date: '2030-01-02',
  })
  const issue = `${from.url}/1`
  const { body: note } = await owner.post(`${issue}/notes`, { body: `See ${log.markdown}, not #2` })
  await owner.post(`${issue}/award_emoji`, { name: 'thumbsup' })
  await owner.post(`${issue}/notes/${note.id}/award_emoji`, { name: 'tada' })
  await owner.post(`${issue}/time_estimate`, { duration: '2h' })
  await owner.post(`${issue}/add_spent_time`, { duration: '1h' })
  await owner.post(from.url, { title: 'Names it', description: 'After #1' })
  await owner.post(`${issue}/links`, { target_project_id: from.id, target_issue_iid: 2 })
  for (const { id, title } of [
    { ...from, title: 'v1' },
    { ...to, title: 'v1' },
  ])
    await owner.post(`/projects/${id}/milestones`, { title })
  const [milestone] = (await owner.get(`/projects/${from.id}/milestones`)).body
  await owner.put(issue, { milestone_id: milestone.id })
  await owner.post(`/projects/${to.id}/labels`, { name: 'bug', color: '#ff0000' })
  await forge.settle()

  const { body: moved } = await owner.post(`${issue}/move`, { to_project_id: to.id })
  const seen = (await reader.get(`${to.url}/${moved.iid}`)).body
  expect(seen).toMatchObject({
    labels: ['bug'],
    milestone: { title: 'v1', project_id: to.id },
    due_date: '2030-01-02',
    upvotes: 1,
    user_notes_count: 1,
    time_stats: { time_estimate: 7200, total_time_spent: 3600 },
  })
  const [, secret] = /^\[a\.png\]\(\/uploads\/([0-9a-f]{32})\/a\.png\)/.exec(seen.description) ?? []
  expect(secret).toBeDefined()
  expect(seen.description).not.toContain(picture.url)
  const there = (await owner.get(`/projects/${to.id}`)).body.path_with_namespace
  expect(seen.description).toContain(`${forge.url}/${there}/uploads/${secret}/a.png /uploads/${'0'.repeat(32)}/c.txt`)
  expect((await reader.get(`/projects/${to.id}/uploads/${secret}/a.png`)).body).toBe('content of a.png')
  const notes = (await reader.get(`${to.url}/${moved.iid}/notes`, { sort: 'asc' })).body
  const [copied] = notes
  expect(copied.body).toMatch(new RegExp(`^See \\[b\\.log\\]\\(/uploads/[0-9a-f]{32}/b\\.log\\), not ${here}#2$`))
  expect(copied.body).not.toContain(log.url)
  const [, logged] = /uploads\/([0-9a-f]{32})/.exec(copied.body) ?? []
  expect((await reader.get(`/projects/${to.id}/uploads/${logged}/b.log`)).body).toBe('content of b.log')
  const names = async (at: string) =>
    (await reader.get(`${at}/award_emoji`)).body.map(({ name }: { name: string }) => name)
  expect(await names(`${to.url}/${moved.iid}`)).toEqual(['thumbsup'])
  expect(await names(`${to.url}/${moved.iid}/notes/${copied.id}`)).toEqual(['tada'])
  // Notes about records of the old project are visible only to viewers of that project.
  const bodies = async (by: Person) =>
    (await by.get(`${to.url}/${moved.iid}/notes`)).body.map(({ body }: { body: string }) => body).join('\n')
  for (const words of [`mentioned in issue ${here}#2`, `moved from ${here}#1`, `related to ${here}#2`]) {
    expect(await bodies(to.people.reporter)).toContain(words)
    expect(await bodies(reader)).not.toContain(words)
  }
  const linked = async (by: Person) =>
    (await by.get(`${to.url}/${moved.iid}/links`)).body.map(({ title }: { title: string }) => title)
  expect(await linked(to.people.reporter)).toEqual(['Names it'])
  expect(await linked(reader)).toEqual([])
  expect((await owner.get(`${issue}/links`)).body).toEqual([])
  // Copies are independent: they survive the deletion of the original uploads.
  for (const { id } of (await owner.get(`/projects/${from.id}/uploads`)).body)
    await owner.delete(`/projects/${from.id}/uploads/${id}`)
  forge.clock.advance(2 * 3_600_000)
  await forge.settle()
  expect((await reader.get(`/projects/${to.id}/uploads/${secret}/a.png`)).status).toBe(200)
})

test('where an issue went, and what it repeats, is told to those who see it there', async () => {
  const [open, hidden] = [await crew({ visibility: 'public' }), await crew()]
  const { body: secret } = await owner.post(hidden.url, { title: 'Secret' })
  for (const title of ['Repeats', 'Relates', 'Goes']) await owner.post(open.url, { title })
  const path = secret.references.full
  await owner.post(`${open.url}/1/notes`, { body: `/duplicate ${path}` })
  await owner.post(`${open.url}/2/links`, { target_project_id: hidden.id, target_issue_iid: 1 })
  await owner.post(`${open.url}/3/move`, { to_project_id: hidden.id })
  const twin = ({ body }: { body: { _links: { closed_as_duplicate_of: string | null } } }) =>
    body._links.closed_as_duplicate_of
  const seen = async (by: Client) => {
    const answers = []
    for (const iid of [1, 2, 3])
      for (const list of ['notes', 'discussions']) answers.push(...(await by.get(`${open.url}/${iid}/${list}`)).body)
    const listed = (await by.get(open.url)).body.find(({ iid }: { iid: number }) => iid === 1)
    return JSON.stringify([answers, twin(await by.get(`${open.url}/1`)), twin({ body: listed })])
  }
  const address = `${forge.url}/api/v4/projects/${hidden.id}/issues/1`
  expect(await seen(owner)).toContain(address)
  for (const words of [`duplicate of ${path}`, `related to ${path}`, 'moved to '])
    expect(await seen(owner)).toContain(words)
  for (const by of [forge.visitor, open.people.reporter]) {
    const shown = await seen(by)
    expect(shown).not.toContain(address)
    expect(shown).not.toContain(path.split('#')[0])
    expect(shown).toContain('null,null')
  }
})

test('issues are put in an order by hand', async () => {
  const { url, people } = await crew()
  const ids = []
  for (const title of ['a', 'b', 'c', 'd']) ids.push((await people.reporter.post(url, { title })).body.id)
  const order = async () => iids((await people.reporter.get(url, { order_by: 'relative_position', sort: 'asc' })).body)
  expect(await order()).toEqual([1, 2, 3, 4])
  await people.reporter.put(`${url}/4/reorder`, { move_after_id: ids[0] })
  expect(await order()).toEqual([1, 4, 2, 3])
  await people.reporter.put(`${url}/3/reorder`, { move_before_id: ids[0] })
  expect(await order()).toEqual([3, 1, 4, 2])
  for (let n = 0; n < 60; n++) {
    await people.reporter.put(`${url}/2/reorder`, { move_after_id: ids[0] })
    await people.reporter.put(`${url}/4/reorder`, { move_after_id: ids[0] })
  }
  expect(await order()).toEqual([3, 1, 4, 2])
  expect((await people.reporter.put(`${url}/2/reorder`, {})).status).toBe(400)
  expect((await people.reporter.put(`${url}/2/reorder`, { move_after_id: 999_999 })).status).toBe(404)
})

test('a page costs the same number of queries for one and for many', async () => {
  const { url, people } = await crew()
  const make = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const who = await forge.user()
      const { body } = await who.post(url, { title: `n${n}` }).catch(() => ({ body: null }))
      if (body?.message) await people.guest.post(url, { title: `n${n}` })
    }
  }
  await people.reporter.post(url, { title: 'x', labels: 'a', assignee_id: people.developer.id })
  await make(1)
  const cost = (path: string) => forge.queries(() => people.reporter.get(path, { per_page: 100, scope: 'all' }))
  const few = [await cost(url), await cost('/issues')]
  for (let n = 0; n < 12; n++)
    await people.reporter.post(url, { title: `m${n}`, labels: `a,b${n}`, assignee_id: people.guest.id })
  expect([await cost(url), await cost('/issues')]).toEqual(few)
})

test('milestones and boards show their issues', async () => {
  const { body: group } = await owner.post('/groups', { name: 'Plan', path: `g${Math.random().toString(36).slice(2)}` })
  const { id, url, people } = await crew({ namespace_id: group.id })
  const places = [`/projects/${id}`, `/groups/${group.id}`]
  const [own, shared] = await Promise.all(
    places.map(async (scope) => (await owner.post(`${scope}/milestones`, { title: `v of ${scope}` })).body.id),
  )
  const { body: label } = await owner.post(`/projects/${id}/labels`, { name: 'doing', color: 'red', priority: 1 })
  const { body: later } = await owner.post(`/groups/${group.id}/labels`, { name: 'later', color: 'blue' })
  await owner.post(url, { title: 'a', milestone_id: own })
  await owner.post(url, { title: 'b', milestone_id: own, labels: 'doing' })
  await owner.post(url, { title: 'c', milestone_id: shared, labels: 'later', confidential: true })
  await owner.post(url, { title: 'd', labels: 'doing' })
  await owner.put(`${url}/4`, { state_event: 'close' })
  const shown = async (who: Person, path: string) => iids((await who.get(path)).body)

  expect(await shown(owner, `/projects/${id}/milestones/${own}/issues`)).toEqual([2, 1])
  expect(await shown(owner, `/groups/${group.id}/milestones/${shared}/issues`)).toEqual([3])
  expect(await shown(people.guest, `/groups/${group.id}/milestones/${shared}/issues`)).toEqual([])

  for (const [scope, labels] of [
    [places[0]!, [label, later]],
    [places[1]!, [later]],
  ] as const) {
    const board = `${scope}/boards/${(await owner.post(`${scope}/boards`, { name: 'One' })).body.id}`
    const lists = []
    for (const { id: label_id } of labels) lists.push((await owner.post(`${board}/lists`, { label_id })).body.id)
    expect(await shown(owner, `${board}/lists/${lists.at(-1)}/issues`)).toEqual([3])
    expect(await shown(people.guest, `${board}/lists/${lists.at(-1)}/issues`)).toEqual([])
    expect(await shown(owner, `${board}/closed/issues`)).toEqual([4])
    expect(await shown(owner, `${board}/backlog/issues`)).toEqual(labels.length === 2 ? [1] : [1, 2])
  }
})

test('what one wrote is the ghost’s once they are gone, unless it goes along', async () => {
  const { id, url } = await crew({ visibility: 'public' })
  const [jane, joe] = [await forge.user(), await forge.user()]
  await jane.post(url, { title: 'by Jane' })
  await joe.post(url, { title: 'by Joe' })
  await owner.put(`${url}/1`, { assignee_ids: [joe.id] })
  await forge.administrator.delete(`/users/${jane.id}`)
  await forge.administrator.delete(`/users/${joe.id}`, { hard_delete: true })
  await forge.settle()
  expect((await owner.get(url)).body).toMatchObject([
    { title: 'by Jane', author: { username: 'ghost' }, assignees: [] },
  ])
  expect((await owner.get(`/projects/${id}`)).body.open_issues_count).toBe(1)
})

test('whose a confidential issue is stays, and nobody comes to it who could not see it', async () => {
  const { url, people } = await crew()
  const { guest, reporter } = people
  const at = `${url}/${(await owner.post(url, { title: 'Mine', assignee_ids: [guest.id] })).body.iid}`
  const assigned = async () => (await owner.get(at)).body.assignees.map(({ id }: { id: number }) => id)
  await owner.put(at, { confidential: true })
  await owner.put(at, { assignee_ids: [guest.id, reporter.id] })
  expect(await assigned()).toEqual([guest.id, reporter.id])
  expect((await guest.get(at)).status).toBe(200)
  await owner.put(at, { assignee_ids: [reporter.id] })
  await owner.put(at, { assignee_ids: [guest.id, reporter.id] })
  expect(await assigned()).toEqual([reporter.id])
  const other = `${url}/${(await owner.post(url, { title: 'Other' })).body.iid}`
  await owner.put(other, { confidential: true, assignee_ids: [guest.id] })
  expect((await owner.get(other)).body.assignees).toEqual([])
})

test('an issue becomes an incident though nothing else changes', async () => {
  const { url } = await crew()
  const at = `${url}/${(await owner.post(url, { title: 'Fire' })).body.iid}`
  expect((await owner.put(at, { issue_type: 'incident' })).body.issue_type).toBe('incident')
  expect((await owner.get(at)).body).toMatchObject({ issue_type: 'incident', type: 'INCIDENT' })
})

test('whom notes name takes part in the issue when it has moved', async () => {
  const [from, to] = [await crew({ visibility: 'public' }), await crew({ visibility: 'public' })]
  const jane = await forge.user()
  const at = `${from.url}/${(await owner.post(from.url, { title: 'Moving' })).body.iid}`
  await owner.post(`${at}/notes`, { body: `ask @${jane.username}` })
  await forge.settle()
  const { body: moved } = await owner.post(`${at}/move`, { to_project_id: to.id })
  await forge.settle()
  const people = (await owner.get(`${to.url}/${moved.iid}/participants`)).body
  expect(people.map(({ id }: { id: number }) => id)).toContain(jane.id)
  expect((await jane.get(`${to.url}/${moved.iid}`)).body.subscribed).toBe(true)
})

test('a search asks for words of three letters on, where there are any', async () => {
  const { url } = await crew()
  for (const title of ['zebra crossing', 'qx only']) await owner.post(url, { title })
  const found = async (search: string) => iids((await owner.get(url, { search })).body)
  expect([await found('qx zebra'), await found('zebra nothing'), await found('qx'), await found('qy')]).toEqual([
    [1],
    [],
    [2],
    [],
  ])
})
