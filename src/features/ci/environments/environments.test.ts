import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { findJobByName, runJobByName } from '../../../../test/pipelines.ts'
import { registerRunner } from '../../../../test/runners.ts'
import { DAY, HOUR } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'
import { stopDueEnvironments } from './jobs.ts'

const CONFIG = `
deploy:
  script: make deploy
  environment:
    name: review/$CI_COMMIT_REF_SLUG
    url: https://$CI_ENVIRONMENT_SLUG.example.com
    on_stop: remove
    auto_stop_in: 1 day
remove:
  script: make remove
  when: manual
  environment: { name: review/$CI_COMMIT_REF_SLUG, action: stop }
`

async function stage() {
  const forge = await startForge()
  const project = await forge.project()
  const commit = await forge.seed(project, { '.gitlab-ci.yml': CONFIG })
  const url = `/projects/${project.id}/environments`
  const deployments = `/projects/${project.id}/deployments`
  const root = forge.administrator
  const only = async () => (await root.get(url)).body[0]
  return {
    forge,
    project,
    commit,
    root,
    url,
    deployments,
    only,
    [Symbol.asyncDispose]: () => forge[Symbol.asyncDispose](),
  }
}

test('an environment is made, found, changed and, once stopped, deleted', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const { id } = await forge.project()
  const url = `/projects/${id}/environments`
  const made = await root.post(url, { name: 'Production 1', external_url: 'https://example.com' })
  expect(made).toMatchObject({
    status: 201,
    body: {
      name: 'Production 1',
      slug: expect.stringMatching(/^production-1-[a-z0-9]{6}$/),
      external_url: 'https://example.com',
      state: 'available',
      tier: 'production',
      auto_stop_at: null,
      last_deployment: null,
      project: { id },
    },
  })
  expect((await root.post(url, { name: 'staging' })).body).toMatchObject({ slug: 'staging', tier: 'staging' })
  const names = async (filter: object) =>
    (await root.get(url, filter as never)).body.map((one: { name: string }) => one.name)
  expect(await names({})).toEqual(['Production 1', 'staging'])
  expect(await names({ name: 'staging' })).toEqual(['staging'])
  expect(await names({ search: 'duct' })).toEqual(['Production 1'])
  expect(await names({ states: 'stopped' })).toEqual([])
  expect((await root.get(url, { search: 'du' })).status).toBe(400)
  const item = `${url}/${made.body.id}`
  expect((await root.put(item, { external_url: '', tier: 'other', description: 'live' })).body).toMatchObject({
    external_url: null,
    tier: 'other',
    description: 'live',
    slug: made.body.slug,
  })
  expect((await root.delete(item)).status).toBe(403)
  expect(await root.post(`${item}/stop`)).toMatchObject({ status: 200, body: { state: 'stopped' } })
  expect((await root.delete(item)).status).toBe(204)
  expect(await root.get(item)).toMatchObject({ status: 404, body: { message: '404 Not found' } })
})

test.each([
  ['no name', {}, { error: 'name is missing' }],
  ['a slug', { name: 'a', slug: 'b' }, { message: 'slug is automatically generated and cannot be changed' }],
  ['a blank name', { name: ' ' }, { message: { name: ["can't be blank"] } }],
  ['a strange name', { name: 'a?b' }, { message: { name: [expect.stringContaining('can contain only letters')] } }],
  ['a slash at the end', { name: 'a/' }, { message: { name: [expect.stringContaining('cannot start or end')] } }],
  ['a taken name', { name: 'taken' }, { message: { name: ['has already been taken'] } }],
  [
    'another scheme',
    { name: 'a', external_url: 'javascript:alert(1)' },
    { message: { external_url: ['is blocked: Only allowed schemes are http, https'] } },
  ],
])('refuses %s', async (_what, input, body) => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const { id } = await forge.project()
  const url = `/projects/${id}/environments`
  await root.post(url, { name: 'taken' })
  expect(await root.post(url, input)).toMatchObject({ status: 400, body })
  expect((await root.get(url)).body).toHaveLength(1)
})

test('deployments follow their jobs, and environments their deployments', async () => {
  await using s = await stage()
  const { forge, root, deployments } = s
  expect(await s.only()).toMatchObject({
    name: 'review/master',
    state: 'available',
    external_url: null,
    tier: 'development',
  })
  await runJobByName(forge, 'deploy', { isLeftRunning: true })
  expect((await root.get(deployments)).body).toMatchObject([
    {
      iid: 1,
      status: 'running',
      ref: 'master',
      sha: s.commit.id,
      user: { username: 'root' },
      deployable: { name: 'deploy' },
    },
  ])
  const { succeedJob } = await import('../jobs/transitions.ts')
  await succeedJob(forge.app, await findJobByName(forge, 'deploy'))
  await forge.settle()
  const environment = await s.only()
  expect(environment.external_url).toBe(`https://${environment.slug}.example.com`)
  const rest = Date.parse(environment.auto_stop_at) - forge.clock.now().getTime()
  expect(Math.round(rest / HOUR)).toBe(24)
  const one = (await root.get(`${s.url}/${environment.id}`)).body
  expect(one.last_deployment).toMatchObject({ status: 'success', environment: { name: 'review/master' } })
  expect((await root.get(`${deployments}/${one.last_deployment.id}`)).body).toEqual(one.last_deployment)
  expect((await root.get(deployments, { environment: 'nowhere' })).body).toEqual([])
  expect(
    (await root.get(deployments, { environment: 'review/master', status: 'success', order_by: 'updated_at' })).body,
  ).toHaveLength(1)
  expect((await root.get(deployments, { status: 'failed' })).body).toEqual([])
})

