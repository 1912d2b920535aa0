import { expect, test } from 'vitest'
import { findJobByName } from '../../../../test/pipelines.ts'
import { info, registerRunner } from '../../../../test/runners.ts'
import { HOUR, MINUTE } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import type { RowChange } from '../../../store/database.ts'
import { endStuckJobs } from './stuck.ts'

async function pushed(forge: TestForge, config: string, request = {}) {
  const owner = await forge.user()
  const project = await forge.project(request, owner)
  await forge.seed(project, { '.gitlab-ci.yml': config }, { as: owner })
  const { runners_token } = (await owner.get(`/projects/${project.id}`)).body
  return { owner, project, token: runners_token as string }
}

const STUCK = { status: 'failed', failure_reason: 'stuck_or_timeout_failure' }
const state = async (forge: TestForge, ...names: string[]) =>
  Object.fromEntries(await Promise.all(names.map(async (name) => [name, (await findJobByName(forge, name)).status])))

/** Updates the contact time in the row, because a runner that asks would get jobs. */
const seen = ({ app, clock }: TestForge, change: RowChange<'runners'> = {}) =>
  app.db
    .updateTable('runners')
    .set({ contacted_at: clock.now().toISOString(), ...change })
    .execute()

test('what waits for an hour without a runner that could take it has failed, and all after a day', async () => {
  await using forge = await startForge()
  const config = `
untagged: { script: x }
tagged: { script: x, tags: [linux, Gpu] }
cased: { script: x, tags: [linux, gpu] }
`
  const { owner, project, token } = await pushed(forge, config)
  // One runner belongs to another project. The other takes only one of the jobs, because `master` is protected.
  const { body: other } = await owner.post('/projects', { path: 'other' })
  await registerRunner(forge, {}, other.runners_token)
  await registerRunner(forge, { tag_list: 'linux,Gpu', run_untagged: false, access_level: 'ref_protected' }, token)
  await seen(forge)
  forge.clock.advance(59 * MINUTE)
  await endStuckJobs(forge.app)
  expect(await state(forge, 'untagged', 'tagged', 'cased')).toEqual({
    untagged: 'pending',
    tagged: 'pending',
    cased: 'pending',
  })
  forge.clock.advance(2 * MINUTE)
  await endStuckJobs(forge.app)
  expect(await findJobByName(forge, 'untagged')).toMatchObject(STUCK)
  expect(await findJobByName(forge, 'cased')).toMatchObject(STUCK)
  expect(await findJobByName(forge, 'tagged')).toMatchObject({ status: 'pending' })
  forge.clock.advance(HOUR + MINUTE)
  await endStuckJobs(forge.app)
  // After two hours of silence the runner counts as offline.
  expect(await findJobByName(forge, 'tagged')).toMatchObject(STUCK)

  await owner.post(`/projects/${project.id}/pipelines/1/retry`)
  for (let hours = 0; hours < 24; hours++) {
    await seen(forge)
    await endStuckJobs(forge.app)
    expect(await findJobByName(forge, 'tagged')).toMatchObject({ status: 'pending' })
    forge.clock.advance(HOUR)
  }
  forge.clock.advance(MINUTE)
  await seen(forge)
  await endStuckJobs(forge.app)
  expect(await findJobByName(forge, 'tagged')).toMatchObject(STUCK)
})

test.each([
  ['shared ones, which the project does not want', { shared_runners_enabled: false }, {}],
  ['one that is paused', {}, { active: false }],
  ['one for protected refs', {}, { access_level: 'ref_protected' }],
] as const)('no runner but %s', async (_which, request, change) => {
  await using forge = await startForge()
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  await forge.seed(project, { a: '1' }, { as: owner })
  await forge.seed(project, { '.gitlab-ci.yml': 'a: { script: x }' }, { branch: 'free', as: owner })
  await registerRunner(forge)
  forge.clock.advance(61 * MINUTE)
  await seen(forge)
  await endStuckJobs(forge.app)
  expect(await state(forge, 'a')).toEqual({ a: 'pending' })
  await owner.put(`/projects/${project.id}`, request)
  await seen(forge, change)
  await endStuckJobs(forge.app)
  expect(await findJobByName(forge, 'a')).toMatchObject(STUCK)
})

test('a runner that is heard of no more loses its job, and one that takes longer than it may', async () => {
  await using forge = await startForge()
  const { project } = await pushed(forge, 'a: { script: x }\nb: { script: x, timeout: 1 hour }\n')
  const runner = await registerRunner(forge)
  const first = (await runner.request()).body
  const second = (await runner.request()).body
  const [a, b] = first.job_info.name === 'a' ? [first, second] : [second, first]
  for (let minutes = 0; minutes < 59; minutes += 20) {
    await runner.put(b, { state: 'running' })
    forge.clock.advance(20 * MINUTE)
    await endStuckJobs(forge.app)
  }
  forge.clock.advance(MINUTE)
  await endStuckJobs(forge.app)
  expect(await findJobByName(forge, 'a')).toMatchObject(STUCK)
  expect(await findJobByName(forge, 'b')).toMatchObject({ status: 'running' })
  // The job has ended, whatever the runner reports.
  const late = await runner.put(a, { state: 'success' })
  expect([late.status, late.headers.get('job-status')]).toEqual([403, 'failed'])
  expect(await findJobByName(forge, 'a')).toMatchObject(STUCK)
  forge.clock.advance(13 * MINUTE)
  await runner.put(b, { state: 'running' })
  await endStuckJobs(forge.app)
  expect(await findJobByName(forge, 'b')).toMatchObject({ status: 'running' })
  forge.clock.advance(2 * MINUTE)
  await runner.put(b, { state: 'running' })
  await endStuckJobs(forge.app)
  expect(await findJobByName(forge, 'b')).toMatchObject(STUCK)
  const { body } = await forge.administrator.get(`/projects/${project.id}/pipelines/1`)
  expect(body).toMatchObject({ status: 'failed' })
})

