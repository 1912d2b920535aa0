/** Configurations with includes from elsewhere, tested with real pipelines. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runJobByName } from '../../../../test/pipelines.ts'
import { startForge, type TestForge } from '../../../forge.ts'

type Person = Awaited<ReturnType<TestForge['user']>>
type Project = Awaited<ReturnType<TestForge['project']>>

let forge: TestForge
let server: Server
let outside: string
let owner: Person
let own: Project
/** Private projects: `tools` belongs to the owner, too, and `theirs` to another user. */
let tools: Project
let theirs: Project

const COMPONENT = `spec:
  component: [name, version, reference, sha]
  inputs: { stage: { options: [build, test] }, times: { type: number, default: 2 } }
---
"scan-$[[ inputs.stage ]]":
  stage: $[[ inputs.stage ]]
  parallel: $[[ inputs.times ]]
  script: ["echo $[[ component.name ]] $[[ component.version ]] $[[ component.reference ]]"]
`
const REMOTE = 'far: { script: echo far }\n'

beforeAll(async () => {
  forge = await startForge()
  owner = await forge.user()
  const other = await forge.user()
  own = await forge.project({ visibility: 'private' }, owner)
  tools = await forge.project({ visibility: 'private' }, owner)
  theirs = await forge.project({ visibility: 'private' }, other)
  await forge.seed(own, { 'README.md': 'x' }, { as: owner })
  const shared = {
    'ci/a.yml': 'include: ci/b.yml\nshared: { script: echo a }',
    'ci/b.yml': 'deeper: { script: echo b }',
    'ci/circle.yml': 'include: ci/circle.yml\nx: { script: a }',
    'templates/scan.yml': COMPONENT,
  }
  await forge.seed(tools, shared, { as: owner })
  await forge.seed(theirs, { 'ci/a.yml': 'secret: { script: echo theirs }' }, { as: other })
  const at = `/projects/${tools.id}/repository`
  for (const tag of ['1.0.0', 'v1.4.2', '2.0.0']) await owner.post(`${at}/tags`, { tag_name: tag, ref: 'master' })
  server = createServer((request, response) => {
    if (request.url === '/moved.yml') return response.writeHead(302, { location: '/far.yml' }).end()
    if (request.url !== '/far.yml') return response.writeHead(404).end()
    response.end(REMOTE)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  outside = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
  await forge[Symbol.asyncDispose]()
})

let made = 0

/** Starts a pipeline by hand, on a branch with this file. */
async function run(config: string, files: Record<string, string> = {}) {
  const branch = `b${++made}`
  await forge.seed(own, { '.gitlab-ci.yml': config, ...files }, { branch, as: owner, message: '[skip ci]' })
  const { status, body } = await owner.post(`/projects/${own.id}/pipeline`, { ref: branch })
  if (status !== 201) return { status, message: body.message.base?.[0] ?? body.message }
  const jobs = (await owner.get(`/projects/${own.id}/pipelines/${body.id}/jobs`, { per_page: 100 })).body
  return { status, names: jobs.map(({ name }: { name: string }) => name).toSorted() }
}

const allowLocal = (allowed: boolean) =>
  forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: allowed })

const path = (project: Project) => project.path_with_namespace

test('a project that the user reads, with what that includes of itself', async () => {
  const config = `include: [{ project: ${path(tools)}, file: [ci/a.yml] }]\nown: { script: a }`
  expect(await run(config)).toEqual({ status: 201, names: ['deeper', 'own', 'shared'] })
  expect(await run(config.replace('file:', 'ref: v1.4.2, file:'))).toMatchObject({ status: 201 })
})

test('a template and a component with inputs, by a part of its version', async () => {
  const address = `${new URL(forge.url).host}/${path(tools)}/scan`
  const config = (version: string) =>
    `include: [{ template: Bash.gitlab-ci.yml, rules: [{ if: $NO }] }, { component: "${address}@${version}", inputs: { stage: test } }]`
  expect(await run(config('1'))).toEqual({ status: 201, names: ['scan-test 1/2', 'scan-test 2/2'] })
  const row = await forge.app.db
    .selectFrom('ci_jobs')
    .select('options')
    .where('name', '=', 'scan-test 1/2')
    .executeTakeFirstOrThrow()
  expect(JSON.parse(row.options!).script).toEqual(['echo scan v1.4.2 1'])
  expect(await run(config('master'))).toMatchObject({ status: 201 })
  expect(await run(config('~latest').replace('{ if: $NO }', '{ if: $CI }'))).toMatchObject({
    status: 201,
    names: ['build', 'check', 'scan-test 1/2', 'scan-test 2/2', 'test'],
  })
})

