import { expect, test } from 'vitest'
import { CONFIG, findJobByName, keepFiles, runJobByName } from '../../../../test/pipelines.ts'
import { startEffort } from '../../../../test/effort.ts'
import { rendering } from '../../../lib/threads/rendering.ts'
import { startForge, type TestForge } from '../../../forge.ts'

async function place(forge: TestForge, files: Record<string, string> = {}) {
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  if (Object.keys(files).length > 0) await forge.seed(project, files)
  const at = (path: string) => `/projects/${project.id}${path}`
  const list = async (query = {}) => (await owner.get(at('/pipelines'), query)).body
  const names = async (id: number) =>
    Object.fromEntries(
      (await owner.get(at(`/pipelines/${id}/jobs`))).body.map((job: { name: string; status: string }) => [
        job.name,
        job.status,
      ]),
    )
  return { owner, project, at, list, names }
}

const config = (text: string) => ({ '.gitlab-ci.yml': text })

test('pushes that run nothing, and those that say so', async () => {
  await using forge = await startForge()
  const { project, list } = await place(forge, { 'README.md': 'x' })
  expect(await list()).toEqual([])
  await forge.seed(project, config('never: { script: x, rules: [{ when: never }] }'))
  expect(await list()).toEqual([])
  await forge.seed(project, config('a: { scrpt: x }'))
  expect(await list()).toMatchObject([{ status: 'failed', source: 'push' }])
  await forge.seed(project, config(CONFIG), { message: 'Later [skip ci]' })
  expect(await list()).toMatchObject([{ status: 'skipped' }, { status: 'failed' }])
  expect(await forge.app.db.selectFrom('ci_jobs').selectAll().execute()).toEqual([])
})

test('the plan limits how many jobs of a project are in active pipelines', async () => {
  await using forge = await startForge()
  const { project, list, owner, at } = await place(forge, config('a: { script: x, parallel: 3 }'))
  await owner.put(at(''), { auto_cancel_pending_pipelines: 'disabled' })
  const limit = (most: number) =>
    forge.administrator.put('/application/plan_limits', { plan_name: 'default', ci_active_jobs: most })
  const create = async () => (await owner.post(at('/pipeline'), { ref: 'master' })).status
  await limit(5)
  const before = await list()
  const words = 'Project exceeded the allowed number of jobs in active pipelines. Retry later.'
  expect(await owner.post(at('/pipeline'), { ref: 'master' })).toMatchObject({
    status: 400,
    body: { message: { base: [words] } },
  })
  expect(await list()).toEqual(before)
  // The failed pipeline of a push is stored, so that users see it.
  await forge.seed(project, { x: '1' })
  const [kept] = await list()
  expect(kept).toMatchObject({ status: 'failed', source: 'push' })
  expect((await owner.get(at(`/pipelines/${kept.id}`))).body).toMatchObject({ yaml_errors: words })
  expect((await owner.get(at(`/pipelines/${kept.id}/jobs`))).body).toEqual([])
  await limit(6)
  expect([await create(), await create()]).toEqual([201, 400])
  await limit(0)
  expect(await create()).toBe(201)
})

test('a newer commit ends what an older one has not begun', async () => {
  await using forge = await startForge()
  const { project, list, owner, at } = await place(forge, config(CONFIG))
  await forge.seed(project, { x: '1' })
  expect(await list()).toMatchObject([{ status: 'pending' }, { status: 'canceled' }])
  await runJobByName(forge, 'compile', { isLeftRunning: true })
  await forge.seed(project, { x: '2' })
  // Running jobs that are not interruptible continue.
  expect(await list()).toMatchObject([{ status: 'pending' }, { status: 'running' }, { status: 'canceled' }])
  await owner.put(at(''), { auto_cancel_pending_pipelines: 'disabled' })
  await forge.seed(project, { x: '3' })
  expect((await list()).map(({ status }: { status: string }) => status)).toEqual([
    'pending',
    'pending',
    'running',
    'canceled',
  ])
})

test.each([
  ['an unknown ref', { ref: 'nothing' }, 'Reference not found'],
  ['a branch without a file', { ref: 'bare' }, 'Missing .gitlab-ci.yml file'],
  ['a broken file', { ref: 'broken' }, 'jobs:a config contains unknown keys: scrpt'],
  [
    'nothing to run',
    { ref: 'empty' },
    'The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.',
  ],
  ['what the workflow refuses', { ref: 'filtered' }, expect.stringMatching(/^The pipeline did not run\./)],
])('refuses %s', async (_what, input, message) => {
  await using forge = await startForge()
  const { project, owner, at, list } = await place(forge, { 'README.md': 'x' })
  const branches = {
    broken: 'a: { script: x, scrpt: x }',
    empty: 'a: { script: x, rules: [{ if: "$CI_PIPELINE_SOURCE == \'web\'" }] }',
    filtered: 'workflow: { rules: [{ if: "$NO", when: always }] }\na: { script: x }',
  }
  await owner.post(at('/repository/branches'), { branch: 'bare', ref: 'master' })
  for (const [branch, text] of Object.entries(branches))
    await forge.seed(project, config(text), { branch, message: '[skip ci]' })
  const before = (await list()).length
  const answer = await owner.post(at('/pipeline'), input)
  expect(answer.status).toBe(400)
  expect(answer.body.message.base[0]).toEqual(message)
  expect(await list()).toHaveLength(before)
})

