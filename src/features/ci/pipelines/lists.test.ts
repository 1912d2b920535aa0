import { expect, test } from 'vitest'
import { runNamed } from '../../../../test/pipelines.ts'
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
  await runNamed(forge, 'a', { files: { x: 'y' } })
  await forge.settle()
  const few = await count()
  for (let n = 0; n < 5; n++) {
    await forge.seed(project, { x: String(n) }, { as: owner })
    await runNamed(forge, 'a', { files: { x: 'y' } })
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
  await runNamed(forge, 'a')
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
