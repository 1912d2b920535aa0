import { expect, test } from 'vitest'
import { TestRunner, registerRunner } from '../../../../test/runners.ts'
import { startForge, type TestForge } from '../../../forge.ts'

async function pushed(forge: TestForge, config: string, wish = {}) {
  const owner = await forge.user()
  const project = await forge.project(wish, owner)
  await forge.seed(project, { '.gitlab-ci.yml': config }, { as: owner })
  return { owner, project }
}

const nameOf = async (runner: TestRunner) => {
  const { status, body } = await runner.request()
  return status === 201 ? (body.job_info.name as string) : null
}

test('tags, pauses and whose jobs a runner takes', async () => {
  await using forge = await startForge()
  const { owner, project } = await pushed(
    forge,
    'one: { script: x, tags: [a, b] }\ntwo: { script: x, tags: [c] }\nthree: { script: x }\n',
  )
  const shared = await registerRunner(forge, { tag_list: 'a,x', run_untagged: false })
  expect(await nameOf(shared)).toBeNull()
  const both = await registerRunner(forge, { tag_list: ['a', 'b'], run_untagged: false })
  await forge.administrator.put(`/runners/${both.id}`, { paused: true })
  expect(await nameOf(both)).toBeNull()
  await forge.administrator.put(`/runners/${both.id}`, { paused: false })
  expect(await nameOf(both)).toBe('one')
  expect(await nameOf(both)).toBeNull()
  const { body: elsewhere } = await owner.post('/projects', { path: 'elsewhere' })
  const foreign = await registerRunner(forge, {}, elsewhere.runners_token)
  expect(await nameOf(foreign)).toBeNull()
  await owner.put(`/projects/${project.id}`, { shared_runners_enabled: false })
  const { body: own } = await owner.get(`/projects/${project.id}`)
  const any = await registerRunner(forge)
  expect(await nameOf(any)).toBeNull()
  const specific = await registerRunner(forge, { tag_list: 'c' }, own.runners_token)
  expect([await nameOf(specific), await nameOf(specific), await nameOf(specific)]).toEqual(['two', 'three', null])
})

test('shared runners go round the projects', async () => {
  await using forge = await startForge()
  const many = 'a: { script: x, parallel: 3 }\n'
  const first = await pushed(forge, many)
  const second = await pushed(forge, many)
  const runner = await registerRunner(forge)
  const projects: number[] = []
  for (let n = 0; n < 4; n++) projects.push((await runner.request()).body.job_info.project_id)
  expect(projects).toEqual([first.project.id, second.project.id, first.project.id, second.project.id])
})

test('minutes of shared runners come to an end', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  await forge.administrator.put(`/users/${owner.id}`, { shared_runners_minutes_limit: 1 })
  const project = await forge.project({}, owner)
  await forge.seed(project, { '.gitlab-ci.yml': 'a: { script: x }\nb: { script: x }\n' }, { as: owner })
  const runner = await registerRunner(forge)
  const { body: job } = await runner.request()
  forge.clock.advance(61_000)
  await runner.put(job, { state: 'success' })
  expect((await runner.request()).status).toBe(204)
  const { body } = await owner.get(`/projects/${project.id}`)
  const own = await registerRunner(forge, {}, body.runners_token)
  expect((await own.request()).status).toBe(201)
})

test('many runners at once: no job twice, none lost', { timeout: 120_000 }, async () => {
  await using forge = await startForge()
  const jobs = Array.from({ length: 4 }, (_, n) => `j${n}: { script: x, parallel: 50 }`).join('\n')
  await pushed(forge, jobs)
  const { id, token } = await registerRunner(forge)
  const taken: number[] = []
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const one = new TestRunner(forge, { id, token })
      for (;;) {
        const { status, body } = await one.request()
        if (status === 204) return
        if (status === 201) taken.push(body.id)
      }
    }),
  )
  expect(new Set(taken).size).toBe(200)
  expect(taken).toHaveLength(200)
})
