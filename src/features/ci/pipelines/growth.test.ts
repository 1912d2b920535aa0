import { expect, test } from 'vitest'
import { findJobByName } from '../../../../test/pipelines.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import type { JobStatus } from '../jobs/model.ts'
import { dropJob, runJob, succeedJob } from '../jobs/transitions.ts'
import { cancelPipeline } from './cancel.ts'

/** Five rows of jobs. Each job needs all jobs of the row before. */
const rows = (width: number) =>
  ['a', 'b', 'c', 'd', 'e']
    .map((name, n, all) => `${name}: { script: x, parallel: ${width}, needs: [${n === 0 ? '' : all[n - 1]}] }`)
    .join('\n')

async function measured(forge: TestForge, width: number) {
  const { app } = forge
  const project = await forge.project()
  await forge.seed(project, { '.gitlab-ci.yml': rows(width) })
  const find = (name: string) => findJobByName(forge, `${name}/${width}`, project.id)
  const { pipeline_id } = await find('a 1')
  const count = async (status: JobStatus) => {
    const found = await app.db
      .selectFrom('ci_jobs')
      .select('id')
      .where('pipeline_id', '=', pipeline_id)
      .where('status', '=', status)
      .where('retried', '=', false)
      .execute()
    return found.length
  }
  expect([await count('pending'), await count('created')]).toEqual([width, 4 * width])
  const first = await find('a 1')
  const pick = await forge.queries(async () => void (await runJob(app, first, { runner_id: null })))
  const running = await find('a 1')
  const finish = await forge.queries(async () => void (await succeedJob(app, running)))
  expect(await count('created')).toBe(4 * width)
  // All jobs of the row but one. The last one then starts the next row.
  const waiting = app.db.updateTable('ci_jobs').where('pipeline_id', '=', pipeline_id).where('status', '=', 'pending')
  await waiting.where('name', '!=', `a 2/${width}`).set({ status: 'success' }).execute()
  const last = (await runJob(app, await find('a 2'), { runner_id: null }))!
  const release = await forge.queries(async () => void (await succeedJob(app, last)))
  expect([await count('pending'), await count('created')]).toEqual([width, 3 * width])
  const failing = (await runJob(app, await find('b 1'), { runner_id: null }))!
  const skip = await forge.queries(async () => {
    await waiting.set({ status: 'success' }).execute()
    await dropJob(app, failing, { reason: 'script_failure' })
  })
  expect(await count('skipped')).toBe(3 * width)
  await forge.administrator.post(`/projects/${project.id}/pipelines/${pipeline_id}/retry`)
  expect([await count('pending'), await count('created')]).toEqual([1, 3 * width])
  const cancel = await forge.queries(async () => void (await cancelPipeline(app, pipeline_id)))
  expect(await count('canceled')).toBe(1 + 3 * width)
  return { pick, finish, release, skip, cancel }
}

test('a thousand jobs with two hundred needs each take no more queries than ten', async () => {
  await using forge = await startForge()
  const limits = { plan_name: 'default', ci_pipeline_size: 1000, ci_needs_size_limit: 200 }
  expect((await forge.administrator.put('/application/plan_limits', limits)).status).toBe(200)
  const few = await measured(forge, 2)
  const many = await measured(forge, 200)
  // Jobs move in batches of five hundred.
  expect(many).toEqual({ ...few, skip: expect.any(Number), cancel: expect.any(Number) })
  expect(many.skip).toBeLessThan(few.skip + 10)
  expect(many.cancel).toBeLessThan(few.cancel + 20)
})
