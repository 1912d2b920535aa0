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

test('waiting for a pipeline that is skipped ends where the project allows it', async () => {
  await using forge = await startForge()
  const { jane, at, url, get } = await proposed(forge, 'build: { script: x, when: manual }')
  const { sha } = await get()
  const wait = async () => {
    await jane.post(`${at}/statuses/${sha}`, { state: 'running' })
    expect((await jane.put(`${url}/merge`, { merge_when_pipeline_succeeds: true })).status).toBe(200)
    await jane.post(`${at}/statuses/${sha}`, { state: 'skipped' })
    await forge.settle()
    return get()
  }
  expect(await wait()).toMatchObject({ state: 'opened', head_pipeline: { status: 'skipped' } })
  await jane.put(at, { allow_merge_on_skipped_pipeline: true })
  expect(await wait()).toMatchObject({ state: 'merged' })
})

test('pipelines of a runner decide what is merged', { timeout: 120_000 }, async () => {
  await using forge = await startForge()
  const script = 'if test -e slow; then sleep 600; fi; test ! -e broken'
  const jane = await forge.user()
  const project = await forge.project({ only_allow_merge_if_pipeline_succeeds: true }, jane)
  const at = `/projects/${project.id}`
  await forge.seed(project, { 'a.txt': '1' }, { as: jane })
  const propose = async (branch: string, file: string, message?: string) => {
    const files = { '.gitlab-ci.yml': `check: { script: '${script}' }`, [file]: 'x' }
    await forge.seed(project, files, { branch, as: jane, ...(message && { message }) })
    const wish = { source_branch: branch, target_branch: 'master', title: branch }
    const { iid } = (await jane.post(`${at}/merge_requests`, wish)).body
    return `${at}/merge_requests/${iid}`
  }
  const state = async (url: string) => {
    const { body } = await jane.get(url)
    return [body.state, body.merge_when_pipeline_succeeds, body.head_pipeline?.status]
  }
  const [good, bad, slow] = [
    await propose('good', 'fine'),
    await propose('bad', 'broken'),
    await propose('slow', 'slow'),
  ]
  const skipped = await propose('skipped', 'broken', 'Not now [skip ci]')
  await forge.settle()
  for (const url of [good, bad, slow])
    expect((await jane.put(`${url}/merge`, { merge_when_pipeline_succeeds: true })).status).toBe(200)
  expect(await jane.put(`${skipped}/merge`)).toMatchObject({ status: 200, body: { state: 'merged' } })

  await forge.runner({ concurrent: 3 })
  const becomes = async (url: string, expected: unknown[]) => {
    await expect.poll(() => state(url), { timeout: 60_000 }).toEqual(expected)
  }
  await becomes(good, ['merged', false, 'success'])
  await becomes(bad, ['opened', true, 'failed'])
  expect((await jane.put(`${bad}/merge`)).status).toBe(405)
  await becomes(slow, ['opened', true, 'running'])
  // A push calls off waiting: what succeeds then was not what somebody wanted to have merged.
  const { pipeline } = (await jane.get(slow)).body
  for (const [branch, file] of [
    ['bad', 'broken'],
    ['slow', 'slow'],
  ] as const)
    await jane.delete(`${at}/repository/files/${file}`, { branch, commit_message: 'Mend it' })
  await becomes(bad, ['opened', false, 'success'])
  await becomes(slow, ['opened', false, 'success'])
  expect((await jane.post(`${at}/pipelines/${pipeline.id}/cancel`)).status).toBe(200)
  await forge.settle()
  expect(await state(slow)).toEqual(['opened', false, 'success'])
  expect(await jane.put(`${bad}/merge`)).toMatchObject({ status: 200, body: { state: 'merged' } })
})
