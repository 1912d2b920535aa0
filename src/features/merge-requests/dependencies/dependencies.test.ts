import { expect, test } from 'vitest'
import { whileLocked } from '../../../../test/at-once.ts'
import { startForge } from '../../../forge.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findMergeRequests } from '../merge-requests/queries.ts'
import { addBlock } from './service.ts'

test('what another blocks is not merged before it', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  const [one, two, three] = [
    await forge.mergeRequest(project, {}, jane),
    await forge.mergeRequest(project, {}, jane),
    await forge.mergeRequest(project, {}, jane),
  ]
  const url = (iid: number) => `/projects/${project.id}/merge_requests/${iid}`
  const wait = (iid: number, id: number) => jane.post(`${url(iid)}/blocks`, { blocking_merge_request_id: id })
  const made = await wait(two.iid, one.id)
  expect(made).toMatchObject({
    status: 201,
    body: { blocking_merge_request: { id: one.id }, blocked_merge_request: { id: two.id } },
  })
  expect((await wait(three.iid, two.id)).status).toBe(201)
  expect(await wait(two.iid, one.id)).toMatchObject({ status: 409, body: { message: 'Block already exists' } })
  for (const [iid, id] of [
    [one.iid, one.id],
    [one.iid, two.id],
    [one.iid, three.id],
  ] as const) {
    expect((await wait(iid, id)).status).toBe(400)
  }
  // An invisible merge request cannot be a dependency.
  const hidden = await forge.mergeRequest(await forge.project({}, await forge.user()))
  expect((await wait(one.iid, hidden.id)).status).toBe(404)
  expect((await jane.get(`${url(one.iid)}/blockees`)).body).toMatchObject([{ id: made.body.id }])

  expect((await jane.get(url(two.iid))).body.detailed_merge_status).toBe('merge_request_blocked')
  expect(await jane.put(`${url(two.iid)}/merge`)).toMatchObject({ status: 405 })
  expect((await jane.get(url(two.iid))).body.state).toBe('opened')
  expect((await jane.put(`${url(one.iid)}/merge`)).body.state).toBe('merged')
  expect((await jane.put(`${url(two.iid)}/merge`)).body.state).toBe('merged')
  const [left] = (await jane.get(`${url(three.iid)}/blocks`)).body
  expect((await jane.delete(`${url(three.iid)}/blocks/${left.id}`)).status).toBe(204)
  expect((await jane.get(`${url(three.iid)}/blocks`)).body).toEqual([])
})

test('of two that would block each other at the same moment, one does', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  const one = await forge.mergeRequest(project, {}, jane)
  const two = await forge.mergeRequest(project, {}, jane)
  const url = (iid: number) => `/projects/${project.id}/merge_requests/${iid}/blocks`
  const { db } = forge.app
  const actor = (await findUser(db, jane.id))!
  const [row] = await findMergeRequests(db, [two.id])
  const second = await whileLocked(
    forge,
    (first) => addBlock(first, actor, row!, one.id),
    () => jane.post(url(one.iid), { blocking_merge_request_id: two.id }),
  )
  expect(second).toMatchObject({ status: 400, body: { message: 'Merge requests cannot block each other' } })
  expect((await jane.get(url(one.iid))).body).toEqual([])
  expect((await jane.get(url(two.iid))).body).toHaveLength(1)
})
