/** Drives a running Mortise with gitbeaker: pipelines, jobs, triggers, schedules and variables. */
import { expect } from 'vitest'
import { refusal, type World } from './gitbeaker-tree.ts'

const CONFIG = 'compile: { stage: build, script: make, environment: live }\n'

/** A project of a group with a pipeline from a push. */
export async function makeMill({ api }: World): Promise<{ id: number; group: number }> {
  const { id: group } = await api.Groups.create('Gb Works', 'gb-ci-works')
  const { id } = await api.Projects.create({ name: 'Gb Mill', namespaceId: group })
  await api.RepositoryFiles.create(id, '.gitlab-ci.yml', 'master', CONFIG, 'CI')
  return { id, group }
}

type Mill = Awaited<ReturnType<typeof makeMill>>

export async function changeVariables({ api }: World, { id, group }: Mill): Promise<void> {
  for (const [variables, place] of [
    [api.ProjectVariables, id],
    [api.GroupVariables, group],
  ] as const) {
    expect(await variables.create(place, 'COLOUR', 'red')).toMatchObject({ key: 'COLOUR', environment_scope: '*' })
    expect(
      await variables.edit(place, 'COLOUR', 'blue', { protected: true, filter: { environment_scope: '*' } }),
    ).toMatchObject({ protected: true })
    expect(await variables.all(place)).toMatchObject([{ key: 'COLOUR', value: 'blue' }])
    await expect(variables.create(place, 'A-B', '')).rejects.toMatchObject(refusal(400, 'can contain only letters'))
    await variables.remove(place, 'COLOUR')
  }
}

export async function runPipelines({ api }: World, { id }: Mill): Promise<void> {
  expect(await api.Pipelines.all(id)).toMatchObject([{ source: 'push', status: 'pending' }])
  const made = await api.Pipelines.create(id, 'master', { variables: [{ key: 'SHAPE', value: 'round' }] })
  expect(await api.Pipelines.show(id, made.id)).toMatchObject({ source: 'api', detailed_status: { text: 'Pending' } })
  expect(await api.Pipelines.allVariables(id, made.id)).toMatchObject([{ key: 'SHAPE', value: 'round' }])
  const [job] = await api.Jobs.all(id, { pipelineId: made.id })
  expect(job).toMatchObject({ name: 'compile', stage: 'build', status: 'pending' })
  expect(await api.Jobs.cancel(id, job!.id)).toMatchObject({ status: 'canceled' })
  expect(await api.Jobs.retry(id, job!.id)).toMatchObject({ name: 'compile', status: 'pending' })
  expect(await api.Pipelines.cancel(id, made.id)).toMatchObject({ status: 'canceled' })
  await api.Pipelines.remove(id, made.id)
  await expect(api.Pipelines.show(id, made.id)).rejects.toMatchObject(refusal(404, '404 Not found'))
}

export async function startPipelines({ api }: World, { id }: Mill): Promise<void> {
  const trigger = await api.PipelineTriggerTokens.create(id, 'robot')
  const started = await api.PipelineTriggerTokens.trigger(id, 'master', trigger.token, { variables: { SHAPE: 'oval' } })
  expect(started).toMatchObject({ source: 'trigger' })
  await api.PipelineTriggerTokens.remove(id, trigger.id)
  const schedule = await api.PipelineSchedules.create(id, 'nightly', 'master', '0 1 * * *')
  expect(schedule).toMatchObject({ cron_timezone: 'UTC', active: true })
  expect(await api.PipelineSchedules.edit(id, schedule.id, { active: false })).toMatchObject({ active: false })
  await api.PipelineSchedules.run(id, schedule.id)
  expect(await api.PipelineSchedules.allTriggeredPipelines(id, schedule.id)).toMatchObject([{ source: 'schedule' }])
  await api.PipelineSchedules.remove(id, schedule.id)
}

export async function deploy({ api }: World, { id }: Mill): Promise<void> {
  expect(await api.Environments.all(id)).toMatchObject([{ name: 'live', state: 'available' }])
  const test = await api.Environments.create(id, 'test', { externalUrl: 'https://test.example.com' })
  expect(await api.Environments.stop(id, test.id)).toMatchObject({ state: 'stopped' })
  await api.Environments.remove(id, test.id)
  const [commit] = await api.Commits.all(id)
  const made = await api.Deployments.create(id, 'live', commit!.id, 'master', false, { status: 'running' } as never)
  expect(await api.Deployments.edit(id, made.id, 'success')).toMatchObject({ status: 'success' })
  expect(await api.Deployments.all(id)).toMatchObject([{ iid: 1, environment: { name: 'live' } }])
}

export async function checkFiles({ api }: World, { id }: Mill): Promise<void> {
  expect(await api.Lint.check(id, {})).toMatchObject({ valid: true })
  expect(await api.Lint.lint(id, 'a: { script: make, colour: red }')).toMatchObject({ valid: false })
  expect(await api.ResourceGroups.all(id)).toEqual([])
}
