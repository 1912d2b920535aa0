/** Whole pipelines, run by the runner of this repository against a started forge. */
import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

const CONFIG = `
stages: [build, test, deploy]
variables: { GREETING: hello }
compile:
  stage: build
  script:
    - mkdir out && echo "$GREETING $CI_JOB_NAME" > out/made.txt
    - echo "VERSION=1.2.3" > build.env
  artifacts: { paths: [out], reports: { dotenv: build.env } }
  cache: { key: all, paths: [kept] }
fails: { stage: build, script: [exit 7], allow_failure: { exit_codes: 7 } }
check:
  stage: test
  script: [cat out/made.txt, 'test "$VERSION" = 1.2.3', 'echo "token $CI_JOB_TOKEN"', git log --oneline]
alone: { stage: test, needs: [], script: [test ! -e out] }
broken: { stage: test, needs: [compile], script: ['test -e fixed'], allow_failure: true }
long: { stage: test, needs: [], script: [sleep 600], allow_failure: true }
ship: { stage: deploy, script: [echo shipped], dependencies: [] }
`

test('a pipeline with artifacts, reports, cancel and retry', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const project = await forge.project({ visibility: 'private' }, owner)
  await forge.runner({ concurrent: 3 })
  await forge.seed(project, { '.gitlab-ci.yml': CONFIG }, { as: owner })
  const at = (path: string) => `/projects/${project.id}${path}`
  const jobs = async () => (await owner.get(at('/pipelines/1/jobs'), { per_page: 50 })).body
  const named = async (name: string) => (await jobs()).find((job: { name: string }) => job.name === name)
  const status = async (name: string) => (await named(name)).status
  const trace = async (name: string) => (await owner.get(at(`/jobs/${(await named(name)).id}/trace`))).body as string

  await expect.poll(() => status('long'), { timeout: 30_000 }).toBe('running')
  await owner.post(at(`/jobs/${(await named('long')).id}/cancel`))
  const pipeline = async () => (await owner.get(at('/pipelines/1'))).body.status
  await expect.poll(pipeline, { timeout: 60_000 }).toBe('success')
  const statuses = Object.fromEntries(
    (await jobs()).map((job: { name: string; status: string }) => [job.name, job.status]),
  )
  expect(statuses, await trace('check')).toEqual({
    compile: 'success',
    fails: 'failed',
    check: 'success',
    alone: 'success',
    broken: 'failed',
    long: 'canceled',
    ship: 'success',
  })
  const log = await trace('check')
  expect(log).toContain('hello compile')
  expect(log).not.toContain('glcbt-')
  const { id } = await named('compile')
  expect((await owner.get(at(`/jobs/${id}/artifacts/out/made.txt`))).body).toBe('hello compile\n')

  const retried = await owner.post(at(`/jobs/${(await named('broken')).id}/retry`))
  expect(retried.status).toBe(201)
  const again = async () => (await owner.get(at(`/jobs/${retried.body.id}`))).body.status
  await expect.poll(again, { timeout: 30_000 }).toBe('failed')
})

const FAMILY = `
make: { stage: build, script: ['echo parent > parent.txt', 'echo "HANDED=over" > e.env'], artifacts: { paths: [parent.txt], reports: { dotenv: e.env } } }
child:
  stage: deploy
  variables: { PARENT: $CI_PIPELINE_ID }
  trigger: { include: child.yml, strategy: depend }
`
const CHILD = `
uses:
  needs:
    - { pipeline: $PARENT, job: make }
    - { project: GROUP/lib, ref: $CI_DEFAULT_BRANCH, job: build lib }
  script: [cat parent.txt lib.txt, 'test "$HANDED" = over', 'echo "tokens $FIRST_TOKEN"']
  id_tokens: { FIRST_TOKEN: { aud: https://vault.example.com } }
`

test('artifacts of a parent pipeline and of another project, and signed tokens', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const lib = await forge.project({ visibility: 'private', path: 'lib' }, owner)
  const project = await forge.project({ visibility: 'private' }, owner)
  await forge.runner({ concurrent: 2 })
  const built = 'build lib: { script: [echo lib > lib.txt], artifacts: { paths: [lib.txt] } }'
  await forge.seed(lib, { '.gitlab-ci.yml': built }, { as: owner })
  const statusOf = async (of: number, id: number) => (await owner.get(`/projects/${of}/pipelines/${id}`)).body.status
  await expect.poll(() => statusOf(lib.id, 1), { timeout: 30_000 }).toBe('success')
  const child = CHILD.replace('GROUP', owner.username)
  await forge.seed(project, { '.gitlab-ci.yml': FAMILY, 'child.yml': child }, { as: owner })
  await expect.poll(() => statusOf(project.id, 2), { timeout: 60_000 }).toBe('success')
  const { body: jobs } = await owner.get(`/projects/${project.id}/pipelines/3/jobs`)
  const { body: log } = await owner.get(`/projects/${project.id}/jobs/${jobs[0].id}/trace`)
  expect(log).toContain('parent\nlib\n')
  expect(log).toContain('tokens [MASKED]')
})
