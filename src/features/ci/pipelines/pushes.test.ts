import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/git-origin.ts'
import { startForge } from '../../../forge.ts'
import type { Forge } from '../../../forge/types.ts'
import { DAY, MINUTE } from '../../../clock.ts'
import { recoverPipelines } from './jobs.ts'

const CONFIG = `
stages: [build, test]
compile: { stage: build, script: make }
check: { stage: test, script: make check }
`

const rowsOf = (forge: Forge & { app?: unknown }, table: 'pipelines' | 'ci_jobs') =>
  (forge as unknown as Awaited<ReturnType<typeof startForge>>).app.db
    .selectFrom(table)
    .selectAll()
    .orderBy('id')
    .execute()

test('a push makes a pipeline, which is there when the push is answered', async () => {
  await using forge = await startForge()
  const project = await forge.project()
  const commit = await forge.seed(project, { '.gitlab-ci.yml': CONFIG })
  expect(await rowsOf(forge, 'pipelines')).toMatchObject([
    { iid: 1, source: 'push', status: 'pending', ref: 'master', tag: false, sha: commit.id, protected: true },
  ])
  expect(await rowsOf(forge, 'ci_jobs')).toMatchObject([
    { name: 'compile', stage: 'build', status: 'pending' },
    { name: 'check', stage: 'test', status: 'created' },
  ])
  const url = new URL(project.http_url_to_repo)
  expect(await forge.git(['ls-remote', url.href, 'refs/pipelines/*'])).toContain('refs/pipelines/1')
})

test('a pipeline that was deleted does not come back with the late news of its push', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const project = await forge.project()
  await forge.seed(project, { '.gitlab-ci.yml': CONFIG })
  expect((await root.delete(`/projects/${project.id}/pipelines/1`)).status).toBe(204)
  await forge.settle()
  forge.clock.advance(2 * MINUTE)
  await forge.settle()
  expect(await rowsOf(forge, 'pipelines')).toEqual([])
  expect(await rowsOf(forge, 'ci_jobs')).toEqual([])
})

test('a push whose process ended before it was followed is followed late, once', async () => {
  await using forge = await startForge()
  const project = await forge.project()
  const first = await forge.seed(project, { '.gitlab-ci.yml': CONFIG })
  const second = await forge.seed(project, { a: '1' })
  const { db } = forge.app
  // As if the second push had not been processed yet.
  await db.deleteFrom('pipelines').where('sha', '=', second.id).execute()
  await db
    .deleteFrom('pipeline_marks')
    .where('cause', 'not in', (eb) => eb.selectFrom('pipeline_marks').select('cause').orderBy('made_at').limit(1))
    .execute()
  forge.clock.advance(2 * MINUTE)
  await forge.settle()
  forge.clock.advance(2 * MINUTE)
  await forge.settle()
  expect(await rowsOf(forge, 'pipelines')).toMatchObject([{ sha: first.id }, { sha: second.id, before_sha: first.id }])
  forge.clock.advance(8 * 24 * 60 * MINUTE)
  await forge.settle()
  expect(await db.selectFrom('pipeline_marks').selectAll().execute()).toEqual([])
})

test('a push that was followed makes no second pipeline after its mark is deleted', async () => {
  await using forge = await startForge()
  const project = await forge.project()
  const { id } = await forge.seed(project, { '.gitlab-ci.yml': CONFIG })
  forge.clock.advance(8 * DAY)
  await recoverPipelines.handle(forge.app, {})
  await forge.settle()
  const { db } = forge.app
  expect(await db.selectFrom('pipeline_marks').selectAll().execute()).toEqual([])
  forge.clock.advance(2 * MINUTE)
  await forge.settle()
  expect(await rowsOf(forge, 'pipelines')).toMatchObject([{ sha: id }])
})

const OPTIONS = `
spec: { inputs: { flavour: { default: plain }, count: { type: number, default: 1 } } }
---
make: { script: 'echo $COLOUR $[[ inputs.flavour ]]', parallel: $[[ inputs.count ]] }
red: { script: x, rules: [{ if: '$COLOUR == "red = hot"' }] }
`

test('what `git push -o` says of CI', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const project = await forge.project()
  await forge.seed(project, { '.gitlab-ci.yml': OPTIONS })
  await using folder = await temporaryFolder()
  const git = (...args: string[]) => forge.git(args, { cwd: folder.path })
  await forge.git(['clone', '-q', project.http_url_to_repo, folder.path])
  let commits = 0
  const push = async (...options: string[]) => {
    const name = ['-c', 'user.name=x', '-c', 'user.email=x@x.org']
    await git(...name, 'commit', '-q', '--allow-empty', '-m', `${++commits}`)
    await git('push', '-q', ...options.flatMap((option) => ['-o', option]), 'origin', 'master')
    const { body } = await root.get(`/projects/${project.id}/pipelines`, { per_page: 1 })
    const jobs = (await root.get(`/projects/${project.id}/pipelines/${body[0].id}/jobs`)).body
    return { id: body[0].id, status: body[0].status, jobs: jobs.map((one: { name: string }) => one.name).toSorted() }
  }
  expect(await push('ci.skip')).toMatchObject({ status: 'skipped', jobs: [] })
  const made = await push(
    'ci.variable="COLOUR=red = hot"',
    'ci.variable=OTHER=',
    'ci.input=flavour=sweet',
    'ci.input=count=2',
  )
  expect(made).toMatchObject({ status: 'pending', jobs: ['make 1/2', 'make 2/2', 'red'] })
  expect((await root.get(`/projects/${project.id}/pipelines/${made.id}/variables`)).body).toMatchObject([
    { key: 'COLOUR', value: 'red = hot' },
    { key: 'OTHER', value: '' },
  ])
  const [job] = await rowsOf(forge, 'ci_jobs').then((rows) => rows.slice(-3))
  expect((job as unknown as { options: string }).options).toContain('$COLOUR sweet')
  // Keys that no shell accepts are ignored, and so are more than a hundred variables.
  const many = Array.from({ length: 101 }, (_, n) => `ci.variable=N${n}=${n}`)
  const { id } = await push('ci.variable=A-B=1', 'ci.variable=nothing', ...many)
  const taken = (await root.get(`/projects/${project.id}/pipelines/${id}/variables`)).body as { key: string }[]
  expect(taken.length).toBeLessThanOrEqual(100)
  expect(taken.some(({ key }) => key === 'A-B' || key === 'nothing')).toBe(false)
  // An input of the wrong type: the pipeline shows the error.
  expect(await push('ci.input=count=many')).toMatchObject({ status: 'failed', jobs: [] })
  expect(await push('ci.input=unknown=1')).toMatchObject({ status: 'failed', jobs: [] })
})
