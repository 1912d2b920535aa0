import { afterAll, beforeAll, expect, test } from 'vitest'
import { mailsOf } from '../../../../test/mailbox.ts'
import { openSource, type Source } from '../../../../test/sources.ts'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { DAY, after } from '../../../clock.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import { CUSTOM_EVENTS } from '../../planning/notification-settings/model.ts'
import { remindOfDueIssues } from './jobs.ts'
import { reactions } from './on.ts'

let forge: TestForge
beforeAll(async () => {
  forge = await startForge()
})
afterAll(async () => forge.close())

async function member(
  { url, owner }: Pick<Source, 'url' | 'owner'>,
  access_level: number,
  level?: string,
  more = {},
): Promise<Person> {
  const person = await forge.user()
  await owner.post(`${url}/members`, { user_id: person.id, access_level })
  if (level) await person.put(`${url}/notification_settings`, { level, ...more })
  return person
}

/** Mails since the last call, read from files because there is no mail server. */
async function arrived() {
  const mails = await mailsOf(forge)
  await rm(join(forge.app.config.data, 'mail'), { recursive: true, force: true })
  return mails
}

/** `<reason>: <first line>` by recipient. */
async function mailed(people: Record<string, Person>): Promise<Record<string, string>> {
  const mails = await arrived()
  const names = new Map(Object.entries(people).map(([name, { username }]) => [`${username}@example.com`, name]))
  const found = mails.map(({ to, text, headers }) => [
    names.get(to) ?? to,
    `${headers['x-gitlab-notificationreason']}: ${text.split('\n')[0]}`,
  ])
  expect(new Set(found.map(([name]) => name)).size).toBe(found.length)
  return Object.fromEntries(found)
}

test('merge requests: what happens to one is told to those it concerns', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner, id } = source
  const [assignee, reviewer, author] = [await member(source, 40), await member(source, 30), await member(source, 30)]
  const watcher = await member(source, 30, 'watch')
  const people = { owner, assignee, reviewer, author, watcher }
  await forge.seed({ id }, { 'a.txt': 'a\n' }, { as: owner })
  await forge.seed({ id }, { 'b.txt': 'b\n' }, { as: author, branch: 'topic' })
  await arrived()
  const input = { source_branch: 'topic', target_branch: 'master', title: 'Topic' }
  const { iid } = (await author.post(`${url}/merge_requests`, { ...input, assignee_id: assignee.id })).body
  const at = `${url}/merge_requests/${iid}`
  const by = async ({ id }: Person) => (await owner.get(`/users/${id}`)).body.name
  const name = await by(author)
  expect(await mailed(people)).toEqual({
    assignee: `assigned: ${name} created a merge request.`,
    watcher: `watching: ${name} created a merge request.`,
  })
  // Two changes in one request are one mail.
  await author.put(at, { reviewer_ids: [reviewer.id], assignee_ids: [] })
  expect(await mailed(people)).toEqual({
    assignee: `participating: ${name} updated the merge request.`,
    reviewer: `review_requested: ${name} updated the merge request.`,
    watcher: `watching: ${name} updated the merge request.`,
  })
  // A push of many commits is one mail, and users who only watch get none.
  const actions = (n: number) => [{ action: 'create', file_path: `c${n}.txt`, content: 'c' }]
  for (let n = 0; n < 3; n++)
    await author.post(`${url}/repository/commits`, {
      branch: 'side',
      ...(n === 0 && { start_branch: 'topic' }),
      commit_message: `Step ${n}`,
      actions: actions(n),
    })
  await arrived()
  const side = (await owner.get(`${url}/repository/branches/side`)).body.commit.id
  await forge.git(['clone', '-q', (await owner.get(url)).body.http_url_to_repo, `mail${id}`], { as: author })
  await forge.git(['-C', `mail${id}`, 'push', '-q', 'origin', `${side}:refs/heads/topic`], { as: author })
  const [pushed, ...none] = await arrived()
  expect(none).toEqual([])
  expect(pushed).toMatchObject({ to: `${reviewer.username}@example.com`, subject: 'Re: Saw | Topic (!1)' })
  expect(pushed!.text).toMatch(
    new RegExp(`^${name} pushed to the merge request\\.\n\n${side.slice(0, 8)} Step 2\n.* Step 1\n.* Step 0\n\n`),
  )

  for (const note of ['One', 'Two']) expect((await reviewer.post(`${at}/draft_notes`, { note })).status).toBe(201)
  expect(await mailed(people)).toEqual({})
  await reviewer.post(`${at}/draft_notes/bulk_publish`)
  const reviews = await arrived()
  expect(reviews.map(({ to }) => to).toSorted()).toEqual(
    [author, watcher].map(({ username }) => `${username}@example.com`).toSorted(),
  )
  expect(reviews[0]!.text).toContain('reviewed the merge request:\n\nOne\n\nTwo\n\n')

  await reviewer.post(`${at}/approve`)
  expect(Object.keys(await mailed(people)).toSorted()).toEqual(['author', 'watcher'])
  await reviewer.post(`${at}/unapprove`)
  expect((await mailed(people)).author).toMatch(/^participating: .* revoked the approval of the merge request\.$/)
  await owner.put(at, { state_event: 'close' })
  expect((await mailed(people)).author).toMatch(/^participating: .* closed the merge request\.$/)
  await owner.put(at, { state_event: 'reopen' })
  expect(Object.keys(await mailed(people)).toSorted()).toEqual(['author', 'reviewer', 'watcher'])
  const sha = (await owner.get(at)).body.sha
  await owner.post(`${url}/statuses/${sha}`, { state: 'running', ref: 'topic' })
  expect(
    (await owner.put(`${at}/merge`, { merge_when_pipeline_succeeds: true })).body.merge_when_pipeline_succeeds,
  ).toBe(true)
  expect((await mailed(people)).author).toMatch(/set the merge request to auto-merge when the pipeline succeeds\.$/)
  await owner.post(`${at}/cancel_merge_when_pipeline_succeeds`)
  expect(await mailed(people)).toEqual({})
  expect((await owner.put(`${at}/merge`)).body.state).toBe('merged')
  expect(await mailed(people)).toMatchObject({
    author: expect.stringMatching(/^participating: .* merged the merge request into master\.$/),
    watcher: expect.stringMatching(/^watching: /),
  })
})

