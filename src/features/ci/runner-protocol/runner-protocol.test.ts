import { createPublicKey, hash, verify, type JsonWebKey } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { zipped } from '../../../../test/pipelines.ts'
import { basic } from '../../../../test/lfs.ts'
import { ask, info, registerRunner } from '../../../../test/runners.ts'
import { HOUR } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { dropRef } from '../../../git/refs/pointing.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'

async function pushed(forge: TestForge, config: string) {
  const owner = await forge.user()
  const project = await forge.project({ visibility: 'private' }, owner)
  await forge.seed(project, { '.gitlab-ci.yml': config }, { as: owner })
  const at = (path: string) => `/projects/${project.id}${path}`
  return { owner, project, at }
}

const SIMPLE = 'build:\n  script: echo hello\n'

test('a request for a job above 32 KB is refused, and hands out no job', async () => {
  await using forge = await startForge()
  const { owner, at } = await pushed(forge, SIMPLE)
  const { token, id } = await registerRunner(forge)
  const request = (size: number) => {
    const [start, end] = [`{"token":"${token}","system_id":"s_1","padding":"`, '"}']
    const body = start + 'x'.repeat(size - start.length - end.length) + end
    return ask(forge, 'POST', '/jobs/request', { body, headers: { 'Content-Type': 'application/json' } })
  }
  const state = async () => ({
    jobs: (await owner.get(at('/jobs'))).body.map((job: { status: string; runner: unknown }) => [
      job.status,
      job.runner,
    ]),
    managers: (await forge.administrator.get(`/runners/${id}/managers`)).body,
  })
  const before = await state()
  expect(before).toEqual({ jobs: [['pending', null]], managers: [] })
  expect((await request(32 * 1024 + 1)).status).toBe(413)
  expect(await state()).toEqual(before)
  expect((await request(32 * 1024)).status).toBe(201)
})

test('a job from the queue to its end', async () => {
  await using forge = await startForge()
  const { owner, project, at } = await pushed(forge, SIMPLE)
  const runner = await registerRunner(forge, { tag_list: 'a,b', run_untagged: true, locked: true })
  const { status, body: job, headers } = await runner.request({ system_id: 's_1' })
  expect([status, headers.get('content-type')]).toEqual([201, 'application/json'])
  expect(job).toMatchObject({
    id: expect.any(Number),
    token: expect.stringMatching(/^glcbt-/),
    allow_git_fetch: true,
    job_info: { name: 'build', stage: 'test', project_id: project.id, project_name: project.name },
    git_info: {
      repo_url: `${forge.url.replace('//', `//gitlab-ci-token:${job.token}@`)}/${project.path_with_namespace}.git`,
      ref: 'master',
      sha: expect.stringMatching(/^[0-9a-f]{40}$/),
      ref_type: 'branch',
      refspecs: [
        `+refs/pipelines/${job.job_info.pipeline_id}:refs/pipelines/${job.job_info.pipeline_id}`,
        '+refs/heads/master:refs/remotes/origin/master',
      ],
      depth: 20,
    },
    runner_info: { timeout: 3600 },
    steps: [{ name: 'script', script: ['echo hello'], timeout: 3600, when: 'on_success', allow_failure: false }],
    image: null,
    services: [],
    artifacts: null,
    cache: [],
    dependencies: [],
    features: { trace_sections: true },
  })
  const variables = Object.fromEntries(
    job.variables.map(({ key, value }: { key: string; value: string }) => [key, value]),
  )
  expect(variables).toMatchObject({
    CI: 'true',
    CI_JOB_ID: String(job.id),
    CI_JOB_TOKEN: job.token,
    CI_RUNNER_ID: String(runner.id),
    CI_PROJECT_PATH: project.path_with_namespace,
    CI_COMMIT_REF_NAME: 'master',
    GITLAB_USER_LOGIN: owner.username,
  })
  for (const one of job.variables) expect(typeof one.value, one.key).toBe('string')

  expect((await runner.put(job, { state: 'running' })).headers.get('job-status')).toBe('running')
  const log = 'hello\n'
  const appended = await runner.patch(job, 0, log)
  expect([appended.status, appended.headers.get('range')]).toEqual([202, '0-6'])
  const checksum = `crc32:${crc32(log).toString(16).padStart(8, '0')}`
  const done = await runner.put(job, { state: 'success', output: { checksum, bytesize: 6 } })
  expect([done.status, done.headers.get('job-status')]).toEqual([200, 'success'])
  await forge.settle()
  expect((await owner.get(at(`/jobs/${job.id}/trace`))).body).toBe(log)
  expect((await owner.get(at(`/jobs/${job.id}`))).body).toMatchObject({
    status: 'success',
    queued_duration: expect.any(Number),
    runner: { id: runner.id, is_shared: true },
    runner_manager: { system_id: 's_1' },
  })
  const ofRunner = async (query: Record<string, string>) => {
    const { body, headers } = await forge.administrator.get(`/runners/${runner.id}/jobs`, query)
    return [body.map(({ id }: { id: number }) => id), headers.get('x-total')]
  }
  expect(await ofRunner({ status: 'success', system_id: 's_1' })).toEqual([[job.id], '1'])
  expect(await ofRunner({ sort: 'asc' })).toEqual([[job.id], '1'])
  expect(await ofRunner({ status: 'failed' })).toEqual([[], '0'])
  expect(await ofRunner({ system_id: 's_2' })).toEqual([[], '0'])
  // A finished job never changes, and its token is invalid.
  const late = await runner.put(job, { state: 'failed', failure_reason: 'unknown_failure' })
  expect([late.status, late.headers.get('job-status')]).toEqual([403, 'success'])
  expect((await runner.patch(job, 6, 'more')).status).toBe(403)
  expect(await forge.app.db.selectFrom('ci_runs').selectAll().execute()).toEqual([])
})

