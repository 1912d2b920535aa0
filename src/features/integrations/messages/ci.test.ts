import { afterAll, beforeAll, expect, test } from 'vitest'
import { comparable } from '../../../../test/goldens.ts'
import { ALL_SWITCHES, hookReceiver, type HookReceiver, type Received } from '../../../../test/listening-hooks.ts'
import { registerRunner, type TestRunner } from '../../../../test/runners.ts'
import { zipped } from '../../../../test/pipelines.ts'
import { costOf } from '../../../../test/sources.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { warnOfExpiry } from '../../groups/access-tokens/jobs.ts'
import { ciExamples } from './examples/ci.ts'

let forge: TestForge
let receiver: HookReceiver
let owner: Person
let runner: TestRunner
beforeAll(async () => {
  forge = await startForge()
  receiver = await hookReceiver(forge)
  owner = await forge.user({ name: 'Ada Owner', username: 'ada' })
  runner = await registerRunner(forge, { description: 'Builder', tag_list: 'linux', run_untagged: true })
})
afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
  await forge[Symbol.asyncDispose]()
})

const CONFIG = `
workflow: { name: Nightly }
stages: [build, deploy]
compile:
  stage: build
  script: make
  artifacts: { paths: [a] }
release:
  stage: deploy
  script: ship
  environment: { name: production, url: 'https://app.example.com' }
`

async function seeded(input: { path: string; config?: string; group?: number }) {
  const project = await forge.project(
    { name: input.path, path: input.path, ...(input.group && { namespace_id: input.group }) },
    owner,
  )
  const files = { '.gitlab-ci.yml': input.config ?? CONFIG }
  await forge.seed(project, files, { as: owner, message: 'Build it [skip ci]' })
  return project
}

async function runOne(end = 'success'): Promise<void> {
  const { body: job } = await runner.request()
  if (end === 'success') await runner.upload(job, await zipped({ a: 'made' }))
  await runner.put(job, { state: end, ...(end === 'failed' && { failure_reason: 'script_failure' }) })
}

const golden = (name: keyof typeof ciExamples, received: Received | undefined) => {
  const { header, body } = ciExamples[name]
  expect(comparable({ header: received?.header, body: received?.body })).toEqual(comparable({ header, body }))
}

test('a pipeline, its jobs and its deployments are told as the examples show, to whom they concern', async () => {
  const group = await forge.group({ name: 'Acme', path: 'acme' }, owner)
  const project = await seeded({ path: 'rocket', group: group.id })
  const switches = ['pipeline_events', 'job_events', 'deployment_events'] as const
  for (const name of switches) await receiver.hook(name, { project_id: project.id, on: [name] })
  await receiver.hook('others', {
    project_id: project.id,
    on: ALL_SWITCHES.filter((name) => !switches.includes(name as (typeof switches)[number])),
  })
  await receiver.hook('above', { group_id: group.id, on: switches })
  await receiver.hook('system', { on: switches })
  const variables = [{ key: 'SPEED', value: 'fast' }]
  const started = await owner.post(`/projects/${project.id}/pipeline`, { ref: 'master', variables })
  expect(started.status).toBe(201)
  await runOne()
  await runOne()
  const got = await receiver.take()
  const of = (path: string) => got.filter((one) => one.path === path)
  const jobs = of('job_events').map(({ body }) => `${body.build_name} ${body.build_status}`)
  expect(jobs).toEqual([
    'compile created',
    'release created',
    'compile pending',
    'compile running',
    'compile success',
    'release pending',
    'release running',
    'release success',
  ])
  const statuses = of('pipeline_events').map(({ body }) => body.object_attributes.status)
  expect(statuses).toEqual(['pending', 'running', 'success'])
  expect(of('deployment_events').map(({ body }) => body.status)).toEqual(['running', 'success'])
  expect(of('above')).toHaveLength(8 + 3 + 2)
  const unconcerned = [...of('others'), ...of('system')].filter(({ body }) => !('event_name' in body))
  expect(unconcerned).toEqual([])
  await receiver.unhook('system')

  golden('pipeline', of('pipeline_events').at(-1))
  golden('job', of('job_events').at(-2))
  golden('deployment', of('deployment_events')[0])
})

test('what was tried again stands once, and what made a pipeline is named', async () => {
  const config = `
stages: [test, next]
flaky: { stage: test, script: maybe, tags: [linux] }
more:
  stage: next
  trigger: { include: child.yml }
`
  const project = await seeded({ path: 'again', config })
  await forge.seed(project, { 'child.yml': 'inner: { script: go }' }, { as: owner, message: 'More [skip ci]' })
  await receiver.hook('all', { project_id: project.id, on: ['pipeline_events', 'job_events'] })
  const { body: pipeline } = await owner.post(`/projects/${project.id}/pipeline`, { ref: 'master' })
  await runOne('failed')
  const [{ body: failed }] = (await receiver.take()).filter(({ body }) => body.build_status === 'failed') as [Received]
  expect(failed).toMatchObject({ build_failure_reason: 'script_failure', retries_count: 0 })
  const { body: again } = await owner.post(`/projects/${project.id}/jobs/${failed.build_id}/retry`)
  await runOne()
  const got = await receiver.take()
  expect(got.find(({ body }) => body.build_id === again.id)!.body).toMatchObject({ retries_count: 1 })
  const last = got.findLast(({ body }) => body.object_attributes?.id === pipeline.id)!.body
  expect(last.builds.map(({ id }: { id: number }) => id)).toEqual([again.id])
  expect(last.object_attributes.stages).toEqual(['test', 'next'])
  expect(last).not.toHaveProperty('source_pipeline')
  const { path_with_namespace, web_url } = project
  const source_pipeline = {
    project: { id: project.id, web_url, path_with_namespace },
    job_id: expect.any(Number),
    pipeline_id: pipeline.id,
  }
  const child = got.find(({ body }) => body.object_attributes?.source === 'parent_pipeline')!
  expect(child.body).toMatchObject({ source_pipeline })
  expect(got.find(({ body }) => body.build_name === 'inner')!.body).toMatchObject({ source_pipeline })
})