test('by hand, with variables that rules and jobs know, and that only masters read', async () => {
  await using forge = await startForge()
  const { project, owner, at, names, list } = await place(
    forge,
    config(`
always: { script: x }
wished: { script: x, rules: [{ if: '$WISH == "yes"' }] }
`),
  )
  const developer = await forge.user()
  await owner.post(at('/members'), { user_id: developer.id, access_level: 30 })
  const variables = [{ key: 'WISH', value: 'yes' }]
  expect((await developer.post(at('/pipeline'), { ref: 'master', variables })).status).toBe(400)
  const made = await owner.post(at('/pipeline'), { ref: 'master', variables })
  expect(made).toMatchObject({
    status: 201,
    body: { source: 'api', status: 'pending', before_sha: '0'.repeat(40), tag: false, coverage: null },
  })
  const { id } = made.body
  expect(await names(id)).toEqual({ always: 'pending', wished: 'pending' })
  expect((await owner.get(at(`/pipelines/${id}/variables`))).body).toEqual([
    { key: 'WISH', value: 'yes', variable_type: 'env_var', raw: false },
  ])
  expect((await developer.get(at(`/pipelines/${id}/variables`))).status).toBe(403)
  expect(await list({ source: 'api' })).toMatchObject([{ id }])
  expect(await list({ scope: 'branches' })).toMatchObject([{ id }])
  expect(await list({ scope: 'finished' })).toEqual([])
  expect(await list({ username: owner.username, sort: 'asc' })).toMatchObject([{ id }])
  expect(await list({ username: 'nobody' })).toEqual([])
  expect((await owner.get(at('/pipelines/latest'))).body).toMatchObject({ id })
  expect((await owner.get(at('/pipelines/latest'), { ref: 'none' })).status).toBe(403)
  expect((await owner.put(at(`/pipelines/${id}/metadata`), { name: 'Nightly' })).body).toMatchObject({
    name: 'Nightly',
  })
  expect(await list({ name: 'Nightly' })).toMatchObject([{ id }])

  expect((await owner.delete(at(`/pipelines/${id}`))).status).toBe(204)
  await forge.settle()
  expect((await owner.get(at(`/pipelines/${id}`))).status).toBe(404)
  expect(await forge.git(['ls-remote', project.http_url_to_repo, `refs/pipelines/${id}`])).toBe('')
})

test('children and other projects, whose status the bridge shows', async () => {
  await using forge = await startForge()
  const other = await place(forge, config('there: { script: x, rules: [{ if: "$FROM" }] }'))
  const text = `
variables: { FROM: here }
child: { trigger: { include: child.yml, strategy: depend } }
away: { trigger: { project: ${other.project.path_with_namespace}, strategy: depend } }
lost: { trigger: nobody/nothing, allow_failure: true }
`
  const owner = other.owner
  const project = await forge.project({}, owner)
  await forge.seed(project, { 'child.yml': 'inner: { script: echo $FROM }', ...config(text) })
  await forge.settle()
  const at = (path: string) => `/projects/${project.id}${path}`
  const [pipeline] = (await owner.get(at('/pipelines'), { source: 'push' })).body
  const bridges = async () =>
    Object.fromEntries(
      (await owner.get(at(`/pipelines/${pipeline.id}/bridges`))).body.map(
        (one: {
          name: string
          status: string
          downstream_pipeline: { source: string } | null
          failure_reason?: string
        }) => [one.name, [one.status, one.downstream_pipeline?.source ?? one.failure_reason]],
      ),
    )
  expect(await bridges()).toEqual({
    child: ['running', 'parent_pipeline'],
    away: ['running', 'pipeline'],
    lost: ['failed', 'downstream_bridge_project_not_found'],
  })
  await runJobByName(forge, 'inner')
  await runJobByName(forge, 'there', { fails: { reason: 'script_failure' } })
  await forge.settle()
  expect(await bridges()).toMatchObject({ child: ['success', 'parent_pipeline'], away: ['failed', 'pipeline'] })
  expect((await owner.get(at(`/pipelines/${pipeline.id}`))).body).toMatchObject({ status: 'failed' })
})