test('an address, where the instance lets its users reach it', async () => {
  const digest = `sha256-${createHash('sha256').update(REMOTE).digest('base64')}`
  const config = (address: string, more = '') => `include: [{ remote: "${address}"${more} }]\nown: { script: a }`
  const refused = (text: string) => ({ status: 400, message: text })
  const file = (name: string) => `Remote file \`${outside}/${name}\``
  await allowLocal(false)
  expect(await run(config(`${outside}/far.yml`))).toEqual(refused(`${file('far.yml')} may not be included here!`))
  await allowLocal(true)
  try {
    expect(await run(config(`${outside}/moved.yml`, `, integrity: "${digest}"`))).toEqual({
      status: 201,
      names: ['far', 'own'],
    })
    expect(await run(config(`${outside}/far.yml`, ', integrity: "sha256-AAAA"'))).toEqual(
      refused(`${file('far.yml')} does not match its integrity!`),
    )
    expect(await run(config(`${outside}/gone.yml`))).toEqual(
      refused(`${file('gone.yml')} could not be fetched because of HTTP code \`404\` error!`),
    )
    // Even then the forge sends no request to itself.
    expect(await run(config(`${forge.url}/api/v4/version`))).toEqual(
      refused(`Remote file \`${forge.url}/api/v4/version\` may not be included here!`),
    )
  } finally {
    await allowLocal(false)
  }
})

test('what a job has kept, for a child alone', async () => {
  const config = `
stages: [build, test]
make: { stage: build, script: a, artifacts: { paths: [child.yml] } }
child: { stage: test, trigger: { include: [{ artifact: child.yml, job: make }], strategy: depend } }`
  expect(await run(config)).toMatchObject({ status: 201, names: ['make'] })
  await runJobByName(forge, 'make', { files: { 'child.yml': 'born: { script: b }' } })
  await forge.settle()
  const row = await forge.app.db.selectFrom('ci_jobs').select('id').where('name', '=', 'born').executeTakeFirst()
  expect(row).toBeDefined()
  const above = 'include: [{ artifact: child.yml, job: make }]\nown: { script: a }'
  expect(await run(above)).toEqual({ status: 400, message: 'Artifact file `child.yml` does not exist!' })
})

const denied = (project: string) =>
  `Project \`${project}\` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.`

test.each<[string, () => string, () => string]>([
  ['a project of others', () => `{ project: ${path(theirs)}, file: ci/a.yml }`, () => denied(path(theirs))],
  ['no project', () => '{ project: group/nothing, file: a.yml }', () => denied('group/nothing')],
  ['a project by its number', () => `{ project: "${theirs.id}", file: ci/a.yml }`, () => denied(String(theirs.id))],
  [
    'no file',
    () => `{ project: ${path(tools)}, file: no.yml }`,
    () => `Project \`${path(tools)}\` file \`no.yml\` does not exist!`,
  ],
  [
    'no ref',
    () => `{ project: ${path(tools)}, file: ci/a.yml, ref: moon }`,
    () => `Project \`${path(tools)}\` reference \`moon\` does not exist!`,
  ],
  [
    'a circle',
    () => `{ project: ${path(tools)}, file: ci/circle.yml }`,
    () => 'Maximum of 150 nested includes are allowed!',
  ],
  ['itself', () => '.gitlab-ci.yml', () => 'Maximum of 150 nested includes are allowed!'],
  ['no template', () => '{ template: Moon.gitlab-ci.yml }', () => 'Template file `Moon.gitlab-ci.yml` does not exist!'],
  [
    'a component of others',
    () => `{ component: "${new URL(forge.url).host}/${path(theirs)}/a@master" }`,
    () => `Component '${new URL(forge.url).host}/${path(theirs)}/a@master' - content not found`,
  ],
  [
    'a component without what it asks for',
    () => `{ component: "${new URL(forge.url).host}/${path(tools)}/scan@2" }`,
    () => `\`${new URL(forge.url).host}/${path(tools)}/scan@2\`: \`stage\` input: required value has not been provided`,
  ],
])('refuses %s, and makes nothing', async (_what, include, message) => {
  // The pipeline of the commit itself is skipped.
  const count = () => forge.app.db.selectFrom('pipelines').select('id').where('status', '!=', 'skipped').execute()
  const before = await count()
  expect(await run(`include: [${include()}]\nown: { script: a }`)).toEqual({ status: 400, message: message() })
  expect(await count()).toEqual(before)
})

test('a push keeps the refusal to be read, and names nothing of what it may not read', async () => {
  const config = `include: [{ project: ${path(theirs)}, file: ci/a.yml }]\nown: { script: a }`
  await forge.seed(own, { '.gitlab-ci.yml': config }, { branch: 'pushed', as: owner })
  const [pipeline] = (await owner.get(`/projects/${own.id}/pipelines`, { ref: 'pushed' })).body
  const { body } = await owner.get(`/projects/${own.id}/pipelines/${pipeline.id}`)
  expect(body).toMatchObject({ status: 'failed', yaml_errors: denied(path(theirs)) })
  expect((await owner.get(`/projects/${own.id}/pipelines/${pipeline.id}/jobs`)).body).toEqual([])
})
