import { expect, test } from 'vitest'
import { findJobByName, runJobByName } from '../../../../test/pipelines.ts'
import { startForge } from '../../../forge.ts'
import { cancelJob, dropJob, runJob, succeedJob } from './transitions.ts'

const CONFIG = `
stages: [one, two]
${Array.from({ length: 10 }, (_, n) => `j${n}: { stage: one, script: x }`).join('\n')}
last: { stage: two, script: x }
`

test('of many who want a job one gets it, and what has ended stays as it is', async () => {
  await using forge = await startForge()
  const project = await forge.project()
  await forge.seed(project, { '.gitlab-ci.yml': CONFIG })
  const { app } = forge
  const waiting = await findJobByName(forge, 'j0')
  const taken = await Promise.all(Array.from({ length: 8 }, () => runJob(app, waiting, { runner_id: null })))
  expect(taken.filter((one) => one !== null)).toHaveLength(1)
  const running = await findJobByName(forge, 'j0')
  const ends = await Promise.all([
    succeedJob(app, running),
    dropJob(app, running, { reason: 'script_failure' }),
    cancelJob(app, running),
  ])
  expect(ends.filter((one) => one !== null)).toHaveLength(1)
  const { status } = await findJobByName(forge, 'j0')
  await dropJob(app, running, { reason: 'unknown_failure' })
  expect(await findJobByName(forge, 'j0')).toMatchObject({ status })
})

test('jobs that end at the same time come to the same pipeline', async () => {
  await using forge = await startForge()
  const project = await forge.project()
  await forge.seed(project, { '.gitlab-ci.yml': CONFIG })
  await Promise.all(Array.from({ length: 10 }, (_, n) => runJobByName(forge, `j${n}`)))
  expect(await findJobByName(forge, 'last')).toMatchObject({ status: 'pending' })
  await runJobByName(forge, 'last')
  expect(await forge.app.db.selectFrom('pipelines').select('status').execute()).toEqual([{ status: 'success' }])
})
