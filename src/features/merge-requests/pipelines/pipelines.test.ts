import { expect, test } from 'vitest'
import { runJobByName } from '../../../../test/pipelines.ts'
import { registerRunner, type TestRunner } from '../../../../test/runners.ts'
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
  await runJobByName(forge, 'build', { fails: { reason: 'script_failure' } })
  await forge.settle()
  expect(await get()).toMatchObject({ state: 'opened', head_pipeline: { status: 'failed' } })
  expect((await jane.get('/todos')).body).toMatchObject([{ action_name: 'build_failed' }])
  await jane.post(`${url.replace(/\/merge_requests.*/, '')}/pipelines/1/retry`)
  await runJobByName(forge, 'build')
  await forge.settle()
  expect(await get()).toMatchObject({ state: 'merged' })
})

test('pipelines of a merge request are closed where the project shows and runs none', async () => {
  await using forge = await startForge()
  const { jane, project, at, url } = await proposed(forge)
  const joe = await forge.user()
  await jane.post(`${at}/members`, { user_id: joe.id, access_level: 10 })
  await jane.put(at, { visibility: 'internal', public_jobs: false })
  const made = () => forge.app.db.selectFrom('pipelines').select('id').where('project_id', '=', project.id).execute()
  const before = await made()
  const answers = async () => [(await joe.get(`${url}/pipelines`)).status, (await joe.post(`${url}/pipelines`)).status]

  expect((await joe.get(url)).status).toBe(200)
  expect(await answers()).toEqual([403, 403])
  expect(await made()).toEqual(before)
  await jane.put(at, { public_jobs: true })
  expect(await answers()).toEqual([200, 400])
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

test('pipelines of a runner decide what is merged', async () => {
  await using forge = await startForge()
  const script = 'if test -e slow; then sleep 600; fi; test ! -e broken'
  const jane = await forge.user()
  const project = await forge.project({ only_allow_merge_if_pipeline_succeeds: true }, jane)
  const at = `/projects/${project.id}`
  await forge.seed(project, { 'a.txt': '1' }, { as: jane })
  const propose = async (branch: string, file: string, message?: string) => {
    const files = { '.gitlab-ci.yml': `check: { script: '${script}' }`, [file]: 'x' }
    await forge.seed(project, files, { branch, as: jane, ...(message && { message }) })
    const request = { source_branch: branch, target_branch: 'master', title: branch }
    const { iid } = (await jane.post(`${at}/merge_requests`, request)).body
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
  // A push cancels auto-merge: the new commits are not what the user wanted to merge.
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

type Visible = { key: string; value: string }[]

/** The variables of a job, as the runner API gives them. */
async function variablesFor(runner: TestRunner): Promise<Record<string, string>> {
  const { status, body } = await runner.request()
  expect(status).toBe(201)
  return Object.fromEntries((body.variables as Visible).map(({ key, value }) => [key, value]))
}

const ONCE = `
workflow:
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH && $CI_OPEN_MERGE_REQUESTS
      when: never
    - if: $CI_COMMIT_BRANCH
build: { script: x }
`

test('a branch knows what is open from it, so that its commits run once', async () => {
  await using forge = await startForge()
  const { jane, project, at, url } = await proposed(forge, ONCE)
  const list = async () =>
    (await jane.get(`${at}/pipelines`)).body.map((one: { source: string; ref: string }) => [one.source, one.ref])
  // The branch was pushed before the merge request existed.
  expect(await list()).toEqual([
    ['merge_request_event', 'refs/merge-requests/1/head'],
    ['push', 'feature'],
  ])
  await forge.seed(project, { b: '1' }, { branch: 'feature', as: jane })
  await forge.settle()
  expect((await list())[0]).toEqual(['merge_request_event', 'refs/merge-requests/1/head'])
  expect(await list()).toHaveLength(3)
  await jane.post(`${at}/pipelines/1/cancel`)
  const runner = await registerRunner(forge)
  const name = `${project.path_with_namespace}!1`
  expect(await variablesFor(runner)).toMatchObject({
    CI_OPEN_MERGE_REQUESTS: name,
    CI_MERGE_REQUEST_IID: '1',
    CI_MERGE_REQUEST_TITLE: 'Bring it',
    CI_COMMIT_REF_NAME: 'feature',
    CI_COMMIT_REF_SLUG: 'feature',
  })
  await jane.put(url, { state_event: 'close' })
  await forge.seed(project, { b: '2' }, { branch: 'feature', as: jane })
  await forge.settle()
  expect((await list())[0]).toEqual(['push', 'feature'])
  expect(await variablesFor(runner)).not.toHaveProperty('CI_OPEN_MERGE_REQUESTS')
})

test('a branch tells its jobs of up to four that are open from it', async () => {
  await using forge = await startForge()
  const { jane, project, at } = await proposed(forge)
  for (const branch of ['b', 'c', 'd', 'e']) {
    await jane.post(`${at}/repository/branches`, { branch, ref: 'master' })
    await jane.post(`${at}/merge_requests`, { source_branch: 'feature', target_branch: branch, title: branch })
  }
  await forge.settle()
  await forge.seed(project, { b: '1' }, { branch: 'feature', as: jane })
  const runner = await registerRunner(forge)
  const names = [1, 2, 3, 4].map((iid) => `${project.path_with_namespace}!${iid}`)
  expect(await variablesFor(runner)).toMatchObject({
    CI_OPEN_MERGE_REQUESTS: names.join(','),
    CI_COMMIT_BRANCH: 'feature',
  })
})

const REVIEW = `
review:
  script: x
  rules: [{ if: $CI_PIPELINE_SOURCE == "merge_request_event" }]
`

/** A merge request from a fork, whose branch has the name of a protected one. */
async function forked(forge: TestForge, branch: string) {
  const jane = await forge.user({ username: 'jane' })
  const project = await forge.project({ visibility: 'public' }, jane)
  await forge.seed(project, { a: '1' }, { as: jane })
  const at = `/projects/${project.id}`
  for (const [key, isProtected] of [
    ['OPEN', false],
    ['GUARDED', true],
  ] as const)
    await jane.post(`${at}/variables`, { key, value: `value of ${key}`, protected: isProtected })
  const joe = await forge.user({ username: 'joe' })
  const fork = (await joe.post(`${at}/fork`)).body
  await forge.settle()
  await joe.post(`/projects/${fork.id}/variables`, { key: 'MINE', value: 'value of joe' })
  await forge.seed(fork, { '.gitlab-ci.yml': REVIEW }, { branch, as: joe })
  const { body } = await joe.post(`/projects/${fork.id}/merge_requests`, {
    source_branch: branch,
    target_branch: 'master',
    target_project_id: project.id,
    title: 'From afar',
  })
  await forge.settle()
  const pipelines = () => forge.app.db.selectFrom('pipelines').selectAll().orderBy('id').execute()
  return { jane, joe, project, fork, url: `${at}/merge_requests/${body.iid}`, pipelines }
}

test('of a fork it runs there, with what the fork has', async () => {
  await using forge = await startForge()
  const { joe, fork, project, url, pipelines } = await forked(forge, 'feature')
  expect(await pipelines()).toMatchObject([
    { project_id: fork.id, source: 'merge_request_event', ref: 'refs/merge-requests/1/head', user_id: joe.id },
  ])
  const runner = await registerRunner(forge)
  const variables = await variablesFor(runner)
  expect(variables).toMatchObject({
    MINE: 'value of joe',
    CI_PROJECT_ID: `${fork.id}`,
    CI_MERGE_REQUEST_PROJECT_ID: `${project.id}`,
    CI_MERGE_REQUEST_SOURCE_PROJECT_ID: `${fork.id}`,
    CI_OPEN_MERGE_REQUESTS: `${project.path_with_namespace}!1`,
  })
  expect(Object.keys(variables).filter((key) => key === 'OPEN' || key === 'GUARDED')).toEqual([])
  expect(await joe.post(`${url}/pipelines`)).toMatchObject({ status: 201, body: { project_id: fork.id } })
})

test.each(['feature', 'master'])(
  'a member runs it in the parent, which gives nothing protected to %s',
  async (branch) => {
    await using forge = await startForge()
    const { jane, project, url, pipelines } = await forked(forge, branch)
    const made = await jane.post(`${url}/pipelines`)
    expect(made).toMatchObject({ status: 201, body: { project_id: project.id, source: 'merge_request_event' } })
    expect((await pipelines()).at(-1)).toMatchObject({ id: made.body.id, protected: false, user_id: jane.id })
    const { body: own } = await jane.get(`/projects/${project.id}`)
    const variables = await variablesFor(await registerRunner(forge, {}, own.runners_token))
    expect(variables).toMatchObject({
      OPEN: 'value of OPEN',
      CI_PROJECT_ID: `${project.id}`,
      CI_COMMIT_REF_PROTECTED: 'false',
    })
    expect(variables).not.toHaveProperty('GUARDED')
    expect((await jane.get(url)).body.head_pipeline).toMatchObject({ id: made.body.id })
  },
)

test('children of foreign code are given nothing protected either, and are not shown beside it', async () => {
  await using forge = await startForge()
  const { jane, joe, project, fork, url, pipelines } = await forked(forge, 'master')
  const rules = `rules: [{ if: $CI_PIPELINE_SOURCE == "merge_request_event" }]`
  const files = {
    '.gitlab-ci.yml': `child: { trigger: { include: child.yml }, ${rules} }`,
    'child.yml': 'inner: { script: x, rules: [{ if: $CI_MERGE_REQUEST_IID && $GUARDED == null }] }',
  }
  await forge.seed(fork, files, { branch: 'master', as: joe })
  await forge.settle()
  const { body: made } = await jane.post(`${url}/pipelines`)
  await forge.settle()
  expect((await pipelines()).filter(({ project_id }) => project_id === project.id)).toMatchObject([
    { id: made.id, protected: false },
    { source: 'parent_pipeline', protected: false },
  ])
  const { body: own } = await jane.get(`/projects/${project.id}`)
  const variables = await variablesFor(await registerRunner(forge, {}, own.runners_token))
  expect(variables).toMatchObject({ CI_JOB_NAME: 'inner', CI_MERGE_REQUEST_IID: '1', OPEN: 'value of OPEN' })
  expect(variables).not.toHaveProperty('GUARDED')
  const listed = (await jane.get(`${url}/pipelines`)).body.map((one: { source: string }) => one.source)
  expect(listed).not.toContain('parent_pipeline')
})

test.each([
  ['who is no member', 0, 400],
  ['who may not merge to the branch', 30, 400],
] as const)('somebody %s does not run it in the parent', async (_who, access_level, status) => {
  await using forge = await startForge()
  const { jane, project, url, pipelines } = await forked(forge, 'feature')
  const other = await forge.user()
  if (access_level) await jane.post(`/projects/${project.id}/members`, { user_id: other.id, access_level })
  const { body: made } = await jane.post(`${url}/pipelines`)
  expect(made.project_id).toBe(project.id)
  const before = await pipelines()
  expect((await other.post(`${url}/pipelines`)).status).toBe(status)
  for (const verb of ['retry', 'cancel'])
    expect((await other.post(`/projects/${project.id}/pipelines/${made.id}/${verb}`)).status).toBe(403)
  expect(await pipelines()).toEqual(before)
})

test('merge requests of two projects from one fork do not end each other', async () => {
  await using forge = await startForge()
  const { joe, fork, pipelines } = await forked(forge, 'feature')
  await forge.seed(fork, { '.gitlab-ci.yml': REVIEW, b: '1' }, { branch: 'other', as: joe })
  // The first merge request of the fork itself has the same number, and so the same ref.
  await joe.post(`/projects/${fork.id}/merge_requests`, { source_branch: 'other', target_branch: 'master', title: 'x' })
  await forge.settle()
  expect(await pipelines()).toMatchObject([
    { ref: 'refs/merge-requests/1/head', status: 'pending' },
    { ref: 'refs/merge-requests/1/head', status: 'pending' },
  ])
  await forge.seed(fork, { b: '2' }, { branch: 'feature', as: joe })
  await forge.settle()
  expect((await pipelines()).map(({ status }) => status)).toEqual(['canceled', 'pending', 'pending'])
})

test('where a project wants it, what merging would come to is run', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const project = await forge.project({ only_allow_merge_if_pipeline_succeeds: true }, jane)
  const at = `/projects/${project.id}`
  expect((await jane.put(at, { merge_pipelines_enabled: true })).body).toMatchObject({ merge_pipelines_enabled: true })
  const base = await forge.seed(project, { a: '1', '.gitlab-ci.yml': REVIEW }, { as: jane, message: '[skip ci]' })
  const head = await forge.seed(project, { b: '1' }, { branch: 'feature', as: jane })
  const target = await forge.seed(project, { c: '1' }, { as: jane })
  const input = { source_branch: 'feature', target_branch: 'master', title: 'Bring it' }
  const url = `${at}/merge_requests/${(await jane.post(`${at}/merge_requests`, input)).body.iid}`
  await forge.settle()
  const [made] = (await jane.get(`${url}/pipelines`)).body
  expect(made).toMatchObject({ source: 'merge_request_event', ref: 'refs/merge-requests/1/merge', status: 'pending' })
  const merge = (await jane.get(`${at}/repository/commits/${made.sha}`)).body
  expect(merge.parent_ids).toEqual([target.id, head.id])
  expect((await jane.get(url)).body).toMatchObject({ head_pipeline: { id: made.id }, sha: head.id })
  const runner = await registerRunner(forge)
  const { body: job } = await runner.request()
  expect(job.git_info).toMatchObject({ sha: made.sha, ref: 'refs/merge-requests/1/merge' })
  expect(Object.fromEntries((job.variables as Visible).map(({ key, value }) => [key, value]))).toMatchObject({
    CI_COMMIT_SHA: made.sha,
    CI_MERGE_REQUEST_EVENT_TYPE: 'merged_result',
    CI_MERGE_REQUEST_REF_PATH: 'refs/merge-requests/1/merge',
    CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head.id,
    CI_MERGE_REQUEST_TARGET_BRANCH_SHA: target.id,
    CI_MERGE_REQUEST_DIFF_BASE_SHA: base.id,
  })
  // The merge ref moves on, but the commit stays and the runner fetches it.
  await forge.seed(project, { c: '2' }, { as: jane })
  await jane.get(`${url}/merge_ref`)
  const refs = await forge.git(['ls-remote', project.http_url_to_repo, `refs/pipelines/${made.id}`], { as: jane })
  expect(refs).toContain(made.sha)

  expect((await jane.put(`${url}/merge`)).status).toBe(405)
  await jane.put(`${url}/merge`, { merge_when_pipeline_succeeds: true })
  await runner.put(job, { state: 'failed', failure_reason: 'script_failure' })
  await forge.settle()
  expect((await jane.get('/todos')).body).toMatchObject([{ action_name: 'build_failed' }])
  await jane.post(`${at}/pipelines/${made.id}/retry`)
  const { body: again } = await runner.request()
  await runner.put(again, { state: 'success' })
  await forge.settle()
  expect((await jane.get(url)).body).toMatchObject({ state: 'merged' })
})

test('what cannot be merged is run as it is, and what is to be skipped not at all', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  const at = `/projects/${project.id}`
  await jane.put(at, { merge_pipelines_enabled: true })
  await forge.seed(project, { a: '1', '.gitlab-ci.yml': REVIEW }, { as: jane, message: '[skip ci]' })
  const head = await forge.seed(project, { a: '2' }, { branch: 'feature', as: jane })
  await forge.seed(project, { quiet: '2' }, { branch: 'quiet', as: jane, message: 'Quiet [ci skip]' })
  await forge.seed(project, { a: '3' }, { as: jane })
  const propose = async (source_branch: string) => {
    const input = { source_branch, target_branch: 'master', title: source_branch }
    const { body } = await jane.post(`${at}/merge_requests`, input)
    await forge.settle()
    return (await jane.get(`${at}/merge_requests/${body.iid}/pipelines`)).body
  }
  expect((await propose('feature'))[0]).toMatchObject({
    source: 'merge_request_event',
    ref: 'refs/merge-requests/1/head',
    sha: head.id,
  })
  expect((await propose('quiet'))[0]).toMatchObject({ status: 'skipped', ref: 'refs/merge-requests/2/merge' })
})