test('the user who set auto-merge and the author get a mail when the merge fails', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner, id } = source
  const people = { owner, author: await member(source, 30), watcher: await member(source, 30, 'watch') }
  await forge.seed({ id }, { 'a.txt': 'a\n' }, { as: owner })
  const { id: sha } = await forge.seed({ id }, { 'b.txt': 'b\n' }, { as: people.author, branch: 'topic' })
  const input = { source_branch: 'topic', target_branch: 'master', title: 'Topic' }
  const { iid } = (await people.author.post(`${url}/merge_requests`, input)).body
  await owner.post(`${url}/statuses/${sha}`, { state: 'running', ref: 'topic' })
  const waits = await owner.put(`${url}/merge_requests/${iid}/merge`, { merge_when_pipeline_succeeds: true })
  expect(waits.body.merge_when_pipeline_succeeds).toBe(true)
  await arrived()
  await forge.seed({ id }, { 'b.txt': 'other\n' }, { as: owner })
  const line = 'participating: The merge request could not be merged automatically.'
  expect(await mailed(people)).toEqual({ owner: line, author: line })
})

test('each custom event reaches the users who chose it, once, and nothing else does', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner, id } = source
  // Only the user who started a pipeline gets mail about it.
  const events = Object.keys(CUSTOM_EVENTS).filter((event) => !event.endsWith('_pipeline'))
  const choosers = new Map<string, string>()
  for (const event of events) {
    const { username } = await member(source, 30, 'custom', { [event]: true })
    choosers.set(`${username}@example.com`, event)
  }
  const other = await member(source, 30)
  await forge.seed({ id }, { 'a.txt': 'a\n' }, { as: owner })
  await forge.seed({ id }, { 'b.txt': 'b\n' }, { as: owner, branch: 'topic' })
  await arrived()
  const due_date = after(forge.clock, DAY).slice(0, 10)
  await owner.post(`${url}/issues`, { title: 'Issue', due_date })
  await owner.post(`${url}/issues/1/notes`, { body: 'Note' })
  for (const input of [{ assignee_ids: [other.id] }, { state_event: 'close' }, { state_event: 'reopen' }])
    await owner.put(`${url}/issues/1`, input)
  await forge.settle()
  await remindOfDueIssues.handle(forge.app, {} as never)
  const input = { source_branch: 'topic', target_branch: 'master', title: 'Topic' }
  const at = `${url}/merge_requests/${(await owner.post(`${url}/merge_requests`, input)).body.iid}`
  for (const input of [
    { assignee_ids: [other.id] },
    { reviewer_ids: [other.id] },
    { state_event: 'close' },
    { state_event: 'reopen' },
  ])
    await owner.put(at, input)
  const { id: sha } = await forge.seed({ id }, { 'c.txt': 'c\n' }, { as: owner, branch: 'topic' })
  await owner.post(`${url}/statuses/${sha}`, { state: 'running', ref: 'topic' })
  await owner.put(`${at}/merge`, { merge_when_pipeline_succeeds: true })
  expect((await owner.put(`${at}/merge`)).body.state).toBe('merged')
  await owner.post(`${url}/releases`, { tag_name: 'v1', ref: 'master' })
  await forge.settle()
  await owner.put(url, { path: 'elsewhere' })
  const got = (await arrived()).flatMap(({ to }) => choosers.get(to) ?? [])
  expect(got.toSorted()).toEqual(events.toSorted())
})