const graceful = { system_id: 's_1', info: { ...info, features: { ...info.features, cancel_gracefully: true } } }

async function running(forge: TestForge, more: object = graceful) {
  const place = await pushed(forge, 'a: { script: x }\nb: { stage: deploy, script: x }\n')
  const runner = await registerRunner(forge)
  const { body: job } = await runner.request(more)
  const at = `/projects/${place.project.id}`
  const status = async () => [
    (await findJobByName(forge, 'a')).status,
    (await place.owner.get(`${at}/pipelines/1`)).body.status,
  ]
  const cancel = (input = {}) => place.owner.post(`${at}/jobs/${job.id}/cancel`, input)
  return { ...place, runner, job, at, status, cancel }
}

test('a runner that can ends what is canceled in order, and says so', async () => {
  await using forge = await startForge()
  const { owner, runner, job, status, cancel, at } = await running(forge)
  expect(await cancel()).toMatchObject({ status: 201, body: { status: 'canceling', finished_at: null } })
  expect(await status()).toEqual(['canceling', 'running'])
  expect(await cancel()).toMatchObject({ status: 201, body: { status: 'canceling' } })
  expect((await owner.post(`${at}/jobs/${job.id}/retry`)).status).toBe(403)
  const patch = await runner.patch(job, 0, 'cleaning up')
  expect([patch.status, patch.headers.get('job-status')]).toEqual([202, 'canceling'])
  expect((await owner.get(`${at}/jobs/${job.id}/trace`)).body).toBe('cleaning up')
  expect((await owner.get(`${at}/jobs`, { scope: 'canceling' })).body).toMatchObject([{ id: job.id }])
  const ended = await runner.put(job, { state: 'failed', failure_reason: 'script_failure' })
  expect([ended.status, ended.headers.get('job-status')]).toEqual([200, 'canceled'])
  expect(await findJobByName(forge, 'a')).toMatchObject({ status: 'canceled', failure_reason: null })
  expect(await status()).toEqual(['canceled', 'canceled'])
})

test('what is being canceled is ended by force, after an hour of silence, or with its pipeline', async () => {
  await using forge = await startForge()
  const { owner, cancel, status, job, runner, at } = await running(forge)
  await cancel()
  expect(await cancel({ force: true })).toMatchObject({ status: 201, body: { status: 'canceled' } })
  expect((await runner.put(job, { state: 'success' })).status).toBe(403)

  await owner.post(`${at}/jobs/${job.id}/retry`)
  await runner.request(graceful)
  expect((await owner.post(`${at}/pipelines/1/cancel`)).body).toMatchObject({ status: 'canceling' })
  expect(await status()).toEqual(['canceling', 'canceling'])
  forge.clock.advance(59 * MINUTE)
  await endStuckJobs(forge.app)
  expect(await status()).toEqual(['canceling', 'canceling'])
  forge.clock.advance(2 * MINUTE)
  await endStuckJobs(forge.app)
  expect(await status()).toEqual(['canceled', 'canceled'])
})

test('a runner that cannot loses what is canceled at once', async () => {
  await using forge = await startForge()
  const { cancel, status, job, runner } = await running(forge, { system_id: 's_1' })
  expect(await cancel()).toMatchObject({ status: 201, body: { status: 'canceled' } })
  const patch = await runner.patch(job, 0, 'x')
  expect([patch.status, patch.headers.get('job-status')]).toEqual([403, 'canceled'])
  expect(await status()).toEqual(['canceled', 'canceled'])
})

test('one failure ends all, where it shall; what runs may end in order', async () => {
  await using forge = await startForge()
  const config =
    'workflow: { auto_cancel: { on_job_failure: all } }\na: { script: x }\nb: { script: x }\nc: { stage: deploy, script: x }\n'
  const { owner, project } = await pushed(forge, config)
  const runner = await registerRunner(forge)
  const { body: first } = await runner.request(graceful)
  const { body: second } = await runner.request(graceful)
  await runner.put(first, { state: 'failed', failure_reason: 'script_failure' })
  const pipeline = async () => (await owner.get(`/projects/${project.id}/pipelines/1`)).body.status
  expect(await state(forge, 'a', 'b', 'c')).toEqual({ a: 'failed', b: 'canceling', c: 'canceled' })
  expect(await pipeline()).toBe('canceling')
  await runner.put(second, { state: 'success' })
  expect(await state(forge, 'a', 'b', 'c')).toEqual({ a: 'failed', b: 'canceled', c: 'canceled' })
  expect(await pipeline()).toBe('failed')
})
