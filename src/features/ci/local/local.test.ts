/** Pipelines of working copies, compared with the same pipelines on a server. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plain } from '../../../../test/ci-jobs.ts'
import { temporaryFolder } from '../../../../test/git-origin.ts'
import { shellExecutor } from '../../../ci/agent/shell.ts'
import { compile } from '../../../ci/config/compile.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { openZipFile } from '../../../lib/zip/files.ts'
import { contextOf, type LocalRunOptions } from './context.ts'
import type { Plan } from '../../../ci/config/plan.ts'
import { runHere, type RunOptions } from './run.ts'
import { ServerFiles } from './server-files.ts'
import { openWorkingCopy, originOf } from './working-copy.ts'

type Person = Awaited<ReturnType<TestForge['user']>>

let forge: TestForge
let folder: Awaited<ReturnType<typeof temporaryFolder>>
let owner: Person

beforeAll(async () => {
  forge = await startForge()
  folder = await temporaryFolder()
  owner = await forge.user()
})
afterAll(async () => {
  await forge[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
})

const environment = process.env

/** A clone of the project, and the options of a run in it. */
async function cloned(path: string, input: Partial<LocalRunOptions> = {}): Promise<LocalRunOptions> {
  const root = join(folder.path, path.replaceAll('/', '-'))
  await forge.git(['clone', '--quiet', `${forge.url}/${path}.git`, root], { as: owner, cwd: folder.path })
  const copy = await openWorkingCopy(root, { environment })
  return {
    copy,
    file: '.gitlab-ci.yml',
    event: 'push',
    target: copy.default_branch,
    variables: [],
    inputs: {},
    server: null,
    allowLocal: false,
    ...input,
  }
}

async function compiled(input: LocalRunOptions) {
  return compile(await readFile(join(input.copy.root, input.file), 'utf8'), await contextOf(input))
}

async function ran(plan: Plan, input: LocalRunOptions, how: Partial<RunOptions> = {}) {
  let output = ''
  const answer = await runHere(plan, input, {
    named: [],
    withNeeds: false,
    concurrent: 1,
    executor: shellExecutor,
    environment,
    signal: new AbortController().signal,
    print: (text) => (output += text),
    isColoured: false,
    ...how,
  })
  return { ...answer, output, table: tableIn(output) }
}

/** The status of each job. */
const tableIn = (output: string) =>
  Object.fromEntries(
    output
      .slice(output.lastIndexOf('\n\n'))
      .split('\n')
      .flatMap((line) => {
        const [, name, how] = line.split(/ {2,}/)
        return name && how ? [[name, how] as const] : []
      }),
  )

const CONFIG = `
stages: [build, test, deploy]
variables: { GREETING: hello }
compile:
  stage: build
  before_script: ['echo before $CI_JOB_STAGE']
  script: [mkdir out, 'echo "$GREETING $CI_JOB_NAME $CI_COMMIT_BRANCH $CI_COMMIT_SHORT_SHA $CI_PIPELINE_SOURCE" | tee out/made.txt', 'echo VERSION=1.2 > v.env']
  artifacts: { paths: [out], reports: { dotenv: v.env } }
  cache: { key: all, paths: [kept] }
odd: { stage: build, script: [exit 7], after_script: ['echo after $CI_JOB_STATUS'], allow_failure: { exit_codes: 7 } }
check: { stage: test, script: [cat out/made.txt, 'echo "$VERSION $CI_PROJECT_PATH $CI_DEFAULT_BRANCH"', git log --format=%s] }
each: { stage: test, needs: [{ job: compile, artifacts: false }], script: ['echo $A; test ! -e out'], parallel: { matrix: [{ A: [x, y] }] } }
never: { stage: test, script: a, when: on_failure }
bad: { stage: deploy, script: ['echo "K K=V" > b.env'], artifacts: { reports: { dotenv: b.env } }, allow_failure: true }
ship: { stage: deploy, environment: production, script: ['echo "to $CI_ENVIRONMENT_NAME $CI_ENVIRONMENT_TIER"'] }
hand: { stage: deploy, script: [a], when: manual }
`

/** The common part of both logs: without where, when and by whom the job ran, and how its files got there. */
const resultIn = (log: string) =>
  plain(log)
    .replace(/\r/g, '')
    .replaceAll(/section_(start|end):\d+:\w+/g, '')
    .replace(/^ {2}on .*\n/m, '')
    .replace(/(Getting source from Git repository\n)[^]*?(?=Restoring cache|Downloading artifacts\n|Executing)/, '$1')
    .replaceAll(/\((\d+)\)\.\.\.|id=\d+/g, '')
    .replaceAll(/\/\S+?\/builds\/\S+?(?=\))/g, 'DIR')