test('a pipeline of a merge request names it; variables that a project keeps are never told', async () => {
  const config = `
check:
  script: test
  rules: [{ if: $CI_PIPELINE_SOURCE == "merge_request_event" }]
`
  const project = await seeded({ path: 'merging', config })
  for (const more of [{ masked: true }, { protected: true }, { variable_type: 'file' }])
    await owner.post(`/projects/${project.id}/variables`, {
      key: `KEPT_${Object.keys(more)[0]}`.toUpperCase(),
      value: 'a-kept-secret',
      ...more,
    })
  await receiver.hook('all', { project_id: project.id, on: ['pipeline_events', 'job_events'] })
  const { iid } = await forge.mergeRequest(project, { title: 'Faster' }, owner)
  const got = await receiver.take()
  const { body } = got.find(({ header }) => header === 'Pipeline Hook')!
  expect(body.merge_request).toMatchObject({
    iid,
    title: 'Faster',
    source_project_id: project.id,
    target_project_id: project.id,
    target_branch: 'master',
    state: 'opened',
    url: `${project.web_url}/-/merge_requests/${iid}`,
  })
  expect(body.object_attributes).toMatchObject({ source: 'merge_request_event', variables: [] })
  expect(JSON.stringify(got)).not.toContain('a-kept-secret')
})

test('pipelines and jobs of who is blocked are not told', async () => {
  const gone = await forge.user()
  const project = await seeded({ path: 'quiet' })
  await owner.post(`/projects/${project.id}/members`, { user_id: gone.id, access_level: 40 })
  const { body: pipeline } = await gone.post(`/projects/${project.id}/pipeline`, { ref: 'master' })
  await receiver.hook('all', { project_id: project.id })
  await forge.administrator.post(`/users/${gone.id}/block`)
  const canceled = await owner.post(`/projects/${project.id}/pipelines/${pipeline.id}/cancel`)
  expect(canceled.body).toMatchObject({ status: 'canceled' })
  expect(await receiver.take()).toEqual([])
})

test('deployments that tools report are told', async () => {
  const project = await seeded({ path: 'reported' })
  const { body: commit } = await owner.get(`/projects/${project.id}/repository/commits/master`)
  await receiver.hook('all', { project_id: project.id })
  const input = { environment: 'staging', sha: commit.id, ref: 'master', tag: false, status: 'running' }
  const { body: made } = await owner.post(`/projects/${project.id}/deployments`, input)
  await owner.put(`/projects/${project.id}/deployments/${made.id}`, { status: 'failed' })
  const got = (await receiver.take()).map(({ body }) => [body.status, body.deployable_url, body.commit_title])
  expect(got).toEqual([
    ['running', null, 'Build it [skip ci]'],
    ['failed', null, 'Build it [skip ci]'],
  ])
})

test('what is asked of the store does not grow with the jobs of a pipeline', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => `job${n}: { script: go }`).join('\n')
  const costs = async (path: string, count: number) => {
    const project = await seeded({ path, config: many(count) })
    const start = () => owner.post(`/projects/${project.id}/pipeline`, { ref: 'master' })
    const alone = await costOf(forge, start)
    await receiver.hook('all', { project_id: project.id, on: ['pipeline_events'] })
    const withHooks = await costOf(forge, start)
    const { body: pipeline } = await start()
    const { body: jobs } = await owner.get(`/projects/${project.id}/pipelines/${pipeline.id}/jobs`)
    const cancel = (n: number) => () => owner.post(`/projects/${project.id}/jobs/${jobs[n].id}/cancel`)
    return [alone, withHooks, await forge.queries(cancel(0))]
  }
  expect(await costs('lots', 12)).toEqual(await costs('few', 3))
  await receiver.take()
})

test('a token that ends soon is told of once for each of its warnings', async () => {
  const project = await seeded({ path: 'tokens' })
  const group = await forge.group({ name: 'Keys', path: 'keys' }, owner)
  await receiver.hook('project', { project_id: project.id })
  await receiver.hook('group', { group_id: group.id })
  const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10)
  const make = (place: string, name: string, days: number) =>
    owner.post(`${place}/access_tokens`, { name, scopes: ['api'], expires_at: inDays(days), access_level: 30 })
  await make(`/projects/${project.id}`, 'Robot', 40)
  await make(`/projects/${project.id}`, 'Later', 90)
  const { body: ended } = await make(`/projects/${project.id}`, 'Ended', 5)
  await owner.delete(`/projects/${project.id}/access_tokens/${ended.id}`)
  await make(`/groups/${group.id}`, 'Robot', 5)
  await receiver.take()
  const warned = async () => {
    await warnOfExpiry.handle(forge.app, undefined as never)
    return (await receiver.take()).filter(({ body }) => body.object_kind === 'access_token')
  }
  const [ofProject, ofGroup, ...more] = (await warned()).toSorted((a, b) => b.path.localeCompare(a.path))
  golden('access_token of a project', ofProject)
  golden('access_token of a group', ofGroup)
  expect(more).toEqual([])
  expect(await warned()).toEqual([])
  forge.clock.advance(34 * DAY)
  const names = (await warned()).map(({ body }) => body.object_attributes.name)
  expect(new Set(names)).toEqual(new Set(['Later', 'Robot']))
  expect(names).toHaveLength(2)
  expect(await warned()).toEqual([])
})
