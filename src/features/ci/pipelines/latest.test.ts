import { expect, test } from 'vitest'
import { findJobByName, keepFiles, runJobByName } from '../../../../test/pipelines.ts'
import { MINUTE } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { expireArtifacts } from '../jobs/artifacts.ts'

const CONFIG = 'build: { script: make, artifacts: { paths: [out], expire_in: 10 minutes } }'

async function place(forge: TestForge, config = CONFIG) {
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  const at = `/projects/${project.id}`
  await owner.put(at, { auto_cancel_pending_pipelines: 'disabled', keep_latest_artifact: true })
  let commits = 0
  const push = (branch = 'master') =>
    forge.seed(project, { '.gitlab-ci.yml': config, a: `${++commits}` }, { branch, as: owner })
  /** The newest job of this name. Its artifacts expire after ten minutes. */
  const run = async (how: 'success' | 'failed' = 'success', name = 'build') => {
    const running = await runJobByName(forge, name, { isLeftRunning: true })
    const expire_at = new Date(forge.clock.now().getTime() + 10 * MINUTE).toISOString()
    await keepFiles(forge, running, { out: `${running.id}` }, { expire_at })
    const { dropJob, succeedJob } = await import('../jobs/transitions.ts')
    const now = await findJobByName(forge, name)
    if (how === 'success') await succeedJob(forge.app, now)
    else await dropJob(forge.app, now, { reason: 'script_failure' })
    await forge.settle()
    return running.id
  }
  /** Which of the archives exist, in the API and in the store. */
  const left = async (...jobs: number[]) => {
    const answers = await Promise.all(jobs.map((id) => owner.get(`${at}/jobs/${id}/artifacts`)))
    const seen = jobs.filter((_, n) => answers[n]!.status === 200)
    await expireArtifacts(forge.app)
    const rows = await forge.app.db.selectFrom('ci_artifacts').select('job_id').orderBy('job_id').execute()
    expect(rows.flatMap(({ job_id }) => (jobs.includes(job_id) ? job_id : []))).toEqual(seen)
    return seen
  }
  return { owner, project, at, push, run, left }
}

test('the newest pipeline of a ref that succeeded keeps what it has kept', async () => {
  await using forge = await startForge()
  const { owner, at, push, run, left } = await place(forge)
  await push()
  const first = await run()
  await push()
  const second = await run()
  await push('other')
  const other = await run()
  await push()
  const third = await run('failed')
  expect(await left(first, second, other, third)).toEqual([first, second, other, third])
  forge.clock.advance(11 * MINUTE)
  expect(await left(first, second, other, third)).toEqual([second, other])
  expect((await owner.get(`${at}/jobs/artifacts/master/download`, { job: 'build' })).status).toBe(200)

  // A newer pipeline takes over. A deleted branch keeps nothing.
  await push()
  const fourth = await run()
  await owner.delete(`${at}/repository/branches/other`)
  await forge.settle()
  forge.clock.advance(11 * MINUTE)
  expect(await left(second, other, fourth)).toEqual([fourth])

  // An older pipeline that succeeds late does not take over.
  await push()
  const older = await findJobByName(forge, 'build')
  await push()
  const newer = await run()
  const { runJob, succeedJob } = await import('../jobs/transitions.ts')
  const late = (await runJob(forge.app, older, { runner_id: null }))!
  const expire_at = new Date(forge.clock.now().getTime() + MINUTE).toISOString()
  await keepFiles(forge, late, { out: 'late' }, { expire_at })
  await succeedJob(forge.app, late)
  forge.clock.advance(11 * MINUTE)
  expect(await left(late.id, newer)).toEqual([newer])

  // An explicit deletion also deletes locked artifacts.
  expect((await owner.delete(`${at}/artifacts`)).status).toBe(202)
  expect(await left(newer)).toEqual([])
})

test.each([
  ['the project', (s: Location) => s.owner.put(s.at, { keep_latest_artifact: false })],
  [
    'the instance',
    (s: Location) => s.forge.administrator.put('/application/settings', { keep_latest_artifact: false }),
  ],
] as const)('where %s does not want it nothing is kept', async (_who, change) => {
  await using forge = await startForge()
  const made = await place(forge)
  await made.push()
  const before = await made.run()
  forge.clock.advance(11 * MINUTE)
  expect(await made.left(before)).toEqual([before])
  expect((await change({ ...made, forge })).status).toBe(200)
  await expireArtifacts(forge.app)
  expect(await made.left(before)).toEqual([])
  await made.push()
  const after = await made.run()
  forge.clock.advance(11 * MINUTE)
  expect(await made.left(after)).toEqual([])
})

type Location = Awaited<ReturnType<typeof place>> & { forge: TestForge }

test('what its children have kept is kept with it', async () => {
  await using forge = await startForge()
  const { owner, project, at, run, left } = await place(forge)
  const files = {
    'child.yml': 'inner: { script: x }',
    '.gitlab-ci.yml': 'child: { trigger: { include: child.yml } }',
  }
  await forge.seed(project, files, { as: owner })
  await forge.settle()
  const inner = await run('success', 'inner')
  forge.clock.advance(11 * MINUTE)
  expect(await left(inner)).toEqual([inner])
  expect((await owner.get(`${at}/pipelines`, { source: 'parent_pipeline' })).body).toMatchObject([
    { status: 'success' },
  ])
})

test('of a merge request it is kept until that is over', async () => {
  await using forge = await startForge()
  const { owner, project, at, run, left } = await place(forge)
  const rules = 'rules: [{ if: $CI_PIPELINE_SOURCE == "merge_request_event" }]'
  await forge.seed(project, { a: '1' }, { as: owner })
  await forge.seed(project, { '.gitlab-ci.yml': `review: { script: x, ${rules} }` }, { branch: 'feature', as: owner })
  const input = { source_branch: 'feature', target_branch: 'master', title: 'Bring it' }
  const { body: one } = await owner.post(`${at}/merge_requests`, input)
  await forge.settle()
  const review = await run('success', 'review')
  forge.clock.advance(11 * MINUTE)
  expect(await left(review)).toEqual([review])
  await owner.put(`${at}/merge_requests/${one.iid}`, { state_event: 'close' })
  await forge.settle()
  expect(await left(review)).toEqual([])
})

test('unless its project asks for that, what has expired is handed out no more', async () => {
  await using forge = await startForge()
  const { owner, at, push, run, left } = await place(forge)
  await owner.put(at, { keep_latest_artifact: false })
  await push()
  const only = await run()
  expect(await left(only)).toEqual([only])
  forge.clock.advance(11 * MINUTE)
  expect(await left(only)).toEqual([])
  expect((await owner.get(`${at}/jobs/artifacts/master/download`, { job: 'build' })).status).toBe(404)
  const other = await forge.project()
  expect((await owner.get(`/projects/${other.id}`)).body).not.toMatchObject({ keep_latest_artifact: true })
})
