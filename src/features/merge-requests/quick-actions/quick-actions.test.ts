import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProposals } from '../../../../test/proposals.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { loadEmoji } from '../../../lib/text/emoji.ts'
import { splitQuickActions } from '../../../lib/text/quick-actions.ts'
import { transact } from '../../../store/transact.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findRepositorySubject } from '../../repository/repositories/queries.ts'
import { findMergeRequest } from '../merge-requests/queries.ts'
import { obeyOnMergeRequest } from './service.ts'

let forge: TestForge
let owner: Person
beforeAll(async () => {
  forge = await startForge()
  owner = await forge.user()
})
afterAll(async () => forge.close())

/** Runs quick actions as a note does. */
async function order(who: Person, one: { project_id: number; iid: number }, text: string) {
  const { app } = forge
  const actor = (await findUser(app.db, who.id))!
  const parent = (await findRepositorySubject(app, String(one.project_id), actor))!
  const mergeRequest = (await findMergeRequest(app, one.project_id, one.iid, who.id))!
  const { commands } = splitQuickActions(text)
  const emoji = await loadEmoji()
  const subject = { ...parent, mergeRequest }
  const obeyed = await transact(app, (app) => obeyOnMergeRequest(app, actor, subject, commands, emoji))
  const { summary } = (await obeyed.after?.(app)) ?? obeyed
  await forge.settle()
  return summary
}

async function opened() {
  const place = await openProposals(forge, owner)
  const jane = await place.member(30)
  await owner.post(`${place.at}/labels`, { name: 'bug', color: 'red' })
  await owner.post(`${place.at}/milestones`, { title: 'v1' })
  return { ...place, jane }
}

test('a description orders what its author may, and is kept without it', async () => {
  const { propose, jane } = await opened()
  const description = `What\n/label ~bug\n/milestone %v1\n/assign @${jane.username}\n/reviewer @${jane.username}\n/draft`
  const one = await propose('Told', { description })
  expect(one).toMatchObject({
    title: 'Draft: Told',
    draft: true,
    description: 'What',
    labels: ['bug'],
    milestone: { title: 'v1' },
    assignees: [{ id: jane.id }],
    reviewers: [{ id: jane.id }],
  })
})

test.each([
  ['/close', ['Closed this merge request.'], { state: 'closed' }],
  ['/reopen', [], { state: 'opened' }],
  ['/title Better', ['Changed the title to "Better".'], { title: 'Better' }],
  ['/draft', ['Marked this merge request as a draft.'], { title: 'Draft: Mend', draft: true }],
  ['/wip', ['Marked this merge request as a draft.'], { title: 'WIP: Mend', draft: true }],
  ['/draft\n/ready', expect.anything(), { title: 'Mend', draft: false }],
  ['/label ~bug ~none', ['Added ~bug label.'], { labels: ['bug'] }],
  ['/label ~bug\n/unlabel', expect.anything(), { labels: [] }],
  ['/milestone %v1', ['Set the milestone to %"v1".'], { milestone: expect.objectContaining({ title: 'v1' }) }],
  ['/assign me', expect.anything(), { assignees: [expect.anything()] }],
  ['/assign_reviewer me', expect.anything(), { reviewers: [expect.anything()] }],
  ['/lock', ['Locked the discussion.'], { discussion_locked: true }],
  ['/estimate 1h', ['Set time estimate to 1h.'], { time_stats: expect.objectContaining({ time_estimate: 3600 }) }],
  ['/spend 2h', ['Added 2h spent time.'], { time_stats: expect.objectContaining({ total_time_spent: 7200 }) }],
  ['/award :thumbsup:', ['Toggled :thumbsup: emoji award.'], { upvotes: 1 }],
  ['/unsubscribe', ['Unsubscribed from this merge request.'], { subscribed: false }],
  ['/target_branch other', ['Set target branch to other.'], { target_branch: 'other' }],
  ['/target_branch missing', [], { target_branch: 'master' }],
  ['/merge', ['Merged this merge request.'], { state: 'merged' }],
  ['/rebase', ['Scheduled a rebase of branch branch-1.'], { state: 'opened' }],
  ['/due tomorrow', [], { state: 'opened' }],
])('%s', async (text, summary, record) => {
  const { at, propose } = await opened()
  await owner.post(`${at}/repository/branches`, { branch: 'other', ref: 'master' })
  const one = await propose('Mend')
  expect(await order(owner, one, text)).toEqual(summary)
  expect((await owner.get(one.url)).body).toMatchObject(record)
})