test('a job that its runner gives back unbegun is in the queue again, twice', async () => {
  await using forge = await startForge()
  const { owner, at } = await pushed(forge, 'build: { script: x }\nother: { script: x }\n')
  const runner = await registerRunner(forge)
  const fault = { state: 'failed', failure_reason: 'runner_system_failure', requeue: true }
  const named = async () =>
    (await owner.get(at('/pipelines/1/jobs'), { include_retried: true })).body
      .filter(({ name }: { name: string }) => name === 'build')
      .map(({ id, status }: { id: number; status: string }) => [id, status])
  const { body: first } = await runner.request()
  const { body: other } = await runner.request()
  // A failed script is not a failure of the runner.
  await runner.put(other, { ...fault, failure_reason: 'script_failure' })
  expect((await runner.request({ last_update: '' })).status).toBe(204)
  const given = [first]
  for (let n = 0; n < 3; n++) {
    expect((await runner.put(given.at(-1), fault)).headers.get('job-status')).toBe('failed')
    const { status, body } = await runner.request({ last_update: '' })
    expect(status).toBe(n < 2 ? 201 : 204)
    if (status === 201) given.push(body)
  }
  expect(new Set(given.map(({ token }) => token)).size).toBe(3)
  expect(await named()).toEqual(given.toReversed().map(({ id }) => [id, 'failed']))
})

