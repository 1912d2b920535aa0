import { expect, test } from 'vitest'
import { CONFIG, findJobByName, keepFiles, runJobByName } from '../../../../test/pipelines.ts'
import { registerRunner } from '../../../../test/runners.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { Limiter } from '../../../lib/async/limiter.ts'

async function begun(forge: TestForge, config = CONFIG) {
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  await forge.seed(project, { '.gitlab-ci.yml': config })
  const at = (path: string) => `/projects/${project.id}${path}`
  const statuses = async () => {
    const { body } = await owner.get(at('/pipelines/1/jobs'), { per_page: 100 })
    return Object.fromEntries(body.map((job: { name: string; status: string }) => [job.name, job.status]))
  }
  const pipeline = async () => (await owner.get(at('/pipelines/1'))).body
  return { owner, project, at, statuses, pipeline }
}

test('a pipeline from its first job to its last', async () => {
  await using forge = await startForge()
  const { statuses, pipeline, owner, at } = await begun(forge)
  expect(await statuses()).toEqual({ compile: 'pending', check: 'created', lint: 'created', ship: 'created' })
  expect(await pipeline()).toMatchObject({ status: 'pending', source: 'push', duration: null })

  forge.clock.advance(2000)
  await runJobByName(forge, 'compile', { isLeftRunning: true })
  expect(await pipeline()).toMatchObject({ status: 'running', started_at: expect.any(String) })
  forge.clock.advance(3000)
  const { succeedJob } = await import('./transitions.ts')
  await succeedJob(forge.app, await findJobByName(forge, 'compile'))
  expect(await statuses()).toEqual({ compile: 'success', check: 'pending', lint: 'pending', ship: 'created' })

  await runJobByName(forge, 'lint', { fails: { reason: 'script_failure', exit_code: 1 } })
  await runJobByName(forge, 'check')
  expect(await statuses()).toEqual({ compile: 'success', check: 'success', lint: 'failed', ship: 'manual' })
  expect(await pipeline()).toMatchObject({
    status: 'success',
    duration: 3,
    finished_at: expect.any(String),
    detailed_status: { text: 'Warning', label: 'passed with warnings', group: 'success-with-warnings' },
  })
  await forge.settle()
  expect((await owner.get(at('/jobs'), { 'scope[]': 'failed' })).body).toMatchObject([
    { name: 'lint', failure_reason: 'script_failure', allow_failure: true, pipeline: { id: 1, status: 'success' } },
  ])
  const sorted = async (input: object) =>
    (await owner.get(at('/jobs'), { ...input })).body.map(({ name }: { name: string }) => name)
  expect(await sorted({ order_by: 'id', sort: 'asc' })).toEqual(['compile', 'check', 'lint', 'ship'])
  expect(await sorted({ order_by: 'id' })).toEqual(['ship', 'lint', 'check', 'compile'])
  expect(await sorted({ sort: 'asc', 'scope[]': 'success' })).toEqual(['compile', 'check'])
  expect((await owner.get(at('/jobs'), { order_by: 'name' })).status).toBe(400)
})

test('play, retry and cancel', async () => {
  await using forge = await startForge()
  const { statuses, pipeline, owner, at } = await begun(forge)
  const post = async (name: string, verb: string) =>
    owner.post(at(`/jobs/${(await findJobByName(forge, name)).id}/${verb}`))
  expect(await post('check', 'play')).toMatchObject({
    status: 400,
    body: { message: '400 (Bad request) "Unplayable Job" not given' },
  })
  expect(await post('check', 'retry')).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden - Job is not retryable' },
  })
  await runJobByName(forge, 'compile', { fails: { reason: 'script_failure' } })
  expect(await statuses()).toEqual({ compile: 'failed', check: 'skipped', lint: 'skipped', ship: 'skipped' })
  expect(await pipeline()).toMatchObject({ status: 'failed' })

  const old = await findJobByName(forge, 'compile')
  const again = await post('compile', 'retry')
  expect(again).toMatchObject({ status: 201, body: { name: 'compile', status: 'pending', finished_at: null } })
  expect(again.body.id).toBeGreaterThan(old.id)
  expect(await statuses()).toEqual({ compile: 'pending', check: 'created', lint: 'created', ship: 'created' })
  expect(await pipeline()).toMatchObject({ status: 'running' })
  expect((await owner.post(at(`/jobs/${old.id}/retry`))).status).toBe(403)
  await runJobByName(forge, 'compile')
  await runJobByName(forge, 'check')
  await runJobByName(forge, 'lint')
  expect(await post('ship', 'play')).toMatchObject({ status: 201, body: { status: 'pending' } })
  expect(await post('ship', 'cancel')).toMatchObject({ status: 201, body: { status: 'canceled' } })
  expect(await post('ship', 'cancel')).toMatchObject({ status: 201, body: { status: 'canceled' } })
  expect(await owner.get(at('/pipelines/1/jobs'), { include_retried: true })).toMatchObject({ body: { length: 5 } })
})

