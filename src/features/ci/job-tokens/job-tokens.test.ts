import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { temporaryFolder } from '../../../../test/git-origin.ts'
import { findJobByName, keepFiles, runJobByName } from '../../../../test/pipelines.ts'
import { ask, registerRunner } from '../../../../test/runners.ts'
import { LfsClient, authorizationOf, basic, objectOf } from '../../../../test/lfs.ts'
import { startForge } from '../../../forge.ts'

test('the token of a job opens a few doors, while the job runs', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const [project, other] = [
    await forge.project({ visibility: 'private' }, owner),
    await forge.project({ visibility: 'private' }, owner),
  ]
  await forge.seed(other, { 'README.md': 'x' }, { as: owner })
  await forge.seed(project, { '.gitlab-ci.yml': 'a: { script: x }\n' }, { as: owner })
  const runner = await registerRunner(forge)
  const { body: job } = await runner.request()
  await keepFiles(forge, { id: job.id, project_id: project.id }, { 'a.txt': 'kept' })
  const headers = { 'JOB-TOKEN': job.token }
  const status = async (path: string, by = headers as Record<string, string>) =>
    (await ask(forge, 'GET', path, { headers: by })).status
  const refs = async (path: string, service = 'git-upload-pack') => {
    const by = { Authorization: basic('gitlab-ci-token', job.token) }
    return (await fetch(`${forge.url}/${path}.git/info/refs?service=${service}`, { headers: by })).status
  }
  const artifact = `/projects/${project.id}/jobs/${job.id}/artifacts`
  const doors = async () => [
    await status('/job'),
    await status(artifact),
    await status(`${artifact}?job_token=${job.token}`, {}),
    await status(`/jobs/${job.id}/artifacts`),
    await refs(project.path_with_namespace),
    await refs(other.path_with_namespace),
  ]
  expect(await doors()).toEqual([200, 200, 200, 200, 200, 200])
  expect((await ask(forge, 'GET', '/job', { headers })).body).toMatchObject({ id: job.id, name: 'a' })
  expect(await refs(project.path_with_namespace, 'git-receive-pack')).toBe(403)
  for (const path of ['/user', `/projects/${project.id}`, '/projects', `/projects/${project.id}/jobs`])
    expect(await status(path), path).toBe(401)

  // A job may write as its user in its own project. Elsewhere it needs an allowlist entry.
  const asJob = async (method: string, path: string, json?: object) =>
    (await ask(forge, method, path, { headers, ...(json && { json }) })).status
  const changes = async ({ id }: { id: number }) => [
    await asJob('POST', `/projects/${id}/environments`, { name: 'made' }),
    await asJob('POST', `/projects/${id}/releases`, { tag_name: 'v1', ref: 'master', description: 'x' }),
  ]
  const reads = async ({ id }: { id: number }) => [
    await asJob('GET', `/projects/${id}/environments`),
    await asJob('GET', `/projects/${id}/deployments`),
    await asJob('GET', `/projects/${id}/releases`),
    await asJob('GET', `/projects/${id}/repository/changelog?version=1.0.0&from=master`),
  ]
  expect(await changes(project)).toEqual([201, 201])
  expect(await asJob('PUT', `/projects/${project.id}/pipelines/1/metadata`, { name: 'named' })).toBe(200)
  expect(await reads(project)).toEqual([200, 200, 200, 200])
  expect(await changes(other)).toEqual([404, 404])
  expect(await reads(other)).toEqual([200, 200, 200, 200])
  expect((await owner.get(`/projects/${other.id}/environments`)).body).toEqual([])
  expect((await owner.get(`/projects/${other.id}/releases`)).body).toEqual([])

  // The other project rejects jobs of projects that its allowlist does not name.
  const scope = `/projects/${other.id}/job_token_scope`
  expect((await owner.request('PATCH', scope, { enabled: true })).status).toBe(204)
  expect((await owner.get(scope)).body).toEqual({ inbound_enabled: true, outbound_enabled: false })
  expect(await refs(other.path_with_namespace)).toBe(404)
  expect((await owner.post(`${scope}/allowlist`, { target_project_id: project.id })).status).toBe(201)
  expect(await refs(other.path_with_namespace)).toBe(200)
  expect(await changes(other)).toEqual([201, 201])
  expect((await owner.get(`${scope}/allowlist`)).body).toMatchObject([{ id: project.id }])
  expect((await owner.delete(`${scope}/allowlist/${project.id}`)).status).toBe(204)
  expect(await refs(other.path_with_namespace)).toBe(404)

  expect(await reads(other)).toEqual([404, 404, 404, 404])

  await runner.put(job, { state: 'success' })
  expect(await doors()).toEqual([401, 401, 401, 403, 401, 401])
  expect([await changes(project), await reads(project)]).toEqual([
    [401, 401],
    [401, 401, 401, 401],
  ])
})