test('the same file comes to the same, here and on a server', async () => {
  const project = await forge.project({ visibility: 'private' }, owner)
  const runner = await forge.runner()
  await forge.seed(project, { '.gitlab-ci.yml': CONFIG }, { as: owner })
  const input = await cloned(project.path_with_namespace)
  const { plan } = await compiled(input)
  const { status, output, table } = await ran(plan!, input)
  const at = `/projects/${project.id}`
  const [first] = (await owner.get(`${at}/pipelines`)).body
  const pipeline = async () => (await owner.get(`${at}/pipelines/${first.id}`)).body.status
  await expect.poll(pipeline, { timeout: 60_000, interval: 100 }).toBe('success')
  expect(status).toBe('success')
  const jobs = (await owner.get(`${at}/pipelines/${first.id}/jobs`, { per_page: 50 })).body as {
    id: number
    name: string
    status: string
  }[]
  const plainly = Object.entries(table).map(([name, how]) => [name, how.replace(' (allowed)', '')])
  expect(Object.fromEntries(plainly)).toEqual(Object.fromEntries(jobs.map(({ name, status }) => [name, status])))

  const here = new Map(
    output
      .split(/^== /m)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)]),
  )
  const ended = jobs.filter(({ status }) => status === 'success' || status === 'failed')
  expect([...here.keys()].toSorted()).toEqual(ended.map(({ name }) => name).toSorted())
  for (const { id, name } of ended) {
    const there = (await owner.get(`${at}/jobs/${id}/trace`)).body as string
    const log = here.get(name)!.replace(/\n\n[^]*$/, '\n')
    expect(resultIn(log), name).toBe(resultIn(there))
  }
  const { id } = jobs.find(({ name }) => name === 'compile')!
  const made = (await owner.get(`${at}/jobs/${id}/artifacts/out/made.txt`)).body
  await using zip = await openZipFile(join(input.copy.state, 'artifacts/1/archive/artifacts.zip'))
  const entry = (await zip.find('out/made.txt'))!
  expect((await buffer(Readable.from(zip.read(entry)))).toString()).toBe(made)
  await runner.stop()
})

const WAITING = `
stages: [a, b]
gate: { stage: a, script: [a], when: manual, allow_failure: false }
bad: { stage: a, script: [exit 3], retry: { max: 1, exit_codes: 4 } }
mend: { stage: b, script: [a], when: on_failure }
after: { stage: b, script: ['true'], when: always, needs: [bad] }
one: { stage: a, script: ['mkdir "$PLACE"; sleep 0.2; rmdir "$PLACE"'], parallel: 2, resource_group: x }
make: { stage: a, script: ['echo "inner: { script: [test -e made] }" > child.yml'], artifacts: { paths: [child.yml] } }
child: { stage: b, needs: [make], trigger: { include: [{ artifact: child.yml, job: make }] } }
huge: { stage: a, needs: [], script: ['head -c 200000 /dev/urandom > e'], artifacts: { reports: { dotenv: e } }, allow_failure: true }
wrong: { stage: a, needs: [], trigger: { include: gone.yml }, allow_failure: true }
gone: { stage: a, needs: [], script: [sleep 300], timeout: 1 second, allow_failure: true }
`

test('what fails is told though the rest waits for somebody, and what shares a resource takes turns', async () => {
  const project = await forge.project({}, owner)
  await forge.seed(project, { '.gitlab-ci.yml': WAITING }, { as: owner, message: '[skip ci]' })
  const variables = [{ key: 'PLACE', value: join(folder.path, 'taken') }]
  const input = await cloned(project.path_with_namespace, { variables })
  const { plan } = await compiled(input)
  const { status, hasFailed, table, output } = await ran(plan!, input, { concurrent: 4 })
  expect({ status, hasFailed, ...table }).toEqual({
    status: 'manual',
    hasFailed: true,
    gate: 'manual',
    bad: 'failed',
    mend: 'created',
    after: 'success',
    'one 1/2': 'success',
    'one 2/2': 'success',
    make: 'success',
    child: 'success',
    huge: 'failed (allowed)',
    wrong: 'failed (allowed)',
    gone: 'failed (allowed)',
    'child / inner': 'failed',
  })
  expect(output).toContain('Local file `gone.yml` does not exist!')
  expect(output).toContain('gone | ERROR: Job failed: execution took longer than 1s')
  expect(output).toContain('huge | ERROR: Job failed: uploading artifacts: 400 Bad Request - Dotenv Artifact Too Big')
  expect(output).not.toContain('is tried again')
})