test('what failed is tried again by itself, as often as it says', async () => {
  await using forge = await startForge()
  const { pipeline } = await begun(forge, 'flaky: { script: x, retry: { max: 1, when: runner_system_failure } }')
  await runJobByName(forge, 'flaky', { fails: { reason: 'runner_system_failure' } })
  expect(await findJobByName(forge, 'flaky')).toMatchObject({ status: 'pending', retried: false })
  expect(await pipeline()).toMatchObject({ status: 'running' })
  await runJobByName(forge, 'flaky', { fails: { reason: 'runner_system_failure' } })
  expect(await findJobByName(forge, 'flaky')).toMatchObject({ status: 'failed' })
  expect(await pipeline()).toMatchObject({ status: 'failed' })
})

test('logs, artifacts and their end', async () => {
  await using forge = await startForge()
  const { owner, at, project } = await begun(forge, 'build: { script: x, coverage: "/total: (\\\\d+\\\\.\\\\d+)%/" }')
  const { id } = await findJobByName(forge, 'build')
  expect((await owner.get(at(`/jobs/${id}/trace`))).status).toBe(404)
  const log = 'total: 10.5%\nhello \u001b[32mworld\u001b[0m\ntotal: 81.25% of lines\nend\n'
  await runJobByName(forge, 'build', { log, files: { 'out/a.txt': 'hello', 'b.html': '<b>' } })
  const read = async () => (await owner.get(at(`/jobs/${id}/trace`))).body
  expect(await read()).toBe(log)
  const { openTrace } = await import('./traces.ts')
  const before = await findJobByName(forge, 'build')
  await forge.settle()
  // A reader that started before the log became a blob reads it to its end.
  const stale = { ...before, trace_digest: null }
  expect(Buffer.concat(await (await openTrace(forge.app, stale, 6))!.toArray()).toString()).toBe(log.slice(6))
  expect(await findJobByName(forge, 'build')).toMatchObject({ trace_digest: expect.any(String), coverage: 81.25 })
  expect(await read()).toBe(log)
  expect((await owner.get(at('/pipelines/1'))).body).toMatchObject({ coverage: '81.25' })

  const whole = await owner.get(at(`/jobs/${id}/artifacts`))
  expect(whole).toMatchObject({ status: 200 })
  expect(await owner.get(at(`/jobs/${id}/artifacts/out/a.txt`))).toMatchObject({ status: 200, body: 'hello' })
  expect((await owner.get(at(`/jobs/${id}/artifacts/out`))).status).toBe(404)
  expect((await owner.get(at(`/jobs/${id}/artifacts/nothing`))).status).toBe(404)
  expect((await owner.get(at('/jobs/artifacts/master/raw/b.html'), { job: 'build' })).body).toBe('<b>')
  expect((await owner.get(at('/jobs/artifacts/master/download'), { job: 'build' })).status).toBe(200)
  expect((await owner.get(at('/jobs/artifacts/master/download'), { job: 'other' })).status).toBe(404)
  expect((await owner.get(at('/jobs/artifacts/other/download'), { job: 'build' })).status).toBe(404)

  const page = async (path: string, by: Record<string, string> = { 'PRIVATE-TOKEN': owner.token }) => {
    const answer = await fetch(`${project.web_url}/-/jobs/${path}`, { headers: by, redirect: 'manual' })
    return [answer.status, answer.headers.get('location') ?? (await answer.text())]
  }
  expect((await page(`${id}/artifacts/download`))[0]).toBe(200)
  expect((await page(`${id}/artifacts/download`, { 'PRIVATE-TOKEN': owner.token, Range: 'bytes=0-1' }))[1]).toBe('PK')
  for (const verb of ['raw', 'file']) expect(await page(`${id}/artifacts/${verb}/out/a.txt`)).toEqual([200, 'hello'])
  const there = `${project.web_url}/-/jobs/${id}/artifacts`
  expect(await page('artifacts/master/download?job=build')).toEqual([302, `${there}/download`])
  expect(await page('artifacts/master/raw/out/a.txt?job=build')).toEqual([302, `${there}/raw/out/a.txt`])
  for (const path of ['raw/nothing', 'raw', 'raw/%2e%2e/a'])
    expect([path, (await page(`${id}/artifacts/${path}`))[0]]).toEqual([path, 404])
  for (const path of ['99/artifacts/download', 'artifacts/master/download', 'artifacts/gone/download?job=build'])
    expect([path, (await page(path))[0]]).toEqual([path, 404])
  expect((await page(`${id}/artifacts/download`, {}))[0]).toBe(404)

  expect(await owner.post(at(`/jobs/${id}/erase`))).toMatchObject({
    status: 201,
    body: { status: 'success', erased_at: expect.any(String), download_url: null, artifacts: [] },
  })
  expect((await owner.get(at(`/jobs/${id}/artifacts`))).status).toBe(404)
  expect((await owner.get(at(`/jobs/${id}/trace`))).status).toBe(404)
  expect(await owner.post(at(`/jobs/${id}/erase`))).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden - Job is not erasable!' },
  })
})

