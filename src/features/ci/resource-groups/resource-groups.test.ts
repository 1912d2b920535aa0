import { expect, test } from 'vitest'
import { jobNamed, runNamed } from '../../../../test/pipelines.ts'
import { startForge } from '../../../forge.ts'

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
  await runNamed(forge, 'deploy')
  await forge.settle()
  expect(await jobNamed(forge, 'deploy')).toMatchObject({ status: 'success' })
  expect(await statuses()).toEqual(['success', 'pending', 'success'])
  expect((await root.put(item, { process_mode: 'random' })).body.error).toBe('process_mode does not have a valid value')
  expect(await root.get(`${url}/other`)).toMatchObject({
    status: 404,
    body: { message: '404 Resource Group Not Found' },
  })
})