test('what stands on a server is read from the one that is named, by its token', async () => {
  const project = await forge.project({ visibility: 'private' }, owner)
  const tools = await forge.project({ visibility: 'private' }, owner)
  await forge.seed(
    tools,
    {
      'a.yml': 'include: b.yml\nshared: { script: a }',
      'b.yml': 'deeper: { script: b }',
      'templates/scan.yml': 'spec: { component: [version] }\n---\nscan: { script: "echo $[[ component.version ]]" }',
    },
    { as: owner },
  )
  await owner.post(`/projects/${tools.id}/repository/tags`, { tag_name: '1.2.0', ref: 'master' })
  const path = tools.path_with_namespace
  const config = `include: [{ project: ${path}, file: a.yml }, { component: "${new URL(forge.url).host}/${path}/scan@1" }]
here: { script: a, rules: [{ exists: { project: ${path}, paths: [b.yml] } }] }`
  await forge.seed(project, { '.gitlab-ci.yml': config }, { as: owner, message: '[skip ci]' })
  const input = await cloned(project.path_with_namespace)
  const { plan, errors } = await compiled({ ...input, server: new ServerFiles(forge.url, owner.token) })
  expect(errors).toEqual([])
  expect(plan!.jobs.map(({ name, script }) => `${name} ${script.join()}`)).toEqual([
    'deeper b',
    'shared a',
    'scan echo 1.2.0',
    'here a',
  ])
  const stranger = await compiled({ ...input, server: new ServerFiles(forge.url, (await forge.user()).token) })
  expect(stranger.errors[0]!.message).toMatch(`Project \`${path}\` not found or access denied!`)
  const nowhere = await compiled({ ...input, server: new ServerFiles('http://127.0.0.1:9', owner.token) })
  expect(nowhere.errors[0]!.message).toBe('Project file `a.yml` could not be fetched because of a socket error!')
})

test('what has changed goes by what the server knows, or by where a request would go', async () => {
  const project = await forge.project({}, owner)
  const config =
    'a: { script: a, rules: [{ changes: [a/*] }] }\nb: { script: b, rules: [{ changes: [b/*] }] }\nc: { script: c, rules: [{ changes: { paths: [b/*], compare_to: master } }] }'
  await forge.seed(
    project,
    { '.gitlab-ci.yml': config, 'a/old': 'x', 'b/old': 'x' },
    { as: owner, message: '[skip ci]' },
  )
  const input = await cloned(project.path_with_namespace)
  const { root } = input.copy
  const git = (...args: string[]) =>
    forge.git(['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { as: owner, cwd: root })
  const names = async (more: Partial<LocalRunOptions> = {}) => {
    const copy = await openWorkingCopy(root, { environment })
    return (await compiled({ ...input, copy, ...more })).plan!.jobs.map(({ name }) => name)
  }
  expect(await names()).toEqual([])
  await writeFile(join(root, 'a/new'), 'not added')
  expect(await names()).toEqual(['a'])
  await git('switch', '--quiet', '--create', 'topic')
  await writeFile(join(root, 'b/old'), 'changed')
  await git('commit', '--quiet', '--all', '--message', 'b')
  // A branch that the server does not know has nothing to compare with.
  expect(await names()).toEqual(['a', 'b', 'c'])
  await git('push', '--quiet', '--set-upstream', 'origin', 'topic')
  expect(await names()).toEqual(['a', 'c'])
  expect(await names({ event: 'merge_request_event' })).toEqual(['a', 'b', 'c'])
  expect(await names({ event: 'schedule' })).toEqual(['a', 'b', 'c'])
})

test.each([
  [
    'https://user:pw@forge.example.com:8443/group/sub/project.git',
    { url: 'https://forge.example.com:8443', path: 'group/sub/project' },
  ],
  ['ssh://git@forge.example.com:2222/group/project.git/', { url: 'https://forge.example.com', path: 'group/project' }],
  ['git@forge.example.com:group/project.git', { url: 'https://forge.example.com', path: 'group/project' }],
  ['/srv/git/project.git', null],
  ['file:///srv/git/project.git', null],
  ['https://forge.example.com/../../etc', null],
  ['', null],
])('the origin %s', (address, origin) => {
  expect(originOf(address)).toEqual(origin)
})
