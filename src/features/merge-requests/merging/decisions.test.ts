import { expect, test } from 'vitest'
import { whileLocked } from '../../../../test/at-once.ts'
import { startForge } from '../../../forge.ts'
import { openProposals } from '../../../../test/proposals.ts'
import type { App } from '../../../context.ts'
import { findMember } from '../../access/members/queries.ts'
import { removeMember } from '../../access/members/service.ts'
import { lockMergeRequest } from '../merge-requests/service.ts'

interface Made {
  readonly id: number
  readonly sha: string
}

/** Changes that block a merge, committed while it runs. All of the state exists before and allows the merge. */
const BARS: [string, (app: App, made: Made) => Promise<unknown>][] = [
  [
    'a failed pipeline',
    ({ db }, { sha }) => db.updateTable('pipelines').set({ status: 'failed' }).where('sha', '=', sha).execute(),
  ],
  [
    'an open thread',
    ({ db }, { id }) =>
      db
        .updateTable('notes')
        .set({ resolved_at: null, resolved_by_id: null })
        .where('merge_request_id', '=', id)
        .execute(),
  ],
  [
    'an approval taken back',
    ({ db }, { id }) => db.deleteFrom('merge_request_approvals').where('merge_request_id', '=', id).execute(),
  ],
  [
    'changes asked for',
    ({ db }, { id }) =>
      db
        .updateTable('merge_request_reviewers')
        .set({ state: 'requested_changes' })
        .where('merge_request_id', '=', id)
        .execute(),
  ],
]

test('what speaks against merging when the row is locked stops it, however late it came', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const { project, propose, member, at } = await openProposals(forge, owner, {
    only_allow_merge_if_pipeline_succeeds: true,
    only_allow_merge_if_all_discussions_are_resolved: true,
  })
  const john = await member(40)
  await owner.post(`${at}/approvals`, { approvals_before_merge: 1 })
  const tip = async () => (await owner.get(`${at}/repository/branches/master`)).body.commit.id
  for (const [what, bar] of [...BARS, ['nothing', async () => {}] as const]) {
    const one = await propose(what, { reviewer_ids: [john.id] })
    await owner.post(`/projects/${project.id}/statuses/${one.sha}`, { state: 'success' })
    const thread = await owner.post(`${one.url}/discussions`, { body: 'Hm' })
    await owner.put(`${one.url}/discussions/${thread.body.id}`, { resolved: true })
    expect((await john.post(`${one.url}/approve`)).status).toBe(200)
    expect([what, (await owner.get(`${one.url}/mergeability`)).body.mergeable]).toEqual([what, true])
    const before = await tip()
    const { status, body } = await whileLocked(
      forge,
      async (app) => {
        await lockMergeRequest(app, one.id)
        await bar(app, one)
      },
      () => owner.put(`${one.url}/merge`),
    )
    const isMerged = what === 'nothing'
    expect([what, status, body.message]).toEqual(
      isMerged ? [what, 200, undefined] : [what, 405, '405 Method Not Allowed'],
    )
    expect([what, (await tip()) !== before]).toEqual([what, isMerged])
    expect((await owner.get(one.url)).body.state).toBe(isMerged ? 'merged' : 'opened')
  }
  expect(await forge.app.db.selectFrom('pending_changes').selectAll().execute()).toEqual([])
})

test('who loses the right to merge before the row is locked does not merge', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const { project, propose, member, at } = await openProposals(forge, owner, { visibility: 'public' })
  const john = await member(40)
  const one = await propose('late')
  expect((await owner.get(`${one.url}/mergeability`)).body.mergeable).toBe(true)
  const place = { group_id: null, project_id: project.id }
  const { status } = await whileLocked(
    forge,
    async (app) => {
      await lockMergeRequest(app, one.id)
      await removeMember(app, (await findMember(app.db, place, john.id))!, owner.id)
    },
    () => john.put(`${one.url}/merge`),
  )
  expect(status).toBe(401)
  expect((await owner.get(one.url)).body).toMatchObject({ state: 'opened', merge_error: null })
  expect((await owner.get(`${at}/repository/commits`)).body).toHaveLength(1)
})