test('pipelines: the user who started one gets a mail when it fails, is fixed, and optionally when it succeeds', async () => {
  const source = await openSource(forge, 'projects')
  const { url, id, owner } = source
  const people = {
    owner,
    participant: await member(source, 30),
    watcher: await member(source, 30, 'watch'),
    chooser: await member(source, 30, 'custom', { failed_pipeline: false, success_pipeline: true }),
    silent: await member(source, 30, 'mention'),
  }
  await arrived()
  const run = async (who: Person, state: string) => {
    const { id: sha } = await forge.seed(
      { id },
      { 'a.txt': `${Math.random()}` },
      { as: who, branch: `of-${who.username}` },
    )
    await arrived()
    await who.post(`${url}/statuses/${sha}`, { state, ref: `of-${who.username}` })
    return mailed(people)
  }
  await forge.seed({ id }, { 'a.txt': 'a' }, { as: owner })
  for (const [who, of] of Object.entries({
    participant: ['failed', 'failed', 'is fixed: the pipeline succeeded after a failure', null],
    watcher: ['failed', 'failed', 'is fixed: the pipeline succeeded after a failure', null],
    chooser: [null, null, 'is fixed: the pipeline succeeded after a failure', 'succeeded'],
    silent: [null, null, null, null],
  })) {
    const person = people[who as keyof typeof people]
    for (const [n, state] of ['failed', 'failed', 'success', 'success'].entries()) {
      const found = Object.entries(await run(person, state)).map(
        ([name, line]) => `${name}: ${line.replace(/#\d+/, '#')}`,
      )
      const line = `${who}: participating: Pipeline # of of-${person.username} ${of[n]}.`
      expect([n, found]).toEqual([n, of[n] === null ? [] : [line]])
    }
  }
})

