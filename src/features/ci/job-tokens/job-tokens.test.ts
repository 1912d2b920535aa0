import { expect, test } from 'vitest'
import { keepFiles } from '../../../../test/pipelines.ts'
import { ask, registerRunner } from '../../../../test/runners.ts'
import { basic } from '../../../../test/lfs.ts'
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

  // The other project keeps those out whom it does not name.
  const scope = `/projects/${other.id}/job_token_scope`
  expect((await owner.request('PATCH', scope, { enabled: true })).status).toBe(204)
  expect((await owner.get(scope)).body).toEqual({ inbound_enabled: true, outbound_enabled: false })
  expect(await refs(other.path_with_namespace)).toBe(404)
  expect((await owner.post(`${scope}/allowlist`, { target_project_id: project.id })).status).toBe(201)
  expect(await refs(other.path_with_namespace)).toBe(200)
  expect((await owner.get(`${scope}/allowlist`)).body).toMatchObject([{ id: project.id }])
  expect((await owner.delete(`${scope}/allowlist/${project.id}`)).status).toBe(204)
  expect(await refs(other.path_with_namespace)).toBe(404)

  await runner.put(job, { state: 'success' })
  expect(await doors()).toEqual([401, 401, 401, 403, 401, 401])
})
