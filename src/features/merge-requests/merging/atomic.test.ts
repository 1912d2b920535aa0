/** A change and its event or note are stored together, or neither is. The store rejects the second of the two. */
import { expect, test } from 'vitest'
import { whileRejected } from '../../../../test/at-once.ts'
import { HOUR } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'

async function proposed(forge: TestForge) {
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  await forge.seed(project, { 'a.txt': 'one\n' }, { as: jane })
  const { iid, sha } = await forge.mergeRequest(
    project,
    { source_branch: 'feature', files: { 'a.txt': 'two\n' } },
    jane,
  )
  const at = `/projects/${project.id}`
  const url = `${at}/merge_requests/${iid}`
  const autoMerge = async () => {
    await jane.post(`${at}/statuses/${sha}`, { state: 'running' })
    return jane.put(`${url}/merge`, { merge_when_pipeline_succeeds: true })
  }
  return { jane, project, at, url, sha, autoMerge }
}

const unmergeable = async (forge: TestForge) =>
  (await forge.events()).filter((name) => name === 'merge_request.unmergeable').length
const UNMERGEABLE = `new.name = 'merge_request.unmergeable'`

/** Failed jobs are retried. */
async function settleLater(forge: TestForge) {
  forge.clock.advance(HOUR)
  await forge.settle()
}

test('why an automatic merge failed is stored with its event', async () => {
  await using forge = await startForge()
  const { jane, at, url, sha, autoMerge } = await proposed(forge)
  expect(await autoMerge()).toMatchObject({ status: 200, body: { merge_when_pipeline_succeeds: true } })
  await jane.put(url, { title: 'Draft: later' })
  const error = async () => (await jane.get(url)).body.merge_error
  await whileRejected(forge, 'insert on events', UNMERGEABLE, async () => {
    await jane.post(`${at}/statuses/${sha}`, { state: 'success' })
    await forge.settle()
    expect(await error()).toBeNull()
  })
  await settleLater(forge)
  expect([await error(), await unmergeable(forge)]).toEqual([expect.any(String), 1])
})

test('a conflict that a read finds is stored with its event', async () => {
  await using forge = await startForge()
  const { jane, project, url, autoMerge } = await proposed(forge)
  await autoMerge()
  await whileRejected(forge, 'insert on events', UNMERGEABLE, async () => {
    await forge.seed(project, { 'a.txt': 'three\n' }, { as: jane })
    expect((await jane.get(url)).status).toBe(500)
  })
  expect((await jane.get(url)).body).toMatchObject({ merge_status: 'cannot_be_merged', has_conflicts: true })
  await settleLater(forge)
  expect(await unmergeable(forge)).toBe(1)
})

test('a deleted and a restored source branch are stored with their notes', async () => {
  await using forge = await startForge()
  const { jane, at, url, sha } = await proposed(forge)
  const bodies = async () => {
    const notes: { body: string }[] = (await jane.get(`${url}/notes`, { sort: 'asc' })).body
    return notes.map(({ body }) => body).filter((body) => body.includes('source branch'))
  }
  const followed = async (change: () => Promise<unknown>) => {
    await whileRejected(forge, 'insert on notes', 'new.system', async () => {
      await change()
      await forge.settle()
    })
    await settleLater(forge)
    return bodies()
  }
  const deleted = 'deleted source branch `feature`'
  expect(await followed(() => jane.delete(`${at}/repository/branches/feature`))).toEqual([deleted])
  const restore = () => jane.post(`${at}/repository/branches`, { branch: 'feature', ref: sha })
  expect(await followed(restore)).toEqual([deleted, 'restored source branch `feature`'])
})
