import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { crewOf, type Crew } from '../../../../test/crew.ts'
import { temporaryFolder } from '../../../../test/git-origin.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

let forge: TestForge

beforeAll(async () => void (forge = await startForge()))
afterAll(async () => forge.close())

async function notesOf(url: string, by: Person): Promise<string[]> {
  await forge.settle()
  const notes = (await by.get(`${url}/notes`, { sort: 'asc' })).body
  return notes.filter(({ system }: { system: boolean }) => system).map(({ body }: { body: string }) => body)
}

test('what an issue or a note names is told once', async () => {
  const { issue, owner } = await crewOf(forge)
  const [first, second] = [await issue(), await issue({ description: 'After #1, as `#1`' })]
  expect(await notesOf(first, owner)).toEqual(['mentioned in issue #2'])
  await owner.post(`${second}/notes`, { body: 'Again #1' })
  await owner.put(second, { description: 'Still #1 and #2' })
  expect(await notesOf(first, owner)).toEqual(['mentioned in issue #2'])
  const { body: note } = await owner.post(`${first}/notes`, { body: 'Nothing' })
  await owner.put(`${first}/notes/${note.id}`, { body: 'See #2' })
  expect((await notesOf(second, owner)).filter((body) => body.startsWith('mentioned'))).toEqual([
    'mentioned in issue #1',
  ])
})

test('references from other projects are hidden from viewers without access', async () => {
  const [here, there] = [await crewOf(forge, { visibility: 'public' }), await crewOf(forge)]
  const url = await here.issue()
  await there.issue({ description: `See ${here.path}#1` })
  await here.issue({ description: 'See #1', confidential: true })
  const body = `mentioned in issue ${there.path}#1`
  expect(await notesOf(url, there.owner)).toEqual([body])
  expect(await notesOf(url, here.owner)).toEqual(['mentioned in issue #2'])
  expect(await notesOf(url, here.people.guest)).toEqual([])
  const [note] = (await there.owner.get(`${url}/notes`)).body
  expect((await here.owner.get(`${url}/notes/${note.id}`)).status).toBe(404)
  expect((await here.people.guest.get(`${url}/discussions`)).body).toEqual([])
})

test('what is internal, or not for the writer to see, is not told', async () => {
  const [here, there] = [await crewOf(forge), await crewOf(forge)]
  const [first, second, hidden] = [await here.issue(), await here.issue(), await there.issue()]
  await here.owner.post(`${second}/notes`, { body: 'Between us: #1', internal: true })
  await here.owner.post(`${second}/notes`, { body: `${there.path}#1` })
  expect(await notesOf(first, here.owner)).toEqual([])
  expect(await notesOf(hidden, there.owner)).toEqual([])
})

test('who is named is kept, and told once', async () => {
  const { id, issue, owner, people } = await crewOf(forge)
  const { username } = (await people.guest.get('/user')).body
  const url = await issue({ description: `Hello @${username}` })
  await forge.settle()
  const mentioned = async () => {
    await forge.settle()
    return forge.app.db.selectFrom('text_mentions').select('user_id').where('source_project_id', '=', id).execute()
  }
  expect(await mentioned()).toEqual([{ user_id: people.guest.id }])
  const count = async () => (await forge.events()).filter((name) => name === 'text.mentioned').length
  const before = await count()
  await owner.put(url, { description: `Hello again @${username}` })
  expect(await mentioned()).toHaveLength(1)
  expect(await count()).toBe(before)
  await owner.put(url, { description: 'Hello' })
  expect(await mentioned()).toEqual([])
})

test('groups and the team are kept as they are named, and those in them take part', async () => {
  const crew = await crewOf(forge, { visibility: 'public' })
  const { id, issue, owner, people } = crew
  const [member, outsider] = [await forge.user(), await forge.user()]
  const group = await forge.group({ visibility: 'private' }, owner)
  for (const user of [people.guest, member])
    await owner.post(`/groups/${group.id}/members`, { user_id: user.id, access_level: 20 })
  const url = await issue({ description: `For @${group.full_path}` })
  const hidden = await issue({ description: `For @${group.full_path}` }, outsider)
  const rows = async () => {
    await forge.settle()
    const found = await forge.app.db
      .selectFrom('text_group_mentions')
      .select('group_id')
      .where('source_project_id', '=', id)
      .execute()
    return found.map(({ group_id }) => group_id)
  }
  // A mention of a group that the author cannot see is not stored.
  expect(await rows()).toEqual([group.id])
  const takePart = async (at: string) =>
    new Set<number>((await forge.visitor.get(`${at}/participants`)).body.map((user: { id: number }) => user.id))
  const subscribed = async (by: Person, at = url) => (await by.get(at)).body.subscribed
  // Members of a private group outside the project are not listed.
  expect(await takePart(url)).toEqual(new Set([owner.id, people.guest.id]))
  expect([await subscribed(member), await subscribed(people.guest), await subscribed(people.reporter)]).toEqual([
    true,
    true,
    false,
  ])
  expect(await takePart(hidden)).toEqual(new Set([outsider.id]))

  await owner.put(url, { description: 'For @all' })
  expect(await rows()).toEqual([null])
  expect(await takePart(url)).toEqual(new Set([owner.id, ...Object.values(people).map((one) => one.id)]))
  expect([await subscribed(member), await subscribed(people.reporter)]).toEqual([false, true])
  await outsider.put(hidden, { description: 'For @all' })
  expect(await rows()).toEqual([null])
  await owner.put(url, { description: 'For nobody' })
  expect(await rows()).toEqual([])
})