test('the token of a job opens no page', async () => {
  await using forge = await startForge()
  const owner = forge.administrator
  const project = await forge.project({ visibility: 'private' }, owner)
  await forge.seed(project, { '.gitlab-ci.yml': 'a: { script: x }\n' }, { as: owner })
  const { body: job } = await (await registerRunner(forge)).request()
  await keepFiles(forge, { id: job.id, project_id: project.id }, { 'a.txt': 'kept' })
  const file = new FormData()
  file.set('file', new Blob(['uploaded']), 'up.txt')
  const upload = (await owner.post(`/projects/${project.id}/uploads`, file)).body
  const snippet = { title: 's', file_name: 's.txt', content: 'x', visibility: 'private' }
  const { id } = (await owner.post('/snippets', snippet)).body
  const at = `/${project.path_with_namespace}`
  const status = async (path: string, headers: Record<string, string>) =>
    (await fetch(forge.url + path, { headers: { ...headers, Accept: 'text/html' }, redirect: 'manual' })).status
  for (const path of [
    `${at}.atom`,
    `${at}/issues.atom`,
    `${at}${upload.url}`,
    `${at}/-/jobs/${job.id}/artifacts/raw/a.txt`,
    `${at}/-/jobs/${job.id}/artifacts/download`,
    `/snippets/${id}/raw`,
    at,
    `${at}/issues`,
    '/dashboard/projects',
    '/-/metrics',
  ]) {
    const answers = [
      await status(path, { 'PRIVATE-TOKEN': owner.token }),
      await status(path, { 'JOB-TOKEN': job.token }),
      await status(`${path}?job_token=${job.token}`, {}),
    ]
    const stranger = await status(path, {})
    expect([path, stranger === 200, ...answers]).toEqual([path, false, 200, stranger, stranger])
  }
})

test('needs of other projects and pipelines: what is not there for the job ends it', async () => {
  await using forge = await startForge()
  const [owner, somebody] = [await forge.user(), await forge.user()]
  const built = { '.gitlab-ci.yml': 'build: { script: x, artifacts: { paths: [a] } }\n' }
  const [open, closed, foreign] = [
    await forge.project({ visibility: 'private' }, owner),
    await forge.project({ visibility: 'private' }, owner),
    await forge.project({ visibility: 'private' }, somebody),
  ]
  for (const [project, as] of [
    [open, owner],
    [closed, owner],
    [foreign, somebody],
  ] as const) {
    await forge.seed(project, built, { as })
    await runJobByName(forge, 'build', { files: { a: 'x' } })
  }
  await owner.request('PATCH', `/projects/${closed.id}/job_token_scope`, { enabled: true })
  const of = ({ path_with_namespace: path }: { path_with_namespace: string }, more = 'ref: master, job: build') =>
    `{ project: ${path}, ${more} }`
  const needs = {
    there: of(open),
    'closed to it': of(closed),
    'hidden from its user': of(foreign),
    'no such job': of(open, 'ref: master, job: other'),
    'no such branch': of(open, 'ref: gone, job: build'),
    'no such project': '{ project: no/where, ref: master, job: build }',
    'by number': `{ project: "${open.id}", ref: master, job: build }`,
    'a pipeline of another project': '{ pipeline: "1", job: build }',
    'no number': '{ pipeline: $NOTHING, job: build }',
  }
  const project = await forge.project({ visibility: 'private' }, owner)
  const config = Object.entries(needs).map(([name, need]) => `${name}: { script: x, needs: [${need}] }`)
  await forge.seed(project, { '.gitlab-ci.yml': config.join('\n') }, { as: owner })
  const runner = await registerRunner(forge)
  const { body: job } = await runner.request()
  expect(job).toMatchObject({
    job_info: { name: 'there' },
    dependencies: [{ id: 1, name: 'build', token: job.token, artifacts_file: { filename: 'artifacts.zip' } }],
  })
  expect((await runner.request()).status).toBe(204)
  for (const name of Object.keys(needs).slice(1))
    expect([name, (await findJobByName(forge, name)).failure_reason]).toEqual([name, 'missing_dependency_failure'])

  const download = async (id: number, token: string) =>
    (await ask(forge, 'GET', `/jobs/${id}/artifacts`, { headers: { 'JOB-TOKEN': token } })).status
  expect(await download(1, job.token)).toBe(200)
  for (const id of [2, 3, 99]) expect(await download(id, job.token), `${id}`).toBe(404)
  await runner.put(job, { state: 'success' })
  expect(await download(1, job.token)).toBe(403)
})

