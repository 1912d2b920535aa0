import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

const CONFIG = `
stages: [build, test]
compile:
  stage: build
  script: [make]
  tags: [fast]
  environment: staging
check:
  stage: test
  before_script: [prepare]
  script: [make check]
  needs: [compile]
  rules:
    - if: $CI_COMMIT_BRANCH == "work"
      when: manual
      allow_failure: true
    - if: $CI_COMMIT_BRANCH == "never"
`

test('a configuration is checked by anyone', async () => {
  await using forge = await startForge()
  const lint = (content: string, more = {}) => forge.visitor.post('/ci/lint', { content, ...more })
  expect(await lint('test: { script: make }')).toMatchObject({
    status: 200,
    body: { status: 'valid', errors: [], warnings: [], includes: [] },
  })
  expect((await lint('test: { script: make }', { include_merged_yaml: true })).body.merged_yaml).toContain('make')
  expect((await lint('test: { script: make, colour: red }')).body).toMatchObject({
    status: 'invalid',
    errors: expect.arrayContaining([expect.stringContaining('unknown keys: colour')]),
  })
  expect((await lint('a: [')).body).toMatchObject({ status: 'invalid' })
  for (const empty of ['', '  '])
    expect((await lint(empty)).body).toMatchObject({
      status: 'invalid',
      errors: ['Please provide content of .gitlab-ci.yml'],
    })
  expect((await forge.visitor.post('/ci/lint')).body.error).toBe('content is missing')
  for (const include of ['http://127.0.0.1:1/x.yml', '/etc/passwd.yml', '../x.yml'])
    expect((await lint(`include: '${include}'`)).body, include).toMatchObject({ status: 'invalid' })
})

test('a configuration is checked as one of a project', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const project = await forge.project()
  const url = `/projects/${project.id}/ci/lint`
  expect(await root.get(url)).toMatchObject({ status: 404, body: { message: '404 Commit Not Found' } })
  expect((await root.post(url, { content: 'test: { script: make }' })).body).toMatchObject({ valid: true })
  const commit = await forge.seed(project, { 'more.yml': 'more: { script: make more }', README: 'x' })
  expect((await root.get(url)).body).toMatchObject({
    valid: false,
    errors: ['Please provide content of .gitlab-ci.yml'],
  })
  const content = `include: more.yml\n${CONFIG}`
  const { body } = await root.post(url, { content, include_jobs: true })
  expect(body).toMatchObject({
    valid: true,
    errors: [],
    includes: [{ type: 'local', location: 'more.yml', context_sha: commit.id, extra: {} }],
  })
  expect(body.merged_yaml).toContain('make more')
  const names = (jobs: { name: string }[]) => jobs.map(({ name }) => name).toSorted()
  expect(names(body.jobs)).toEqual(['check', 'compile', 'more'])
  expect(body.jobs.find(({ name }: { name: string }) => name === 'check')).toMatchObject({
    stage: 'test',
    before_script: ['prepare'],
    script: ['make check'],
    needs: [{ name: 'compile', artifacts: true }],
  })
  const dry = (ref: string) => root.post(url, { content, include_jobs: true, dry_run: true, ref })
  expect(names((await dry('master')).body.jobs)).toEqual(['compile', 'more'])
  await root.post(`/projects/${project.id}/repository/branches`, { branch: 'work', ref: 'master' })
  expect((await dry('work')).body.jobs.find(({ name }: { name: string }) => name === 'check')).toMatchObject({
    when: 'manual',
    allow_failure: true,
  })
  expect((await dry('nowhere')).body).toMatchObject({ valid: false, errors: ['Reference not found'] })
})

test('the configuration of a project is checked where it stands', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const project = await forge.project()
  const url = `/projects/${project.id}/ci/lint`
  const first = await forge.seed(project, { '.gitlab-ci.yml': 'test: { script: make, colour: red }' })
  await forge.seed(project, { '.gitlab-ci.yml': CONFIG })
  expect((await root.get(url)).body).toMatchObject({ valid: true })
  expect((await root.get(url, { content_ref: first.id })).body).toMatchObject({ valid: false })
  expect((await root.get(url, { sha: 'nowhere' })).status).toBe(404)
  expect((await root.get(url, { dry_run: true, include_jobs: true })).body.jobs).toHaveLength(1)
  const reporter = await forge.user()
  await root.post(`/projects/${project.id}/members`, { user_id: reporter.id, access_level: 20 })
  expect((await reporter.get(url)).status).toBe(200)
  expect((await reporter.get(url, { dry_run: true })).status).toBe(403)
  await root.put(`/projects/${project.id}`, { ci_config_path: 'ci/main.yml' })
  expect((await root.get(url)).body.errors).toEqual(['Please provide content of .gitlab-ci.yml'])
})

test('values of protected variables stay with those who may run', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const project = await forge.project()
  await forge.seed(project, { README: 'x' })
  await root.post(`/projects/${project.id}/variables`, { key: 'SECRET', value: 'hunter2', protected: true })
  const developer = await forge.user()
  await root.post(`/projects/${project.id}/members`, { user_id: developer.id, access_level: 30 })
  const content = 'include: { local: "$SECRET.yml" }\ntest: { script: make }'
  const url = `/projects/${project.id}/ci/lint`
  expect(JSON.stringify((await root.post(url, { content })).body)).toContain('hunter2')
  expect(JSON.stringify((await developer.post(url, { content })).body)).not.toContain('hunter2')
})