async function commit(crew: Crew, by: Person, branch: string, message: string): Promise<string> {
  const { status, body } = await by.post(`/projects/${crew.id}/repository/commits`, {
    branch,
    ...(branch !== 'master' && { start_branch: 'master' }),
    commit_message: message,
    actions: [{ action: 'create', file_path: `${Math.random()}.txt`, content: 'x' }],
  })
  expect(status).toBe(201)
  return body.id
}

test('a commit names issues, and on the default branch it closes them', async () => {
  const crew = await crewOf(forge)
  const { issue, owner, people } = crew
  await fillProject(forge, crew.id)
  const [first, second] = [await issue(), await issue()]
  const aside = await commit(crew, owner, 'aside', 'Closes #1')
  expect(await notesOf(first, owner)).toEqual([`mentioned in commit ${aside}`])
  expect((await owner.get(first)).body.state).toBe('opened')
  const sha = await commit(crew, people.master, 'master', 'Fixes #2, about #1')
  expect(await notesOf(second, owner)).toEqual([`closed via commit ${sha}`])
  expect((await owner.get(second)).body).toMatchObject({ state: 'closed', closed_by: { id: people.master.id } })
  expect(await notesOf(first, owner)).toEqual([`mentioned in commit ${aside}`, `mentioned in commit ${sha}`])
})

test('who may not change an issue does not close it by a commit', async () => {
  const [here, there] = [await crewOf(forge), await crewOf(forge, { visibility: 'public' })]
  await fillProject(forge, here.id)
  const url = await there.issue()
  const sha = await commit(here, here.owner, 'master', `Closes ${there.path}#1`)
  await forge.settle()
  expect((await there.owner.get(url)).body.state).toBe('opened')
  expect(await notesOf(url, here.owner)).toEqual([`mentioned in commit ${here.path}@${sha}`])
  expect(await notesOf(url, there.owner)).toEqual([])
})

test('where an issue went, what it repeats, relates to and was closed by is hidden likewise', async () => {
  const [here, there] = [await crewOf(forge, { visibility: 'public' }), await crewOf(forge)]
  const { owner, id, path } = here
  const { guest, master } = here.people
  await owner.post(`/projects/${id}/members`, { user_id: there.owner.id, access_level: 40 })
  await fillProject(forge, there.id)
  const [first, second, other] = [await here.issue(), await here.issue(), await there.issue()]
  await there.owner.post(`${first}/links`, { target_project_id: there.id, target_issue_iid: 1 })
  await there.owner.post(`${first}/notes`, { body: `/duplicate ${there.path}#1` })
  await there.owner.put(first, { state_event: 'reopen' })
  const closing = await commit(there, there.owner, 'master', `Closes ${path}#1`)
  await forge.settle()
  await there.owner.post(`${first}/clone`, { to_project_id: there.id })
  await there.owner.post(`${second}/move`, { to_project_id: there.id })

  expect(await notesOf(first, there.owner)).toEqual([
    `marked this issue as related to ${there.path}#1`,
    `marked this issue as a duplicate of ${there.path}#1`,
    'closed',
    'reopened',
    `closed via commit ${there.path}@${closing}`,
    `cloned to ${there.path}#2`,
  ])
  for (const one of [owner, master, guest]) expect(await notesOf(first, one)).toEqual(['closed', 'reopened'])
  expect(await notesOf(second, there.owner)).toEqual([`moved to ${there.path}#3`])
  expect(await notesOf(second, guest)).toEqual([])
  expect((await guest.get(`${second}/discussions`)).body).toEqual([])
  expect(await notesOf(other, there.people.guest)).toEqual([
    `marked this issue as related to ${path}#1`,
    `marked ${path}#1 as a duplicate of this issue`,
  ])
})

test('nothing is told to what is archived', async () => {
  const [here, there] = [await crewOf(forge, { visibility: 'public' }), await crewOf(forge)]
  await fillProject(forge, there.id)
  const [url, other] = [await here.issue(), await there.issue()]
  await here.owner.post(`/projects/${here.id}/archive`)
  const { body: before } = await here.owner.get(url)
  await there.owner.put(other, { description: `See ${here.path}#1` })
  await commit(there, there.owner, 'master', `Closes ${here.path}#1`)
  const answer = await there.owner.post(`${other}/notes`, { body: `/duplicate ${here.path}#1` })
  expect(answer).toMatchObject({ status: 202, body: { commands_changes: {}, summary: [] } })
  expect(await notesOf(url, there.owner)).toEqual([])
  expect((await here.owner.get(url)).body).toEqual(before)
  expect((await there.owner.get(other)).body.state).toBe('opened')
})

test('what a fork takes over from its source is not told again, what is its own is', async () => {
  const crew = await crewOf(forge, { visibility: 'public' })
  const { id, path, issue, owner } = crew
  await fillProject(forge, id)
  const url = await issue()
  const jane = await forge.user()
  const { body: fork } = await jane.post(`/projects/${id}/fork`)
  await forge.settle()
  const sha = await commit(crew, owner, 'master', `See ${path}#1`)
  await using folder = await temporaryFolder()
  const git = (...args: string[]) => forge.git(args, { as: jane, cwd: folder.path })
  await git('clone', '-q', `${forge.url}/${path}.git`, 'work')
  await git('-C', 'work', 'push', '-q', `${forge.url}/${fork.path_with_namespace}.git`, 'HEAD:refs/heads/master')
  expect(await notesOf(url, owner)).toEqual([`mentioned in commit ${sha}`])
  const { body: own } = await jane.post(`/projects/${fork.id}/repository/commits`, {
    branch: 'master',
    commit_message: `Mine, for ${path}#1`,
    actions: [{ action: 'create', file_path: 'mine.txt', content: 'mine' }],
  })
  expect(await notesOf(url, jane)).toEqual([
    `mentioned in commit ${sha}`,
    `mentioned in commit ${fork.path_with_namespace}@${own.id}`,
  ])
})