test('an environment is stopped by its job', async () => {
  await using s = await stage()
  const { forge, root } = s
  await runJobByName(forge, 'deploy')
  await forge.settle()
  const { id } = await s.only()
  expect((await root.post(`${s.url}/${id}/stop`)).body).toMatchObject({ state: 'stopping', auto_stop_at: null })
  await runJobByName(forge, 'remove', { fails: { reason: 'script_failure' } })
  expect(await s.only()).toMatchObject({ state: 'available' })
  expect((await root.post(`${s.url}/${id}/stop`)).body).toMatchObject({ state: 'stopping' })
  await runJobByName(forge, 'remove')
  expect(await s.only()).toMatchObject({ state: 'stopped' })
  expect((await root.post(`${s.url}/${id}/stop`)).body).toMatchObject({ state: 'stopped' })
})

test('an environment is stopped at its time, and forced without its job', async () => {
  await using s = await stage()
  const { forge, root } = s
  await runJobByName(forge, 'deploy')
  await forge.settle()
  await stopDueEnvironments.handle(forge.app, {})
  expect(await s.only()).toMatchObject({ state: 'available' })
  forge.clock.advance(25 * HOUR)
  await stopDueEnvironments.handle(forge.app, {})
  // The worker of the forge may run the same job.
  await forge.settle()
  expect(await s.only()).toMatchObject({ state: 'stopping', auto_stop_at: null })
  expect(await findJobByName(forge, 'remove')).toMatchObject({ status: 'pending' })
  const { id } = await s.only()
  // A second request starts nothing, and does not stop the environment before its job has ended.
  expect((await root.post(`${s.url}/${id}/stop`)).body).toMatchObject({ state: 'stopping' })
  expect(await findJobByName(forge, 'remove')).toMatchObject({ status: 'pending' })
  expect((await root.post(`${s.url}/${id}/stop`, { force: true })).body).toMatchObject({ state: 'stopped' })
})

test('stale environments are stopped, and those of reviews deleted', async () => {
  await using s = await stage()
  const { forge, root, url } = s
  await root.post(url, { name: 'review/old' })
  const at = (days: number) => new Date(forge.clock.now().getTime() + days * DAY).toISOString()
  expect((await root.post(`${url}/stop_stale`, { before: at(-1) })).body.error).toBe('Invalid Date')
  forge.clock.advance(20 * DAY)
  await root.post(url, { name: 'review/new' })
  expect((await root.post(`${url}/stop_stale`, { before: at(-10) })).body).toEqual({
    message: 'Successfully requested stop for all stale environments',
  })
  const states = async () =>
    Object.fromEntries((await root.get(url)).body.map((one: { name: string; state: string }) => [one.name, one.state]))
  expect(await states()).toEqual({ 'review/master': 'stopped', 'review/old': 'stopped', 'review/new': 'available' })
  forge.clock.advance(40 * DAY)
  const input = { dry_run: true }
  const scheduled = (await root.delete(`${url}/review_apps`, input)).body.scheduled_entries
  expect(scheduled).toMatchObject([{ name: 'review/master' }, { name: 'review/old' }])
  expect(Object.keys(await states())).toHaveLength(3)
  await root.delete(`${url}/review_apps`, { dry_run: false })
  expect(Object.keys(await states())).toEqual(['review/new'])
})

test('tools report deployments', async () => {
  await using s = await stage()
  const { root, deployments } = s
  const input = { environment: 'live', sha: s.commit.id, ref: 'master', tag: false, status: 'running' }
  const made = await root.post(deployments, input)
  expect(made).toMatchObject({
    status: 201,
    body: { iid: 1, status: 'running', environment: { name: 'live' }, deployable: null, finished_at: null },
  })
  const item = `${deployments}/${made.body.id}`
  expect((await root.delete(item)).body.message).toBe('Cannot destroy running deployment')
  expect((await root.put(item, { status: 'success' })).body).toMatchObject({ status: 'success' })
  expect((await root.put(item, { status: 'failed' })).status).toBe(400)
  expect((await root.delete(item)).body.message).toBe('Deployment currently deployed to environment')
  await root.post(deployments, { ...input, status: 'success' })
  expect((await root.delete(item)).status).toBe(204)
  const refused = { status: 400 }
  for (const wrong of [
    { ...input, sha: 'f'.repeat(40) },
    { ...input, ref: 'nowhere' },
    { ...input, ref: 'refs/heads/master' },
    { ...input, environment: 'a?' },
    { ...input, status: 'created' },
  ])
    expect(await root.post(deployments, wrong)).toMatchObject(refused)
  expect((await root.get(deployments)).body).toHaveLength(1)
})

