/** A job on an unprotected ref can never name a cache of protected refs. */
import { expect, test } from 'vitest'
import { registerRunner } from '../../../../test/runners.ts'
import { startForge, type TestForge } from '../../../forge.ts'

interface Sent {
  readonly git_info: { readonly protected: boolean }
  readonly variables: readonly { readonly key: string; readonly value: string }[]
  readonly cache: readonly { readonly key: string; readonly fallback_keys: readonly string[] }[]
}

async function protectedProject(forge: TestForge, config: string) {
  const owner = await forge.user()
  const project = await forge.project({ visibility: 'private' }, owner)
  await forge.seed(project, { '.gitlab-ci.yml': config }, { as: owner })
  const developer = await forge.user()
  await owner.post(`/projects/${project.id}/members`, { user_id: developer.id, access_level: 30 })
  /** On a separate, unprotected branch. */
  const branch = (name: string, content: string) =>
    developer.post(`/projects/${project.id}/repository/commits`, {
      branch: name,
      start_branch: 'master',
      commit_message: name,
      actions: [{ action: 'update', file_path: '.gitlab-ci.yml', content }],
    })
  return { owner, project, branch }
}

/** Resolves references like the reference runner: also names of one character. Unset variables become empty. */
function resolved({ variables }: Sent, text: string): string {
  const values = new Map(variables.map(({ key, value }) => [key, value]))
  return text.replace(/\$(?:\{([^}]*)\}|(\w+|[*#$@!?-])|\{)/g, (_, braced?: string, plain?: string) => {
    const name = braced ?? plain ?? ''
    return name === '$' ? '$' : (values.get(name) ?? '')
  })
}

function keysOf(job: Sent) {
  const twice = (text: string) => resolved(job, resolved(job, text))
  const global = job.variables.filter(({ key }) => key === 'CACHE_FALLBACK_KEY').map(({ value }) => value)
  return {
    written: job.cache.map(({ key }) => resolved(job, key)),
    read: [...job.cache.flatMap(({ fallback_keys }) => fallback_keys), ...global].map(twice),
  }
}

const ATTACKS = [
  'cache: { key: deps-protected, unprotect: true, paths: [a] }',
  'cache: { key: deps, unprotect: true, paths: [a] }',
  'cache: { key: deps-protected, paths: [a] }',
  'cache: { key: $K, unprotect: true, paths: [a] }\n  variables: { K: deps-protected }',
  'cache: { key: "deps-protected$", paths: [a] }',
  'cache: { key: "deps-protected$$$", paths: [a] }\n  variables: { non_protected: "" }',
  'cache: { key: "deps-protected${", unprotect: true, paths: [a] }',
  'cache: { key: { files: [.gitlab-ci.yml], prefix: x-protected }, unprotect: true, paths: [a] }',
  'cache: { key: x, fallback_keys: [deps-protected, deps, $K, "deps-protected$$$", "../deps-protected/"], paths: [a] }\n  variables: { K: deps-protected }',
  'cache: { key: x, fallback_keys: [deps-protected], unprotect: true, paths: [a] }',
  'cache: { key: x, paths: [a] }\n  variables: { CACHE_FALLBACK_KEY: deps-protected }',
  'cache: { key: x, paths: [a] }\n  variables: { CACHE_FALLBACK_KEY: $K, K: deps-protected }',
  'cache: { key: x, paths: [a] }\n  variables: { CACHE_FALLBACK_KEY: "deps-protected$$$-non_protected" }',
]

test('no text of a job on an unprotected ref names a cache of protected ones', async () => {
  await using forge = await startForge()
  const { branch } = await protectedProject(forge, 'keep: { script: x, cache: { key: deps, paths: [a] } }\n')
  const runner = await registerRunner(forge)
  const trusted: Sent = (await runner.request()).body
  expect(trusted.git_info.protected).toBe(true)
  expect(keysOf(trusted).written).toEqual(['deps-protected'])
  await branch('evil', ATTACKS.map((text, index) => `j${index}:\n  script: x\n  ${text}\n`).join(''))
  for (const text of ATTACKS) {
    const { status, body } = await runner.request()
    expect(status).toBe(201)
    const { written, read } = keysOf(body as Sent)
    expect(body.git_info.protected).toBe(false)
    for (const key of written) expect(key, text).toMatch(/non_protected$/)
    for (const key of read) expect(key, text).toMatch(/(non_protected|-published)$/)
  }
})

test('a cache that protected refs publish is read by others, and written by none of them', async () => {
  await using forge = await startForge()
  const config = `keep:
  script: x
  cache: { key: deps, fallback_keys: [old], unprotect: true, paths: [a] }
  variables: { CACHE_FALLBACK_KEY: last }
`
  const { branch } = await protectedProject(forge, config)
  const runner = await registerRunner(forge)
  const shown = async () => {
    const { body } = await runner.request()
    const { key, fallback_keys, unprotect } = body.cache[0]
    const global = (body as Sent).variables.find((one) => one.key === 'CACHE_FALLBACK_KEY')?.value
    return { key, fallback_keys, unprotect, global }
  }
  expect(await shown()).toEqual({
    key: 'deps-published',
    fallback_keys: ['old-published', 'last-published'],
    unprotect: true,
    global: 'last-protected',
  })
  await branch('other', config.replace('last', 'last-non_protected'))
  expect(await shown()).toEqual({
    key: 'deps-non_protected',
    fallback_keys: ['deps-published', 'old-non_protected', 'old-published', 'last-non_protected'],
    unprotect: true,
    global: 'last-non_protected',
  })
})

const KEEP = `
keep:
  script: ['mkdir -p a b; cat a/x b/x || true; echo good > a/x; echo good > b/x']
  cache: [{ key: deps, paths: [a] }, { key: open, unprotect: true, paths: [b] }]
`
const EVIL = `
evil:
  variables: { CACHE_FALLBACK_KEY: deps-protected, K: deps-protected }
  script: ['echo "seen $(cat a/x) $(cat b/x)"; mkdir -p a b; echo evil > a/x; echo evil > b/x']
  cache:
    - { key: deps-protected, unprotect: true, paths: [a], fallback_keys: [$K] }
    - { key: open, unprotect: true, paths: [b] }
    - { key: $K, paths: [a] }
    - { key: open-published, paths: [b] }
`

test('through our own runner nothing of an unprotected ref reaches protected jobs', async () => {
  await using forge = await startForge()
  const { owner, project, branch } = await protectedProject(forge, KEEP)
  await forge.runner()
  const logOf = async (ref: string) => {
    const pipelines = async () => (await owner.get(`/projects/${project.id}/pipelines`, { ref })).body[0]
    await expect.poll(async () => (await pipelines())?.status, { timeout: 30_000 }).toBe('success')
    const [job] = (await owner.get(`/projects/${project.id}/pipelines/${(await pipelines()).id}/jobs`)).body
    return (await owner.get(`/projects/${project.id}/jobs/${job.id}/trace`)).body as string
  }
  await logOf('master')
  await branch('evil', EVIL)
  // The job reads published caches and no others.
  expect(await logOf('evil')).toMatch(/^seen {2}good/m)
  expect((await owner.post(`/projects/${project.id}/pipeline`, { ref: 'master' })).status).toBe(201)
  const log = await logOf('master')
  expect(log).toContain('good\ngood\n')
  expect(log).not.toContain('evil')
})