test('agents of today are understood: verified, one of several, in chunks', async () => {
  await using forge = await startForge()
  const { owner, project, at } = await pushed(forge, 'build: { script: x, artifacts: { paths: [a] } }\n')
  const input = { runner_type: 'project_type', project_id: project.id, description: 'today' }
  const { token } = (await owner.post('/user/runners', input)).body
  expect(token).toMatch(/^glrt-/)
  const features = { two_phase_job_commit: true, job_inputs: true, cancel_gracefully: true, shared: false }
  const about = { name: 'agent', version: '19.4.0', revision: 'x', platform: 'linux', architecture: 'arm64' }
  const info = { ...about, executor: 'shell', shell: 'bash', features, config: { gpus: '' }, labels: { host: 'a' } }
  const system_id = 's_0123456789ab'
  const headers = { Accept: 'application/json', 'RUNNER-TOKEN': token, 'X-Request-Id': 'one' }
  const verified = await ask(forge, 'POST', '/runners/verify', { json: { info, token, system_id }, headers })
  expect(verified).toMatchObject({ status: 200, body: { token, token_expires_at: null } })
  const session = { url: 'https://127.0.0.1:8093', certificate: 'x', authorization: 'y' }
  const asked = await ask(forge, 'POST', '/jobs/request', { json: { info, token, system_id, session }, headers })
  expect(asked.status).toBe(201)
  const { body: job } = asked
  const ofJob = { 'JOB-TOKEN': job.token, 'X-Request-Id': 'two' }
  const put = (json: object) =>
    ask(forge, 'PUT', `/jobs/${job.id}`, { json: { info, token: job.token, ...json }, headers: ofJob })
  expect(await put({ state: 'running', output: {} })).toMatchObject({ status: 200 })
  const log = '2026-11-16T10:00:00.123456Z 00O hello\n'
  const range = { ...ofJob, 'Content-Type': 'text/plain', 'Content-Range': `0-${log.length - 1}` }
  expect(
    await ask(forge, 'PATCH', `/jobs/${job.id}/trace?debug_trace=false`, { headers: range, body: log }),
  ).toMatchObject({
    status: 202,
  })
  // The request does not announce its length.
  const head =
    '--b\r\nContent-Disposition: form-data; name="file"; filename="artifacts.zip"\r\nContent-Type: application/octet-stream\r\n\r\n'
  const archive = await zipped({ a: 'kept' })
  const body = ReadableStream.from([Buffer.from(head), archive, Buffer.from('\r\n--b--\r\n')])
  const query = 'artifact_format=zip&artifact_type=archive'
  const init = {
    method: 'POST',
    body,
    duplex: 'half',
    headers: { ...ofJob, 'Content-Type': 'multipart/form-data; boundary=b' },
  }
  expect((await fetch(`${forge.url}/api/v4/jobs/${job.id}/artifacts?${query}`, init as RequestInit)).status).toBe(201)
  const checksum = `crc32:${crc32(log).toString(16).padStart(8, '0')}`
  const done = await put({
    state: 'success',
    checksum,
    output: { checksum, bytesize: log.length },
    runtime_environment_key: 'k',
  })
  expect([done.status, done.headers.get('job-status')]).toEqual([200, 'success'])
  expect((await owner.get(at(`/jobs/${job.id}/artifacts/a`))).body.toString()).toBe('kept')
  expect((await owner.get(`/runners/${verified.body.id}/managers`)).body).toMatchObject([
    { system_id, version: '19.4.0' },
  ])
  const json = { token, system_id }
  expect((await ask(forge, 'DELETE', '/runners/managers', { json, headers })).status).toBe(204)
  expect((await ask(forge, 'DELETE', '/runners/managers', { json, headers })).status).toBe(404)
  expect((await owner.get(`/runners/${verified.body.id}`)).body).toMatchObject({ description: 'today' })
})

test('what a job fetches is there, though its pipeline had ended', async () => {
  await using forge = await startForge()
  const { owner, project, at } = await pushed(forge, SIMPLE)
  const runner = await registerRunner(forge)
  const refs = async (token: string) => {
    const headers = { Authorization: basic('gitlab-ci-token', token) }
    const address = `${forge.url}/${project.path_with_namespace}.git/info/refs?service=git-upload-pack`
    return (await (await fetch(address, { headers })).text()).includes('refs/pipelines/1')
  }
  const { body: job } = await runner.request()
  expect(await refs(job.token)).toBe(true)
  await runner.put(job, { state: 'success' })
  await forge.settle()
  await owner.post(at(`/jobs/${job.id}/retry`))
  // As if the end of the pipeline were noticed late.
  await dropRef(repositoryDir(forge.app, (await findProjectById(forge.app.db, project.id))!), 'refs/pipelines/1')
  const { body: again } = await runner.request()
  expect(await refs(again.token)).toBe(true)
})

test('a runner that waits has a new job at once', async () => {
  await using forge = await startForge()
  const { owner, project } = await pushed(forge, SIMPLE)
  const runner = await registerRunner(forge)
  expect((await runner.request()).status).toBe(201)
  expect((await runner.request()).status).toBe(204)
  const { store } = forge.app
  const before = store.queries
  const waiting = runner.request()
  await expect.poll(() => store.queries).toBeGreaterThan(before)
  await forge.seed(project, { more: 'x' }, { as: owner })
  // A runner that nothing wakes gets 204 after 50 seconds.
  const { status, body } = await waiting
  expect(status).toBe(201)
  expect(body.job_info.name).toBe('build')
})