test('pages of environments and deployments cost as many queries for many as for few', async () => {
  await using s = await stage()
  const { forge, root } = s
  const lists = [() => root.get(s.url, { per_page: 100 }), () => root.get(s.deployments, { per_page: 100 })]
  const input = { sha: s.commit.id, ref: 'master', tag: false, status: 'success' }
  await runJobByName(forge, 'deploy')
  await forge.settle()
  for (const list of lists) await list()
  const few = [await forge.queries(lists[0]!), await forge.queries(lists[1]!)]
  for (let n = 0; n < 5; n++) await root.post(s.deployments, { ...input, environment: `live/${n}` })
  for (const list of lists) await list()
  expect([await forge.queries(lists[0]!), await forge.queries(lists[1]!)]).toEqual(few)
  expect((await lists[1]!()).body).toHaveLength(6)
})

test('where an environment is may be what a job before reports', async () => {
  await using forge = await startForge()
  const project = await forge.project()
  const config = {
    stages: ['a', 'b'],
    build: { stage: 'a', script: 'x' },
    ship: { stage: 'b', script: 'x', environment: { name: 'live', url: 'https://$VERSION.example.com' } },
  }
  await forge.seed(project, { '.gitlab-ci.yml': JSON.stringify(config) })
  const runner = await registerRunner(forge)
  const { body: build } = await runner.request()
  await runner.upload(build, gzipSync('VERSION=one\n'), '?artifact_type=dotenv&artifact_format=gzip', '.env')
  await runner.put(build, { state: 'success' })
  const { body: ship } = await runner.request()
  await runner.put(ship, { state: 'success' })
  await forge.settle()
  expect((await forge.administrator.get(`/projects/${project.id}/environments`)).body).toMatchObject([
    { name: 'live', external_url: 'https://one.example.com' },
  ])
})

test('where an environment is may be what its job reports', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const project = await forge.project()
  const { id } = project
  const jobs = ['good', 'bad'].map((name) => `${name}: { script: x, environment: { name: ${name}, url: $WHERE } }`)
  await forge.seed(project, { '.gitlab-ci.yml': jobs.join('\n') })
  const runner = await registerRunner(forge)
  const times: string[] = []
  for (const where of ['https://abc.example.com', 'javascript:alert(1)']) {
    const { body: job } = await runner.request()
    await runner.upload(job, gzipSync(`WHERE=${where}\n`), '?artifact_type=dotenv&artifact_format=gzip', '.env')
    await runner.put(job, { state: 'success' })
    times.push(forge.clock.now().toISOString())
    forge.clock.advance(HOUR)
  }
  await forge.settle()
  expect((await root.get(`/projects/${id}/environments`)).body).toMatchObject([
    { name: 'bad', external_url: null },
    { name: 'good', external_url: 'https://abc.example.com' },
  ])
  const names = async (filter: Record<string, string>) =>
    (await root.get(`/projects/${id}/deployments`, filter)).body.map(
      ({ environment }: { environment: { name: string } }) => environment.name,
    )
  const between = new Date(Date.parse(times[0]!) + HOUR / 2).toISOString()
  expect(await names({ updated_after: between })).toEqual(['bad'])
  expect(await names({ updated_before: between })).toEqual(['good'])
  expect(await names({ finished_after: between, status: 'success' })).toEqual(['bad'])
  expect(await names({ order_by: 'finished_at', sort: 'desc' })).toEqual(['bad', 'good'])
})

test('a branch that is deleted ends what it was deployed to, by its job', async () => {
  await using s = await stage()
  const { forge, root, project, url } = s
  for (const branch of ['stays', 'gone']) {
    await forge.seed(project, { '.gitlab-ci.yml': CONFIG, a: branch }, { branch })
    await runJobByName(forge, 'deploy')
  }
  await forge.settle()
  const states = async () =>
    Object.fromEntries(
      (await root.get(url)).body.map(({ name, state }: { name: string; state: string }) => [name, state]),
    )
  const before = await states()
  expect(before).toMatchObject({ 'review/gone': 'available', 'review/stays': 'available' })
  expect((await root.delete(`/projects/${project.id}/repository/branches/gone`)).status).toBe(204)
  await forge.settle()
  expect(await states()).toEqual({ ...before, 'review/gone': 'stopping' })
  const waiting = (await root.get(`/projects/${project.id}/jobs`, { scope: 'pending' })).body
  expect(waiting).toMatchObject([{ name: 'remove', ref: 'gone' }, {}])
  await runJobByName(forge, 'remove')
  await forge.settle()
  expect(await states()).toEqual({ ...before, 'review/gone': 'stopped' })
})
