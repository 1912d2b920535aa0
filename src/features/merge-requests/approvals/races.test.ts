import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { proposed } from '../../../../test/approvals.ts'
import { startForge, type Reply, type TestForge } from '../../../forge.ts'

const ROUNDS = 4

/** Runs calls in parallel so that all have read before any can write, where the store allows one writer at a time. */
async function atOnce(forge: TestForge, ...calls: (() => Promise<Reply>)[]): Promise<number[]> {
  const held = await forge.app.db.transaction().execute(async () => {
    const started = Promise.all(calls.map((call) => call()))
    await setTimeout(20)
    return { started } // wrapped in an object, since the calls end only after this transaction
  })
  return (await held.started).map(({ status }) => status)
}

test('approve beside push never approves what was not seen', async () => {
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
    const late = async <T>(work: () => Promise<T>) => setTimeout(2 * round).then(work)
    const [approved, pushed] = await atOnce(
      forge,
      () => late(() => john.post(`${one.url}/approve`, { sha: one.sha })),
      push,
    )
    expect(pushed).toBe(201)
    expect([200, 409]).toContain(approved)
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
  const { started } = await forge.app.db.transaction().execute(async (db) => {
    await db.updateTable('merge_requests').set(change).where('id', '=', one.id).execute()
    const started = john.post(`${url}/approve`)
    await setTimeout(500) // until the call waits for the row lock
    return { started }
  })
  expect((await started).status).toBe(status)
  expect(await forge.app.db.selectFrom('merge_request_approvals').selectAll().execute()).toEqual([])
})

test('accept beside approve and push merges only what was approved', async () => {
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
    const codes = await atOnce(forge, ...(round % 2 ? calls : calls.toReversed()))
    const [unapproved, merged] = round % 2 ? codes : codes.toReversed()
    expect([
      [200, 405],
      [401, 200],
    ]).toContainEqual([unapproved, merged])
  }
})

test('of two approvals of one person one is given', async () => {
  await using forge = await startForge()
  const { jane, john, url } = await proposed(forge, 2)
  const approve = () => john.post(`${url}/approve`)
  expect((await atOnce(forge, approve, approve)).toSorted((a, b) => a - b)).toEqual([200, 401])
  expect((await jane.get(`${url}/approvals`)).body).toMatchObject({ approvals_left: 1 })
})
