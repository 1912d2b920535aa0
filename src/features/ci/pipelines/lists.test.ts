import { expect, test } from 'vitest'
import { runJobByName } from '../../../../test/pipelines.ts'
import { MINUTE } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'

test('a longer page takes no more queries', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  await owner.put(`/projects/${project.id}`, { auto_cancel_pending_pipelines: 'disabled' })
  await forge.seed(project, { '.gitlab-ci.yml': 'a: { script: x }\nb: { script: x }' }, { as: owner })
  const at = (path: string) => `/projects/${project.id}${path}`
  const lists = ['/pipelines', '/jobs', '/pipelines/1/jobs']
  const count = async () => {
    const counted: number[] = []
    for (const path of lists) {
      await owner.get(at(path))
      counted.push(await forge.queries(() => owner.get(at(path))))
    }
    return counted
  }
  await runJobByName(forge, 'a', { files: { x: 'y' } })
  await forge.settle()
  const few = await count()
  for (let n = 0; n < 5; n++) {
    await forge.seed(project, { x: String(n) }, { as: owner })
    await runJobByName(forge, 'a', { files: { x: 'y' } })
  }
  await forge.settle()
  expect((await owner.get(at('/jobs'))).body).toHaveLength(12)
  expect(await count()).toEqual(few)
})

test('totals follow statuses', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  await forge.seed(project, { '.gitlab-ci.yml': 'a: { script: x }\nb: { script: x }' }, { as: owner })
  const total = async (path: string, query = {}) =>
    Number((await owner.get(`/projects/${project.id}${path}`, query)).headers.get('x-total'))
  expect(await total('/jobs', { scope: 'pending' })).toBe(2)
  expect(await total('/pipelines', { status: 'pending' })).toBe(1)
  await runJobByName(forge, 'a')
  expect(await total('/jobs', { scope: 'pending' })).toBe(1)
  for (const both of ['scope[]=pending&scope[]=success', 'scope[0]=pending&scope[1]=success'])
    expect(await total(`/jobs?${both}`)).toBe(2)
  expect(await total('/pipelines', { status: 'pending' })).toBe(0)
  expect(await total('/pipelines', { ref: 'master' })).toBe(1)
  for (const scope of [{ scope: 'nothing' }, { 'scope[]': 'nothing' }])
    expect(await owner.get(`/projects/${project.id}/jobs`, scope)).toMatchObject({
      status: 400,
      body: { error: 'Scope contains invalid value(s)' },
    })
})

test('filters by faults, by branches and tags; children only where they are asked for', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  await forge.seed(
    project,
    { '.gitlab-ci.yml': 'a: { trigger: { include: b.yml } }', 'b.yml': 'b: { script: x }' },
    { as: owner },
  )
  await forge.settle()
  const at = `/projects/${project.id}`
  const action = { action: 'update', file_path: '.gitlab-ci.yml', content: 'a: { scripts: x }' }
  await owner.post(`${at}/repository/commits`, {
    branch: 'bad',
    start_branch: 'master',
    commit_message: 'x',
    actions: [action],
  })
  await owner.post(`${at}/repository/tags`, { tag_name: 'master', ref: 'bad' })
  await forge.settle()
  const shown = async (query: Record<string, string>) => {
    const { body, headers } = await owner.get(`${at}/pipelines`, query)
    expect(headers.get('x-total')).toBe(String(body.length))
    return body.map(({ ref, source, status }: Record<string, string>) => `${ref} ${source} ${status}`)
  }
  const [master, bad, tag] = ['master push success', 'bad push failed', 'master push failed']
  expect(await shown({})).toEqual([tag, bad, master])
  expect(await shown({ source: 'parent_pipeline' })).toEqual(['master parent_pipeline pending'])
  expect(await shown({ yaml_errors: 'true' })).toEqual([tag, bad])
  expect(await shown({ yaml_errors: 'false' })).toEqual([master])
  expect(await shown({ scope: 'branches' })).toEqual([bad, master])
  expect(await shown({ scope: 'tags' })).toEqual([tag])
  expect(await shown({ scope: 'branches', yaml_errors: 'false' })).toEqual([master])
})

test('a pipeline has waited for whole seconds, or null', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  await forge.seed(project, { '.gitlab-ci.yml': 'a: { script: x }' }, { as: owner })
  const waited = async () => (await owner.get(`/projects/${project.id}/pipelines/latest`)).body.queued_duration
  expect(await waited()).toBeNull()
  forge.clock.advance(MINUTE)
  await runJobByName(forge, 'a')
  expect(await waited()).toSatisfy((seconds: number) => Number.isInteger(seconds) && seconds >= 60)
})

test('an id that is no number is refused, wherever it stands', async () => {
  await using forge = await startForge()
  const { id } = await forge.project()
  const at = `/projects/${id}`
  const table = [
    [`${at}/jobs/x`, 'job_id'],
    [`${at}/jobs/x/trace`, 'job_id'],
    [`${at}/pipelines/x`, 'pipeline_id'],
    [`${at}/pipelines/x/jobs`, 'pipeline_id'],
    ['/runners/x', 'runner_id'],
    ['/snippets/x', 'id'],
    ['/topics/x', 'id'],
  ] as const
  for (const [path, name] of table)
    expect(await forge.administrator.get(path)).toMatchObject({ status: 400, body: { error: `${name} is invalid` } })
  // Usernames and ids share the same path.
  expect((await forge.administrator.get('/users/x')).status).toBe(404)
})