test('releases, commits, snippets, places and due days', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner, id } = source
  const people = {
    owner,
    watcher: await member(source, 30, 'watch'),
    member: await member(source, 30),
    releases: await member(source, 30, 'custom', { new_release: true, moved_project: true, issue_due: true }),
    guest: await member(source, 10, 'watch'),
  }
  const commit = await forge.seed({ id }, { 'a.txt': 'a' }, { as: owner })
  await arrived()
  const name = (await owner.get('/user')).body.name
  const created = await owner.post(`${url}/releases`, {
    tag_name: 'v1',
    ref: 'master',
    name: 'One',
    description: '*New*',
  })
  expect(created.status).toBe(201)
  const line = `watching: ${name} released One.`
  expect(await mailed(people)).toEqual({ watcher: line, releases: line })

  await owner.post(`${url}/repository/commits/${commit.id}/comments`, {
    note: `look @${people.member.username} @${people.guest.username}`,
  })
  expect(await mailed(people)).toEqual({
    watcher: `watching: ${name} commented:`,
    member: `mentioned: ${name} commented:`,
  })
  const snippet = (
    await owner.post(`${url}/snippets`, { title: 'S', file_name: 'a', content: 'b', visibility: 'private' })
  ).body
  await people.member.post(`${url}/snippets/${snippet.id}/notes`, { body: 'nice' })
  expect(Object.keys(await mailed(people)).toSorted()).toEqual(['guest', 'owner', 'watcher'])

  const due_date = after(forge.clock, DAY).slice(0, 10)
  await owner.post(`${url}/issues`, { title: 'Due', due_date })
  await owner.post(`${url}/issues`, { title: 'Later', due_date: after(forge.clock, 3 * DAY).slice(0, 10) })
  await arrived()
  for (let n = 0; n < 2; n++) await remindOfDueIssues.handle(forge.app, {} as never)
  const due = `The issue is due on ${due_date}.`
  expect(await mailed(people)).toEqual({ owner: `participating: ${due}`, releases: `watching: ${due}` })

  const other = (await owner.post('/projects', { name: 'Other', namespace_id: source.group.id })).body
  await member({ url: `/projects/${other.id}`, owner }, 30)
  await owner.post(`/projects/${other.id}/members`, { user_id: people.member.id, access_level: 20 })
  const moving = (
    await owner.post(`${url}/issues`, {
      title: 'Moving',
      description: `@${people.member.username} @${people.guest.username}`,
    })
  ).body
  await arrived()
  await owner.post(`${url}/issues/${moving.iid}/move`, { to_project_id: other.id })
  // Users who cannot see the new project get no mail.
  expect(await mailed(people)).toEqual({
    member: `participating: ${name} moved the issue to ${other.path_with_namespace}.`,
  })

  await owner.put(url, { path: 'saw2' })
  const moved = `watching: ${name} moved the project ${source.path.slice(1)}.`
  expect(await mailed(people)).toEqual({ watcher: moved, member: moved, releases: moved, guest: moved })
})

test('a whole team is mailed in small jobs, and found by as many queries as a few people', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner, id } = source
  await member(source, 20)
  const issue = (await owner.post(`${url}/issues`, { title: 'Hello @all' })).body
  await arrived()
  const reaction = reactions.find(({ event }) => event === 'issue.created')!
  const { db } = forge.app
  let jobs: number[] = []
  const tell = (source: string) =>
    forge.queries(async () => {
      const payload = { id: issue.id, project_id: id, by: owner.id }
      await reaction.handle(forge.app, payload as never, undefined, { source, at: '' })
      const queued = db.selectFrom('jobs').select('payload').where('name', '=', 'notifications.mail').orderBy('id')
      jobs = (await queued.execute()).map(({ payload }) => JSON.parse(payload).users.length)
    })
  const few = await tell('first')
  await arrived()
  const template = await db.selectFrom('users').selectAll().where('id', '=', owner.id).executeTakeFirstOrThrow()
  const { id: _id, version: _version, ...columns } = template
  const rows = Array.from({ length: 549 }, (_, n) => ({
    ...columns,
    username: `many${n}`,
    email: `many${n}@example.com`,
  }))
  for (const some of batchesOf(rows, 50)) {
    const users = await db.insertInto('users').values(some).returning('id').execute()
    const authorized = users.map(({ id: user_id }) => ({ user_id, project_id: id, access_level: 20 }))
    await db.insertInto('project_authorizations').values(authorized).execute()
  }
  const many = await tell('second')
  // One more transaction for recipients beyond the first 500.
  expect(many - few).toBeLessThanOrEqual(4)
  expect(jobs).toEqual([...Array(25).fill(20), 20, 20, 10])
  const mails = await arrived()
  expect(new Set(mails.map(({ to }) => to)).size).toBe(550)
  expect(mails).toHaveLength(550)
  expect(await tell('second')).toBeLessThanOrEqual(many)
  expect(await arrived()).toEqual([])
})
