/** Drives a running Mortise that runs jobs with gitbeaker: results of jobs, and runners. */
import { expect } from 'vitest'
import { refusal, type World } from './gitbeaker-tree.ts'

const CONFIG = `
stages: [build, deploy]
build:
  stage: build
  script: [echo "made by $CI_JOB_NAME", mkdir out, echo hello > out/a.txt]
  artifacts: { paths: [out], expire_in: 1 day }
ship: { stage: deploy, script: echo shipped, when: manual, environment: live, resource_group: live }
wait: { stage: deploy, script: sleep 600, when: manual }
`

interface Forge {
  readonly id: number
  readonly jobs: Readonly<Record<string, number>>
  readonly runners_token: string
}

export async function makeForge({ api }: World): Promise<Forge> {
  const { id, runners_token } = await api.Projects.create({ name: 'Gb Forge' })
  await api.RepositoryFiles.create(id, '.gitlab-ci.yml', 'master', CONFIG, 'CI')
  const jobs = Object.fromEntries((await api.Jobs.all(id)).map((job) => [job.name, job.id]))
  return { id, jobs, runners_token: runners_token as string }
}

async function becomes({ api }: World, { id }: Forge, job: number, status: string): Promise<void> {
  await expect.poll(async () => (await api.Jobs.show(id, job)).status, { timeout: 30_000 }).toBe(status)
}

export async function runJobs(world: World, forge: Forge): Promise<void> {
  const { api } = world
  const { id, jobs } = forge
  const build = jobs.build!
  await becomes(world, forge, build, 'success')
  expect(await api.Jobs.showLog(id, build)).toContain('\nmade by build\n')
  const text = async (input: object) => {
    // Text types come as text.
    const file = (await api.JobArtifacts.downloadArchive(id, input as never)) as Blob | string
    return typeof file === 'string' ? file : file.text()
  }
  expect(await text({ jobId: build, artifactPath: 'out/a.txt' })).toBe('hello\n')
  expect(await text({ ref: 'master', job: 'build', artifactPath: 'out/a.txt' })).toBe('hello\n')
  expect(await text({ jobId: build })).toMatch(/^PK/)
  expect(await text({ ref: 'master', job: 'build' })).toMatch(/^PK/)
  expect(await api.JobArtifacts.keep(id, build)).toMatchObject({ artifacts_expire_at: null })
  const again = await api.Jobs.retry(id, build)
  await becomes(world, forge, again.id, 'success')
  await api.JobArtifacts.remove(id, { jobId: build })
  expect(await api.Jobs.erase(id, build)).toMatchObject({ erased_at: expect.any(String) })
  await expect(api.Jobs.erase(id, build)).rejects.toMatchObject(refusal(403, 'Job is not erasable!'))

  expect(await api.Jobs.play(id, jobs.ship!)).toMatchObject({ name: 'ship' })
  await becomes(world, forge, jobs.ship!, 'success')
  expect(await api.Deployments.all(id)).toMatchObject([{ status: 'success', deployable: { name: 'ship' } }])
  await api.Jobs.play(id, jobs.wait!)
  await becomes(world, forge, jobs.wait!, 'running')
  await api.Jobs.cancel(id, jobs.wait!)
  await becomes(world, forge, jobs.wait!, 'canceled')
}

export async function changeRunners({ api }: World, { id, runners_token }: Forge): Promise<void> {
  const mine = await api.Runners.register(runners_token, { description: 'mine', tagList: ['a', 'b'] })
  expect(await api.Runners.show(mine.id)).toMatchObject({ description: 'mine', runner_type: 'project_type' })
  expect(await api.Runners.edit(mine.id, { description: 'yours', locked: false } as never)).toMatchObject({
    description: 'yours',
  })
  expect(await api.Runners.all({ owned: true })).toMatchObject([{ id: mine.id }])
  const shared = (await api.Runners.all({ projectId: id })).find(({ is_shared }) => is_shared)!
  expect((await api.Runners.allJobs(shared.id)).map(({ name }) => name)).toContain('ship')
  const { id: other } = await api.Projects.create({ name: 'Gb Other' })
  await api.Runners.enable(other, mine.id)
  await expect(api.Runners.enable(other, mine.id)).rejects.toMatchObject(refusal(409, 'already enabled'))
  await api.Runners.disable(other, mine.id)
  await api.Runners.remove({ runnerId: mine.id })
  await expect(api.Runners.show(mine.id)).rejects.toMatchObject(refusal(404, '404 Runner Not Found'))
}

export async function limitJobs({ api }: World, { id }: Forge): Promise<void> {
  expect(await api.ResourceGroups.all(id)).toMatchObject([{ key: 'live', process_mode: 'unordered' }])
  expect(await api.ResourceGroups.edit(id, 'live', { processMode: 'oldest_first' })).toMatchObject({
    process_mode: 'oldest_first',
  })
  expect(await api.ResourceGroups.allUpcomingJobs(id, 'live')).toEqual([])
  const scopes = api.ProjectJobTokenScopes
  await scopes.edit(id, true)
  expect(await scopes.show(id)).toMatchObject({ inbound_enabled: true })
  const { id: other } = await api.Projects.create({ name: 'Gb Guest' })
  const { id: group } = await api.Groups.create('Gb Guests', 'gb-guests')
  await scopes.addToInboundAllowList(id, other)
  await scopes.addToGroupsAllowList(id, group)
  expect((await scopes.showInboundAllowList(id)).map((one) => one.id)).toEqual([other])
  expect((await scopes.showGroupsAllowList(id)).map((one) => one.id)).toEqual([group])
  await scopes.removeFromInboundAllowList(id, other)
  await scopes.removeFromGroupsAllowList(id, group)
  expect(await scopes.showInboundAllowList(id)).toEqual([])
}

export async function reportStatuses({ api }: World, { id }: Forge): Promise<void> {
  const [commit] = await api.Commits.all(id)
  await api.Commits.editStatus(id, commit!.id, 'running', { name: 'outside' } as never)
  expect(await api.Commits.editStatus(id, commit!.id, 'success', { name: 'outside' } as never)).toMatchObject({
    status: 'success',
  })
  const found = await api.Commits.allStatuses(id, commit!.id)
  expect(found.find(({ name }) => name === 'outside')).toMatchObject({ status: 'success' })
  const variables = api.InstanceLevelCICDVariables
  expect(await variables.create('SHAPE', 'round')).toMatchObject({ key: 'SHAPE', value: 'round' })
  expect(await variables.edit('SHAPE', 'oval')).toMatchObject({ value: 'oval' })
  expect(await variables.all()).toMatchObject([{ key: 'SHAPE' }])
  await variables.remove('SHAPE')
}
