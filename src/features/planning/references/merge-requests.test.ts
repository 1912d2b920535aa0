import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProposals } from '../../../../test/proposals.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { withoutHidden } from '../../planning/references/hidden.ts'
import { findUser } from '../../identity/users/queries.ts'

let forge: TestForge
let owner: Person
beforeAll(async () => {
  forge = await startForge()
  owner = await forge.user()
})
afterAll(async () => forge.close())

/** The cross-reference notes of a merge request that a user sees. */
async function notesFor(id: number, who: Person): Promise<string[]> {
  await forge.settle()
  const { app } = forge
  const notes = await app.db
    .selectFrom('notes')
    .selectAll()
    .where('merge_request_id', '=', id)
    .where('action', '=', 'cross_reference')
    .orderBy('id')
    .execute()
  return (await withoutHidden(app, await findUser(app.db, who.id), notes)).map(({ body }) => body)
}

async function notesOfIssue(who: Person, url: string): Promise<string[]> {
  await forge.settle()
  const { body } = await who.get(`${url}/notes`, { sort: 'asc' })
  return (body as { system: boolean; body: string }[])
    .filter(({ body }) => body.startsWith('mentioned in'))
    .map(({ body }) => body)
}

test('merge requests, issues and commits that name each other are told so, once', async () => {
  const { project, at, propose } = await openProposals(forge, owner)
  const issue = (await owner.post(`${at}/issues`, { title: 'Broken' })).body
  const one = await propose('Mend it', { description: `See #${issue.iid}` })
  const other = await propose('Other', { description: `After !${one.iid} and ${one.web_url}` })
  await owner.put(one.url, { description: `See #${issue.iid} again` })
  await owner.put(`${at}/issues/${issue.iid}`, { description: `In ${project.path_with_namespace}!${one.iid}` })
  const commit = await forge.seed(project, { 'c.txt': 'c\n' }, { as: owner, message: `As in !${one.iid}` })
  expect(await notesFor(one.id, owner)).toEqual([
    `mentioned in merge request !${other.iid}`,
    `mentioned in issue #${issue.iid}`,
    `mentioned in commit ${commit.id}`,
  ])
  expect(await notesOfIssue(owner, `${at}/issues/${issue.iid}`)).toEqual([`mentioned in merge request !${one.iid}`])
  const related = await owner.get(`${at}/issues/${issue.iid}/related_merge_requests`)
  expect(related.body.map(({ iid }: { iid: number }) => iid)).toEqual([one.iid])
  // A mention of the merge request's own commits adds no note.
  await owner.put(other.url, { description: `It is ${other.sha}` })
  await forge.settle()
  const ofCommit = await forge.app.db.selectFrom('notes').select('id').where('commit_sha', '=', other.sha).execute()
  expect(ofCommit).toEqual([])
})

test('what a reader may not see is told to nobody but those who may', async () => {
  const open = await openProposals(forge, owner, { visibility: 'public' })
  const closed = await openProposals(forge, owner)
  const stranger = await forge.user()
  const issue = (await owner.post(`${open.at}/issues`, { title: 'Open' })).body
  const hidden = (await owner.post(`${open.at}/issues`, { title: 'Secret', confidential: true })).body
  const one = await open.propose('Open too')
  const secret = await closed.propose('Hidden', {
    description: `${open.project.path_with_namespace}#${issue.iid} ${one.web_url}`,
  })
  await owner.put(`${open.at}/issues/${hidden.iid}`, { description: `!${one.iid}` })
  const path = `${closed.project.path_with_namespace}!${secret.iid}`
  const issueUrl = `${open.at}/issues/${issue.iid}`
  expect(await notesOfIssue(owner, issueUrl)).toEqual([`mentioned in merge request ${path}`])
  expect(await notesOfIssue(stranger, issueUrl)).toEqual([])
  expect(await notesFor(one.id, owner)).toEqual([
    `mentioned in merge request ${path}`,
    `mentioned in issue #${hidden.iid}`,
  ])
  expect(await notesFor(one.id, stranger)).toEqual([])
  expect((await stranger.get(`${issueUrl}/related_merge_requests`)).body).toEqual([])
  expect((await owner.get(`${issueUrl}/related_merge_requests`)).body).toHaveLength(1)

  // An author cannot reference records they may not see.
  await stranger.post(`${open.at}/issues`, { title: 'Guess', description: path })
  await forge.settle()
  expect(await notesFor(secret.id, owner)).toEqual([])

  const render = async (who: Person, text: string) =>
    (await who.post('/markdown', { text, gfm: true, project: open.project.path_with_namespace })).body.html as string
  expect(await render(stranger, `!${one.iid}`)).toContain(`href="${one.web_url}"`)
  expect(await render(owner, path)).toContain(`href="${secret.web_url}"`)
  expect(await render(stranger, path)).not.toContain('href')
})

test('people that its texts name take part in it', async () => {
  const { propose, member } = await openProposals(forge, owner)
  const jane = await member(30)
  const one = await propose('Named', { description: `for @${jane.username}` })
  await forge.settle()
  const names = (await owner.get(`${one.url}/participants`)).body.map(({ id }: { id: number }) => id)
  expect(names).toEqual([owner.id, jane.id])
})

test('what happens to merge requests is an activity, which goes with them', async () => {
  const { at, propose, member } = await openProposals(forge, owner)
  const guest = await member(10)
  const one = await propose('Active')
  await owner.put(one.url, { state_event: 'close' })
  await owner.put(one.url, { state_event: 'reopen' })
  expect((await owner.put(`${one.url}/merge`)).status).toBe(200)
  await forge.settle()
  const events = async (who: Person, query = {}) =>
    (await who.get(`${at}/events`, { target_type: 'merge_request', ...query })).body as { action_name: string }[]
  expect((await events(owner)).map(({ action_name }) => action_name)).toEqual([
    'accepted',
    'opened',
    'closed',
    'opened',
  ])
  expect((await events(owner, { action: 'merged' }))[0]).toMatchObject({
    target_id: one.id,
    target_iid: one.iid,
    target_type: 'MergeRequest',
    target_title: 'Active',
  })
  expect(await events(guest)).toEqual([])
  await owner.delete(one.url)
  expect(await events(owner)).toEqual([])
})