test('what is delayed starts at its time, what shares a resource one after the other', async () => {
  await using forge = await startForge()
  const { names } = await place(
    forge,
    config(`
later: { script: x, when: delayed, start_in: 5 minutes }
one: { script: x, resource_group: shared }
two: { script: x, resource_group: shared }
`),
  )
  await forge.settle()
  const statuses = await names(1)
  expect(statuses).toMatchObject({ later: 'scheduled' })
  expect([statuses.one, statuses.two]).toEqual(['pending', 'waiting_for_resource'])
  forge.clock.advance(301_000)
  await forge.settle()
  expect(await names(1)).toMatchObject({ later: 'pending', one: 'pending', two: 'waiting_for_resource' })
  await runJobByName(forge, 'one')
  await forge.settle()
  expect(await names(1)).toMatchObject({ one: 'success', two: 'pending' })
})

test('what tests found, from the reports of jobs', async () => {
  await using forge = await startForge()
  const { owner, at, project } = await place(forge, config('spec: { script: x }'))
  const { id } = await runJobByName(forge, 'spec')
  const xml = `<?xml version="1.0"?><testsuites><testsuite name="s">
    <testcase classname="A" name="works" time="0.5"/>
    <testcase classname="A" name="breaks &amp; burns" time="1.5"><failure>because <![CDATA[<x>]]></failure></testcase>
    <testcase classname="B" name="later"><skipped/></testcase></testsuite></testsuites>`
  await keepFiles(forge, { id, project_id: project.id }, { x: xml }, { file_type: 'junit', file_format: 'raw' })
  expect((await owner.get(at('/pipelines/1/test_report'))).body).toMatchObject({
    total_time: 2,
    total_count: 3,
    success_count: 1,
    failed_count: 1,
    skipped_count: 1,
    error_count: 0,
    test_suites: [
      {
        name: 'spec',
        suite_error: null,
        test_cases: [
          { status: 'success', name: 'works', classname: 'A', execution_time: 0.5 },
          { status: 'failed', name: 'breaks & burns', system_output: 'because <x>' },
          { status: 'skipped', name: 'later' },
        ],
      },
    ],
  })
  expect((await owner.get(at('/pipelines/1/test_report_summary'))).body).toMatchObject({
    total: { time: 2, count: 3, success: 1, failed: 1, skipped: 1, error: 0, suite_error: null },
    test_suites: [{ name: 'spec', build_ids: [id] }],
  })
  // The report is read once.
  const { digest } = await forge.app.db.selectFrom('ci_artifacts').select('digest').executeTakeFirstOrThrow()
  await forge.app.blobs.remove(digest)
  expect((await owner.get(at('/pipelines/1/test_report'))).body).toMatchObject({ total_count: 3 })
})

test('long reports are read in a thread; of many cases all are counted and the first listed', async () => {
  await using forge = await startForge()
  const { at, owner, project } = await place(forge, config('a: { script: x }\nb: { script: x }\nc: { script: x }'))
  const texts = {
    a: `<${'a'.repeat(300_000)}`,
    b: `<testcase ${'a'.repeat(300_000)}="`,
    c: `<testsuite>${'<a b="c" d="e"/>'.repeat(600_000)}${'<testcase name="a"/>'.repeat(25_000)}</testsuite>`,
  }
  for (const [name, xml] of Object.entries(texts)) {
    const { id } = await runJobByName(forge, name)
    await keepFiles(forge, { id, project_id: project.id }, { x: xml }, { file_type: 'junit', file_format: 'raw' })
  }
  // Loads modules first, so that the measurement does not include that.
  await rendering.run(new URL('data:text/javascript,export const perform = () => null'), null, { deadline: 1000 })
  const effort = startEffort()
  const answer = await owner.get(at('/pipelines/1/test_report_summary'))
  const ms = effort()
  const suite_error = 'JUnit data parsing failed: JUnit XML is not well-formed'
  expect(answer.body).toMatchObject({
    total: { count: 25_000, success: 25_000, suite_error },
    test_suites: [{ suite_error }, { suite_error }, { total_count: 25_000, suite_error: null }],
  })
  // On this thread it would take a second.
  expect(ms).toBeLessThan(400)
  const { body } = await owner.get(at('/pipelines/1/test_report'))
  expect(body.total_count).toBe(25_000)
  expect(body.test_suites.map(({ test_cases }: { test_cases: unknown[] }) => test_cases.length)).toEqual([0, 0, 20_000])
})

test('a pipeline whose process ended before it began is taken up', async () => {
  await using forge = await startForge()
  const { names, project } = await place(forge, config('a: { script: x }\nb: { script: x, environment: live }'))
  await forge.app.db.updateTable('pipelines').set({ status: 'created' }).execute()
  await forge.app.db.updateTable('ci_jobs').set({ status: 'created' }).execute()
  await forge.git(['ls-remote', project.http_url_to_repo])
  forge.clock.advance(120_000)
  await forge.settle()
  expect(await names(1)).toEqual({ a: 'pending', b: 'pending' })
  await runJobByName(forge, 'b')
  expect(await forge.app.db.selectFrom('deployments').selectAll().execute()).toMatchObject([
    { status: 'success', iid: 1, ref: 'master' },
  ])
  expect(await findJobByName(forge, 'b')).toMatchObject({ environment_id: 1 })
})