const LFS = ['process=git-lfs filter-process', 'smudge=git-lfs smudge -- %f', 'required=true']

test('large files come by the token of a job, as long as it runs and where it is let in', async () => {
  await using forge = await startForge()
  await using folder = await temporaryFolder()
  const owner = await forge.user()
  const [project, other] = [
    await forge.project({ visibility: 'private' }, owner),
    await forge.project({ visibility: 'private' }, owner),
  ]
  const object = objectOf('the large content\n')
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${object.oid}\nsize ${object.size}\n`
  for (const { path_with_namespace: path } of [project, other])
    expect((await new LfsClient(forge, path, authorizationOf(owner)).put(object)).status).toBe(200)
  const files = { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'a.bin': pointer }
  await forge.seed(project, { ...files, '.gitlab-ci.yml': 'a: { script: x }\n' }, { as: owner })
  await forge.seed(other, files, { as: owner })
  const runner = await registerRunner(forge)
  const { body: job } = await runner.request()

  const clone = async (from: { http_url_to_repo: string }, to: string) => {
    const address = from.http_url_to_repo.replace('://', `://gitlab-ci-token:${job.token}@`)
    const settings = LFS.flatMap((one) => ['-c', `filter.lfs.${one}`])
    await promisify(execFile)('git', [...settings, 'clone', '-q', address, join(folder.path, to)], {
      env: { PATH: process.env['PATH'], HOME: folder.path, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1' },
    })
    return readFile(join(folder.path, to, 'a.bin'), 'utf8')
  }
  expect(await clone(project, 'own')).toBe('the large content\n')
  expect(await clone(other, 'other')).toBe('the large content\n')

  const by = basic('gitlab-ci-token', job.token)
  const [own, theirs] = [project, other].map(({ path_with_namespace: path }) => new LfsClient(forge, path, by)) as [
    LfsClient,
    LfsClient,
  ]
  const more = objectOf('more')
  expect((await own.batch('upload', more)).status).toBe(403)
  expect((await own.put(more)).status).toBe(403)
  expect((await own.batch('download', object)).status).toBe(200)
  await owner.request('PATCH', `/projects/${other.id}/job_token_scope`, { enabled: true })
  expect([(await theirs.batch('download', object)).status, (await theirs.content(object)).status]).toEqual([404, 404])
  await expect(clone(other, 'closed')).rejects.toThrow(/not found|404/i)

  await runner.put(job, { state: 'success' })
  expect([(await own.batch('download', object)).status, (await own.content(object)).status]).toEqual([401, 401])
  await expect(clone(project, 'late')).rejects.toThrow(/denied|authentication/i)
})

test('of many who allow the same project at once, one does', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const [project, other] = [await forge.project(), await forge.project()]
  const list = `/projects/${project.id}/job_token_scope/allowlist`
  const allow = () => root.post(list, { target_project_id: other.id })
  const refused = { status: 400, body: { message: { base: ['Target is already in the job token scope'] } } }
  expect(await atOnce(forge, allow, allow, allow)).toMatchObject([{ status: 201 }, refused, refused])
  expect((await root.get(list)).body).toHaveLength(1)
})