test('waiting runners are answered when the server closes', async () => {
  const forge = await startForge()
  const runner = await registerRunner(forge)
  await runner.request()
  const { store } = forge.app
  const before = store.queries
  const waiting = runner.request()
  await expect.poll(() => store.queries).toBeGreaterThan(before)
  await forge.close()
  expect((await waiting).status).toBe(204)
})

test('logs are appended where they end, and masked without a change of length', async () => {
  await using forge = await startForge()
  const { owner, at } = await pushed(forge, SIMPLE)
  const runner = await registerRunner(forge)
  const { body: job } = await runner.request()
  expect((await runner.patch(job, 5, 'x')).headers.get('range')).toBe('0-0')
  expect((await runner.patch(job, 5, 'x')).status).toBe(416)
  const half = job.token.length / 2
  const [head, tail] = [job.token.slice(0, half), job.token.slice(half)]
  await runner.patch(job, 0, `token ${head}`)
  await runner.patch(job, 6 + head.length, `${tail} end`)
  expect((await runner.patch(job, 0, 'again')).headers.get('range')).toBe(`0-${10 + job.token.length}`)
  const { body: shown } = await owner.get(at(`/jobs/${job.id}/trace`))
  expect(shown).toBe(`token ${'x'.repeat(job.token.length)} end`)
  // A wrong checksum empties the log, and the runner sends it again.
  expect((await runner.put(job, { state: 'success', output: { checksum: 'crc32:00000001' } })).status).toBe(412)
  expect((await runner.patch(job, 0, 'all of it')).headers.get('range')).toBe('0-9')
  const checksum = `crc32:${crc32('all of it').toString(16).padStart(8, '0')}`
  expect((await runner.put(job, { state: 'success', output: { checksum, bytesize: 9 } })).status).toBe(200)
})

test('a runner that lies is refused, and nothing moves', async () => {
  await using forge = await startForge()
  const { owner, at } = await pushed(forge, SIMPLE + 'other:\n  script: echo\n')
  const runner = await registerRunner(forge)
  const { body: job } = await runner.request()
  const { body: other } = await runner.request()
  const events = await forge.events()
  const lie = { id: other.id, token: job.token }
  for (const id of [other.id, 999_999]) {
    expect((await runner.put({ ...lie, id }, { state: 'success' })).status).toBe(403)
    expect((await runner.patch({ ...lie, id }, 0, 'x')).status).toBe(403)
    expect((await runner.upload({ ...lie, id }, Buffer.from('x'))).status).toBe(403)
  }
  for (const range of ['', '1', '-1-5', 'bytes 0-1', '99999999999999999999-1', '0-x'])
    expect(
      (
        await ask(forge, 'PATCH', `/jobs/${job.id}/trace`, {
          headers: { 'JOB-TOKEN': job.token, ...(range && { 'Content-Range': range }) },
          body: 'x',
        })
      ).status,
      range,
    ).toBe(400)
  expect((await runner.patch(job, 0, Buffer.alloc(1024 * 1024 + 1))).status).toBe(413)
  expect((await runner.upload(job, Buffer.from('no zip'))).status).toBe(400)
  expect((await runner.upload(job, Buffer.from('x=1'), '?artifact_type=dotenv&artifact_format=gzip')).status).toBe(400)
  expect((await runner.upload(job, Buffer.from('x'), '?artifact_type=../x&artifact_format=raw')).status).toBe(400)
  for (const token of ['', 'wrong', job.token])
    expect((await ask(forge, 'POST', '/jobs/request', { json: { token } })).status).toBe(403)
  expect(await forge.events()).toEqual(events)
  expect((await owner.get(at(`/jobs/${job.id}`))).body).toMatchObject({ status: 'running', artifacts: [] })
  expect(await forge.app.db.selectFrom('ci_trace_chunks').selectAll().execute()).toEqual([])
})

/** Everything that a runner could change. */
async function storedJobs(forge: TestForge) {
  const { db } = forge.app
  return {
    jobs: await db.selectFrom('ci_jobs').selectAll().orderBy('id').execute(),
    pipelines: await db.selectFrom('pipelines').selectAll().orderBy('id').execute(),
    logs: await db.selectFrom('ci_trace_chunks').selectAll().execute(),
    artifacts: await db.selectFrom('ci_artifacts').selectAll().execute(),
    runners: await db.selectFrom('runners').select(['id', 'token_digest']).execute(),
    events: await forge.events(),
  }
}

