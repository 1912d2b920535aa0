import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { DAY, after } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'
import type { App } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import { queueFigures } from './queries.ts'

interface Options {
  state?: 'ready' | 'dead'
  due: number
  leased?: number
}

async function insertJob({ db, clock }: App, { state = 'ready', due, leased }: Options): Promise<void> {
  const row = { name: 'some work', key: null, payload: '{}', attempts: 1, last_error: null }
  const times = { run_at: after(clock, due), lease_until: leased ? after(clock, leased) : null }
  await db
    .insertInto('jobs')
    // A younger job without a handler waits for a process of a newer version.
    .values({ ...row, state, ...times, created_at: after(clock, -2 * DAY) })
    .execute()
}

test('the figures are those of the job queue', async () => {
  await using forge = await startForge()
  const { app, administrator } = forge
  await forge.settle()
  const totals = await app.db.selectFrom('job_totals').selectAll().executeTakeFirstOrThrow()
  await insertJob(app, { state: 'dead', due: -1000 })
  await insertJob(app, { state: 'dead', due: -2000 })
  await insertJob(app, { due: -1000, leased: 60_000 })
  await insertJob(app, { due: 60_000 })

  const queues = { default: { backlog: 0, latency: 0 } }
  const jobs = { ...totals, enqueued: 0, busy: 1, dead: 2 }
  const { started_at } = (await administrator.get('/sidekiq/process_metrics')).body.processes[0]
  const processes = [
    {
      hostname: hostname(),
      pid: process.pid,
      tag: 'mortise',
      started_at,
      queues: ['default'],
      labels: [],
      concurrency: 4,
      busy: 1,
    },
  ]
  expect(Date.parse(started_at)).toBeLessThanOrEqual(Date.now())
  expect((await administrator.get('/sidekiq/queue_metrics')).body).toEqual({ queues })
  expect((await administrator.get('/sidekiq/process_metrics')).body).toEqual({ processes })
  expect((await administrator.get('/sidekiq/job_stats')).body).toEqual({ jobs })
  expect((await administrator.get('/sidekiq/compound_metrics')).body).toEqual({ queues, processes, jobs })
})

test('the latency is the wait of the oldest job that is due', async () => {
  await using forge = await startForge()
  await forge.settle()
  // The worker would claim due jobs at once; it cannot see the ones of an open transaction.
  const figures = await transact(forge.app, async (app) => {
    await insertJob(app, { due: -90_500 })
    await insertJob(app, { due: -3000 })
    await insertJob(app, { due: -5000, leased: -1000 })
    await insertJob(app, { due: -500_000, leased: 60_000 })
    await insertJob(app, { state: 'dead', due: -500_000 })
    return queueFigures(app)
  })
  expect(figures).toMatchObject({ enqueued: 3, busy: 1, dead: 1, latencySeconds: 90 })
})

test('tries are counted, and those that fail', async () => {
  await using forge = await startForge()
  const { app, administrator } = forge
  await forge.settle()
  const tried = async () => {
    const { processed, failed } = (await administrator.get('/sidekiq/job_stats')).body.jobs
    return { processed, failed }
  }
  const before = await tried()
  await administrator.post('/projects', { name: 'p' })
  await forge.settle()
  const after = await tried()
  expect(after.processed).toBeGreaterThan(before.processed)
  expect(after.failed).toBe(before.failed)
  await insertJob(app, { due: -1000 }) // with a name that no handler has
  await forge.settle()
  expect(await tried()).toEqual({ processed: after.processed + 1, failed: before.failed + 1 })
})

test('what was given up is tried anew or thrown away, by administrators', async () => {
  await using forge = await startForge()
  const { app, administrator } = forge
  await forge.settle()
  for (const due of [-3000, -2000, -1000]) await insertJob(app, { state: 'dead', due })
  const { body: listed } = await administrator.get('/background_jobs/dead')
  expect(listed).toMatchObject([{ name: 'some work', attempts: 1, error: null }, {}, {}])
  const [one, other, kept] = listed as { id: number }[]
  const jane = await forge.user()
  expect((await jane.delete(`/background_jobs/dead/${one!.id}`)).status).toBe(403)
  expect((await jane.post(`/background_jobs/dead/${one!.id}/retry`)).status).toBe(403)
  expect((await administrator.get('/background_jobs/dead')).body).toEqual(listed)

  expect((await administrator.delete(`/background_jobs/dead/${one!.id}`)).status).toBe(204)
  expect((await administrator.delete(`/background_jobs/dead/${one!.id}`)).status).toBe(404)
  expect((await administrator.post(`/background_jobs/dead/${other!.id}/retry`)).status).toBe(202)
  expect((await administrator.post(`/background_jobs/dead/${other!.id}/retry`)).status).toBe(404)
  await forge.settle()
  const tried = await app.db.selectFrom('jobs').selectAll().where('id', '=', other!.id).executeTakeFirstOrThrow()
  expect(tried).toMatchObject({ state: 'ready', last_error: expect.any(String) })
  expect((await administrator.get('/background_jobs/dead')).body).toEqual([kept])
})
