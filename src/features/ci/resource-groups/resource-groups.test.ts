import { expect, test } from 'vitest'
import { findJobByName, runJobByName } from '../../../../test/pipelines.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const CONFIG = 'deploy: { script: make deploy, resource_group: live/1 }'

test('one job at a time has the resource, in the order of its mode', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const project = await forge.project()
  await root.put(`/projects/${project.id}`, { auto_cancel_pending_pipelines: 'disabled' })
  for (const text of ['1', '2', '3']) await forge.seed(project, { '.gitlab-ci.yml': CONFIG, text })
  await forge.settle()
  const url = `/projects/${project.id}/resource_groups`
  const group = { id: 1, key: 'live/1', process_mode: 'unordered' }
  expect((await root.get(url)).body).toMatchObject([group])
  const item = `${url}/live%2F1`
  expect((await root.get(item)).body).toMatchObject(group)
  const statuses = async () =>
    (await forge.app.db.selectFrom('ci_jobs').select('status').orderBy('id').execute()).map(({ status }) => status)
  expect(await statuses()).toEqual(['pending', 'waiting_for_resource', 'waiting_for_resource'])
  const waiting = async () => (await root.get(`${item}/upcoming_jobs`)).body.map((job: { id: number }) => job.id)
  expect(await waiting()).toEqual([2, 3])
  expect(await root.put(item, { process_mode: 'newest_first' })).toMatchObject({
    status: 200,
    body: { process_mode: 'newest_first' },
  })
  expect(await waiting()).toEqual([3, 2])
  const first = await forge.app.db.selectFrom('ci_jobs').selectAll().orderBy('id').limit(1).executeTakeFirstOrThrow()
  const { runJob, succeedJob } = await import('../jobs/transitions.ts')
  await succeedJob(forge.app, (await runJob(forge.app, first, { runner_id: null }))!)
  await forge.settle()
  expect(await statuses()).toEqual(['success', 'waiting_for_resource', 'pending'])
  await runJobByName(forge, 'deploy')
  await forge.settle()
  expect(await findJobByName(forge, 'deploy')).toMatchObject({ status: 'success' })
  expect(await statuses()).toEqual(['success', 'pending', 'success'])
  expect((await root.put(item, { process_mode: 'random' })).body.error).toBe('process_mode does not have a valid value')
  expect(await root.get(`${url}/other`)).toMatchObject({
    status: 404,
    body: { message: '404 Resource Group Not Found' },
  })
})

const STAGED = `
test: { stage: test, script: make test }
deploy: { stage: deploy, script: make deploy, resource_group: live, rules: [{ if: $WHEN == 'manual', when: manual }, { when: on_success }] }
`

/** A project whose first pipeline has the resource. */
async function line(forge: TestForge, process_mode: string) {
  const { administrator: root } = forge
  const project = await forge.project()
  const at = `/projects/${project.id}`
  await forge.seed(project, { '.gitlab-ci.yml': STAGED }, { message: '[skip ci]' })
  const { runJob, succeedJob, dropJob } = await import('../jobs/transitions.ts')
  const jobs = () =>
    forge.app.db.selectFrom('ci_jobs').selectAll().where('project_id', '=', project.id).orderBy('id').execute()
  const find = async (pipeline: number, name: string) =>
    (await jobs()).find((job) => job.pipeline_id === pipeline && job.name === name)!
  const end = async (pipeline: number, name: string, how: 'success' | 'failed' = 'success') => {
    const running = (await runJob(forge.app, await find(pipeline, name), { runner_id: null }))!
    await (how === 'success'
      ? succeedJob(forge.app, running)
      : dropJob(forge.app, running, { reason: 'script_failure' }))
    await forge.settle()
  }
  const start = async (input = {}) => {
    const { body } = await root.post(`${at}/pipeline`, { ref: 'master', ...input })
    await forge.settle()
    return body.id as number
  }
  const first = await start()
  await end(first, 'test')
  expect((await root.put(`${at}/resource_groups/live`, { process_mode })).status).toBe(200)
  await forge.settle()
  const statuses = async () => (await jobs()).flatMap(({ name, status }) => (name === 'deploy' ? status : []))
  return { first, start, end, statuses }
}

const MODES = ['unordered', 'newest_ready_first', 'oldest_first', 'newest_first'] as const

test('what is ready while an older pipeline is not', async () => {
  await using forge = await startForge()
  for (const mode of MODES) {
    const place = await line(forge, mode)
    const [second, third] = [await place.start(), await place.start()]
    await place.end(third, 'test')
    await place.end(place.first, 'deploy')
    const isWaiting = mode === 'oldest_first'
    const expected = ['success', 'created', isWaiting ? 'waiting_for_resource' : 'pending']
    expect(await place.statuses(), mode).toEqual(expected)
    // An awaited job that never becomes ready leaves the queue.
    await place.end(second, 'test', 'failed')
    expect(await place.statuses(), mode).toEqual(['success', 'skipped', 'pending'])
  }
})

test('what is ready while a newer pipeline is not', async () => {
  await using forge = await startForge()
  for (const mode of MODES) {
    const place = await line(forge, mode)
    const second = await place.start()
    const third = await place.start({ variables: [{ key: 'WHEN', value: 'manual' }] })
    await place.end(second, 'test')
    await place.end(place.first, 'deploy')
    const isWaiting = mode === 'newest_first'
    const expected = ['success', isWaiting ? 'waiting_for_resource' : 'pending', 'created']
    expect(await place.statuses(), mode).toEqual(expected)
    // A manual job is not awaited.
    await place.end(third, 'test')
    expect(await place.statuses(), mode).toEqual(['success', 'pending', 'manual'])
  }
})