test('tokens open what they are for, while it runs, and nothing else', async () => {
  await using forge = await startForge()
  await pushed(forge, SIMPLE)
  await pushed(forge, SIMPLE)
  await pushed(forge, SIMPLE)
  const runner = await registerRunner(forge)
  const removed = await registerRunner(forge)
  const [{ body: mine }, { body: foreign }, { body: over }] = [
    await runner.request(),
    await runner.request(),
    await removed.request(),
  ]
  await runner.upload(foreign, await zipped({ a: 'secret' }))
  // A removed runner keeps the jobs that it has started.
  expect((await ask(forge, 'DELETE', '/runners', { json: { token: removed.token } })).status).toBe(204)
  expect((await removed.patch(over, 0, 'on')).status).toBe(202)
  expect((await removed.put(over, { state: 'success' })).status).toBe(200)
  await forge.settle()
  const before = await storedJobs(forge)

  const archive = await zipped({ a: 'b' })
  const calls = (token: string, id: number) => [
    runner.put({ id, token }, { state: 'running' }),
    runner.put({ id, token }, { state: 'success' }),
    runner.put({ id, token }, { state: 'failed', failure_reason: 'script_failure' }),
    runner.patch({ id, token }, 0, 'x'),
    runner.patch({ id, token }, 2, 'x'),
    runner.upload({ id, token }, archive),
    ask(forge, 'POST', `/jobs/${id}/artifacts/authorize`, { json: { token } }),
  ]
  const shown = [mine.token, foreign.token, over.token, runner.token, removed.token, '', 'glcbt-', 'x'.repeat(5000)]
  for (const { id, token } of [mine, foreign, over]) {
    for (const wrong of shown.filter((one) => one !== token || id === over.id)) {
      const answers = await Promise.all(calls(wrong, id))
      expect([...new Set(answers.map(({ status }) => status))], `${id} ${wrong.slice(0, 9)}`).toEqual([403])
    }
  }
  expect((await runner.put(over, { state: 'failed' })).headers.get('job-status')).toBe('success')
  const download = async (id: number, token: string) =>
    (await ask(forge, 'GET', `/jobs/${id}/artifacts`, { headers: { 'JOB-TOKEN': token } })).status
  expect(await download(foreign.id, foreign.token)).toBe(200)
  expect([await download(foreign.id, mine.token), await download(foreign.id, over.token)]).toEqual([404, 403])
  for (const token of [removed.token, mine.token, '']) {
    for (const [method, path] of [
      ['POST', '/jobs/request'],
      ['POST', '/runners/verify'],
      ['POST', '/runners/reset_authentication_token'],
      ['DELETE', '/runners'],
    ] as const)
      expect((await ask(forge, method, path, { json: { token } })).status, path).toBe(403)
  }
  expect(await storedJobs(forge)).toEqual(before)
})

test('a project that is being deleted gives out no job and takes nothing from one that runs', async () => {
  await using forge = await startForge()
  const { owner, at } = await pushed(forge, 'build: { script: x }\nother: { script: x }\n')
  const runner = await registerRunner(forge)
  const { body: job } = await runner.request()
  const { runners_token } = (await owner.get(at(''))).body
  await forge.stopWorker()
  expect((await owner.delete(at(''))).status).toBe(204)

  expect((await runner.patch(job, 0, 'more')).status).toBe(403)
  expect((await runner.put(job, { state: 'success' })).status).toBe(403)
  expect((await runner.request({ last_update: '' })).status).toBe(204)
  expect((await ask(forge, 'POST', '/runners', { json: { token: runners_token } })).status).toBe(403)
  const { db } = forge.app
  expect(await db.selectFrom('ci_jobs').select('status').where('id', '=', job.id).execute()).toEqual([
    { status: 'running' },
  ])
})

