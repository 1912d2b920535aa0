import { expect, test } from 'vitest'
import { proposed } from '../../../../test/approvals.ts'
import { atOnce, whileLocked } from '../../../../test/at-once.ts'
import { startForge } from '../../../forge.ts'

const ROUNDS = 4

test('approve atStep push never approves what was not seen', async () => {
  await using forge = await startForge()
  const { jane, john, root, propose } = await proposed(forge)
  for (let round = 0; round < ROUNDS; round++) {
    const branch = `race${round}`
    const one = await propose(branch, { [`${branch}.txt`]: 'harmless' })
    const push = () =>
      jane.post(`${root}/repository/commits`, {
        branch,
        commit_message: 'Slip in',
        actions: [{ action: 'update', file_path: `${branch}.txt`, content: 'harmful' }],
      })
    const approve = () => john.post(`${one.url}/approve`, { sha: one.sha })
    const statuses = (await atOnce(forge, approve, push)).map(({ status }) => status)
    // The push succeeds, and the approval does or does not.
    expect([
      [200, 201],
      [201, 409],
    ]).toContainEqual(statuses)
    const now = (await jane.get(one.url)).body
    const { approvals_left, approved_by } = (await jane.get(`${one.url}/approvals`)).body
    expect([now.sha !== one.sha, approvals_left, approved_by]).toEqual([true, 1, []])
  }
})

test.each([
  ['got another head', { head_sha: '1'.repeat(40) }, 409],
  ['goes elsewhere', { target_branch: 'elsewhere' }, 409],
  ['is being merged', { state: 'locked' as const }, 401],
  ['was closed', { state: 'closed' as const }, 401],
])('what %s between looking and approving is not approved', async (_what, change, status) => {
  await using forge = await startForge()
  const { john, one, url } = await proposed(forge)
  const answer = await whileLocked(
    forge,
    ({ db }) => db.updateTable('merge_requests').set(change).where('id', '=', one.id).execute(),
    () => john.post(`${url}/approve`),
  )
  expect(answer.status).toBe(status)
  expect(await forge.app.db.selectFrom('merge_request_approvals').selectAll().execute()).toEqual([])
})

test('accept atStep approve and push merges only what was approved', async () => {
  await using forge = await startForge()
  const { jane, john, root, propose } = await proposed(forge)
  for (let round = 0; round < ROUNDS; round++) {
    const branch = `race${round}`
    const one = await propose(branch, { [`${branch}.txt`]: 'harmless' })
    const push = () =>
      jane.post(`${root}/repository/commits`, {
        branch,
        commit_message: 'Slip in',
        actions: [{ action: 'update', file_path: `${branch}.txt`, content: 'harmful' }],
      })
    const accept = () => jane.put(`${one.url}/merge`)
    await atOnce(forge, () => john.post(`${one.url}/approve`, { sha: one.sha }), accept, push, accept)
    await Promise.all([accept(), accept()])
    const now = (await jane.get(one.url)).body
    const file = await jane.get(`${root}/repository/files/${branch}.txt/raw`, { ref: 'master' })
    expect(file.body).not.toBe('harmful')
    expect([now.state, file.status]).toEqual(now.state === 'merged' ? ['merged', 200] : ['opened', 404])
  }
})

test('an approval is not both taken back and merged upon', async () => {
  await using forge = await startForge()
  const { jane, john, propose } = await proposed(forge)
  for (let round = 0; round < ROUNDS; round++) {
    const one = await propose(`race${round}`, { [`race${round}.txt`]: 'x' })
    expect((await john.post(`${one.url}/approve`)).status).toBe(200)
    const calls = [() => john.post(`${one.url}/unapprove`), () => jane.put(`${one.url}/merge`)]
    const statuses = await atOnce(forge, ...(round % 2 ? calls : calls.toReversed()))
    // One of them succeeds: 405 is the answer to the merge, 401 to the other call.
    expect([
      [200, 405],
      [200, 401],
    ]).toContainEqual(statuses.map(({ status }) => status))
  }
})

test('of two approvals of one person one is given', async () => {
  await using forge = await startForge()
  const { jane, john, url } = await proposed(forge, 2)
  const approve = () => john.post(`${url}/approve`)
  expect((await atOnce(forge, approve, approve)).map(({ status }) => status)).toEqual([200, 401])
  expect((await jane.get(`${url}/approvals`)).body).toMatchObject({ approvals_left: 1 })
})
