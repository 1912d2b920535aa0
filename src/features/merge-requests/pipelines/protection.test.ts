/** What pipelines of merge requests are given that is protected, and who may run them. */
import { expect, test } from 'vitest'
import { registerRunner } from '../../../../test/runners.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const REVIEW = 'review: { script: x, rules: [{ if: $CI_PIPELINE_SOURCE == "merge_request_event" }] }'

/** From the protected branch into another, whose configuration a Developer has written. */
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
  return { jane, joe, at, url, run }
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