test('what does not follow is refused, in logs, states and archives', async () => {
  await using forge = await startForge()
  const { owner, at } = await pushed(forge, SIMPLE)
  const runner = await registerRunner(forge)
  const { body: job } = await runner.request()
  await runner.patch(job, 0, 'hello\n')
  const kept = await zipped({ a: 'kept' })
  expect((await runner.upload(job, kept)).status).toBe(201)
  expect((await runner.upload(job, kept)).status).toBe(201)
  await forge.administrator.put('/application/settings', { max_artifacts_size: 1 })
  await forge.settle()
  const before = await storedJobs(forge)

  for (const start of [0, 3, 5, 7, 99_999_999_999_999]) {
    const { status, headers } = await runner.patch(job, start, 'hello again\n')
    expect([start, status, headers.get('range')]).toEqual([start, 416, '0-6'])
  }
  for (const state of ['canceled', 'pending', 'created', 'skipped', 'SUCCESS', 'erased', ''])
    expect((await runner.put(job, { state })).body, state).toMatchObject({ error: 'state does not have a valid value' })
  const other = await zipped({ a: 'other' })
  const refused = [Buffer.from('no zip at all'), other.subarray(0, other.length - 4), Buffer.alloc(1024 * 1024 + 1)]
  expect((await runner.upload(job, other)).status).toBe(400)
  for (const [n, status] of [400, 400, 413].entries())
    expect((await runner.upload(job, refused[n]!, '?artifact_type=lsif')).status).toBe(status)
  const headers = { 'JOB-TOKEN': job.token }
  const bodies: [string, string][] = [
    ['text/plain', 'x'],
    ['multipart/form-data', 'x'],
    ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="other"\r\n\r\nx\r\n--b--\r\n'],
    [
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\ncut',
    ],
  ]
  for (const [type, body] of bodies)
    expect(
      (await ask(forge, 'POST', `/jobs/${job.id}/artifacts`, { headers: { ...headers, 'Content-Type': type }, body }))
        .status,
      body,
    ).toBe(400)
  expect(await storedJobs(forge)).toEqual(before)
  // The range claims more than the body contains. The received bytes count.
  const range = { ...headers, 'Content-Range': '6-999999' }
  const longer = await ask(forge, 'PATCH', `/jobs/${job.id}/trace`, { headers: range, body: 'more\n' })
  expect([longer.status, longer.headers.get('range')]).toEqual([202, '0-11'])
  expect((await owner.get(at(`/jobs/${job.id}/trace`))).body).toBe('hello\nmore\n')
  // The server does not keep rejected uploads on disk.
  const isThere = async (bytes: Buffer) =>
    (await forge.app.blobs.open(hash('sha256', bytes)))?.stream.destroy() !== undefined
  expect(await isThere(other)).toBe(true)
  forge.clock.advance(2 * HOUR)
  await forge.settle()
  expect(await Promise.all([other, refused[0]!, refused[1]!].map(isThere))).toEqual([false, false, false])
  expect(await isThere(kept)).toBe(true)
})

test('a log in very many pieces stays one of few', async () => {
  await using forge = await startForge()
  const { owner, at } = await pushed(forge, SIMPLE)
  const runner = await registerRunner(forge)
  const { body: job } = await runner.request()
  let size = 0
  for (let n = 0; n < 50; n++) size += (await runner.patch(job, size, `${n}\n`)).status === 202 ? `${n}\n`.length : 0
  const all = Array.from({ length: 50 }, (_, n) => `${n}\n`).join('')
  expect((await owner.get(at(`/jobs/${job.id}/trace`))).body).toBe(all)
  expect(await forge.app.db.selectFrom('ci_trace_chunks').select('start').execute()).toHaveLength(1)
})

const DEPLOY = `
deploy:
  script: x
  environment: { name: production, url: https://x.example.com }
  variables: { VAULT_SERVER_URL: https://vault.example.com, CI_ENVIRONMENT_NAME: fake, WHO: me }
  id_tokens:
    ONE: { aud: "https://$WHO.example.com" }
    TWO: { aud: [a, b] }
  secrets:
    PASSWORD: { vault: production/db/password@ops, file: false }
    KEY: { vault: { engine: { name: kv-v1, path: kv }, path: a/b, field: c }, token: $TWO }
    FAR: { gcp_secret_manager: { name: x, version: 2 }, token: $ONE }
`

