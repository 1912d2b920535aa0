import { expect, test } from 'vitest'
import { findJobByName } from '../../../../test/pipelines.ts'
import { registerRunner, type TestRunner } from '../../../../test/runners.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { cancelJob } from '../jobs/transitions.ts'
import { endHandover, findLostJobs } from './handovers.ts'

/** The name of a process that has ended. */
const GONE = '00000000_1_1_aaaaaaaa'

const holderOf = async ({ app }: TestForge, id: number) =>
  (await app.db.selectFrom('ci_runs').select('holder').where('job_id', '=', id).executeTakeFirst())?.holder

const handedBy = ({ app }: TestForge, holder: string) => app.db.updateTable('ci_runs').set({ holder }).execute()

/** A runner, and the job that it got. */
async function handedOver(forge: TestForge, features: object = {}) {
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  const config =
    'deploy: { script: x, environment: live, resource_group: live }\nafter: { script: x, needs: [deploy] }\n'
  await forge.seed(project, { '.gitlab-ci.yml': config }, { as: owner })
  await forge.settle()
  const runner = await registerRunner(forge)
  const { status, body } = await runner.request({ system_id: 's_1', info: { name: 'test', features } })
  expect(status).toBe(201)
  await expect.poll(() => holderOf(forge, body.id)).toBeNull()
  return { runner, job: body as { id: number; token: string } }
}

async function lookForLost(forge: TestForge): Promise<void> {
  await findLostJobs.handle(forge.app, {})
  forge.clock.advance(6_000)
  await forge.settle()
}

async function expectReturned(forge: TestForge, runner: TestRunner, job: { id: number; token: string }) {
  expect(await findJobByName(forge, 'deploy')).toMatchObject({ status: 'pending', runner_id: null, started_at: null })
  // If the former answer arrives after all, the server tells its runner to drop the job.
  expect([await runner.put(job, { state: 'running' }), await runner.patch(job, 0, 'hello\n')]).toMatchObject([
    { status: 403 },
    { status: 403 },
  ])
  const { status, body } = await runner.request({ last_update: '' })
  expect([status, body.id, body.token === job.token]).toEqual([201, job.id, false])
  await runner.put(body, { state: 'success' })
  await forge.settle()
  expect(await findJobByName(forge, 'deploy')).toMatchObject({ status: 'success', retried: false })
  expect(await forge.app.db.selectFrom('deployments').select('status').execute()).toEqual([{ status: 'success' }])
  expect(await findJobByName(forge, 'after')).toMatchObject({ status: 'pending' })
}

test('a job whose process is gone before its answer was out is soon in the queue again', async () => {
  await using forge = await startForge()
  const { runner, job } = await handedOver(forge)
  await handedBy(forge, GONE)
  await findLostJobs.handle(forge.app, {})
  await forge.settle()
  expect(await findJobByName(forge, 'deploy')).toMatchObject({ status: 'running' })
  await lookForLost(forge)
  await expectReturned(forge, runner, job)
})

test('a job whose connection is gone before its answer was out is in the queue again', async () => {
  await using forge = await startForge()
  const { runner, job } = await handedOver(forge)
  await handedBy(forge, forge.app.holder)
  await endHandover(forge.app, job.id, false)
  expect(await holderOf(forge, job.id)).toBeUndefined()
  await expectReturned(forge, runner, job)
})

test.each([
  [
    'whose answer is out',
    async ({ app }: TestForge, _: TestRunner, { id }: { id: number }) => endHandover(app, id, true),
  ],
  ['whose runner says that it runs', (_: TestForge, runner, job) => runner.put(job, { state: 'running' })],
  ['whose runner sends a log', (_: TestForge, runner, job) => runner.patch(job, 0, 'hello\n')],
] satisfies [string, (forge: TestForge, runner: TestRunner, job: { id: number; token: string }) => Promise<unknown>][])(
  'a job %s stays with its runner, though the process is gone',
  async (_, hear) => {
    await using forge = await startForge()
    const { runner, job } = await handedOver(forge)
    await handedBy(forge, GONE)
    // The runner reports at the last moment.
    await findLostJobs.handle(forge.app, {})
    await hear(forge, runner, job)
    await lookForLost(forge)
    expect(await findJobByName(forge, 'deploy')).toMatchObject({ status: 'running', runner_id: runner.id })
    expect((await runner.put(job, { state: 'success' })).status).toBe(200)
  },
)

test('a job of a process that lives stays with its runner', async () => {
  await using forge = await startForge()
  await handedOver(forge)
  await handedBy(forge, forge.app.holder)
  await lookForLost(forge)
  expect(await findJobByName(forge, 'deploy')).toMatchObject({ status: 'running' })
})

test('a job that is canceled before its answer was out has ended', async () => {
  await using forge = await startForge()
  await handedOver(forge, { cancel_gracefully: true })
  await handedBy(forge, GONE)
  await cancelJob(forge.app, await findJobByName(forge, 'deploy'))
  expect(await findJobByName(forge, 'deploy')).toMatchObject({ status: 'canceling' })
  await lookForLost(forge)
  expect(await findJobByName(forge, 'deploy')).toMatchObject({ status: 'canceled' })
})
