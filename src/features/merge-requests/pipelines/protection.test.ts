/** Protected variables and runners in merge request pipelines, and who may run these. */
import { expect, test } from 'vitest'
import { registerRunner } from '../../../../test/runners.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const ASKED = 'if: $CI_PIPELINE_SOURCE == "merge_request_event"'
const REVIEW = `
review: { script: x, rules: [{ ${ASKED} }] }
ship: { script: x, rules: [{ ${ASKED}, when: manual }] }
`

/** A merge request from the protected branch into another one, whose CI configuration a Developer wrote. */
async function reversed(forge: TestForge) {
  const [jane, joe] = [await forge.user(), await forge.user()]
  const project = await forge.project({}, jane)
  const at = `/projects/${project.id}`
  await jane.put(at, { merge_pipelines_enabled: true })
  await jane.post(`${at}/members`, { user_id: joe.id, access_level: 30 })
  await jane.post(`${at}/variables`, { key: 'GUARDED', value: 'a secret', protected: true })
  await forge.seed(project, { a: '1' }, { as: jane })
  await forge.seed(project, { '.gitlab-ci.yml': REVIEW }, { branch: 'other', as: joe })
  await forge.seed(project, { a: '2' }, { as: jane })
  const input = { source_branch: 'master', target_branch: 'other', title: 'Harmless' }
  const url = `${at}/merge_requests/${(await joe.post(`${at}/merge_requests`, input)).body.iid}`
  await forge.settle()
  const run = async (content: string) => {
    await forge.seed(project, { a: content }, { as: jane })
    await forge.settle()
    const { body: own } = await jane.get(at)
    const runner = await registerRunner(forge, {}, own.runners_token)
    const { status, body: job } = await runner.request()
    expect(status).toBe(201)
    const variables = job.variables as { key: string; value: string }[]
    return { runner, job, told: Object.fromEntries(variables.map(({ key, value }) => [key, value])) }
  }
  return { jane, joe, project, at, url, run }
}

test('a merged result is protected where both of its branches are', async () => {
  await using forge = await startForge()
  const { jane, at, run } = await reversed(forge)
  const { told, runner, job } = await run('3')
  expect(told).toMatchObject({ CI_MERGE_REQUEST_EVENT_TYPE: 'merged_result', CI_COMMIT_REF_PROTECTED: 'false' })
  expect(told).not.toHaveProperty('GUARDED')
  await runner.put(job, { state: 'success' })

  await jane.post(`${at}/protected_branches`, { name: 'other' })
  expect((await run('4')).told).toMatchObject({ CI_COMMIT_REF_PROTECTED: 'true', GUARDED: 'a secret' })
})

test('who may not run on its branch runs no pipeline of a merge request again', async () => {
  await using forge = await startForge()
  const { jane, joe, project, at, url, run } = await reversed(forge)
  const { job, runner } = await run('3')
  await runner.put(job, { state: 'failed' })
  const [{ id }] = (await joe.get(`${url}/pipelines`)).body
  const jobs = async () => (await jane.get(`${at}/pipelines/${id}/jobs`, { include_retried: true })).body
  const before = await jobs()
  const ship = before.find(({ name }: { name: string }) => name === 'ship')
  const doors = [
    `${at}/jobs/${job.id}/retry`,
    `${at}/jobs/${ship.id}/play`,
    `${at}/jobs/${ship.id}/cancel`,
    `${at}/pipelines/${id}/retry`,
    `${at}/pipelines/${id}/cancel`,
  ]
  for (const door of doors) expect([door, (await joe.post(door)).status]).toEqual([door, 403])
  expect(await jobs()).toEqual(before)
  expect((await jane.post(doors[0]!)).status).toBe(201)

  // The usual direction: Developers may run their own branch, whatever its target.
  await forge.seed(project, { '.gitlab-ci.yml': REVIEW }, { branch: 'feature', as: joe })
  const input = { source_branch: 'feature', target_branch: 'master', title: 'Bring it' }
  const { body: usual } = await joe.post(`${at}/merge_requests`, input)
  await forge.settle()
  const [own] = (await joe.get(`${at}/merge_requests/${usual.iid}/pipelines`)).body
  expect(own).toMatchObject({ source: 'merge_request_event' })
  expect((await joe.post(`${at}/pipelines/${own.id}/cancel`)).status).toBe(200)
  expect((await joe.post(`${at}/pipelines/${own.id}/retry`)).status).toBe(201)

  // After the merge request is deleted, its branches are unknown.
  await jane.delete(url)
  expect((await joe.post(doors[3]!)).status).toBe(403)
  expect((await jane.post(doors[3]!)).status).toBe(201)
})