test('signed tokens tell what a job is, and secrets where they are', async () => {
  await using forge = await startForge()
  const { owner, project } = await pushed(forge, DEPLOY)
  const settings = { build_git_strategy: 'clone', build_timeout: 1200, ci_default_git_depth: 7 }
  expect((await owner.put(`/projects/${project.id}`, settings)).status).toBe(200)
  const runner = await registerRunner(forge)
  const merge_request_variables = JSON.stringify([{ key: 'CI_MERGE_REQUEST_IID', value: '7' }])
  await forge.app.db.updateTable('pipelines').set({ merge_request_variables }).execute()
  const { body: job } = await runner.request()
  expect(job.variables).toContainEqual(expect.objectContaining({ key: 'CI_MERGE_REQUEST_IID', value: '7' }))
  expect(job).toMatchObject({ allow_git_fetch: false, git_info: { depth: 7 }, runner_info: { timeout: 1200 } })
  const given = job.variables.filter(({ key }: { key: string }) => ['ONE', 'TWO'].includes(key))
  expect(given).toMatchObject([
    { key: 'ONE', public: false, masked: true, file: false },
    { key: 'TWO', public: false, masked: true, file: false },
  ])
  const { keys } = (await (await fetch(`${forge.url}/oauth/discovery/keys`)).json()) as { keys: [JsonWebKey] }
  const read = (token: string) => {
    const [head, claims, signature] = token.split('.') as [string, string, string]
    const key = createPublicKey({ key: keys[0], format: 'jwk' })
    expect(verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(true)
    return JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as Record<string, number>
  }
  const [one, two] = given.map(({ value }: { value: string }) => read(value))
  expect(two).toMatchObject({ aud: ['a', 'b'] })
  expect(one.jti).not.toBe(two.jti)
  const { iat, nbf, exp, jti: _jti, ...claims } = one
  expect([iat - nbf, exp - iat]).toEqual([5, 1200])
  const path = project.path_with_namespace
  expect(claims).toEqual({
    iss: forge.url,
    aud: 'https://me.example.com',
    sub: `project_path:${path}:ref_type:branch:ref:master`,
    namespace_id: expect.stringMatching(/^\d+$/),
    namespace_path: owner.username,
    project_id: String(project.id),
    project_path: path,
    project_visibility: 'private',
    user_id: String(owner.id),
    user_login: owner.username,
    user_email: owner.email,
    user_access_level: 'owner',
    pipeline_id: String(job.job_info.pipeline_id),
    pipeline_source: 'push',
    job_id: String(job.id),
    ref: 'master',
    ref_type: 'branch',
    ref_path: 'refs/heads/master',
    ref_protected: 'true',
    sha: job.git_info.sha,
    runner_id: runner.id,
    runner_environment: 'self-hosted',
    ci_config_ref_uri: `${new URL(forge.url).host}/${path}//.gitlab-ci.yml@refs/heads/master`,
    ci_config_sha: job.git_info.sha,
    environment: 'production',
    environment_protected: 'false',
    environment_action: 'start',
    deployment_tier: 'production',
  })
  const vault = (jwt: string) => ({
    url: 'https://vault.example.com',
    auth: { name: 'jwt', path: 'jwt', data: { jwt } },
  })
  expect(job.secrets).toEqual({
    PASSWORD: {
      file: false,
      vault: {
        engine: { name: 'kv-v2', path: 'ops' },
        path: 'production/db',
        field: 'password',
        server: vault('$ONE'),
      },
    },
    KEY: {
      file: true,
      vault: { engine: { name: 'kv-v1', path: 'kv' }, path: 'a/b', field: 'c', server: vault('$TWO') },
    },
    FAR: { file: true, gcp_secret_manager: { name: 'x', version: '2', server: { jwt: '$ONE' } } },
  })
  await runner.patch(job, 0, `the token is ${given[0].value}\n`)
  const { body: log } = await owner.get(`/projects/${project.id}/jobs/${job.id}/trace`)
  expect(log).toBe(`the token is ${'x'.repeat(given[0].value.length)}\n`)
})

test('a job that needs what a runner does not know fails by that reason', async () => {
  await using forge = await startForge()
  const { owner, at } = await pushed(forge, DEPLOY)
  const runner = await registerRunner(forge)
  const features = { ...info.features, vault_secrets: false }
  expect((await runner.request({ info: { ...info, features }, last_update: '' })).status).toBe(204)
  const [job] = (await owner.get(at('/jobs'))).body
  expect(job).toMatchObject({ status: 'failed', failure_reason: 'runner_unsupported', runner: null })
})