test('pages of artifacts take their turn, and give it back', async () => {
  await using forge = await startForge()
  const { owner, project } = await begun(forge, 'build: { script: x }')
  const { id } = await runJobByName(forge, 'build', { files: { 'a.txt': 'hello' } })
  const download = new Limiter({ perCaller: 1, inAll: 1, waitingPerCaller: 1, waitingInAll: 1, patience: 10_000 })
  Object.assign(forge.app, { limiters: { ...forge.app.limiters, download } })
  const page = async (path: string, method = 'GET') => {
    const headers = { 'PRIVATE-TOKEN': owner.token }
    const answer = await fetch(`${project.web_url}/-/jobs/${id}/artifacts/${path}`, { method, headers })
    await answer.arrayBuffer()
    return [answer.status, answer.headers.has('retry-after')]
  }
  const leave = await download.enter({ key: owner.id, isAnonymous: false })
  const waiting = download.enter({ key: owner.id, isAnonymous: false })
  for (const path of ['raw/a.txt', 'file/a.txt', 'raw/none', 'download']) expect(await page(path)).toEqual([429, true])
  leave()
  ;(await waiting)()
  for (const path of ['raw/a.txt', 'download', 'raw/none', 'file/a.txt']) {
    const status = path === 'raw/none' ? 404 : 200
    expect([path, await page(path), await page(path, 'HEAD')]).toEqual([path, [status, false], [status, false]])
  }
})

test('what has expired is gone at once, kept it stays, and its content is removed', async () => {
  await using forge = await startForge()
  const { owner, at, project } = await begun(forge, 'build: { script: x }')
  const { id } = await runJobByName(forge, 'build')
  const soon = new Date(forge.clock.now().getTime() + 60_000).toISOString()
  await keepFiles(forge, { id, project_id: project.id }, { a: 'x' }, { expire_at: soon })
  expect((await owner.get(at(''), { statistics: true })).body.statistics.job_artifacts_size).toBeGreaterThan(0)
  const { digest } = await forge.app.db.selectFrom('ci_artifacts').selectAll().executeTakeFirstOrThrow()
  forge.clock.advance(61_000)
  expect((await owner.get(at(`/jobs/${id}/artifacts`))).status).toBe(404)
  const { expireArtifacts } = await import('./artifacts.ts')
  await expireArtifacts(forge.app)
  expect(await forge.app.db.selectFrom('ci_artifacts').selectAll().execute()).toEqual([])
  expect((await owner.get(at(''), { statistics: true })).body.statistics.job_artifacts_size).toBe(0)
  expect(await forge.app.blobs.has(digest)).toBe(true)
  forge.clock.advance(3_700_000)
  await expireArtifacts(forge.app)
  expect(await forge.app.blobs.has(digest)).toBe(false)
})