test('a closed one is opened again, and todos come and go', async () => {
  const { propose, jane } = await opened()
  const one = await propose('Again')
  await order(owner, one, '/close')
  expect(await order(owner, one, '/reopen')).toEqual(['Reopened this merge request.'])
  expect((await owner.get(one.url)).body.state).toBe('opened')
  await order(jane, one, '/todo')
  expect((await jane.get('/todos')).body).toHaveLength(1)
  await order(jane, one, '/done')
  expect((await jane.get('/todos')).body).toEqual([])
})

test('approvals, reviews and plans of others', async () => {
  const { at, propose, jane } = await opened()
  const issue = (await owner.post(`${at}/issues`, { title: 'Planned', labels: 'bug' })).body
  const one = await propose('Review')
  await order(owner, one, `/copy_metadata #${issue.iid}\n/assign_reviewer @${jane.username}`)
  const { body } = await owner.get(one.url)
  expect(body).toMatchObject({ labels: ['bug'], reviewers: [{ id: jane.id }] })
  expect((await jane.get('/todos')).body).toMatchObject([{ action_name: 'review_requested' }])
  expect(await order(jane, one, '/approve')).toEqual(['Approved the current merge request.'])
  expect((await jane.get('/todos')).body).toEqual([])
  expect(await order(jane, one, '/approve')).toEqual([])
  await order(owner, one, `/request_review @${jane.username}`)
  expect((await jane.get('/todos')).body).toMatchObject([{ action_name: 'review_requested' }])
  expect(await order(jane, one, '/unapprove')).toEqual(['Unapproved the current merge request.'])
  expect(await order(owner, one, '/unassign_reviewer')).toEqual(['Removed all reviewers.'])
  const other = await propose('Other')
  await order(owner, other, `/copy_metadata !${one.iid}`)
  expect((await owner.get(other.url)).body.labels).toEqual(['bug'])
})

test.each(['/label ~bug', '/assign me', '/merge', '/approve', '/lock', '/estimate 1h', '/milestone %v1'])(
  'a reporter who is its assignee does not order %s',
  async (text) => {
    const { propose, member } = await opened()
    const joe = await member(20)
    const one = await propose('Kept', { assignee_ids: [joe.id] })
    const before = (await owner.get(one.url)).body
    expect(await order(joe, one, text)).toEqual([])
    expect((await owner.get(one.url)).body).toEqual(before)
  },
)

test('a branch for an issue is proposed with its plan', async () => {
  const { at } = await opened()
  const issue = (await owner.post(`${at}/issues`, { title: 'The mill jams', labels: 'bug' })).body
  const answer = await owner.post(`${at}/issues/${issue.iid}/notes`, { body: '/create_merge_request' })
  expect(answer.status).toBeLessThan(300)
  await forge.settle()
  expect((await owner.get(`${at}/merge_requests/1`)).body).toMatchObject({
    title: 'Draft: Resolve "The mill jams"',
    source_branch: `${issue.iid}-the-mill-jams`,
    target_branch: 'master',
    description: `Closes #${issue.iid}`,
    labels: ['bug'],
    assignees: [{ id: owner.id }],
  })
  expect((await owner.get(`${at}/issues/${issue.iid}/closed_by`)).body).toHaveLength(1)
})
