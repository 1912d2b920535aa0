import { expect, test } from 'vitest'
import { runNamed } from '../../../../test/pipelines.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const CONFIG = `
build: { script: x }
review: { script: x, rules: [{ if: '$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_TARGET_BRANCH_NAME == "master"' }] }
`

async function proposed(forge: TestForge, config = 'build: { script: x }') {
  const jane = await forge.user()
  const project = await forge.project({ only_allow_merge_if_pipeline_succeeds: true }, jane)
  await forge.seed(project, { 'a.txt': '1' }, { as: jane })
  await forge.seed(project, { '.gitlab-ci.yml': config }, { branch: 'feature', as: jane })
  const at = `/projects/${project.id}`
  const made = await jane.post(`${at}/merge_requests`, {
    source_branch: 'feature',
    target_branch: 'master',
    title: 'Bring it',
  })
  await forge.settle()
  const url = `${at}/merge_requests/${made.body.iid}`
  return { jane, project, at, url, get: async () => (await jane.get(url)).body }
}

test('a merge request shows the pipeline of its head, and waits for it', async () => {
  await using forge = await startForge()
  const { jane, url, get } = await proposed(forge)
  expect(await get()).toMatchObject({
    pipeline: { id: 1, status: 'pending', ref: 'feature' },
    head_pipeline: { id: 1, status: 'pending', detailed_status: { text: 'Pending' } },
  })
  expect((await jane.get(`${url}/pipelines`)).body).toMatchObject([{ id: 1, source: 'push' }])
  expect((await jane.put(`${url}/merge`)).status).toBe(405)
  expect(await jane.put(`${url}/merge`, { merge_when_pipeline_succeeds: true })).toMatchObject({
    status: 200,
    body: { state: 'opened', merge_when_pipeline_succeeds: true },
  })
  await runNamed(forge, 'build', { fails: { reason: 'script_failure' } })
  await forge.settle()
  expect(await get()).toMatchObject({ state: 'opened', head_pipeline: { status: 'failed' } })
  expect((await jane.get('/todos')).body).toMatchObject([{ action_name: 'build_failed' }])
  await jane.post(`${url.replace(/\/merge_requests.*/, '')}/pipelines/1/retry`)
  await runNamed(forge, 'build')
  await forge.settle()
  expect(await get()).toMatchObject({ state: 'merged' })
})

test('jobs that ask for it run for the merge request, with what it is', async () => {
  await using forge = await startForge()
  const { jane, url, get, at } = await proposed(forge, CONFIG)
  const { body } = await jane.get(`${url}/pipelines`)
  expect(body).toMatchObject([
    { source: 'merge_request_event', ref: 'refs/merge-requests/1/head' },
    { source: 'push', ref: 'feature' },
  ])
  expect((await jane.get(`${at}/pipelines/${body[0].id}/jobs`)).body).toMatchObject([{ name: 'review' }])
  expect(await get()).toMatchObject({ head_pipeline: { source: 'merge_request_event' } })
  const again = await jane.post(`${url}/pipelines`)
  expect(again).toMatchObject({ status: 201, body: { source: 'merge_request_event', status: 'pending' } })
  const row = await forge.app.db.selectFrom('pipelines').selectAll().where('id', '=', again.body.id).executeTakeFirst()
  const variables = JSON.parse(row!.merge_request_variables!) as { key: string; value: string }[]
  expect(Object.fromEntries(variables.map(({ key, value }) => [key, value]))).toMatchObject({
    CI_MERGE_REQUEST_IID: '1',
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'feature',
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'master',
    CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
  })
})