test('variables tell of the server as the API does, and of an annotated tag', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  await forge.seed(project, { '.gitlab-ci.yml': 'a: { script: x, only: [tags] }' }, { as: owner })
  await owner.post(`/projects/${project.id}/repository/tags`, { tag_name: 'v1', ref: 'master', message: 'The first' })
  const runner = await registerRunner(forge)
  const { body } = await runner.request()
  const values = Object.fromEntries(body.variables.map(({ key, value }: Record<string, string>) => [key, value]))
  const { version, revision } = (await owner.get('/version')).body
  const [CI_SERVER_VERSION_MAJOR, CI_SERVER_VERSION_MINOR] = version.split('.')
  expect(values).toMatchObject({
    CI_SERVER_VERSION: version,
    CI_SERVER_VERSION_MAJOR,
    CI_SERVER_VERSION_MINOR,
    CI_SERVER_REVISION: revision,
    CI_COMMIT_TAG: 'v1',
    CI_COMMIT_TAG_MESSAGE: 'The first',
  })
})

test('variables tell what a trigger, a release, the languages and the deploy token are', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const group = await forge.group({}, owner)
  const project = await forge.project({ namespace_id: group.id }, owner)
  const url = `/projects/${project.id}`
  await forge.seed(
    project,
    { '.gitlab-ci.yml': 'a: { script: x }', 'a.ts': 'x'.repeat(75), 'b.py': 'y' },
    { as: owner },
  )
  await forge.settle()
  const runner = await registerRunner(forge)
  const statusOf = async () => {
    const { body } = await runner.request()
    const rows = body.variables as { key: string; value: string; masked: boolean; public: boolean }[]
    return new Map(rows.map((row) => [row.key, row]))
  }
  const before = await statusOf()
  expect(before.get('CI_PROJECT_REPOSITORY_LANGUAGES')?.value).toBe('typescript,python')
  for (const key of ['CI_DEPLOY_USER', 'CI_DEPLOY_PASSWORD', 'CI_TRIGGER_SHORT_TOKEN', 'CI_RELEASE_DESCRIPTION'])
    expect(before.has(key), key).toBe(false)

  const { body: trigger } = await owner.post(`${url}/triggers`, { description: 'x' })
  const start = () => owner.post(`${url}/trigger/pipeline`, { token: trigger.token, ref: 'master' })
  const request = { name: 'gitlab-deploy-token', scopes: ['read_repository'] }
  await owner.post(`${url}/deploy_tokens`, { ...request, name: 'another' })
  await owner.post(`${url}/deploy_tokens`, { ...request, expires_at: '2001-01-01T00:00:00Z' })
  await start()
  const triggered = await statusOf()
  expect(triggered.get('CI_TRIGGER_SHORT_TOKEN')?.value).toBe(trigger.token.slice(0, 4))
  expect(triggered.has('CI_DEPLOY_USER')).toBe(false)

  const { body: shared } = await owner.post(`/groups/${group.id}/deploy_tokens`, request)
  await start()
  const given = await statusOf()
  expect(given.get('CI_DEPLOY_USER')?.value).toBe(shared.username)
  expect(given.get('CI_DEPLOY_PASSWORD')).toMatchObject({ value: shared.token, masked: true, public: false })
  const { body: own } = await owner.post(`${url}/deploy_tokens`, { ...request, username: 'ship' })
  await start()
  const nearer = await statusOf()
  expect([nearer.get('CI_DEPLOY_USER')?.value, nearer.get('CI_DEPLOY_PASSWORD')?.value]).toEqual(['ship', own.token])
  await owner.delete(`${url}/deploy_tokens/${own.id}`)
  await owner.post(`${url}/repository/tags`, { tag_name: 'v1', ref: 'master' })
  expect((await statusOf()).has('CI_RELEASE_DESCRIPTION')).toBe(false)
  expect((await owner.post(`${url}/releases`, { tag_name: 'v2', ref: 'master', description: 'Second' })).status).toBe(
    201,
  )
  await forge.settle()
  const released = await statusOf()
  expect([released.get('CI_COMMIT_TAG')?.value, released.get('CI_RELEASE_DESCRIPTION')?.value]).toEqual([
    'v2',
    'Second',
  ])
  expect(released.get('CI_DEPLOY_USER')?.value).toBe(shared.username)
})
