import { afterAll, beforeAll, expect, test } from 'vitest'
import { runJobByName } from '../../../../test/pipelines.ts'
import { startForge, type TestForge } from '../../../forge.ts'

let forge: TestForge
beforeAll(async () => void (forge = await startForge()))
afterAll(async () => forge.close())

const JOBS = `
stages: [build, deploy]
lasting: { stage: build, script: x }
brief: { stage: build, script: x, interruptible: true }
later: { stage: deploy, script: x, interruptible: true }
last: { stage: deploy, script: x }
`

/** The statuses of a first commit's pipeline when a second commit arrives, after these jobs have started. */
async function overtaken(config: string, ...begun: string[]) {
  const project = await forge.project()
  const at = `/projects/${project.id}`
  await forge.seed(project, { '.gitlab-ci.yml': config })
  for (const name of begun) await runJobByName(forge, name, { isLeftRunning: true })
  await forge.seed(project, { x: '1' })
  await forge.settle()
  const pipelines = await forge.app.db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', project.id)
    .orderBy('id')
    .execute()
  const [first] = pipelines
  const jobs = await forge.app.db
    .selectFrom('ci_jobs')
    .select(['name', 'status'])
    .where('pipeline_id', '=', first!.id)
    .execute()
  const { body } = await forge.administrator.get(`${at}/pipelines/${first!.id}`)
  expect(body.status).toBe(first!.status)
  const newer = pipelines.find(({ source, id }) => source === 'push' && id !== first!.id)!
  return {
    first: first!,
    by: first!.auto_canceled_by_id === newer.id ? 'the newer' : first!.auto_canceled_by_id,
    status: first!.status,
    ...Object.fromEntries(jobs.map(({ name, status }) => [name, status])),
  }
}

const asked = (mode: string) => `workflow: { auto_cancel: { on_new_commit: ${mode} } }\n${JOBS}`
const ALL = { brief: 'canceled', later: 'canceled', last: 'canceled', by: 'the newer' }

test.each([
  ['nothing said, nothing begun', JOBS, [], { ...ALL, status: 'canceled', lasting: 'canceled' }],
  [
    'nothing said, what may be interrupted has begun',
    JOBS,
    ['brief'],
    { ...ALL, status: 'canceled', lasting: 'canceled' },
  ],
  [
    'conservative, what may not has begun',
    asked('conservative'),
    ['lasting', 'brief'],
    { by: null, status: 'running', lasting: 'running', brief: 'running', later: 'created', last: 'created' },
  ],
  [
    'interruptible, both have begun',
    asked('interruptible'),
    ['lasting', 'brief'],
    { by: 'the newer', status: 'running', lasting: 'running', brief: 'canceled', later: 'canceled', last: 'created' },
  ],
  ['none', asked('none'), [], { by: null, status: 'pending', lasting: 'pending', brief: 'pending', later: 'created' }],
  [
    'none by a rule',
    `workflow: { auto_cancel: { on_new_commit: interruptible }, rules: [{ if: $CI, auto_cancel: { on_new_commit: none } }] }${JOBS}`,
    ['brief'],
    { by: null, status: 'running', lasting: 'pending', brief: 'running' },
  ],
] as const)('a newer commit: %s', async (_what, config, begun, expected) => {
  expect(await overtaken(config, ...begun)).toMatchObject(expected)
})

test('children say themselves what becomes of them', async () => {
  const project = await forge.project()
  const children = {
    'soft.yml': 'soft: { script: x }',
    'hard.yml': 'workflow: { auto_cancel: { on_new_commit: none } }\nhard: { script: x }',
    '.gitlab-ci.yml': `
workflow: { auto_cancel: { on_new_commit: interruptible } }
one: { trigger: { include: soft.yml } }
two: { trigger: { include: hard.yml } }
last: { stage: deploy, script: x }
`,
  }
  await forge.seed(project, children)
  await forge.settle()
  const of = async () => {
    const rows = await forge.app.db
      .selectFrom('ci_jobs')
      .select(['name', 'status'])
      .where('project_id', '=', project.id)
      .where('kind', '=', 'job')
      .orderBy('id')
      .execute()
    return rows.map(({ name, status }) => `${name} ${status}`)
  }
  expect((await of()).toSorted()).toEqual(['hard pending', 'last pending', 'soft pending'])
  await forge.seed(project, { x: '1' }, { message: 'Next' })
  await forge.settle()
  const now = await of()
  expect(now).toContain('soft canceled')
  expect(now.filter((one) => one.startsWith('hard'))).toEqual(['hard pending', 'hard pending'])
})
