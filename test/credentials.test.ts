/**
 * Callers of every endpoint: `by` names them, and tokens that belong to no user are looked up by the API, in no
 * handler. The table has the answers to each kind of such a token.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isCallableBy, isOfAgent, isTokenCredential } from '../src/api/credentials.ts'
import type { Endpoint } from '../src/api/endpoint.ts'
import { openApiDocument, templateOf } from '../src/api/openapi.ts'
import { families } from '../src/features/v4.ts'
import { resetRegistrationToken } from '../src/features/ci/runners/registration.ts'
import { startForge, type Person, type TestForge } from '../src/forge.ts'
import { nameOf, v4 } from './endpoints.ts'
import { zipped } from './pipelines.ts'
import { ask, registerRunner } from './runners.ts'

test('an endpoint for anyone names its callers, and one for signed-in users has no others', () => {
  const vague = v4.filter(({ allow, by }) => allow === 'anyone' && (by === undefined || by === 'user'))
  const contradictory = v4.filter((one) => /signed_in|administrator/.test(one.allow) && isCallableBy(one, 'visitor'))
  expect([...vague, ...contradictory].map(nameOf)).toEqual([])
})

/** For a caller without an account, such a parameter would be a credential that the handler looks up. */
test('no handler looks a token up', () => {
  const secrets = /(?<!page_)token|secret|password|private_key/
  const handled = v4.flatMap((endpoint) =>
    Object.keys(endpoint.input?.shape ?? {})
      .filter((name) => secrets.test(name) && isCallableBy(endpoint, 'visitor'))
      .filter((name) => !(isTokenCredential(endpoint.by) && name in endpoint.by.params.shape))
      .map((name) => `${nameOf(endpoint)} ${name}`),
  )
  expect(handled).toEqual(['POST /session password'])

  const features = join(import.meta.dirname, '../src/features')
  const reading = globSync('**/*.ts', { cwd: features, exclude: ['**/*.test.ts'] }).filter((file) =>
    /headers(\.authorization\b|\['[\w-]*token'\])/.test(readFileSync(join(features, file), 'utf8')),
  )
  // Outside the API: the client of an OAuth token request.
  expect(reading).toEqual(['identity/oauth/clients.ts'])
})

const CONFIG = 'a: &job\n  script: echo\nb: *job\nc: *job\n'
const PAST = '2000-01-01T00:00:00.000Z'

interface Job {
  readonly id: number
  readonly token: string
}

async function jobsOf(forge: TestForge, owner: Person) {
  const project = await forge.project({ visibility: 'private' }, owner)
  await forge.seed(project, { '.gitlab-ci.yml': CONFIG }, { as: owner })
  const { body } = await owner.get(`/projects/${project.id}`)
  const runner = await registerRunner(forge, {}, body.runners_token)
  const take = async (): Promise<Job> => (await runner.request()).body
  const [job, sibling, ended] = [await take(), await take(), await take()]
  await runner.upload(job, await zipped({ a: 'b' }))
  await runner.put(ended, { state: 'success' })
  return { project, runner, job, sibling, ended }
}

const triggerOf = async (owner: Person, project: { id: number }): Promise<{ id: number; token: string }> =>
  (await owner.post(`/projects/${project.id}/triggers`, { description: 'robot' })).body

const connectChat = (owner: Person, project: { id: number }, token: string) =>
  owner.put(`/projects/${project.id}/integrations/slack-slash-commands`, { token })

/** `other`: of another project, job or runner. `over`: expired, replaced, or of a job that has ended. */
const KINDS = ['none', 'wrong', 'other', 'over', 'right'] as const
type Tokens = Readonly<Record<'other' | 'over' | 'right', string>>

async function stage(forge: TestForge) {
  const { app } = forge
  const [owner, stranger] = [await forge.user(), await forge.user()]
  const [here, elsewhere] = [await jobsOf(forge, owner), await jobsOf(forge, stranger)]
  const [mine, expired] = [await triggerOf(owner, here.project), await triggerOf(owner, here.project)]
  await app.db.updateTable('pipeline_triggers').set({ expires_at: PAST }).where('id', '=', expired.id).execute()
  const theirs = await triggerOf(stranger, elsewhere.project)
  for (const token of ['old', 'here']) await connectChat(owner, here.project, token)
  await connectChat(stranger, elsewhere.project, 'elsewhere')

  const ofJobs = (other: Job): Tokens => ({ other: other.token, over: here.ended.token, right: here.job.token })
  const ofRunners = async (): Promise<Tokens> => {
    const [over, right] = [await registerRunner(forge), await registerRunner(forge)]
    await app.db.updateTable('runners').set({ token_expires_at: PAST }).where('id', '=', over.id).execute()
    return { other: here.job.token, over: over.token, right: right.token }
  }
  const ofRegistration = async (): Promise<Tokens> => {
    const over = await resetRegistrationToken(app, null)
    return { other: here.runner.token, over, right: await resetRegistrationToken(app, null) }
  }
  /** New ones for each line, because some endpoints replace or delete them. */
  const tokensFor = async (line: string, credential: string): Promise<Tokens> => {
    if (credential === 'runner_token') return ofRunners()
    if (credential === 'registration_token') return ofRegistration()
    if (line.endsWith('(job)') || line === DOWNLOAD) return ofJobs(elsewhere.job)
    if (credential === 'job_token') return ofJobs(here.sibling)
    if (credential === 'chat_token') return { other: 'elsewhere', over: 'old', right: 'here' }
    return { other: theirs.token, over: expired.token, right: mine.token }
  }
  return { here, tokensFor }
}

const DOWNLOAD = 'GET /jobs/:job_id/artifacts'
const TABLE = `
                                                     none wrong other over right
  POST /runners                                       400  403  403  403  201
  POST /runners/verify                                403  403  403  403  200
  DELETE /runners                                     403  403  403  403  204
  DELETE /runners/managers                            403  403  403  403  404
  POST /runners/reset_authentication_token            403  403  403  403  201
  POST /jobs/request                                  403  403  403  403  204
  PUT /jobs/:job_id                                   403  403  403  403  200
  PATCH /jobs/:job_id/trace                           403  403  403  403  202
  POST /jobs/:job_id/artifacts                        403  403  403  403  400
  POST /jobs/:job_id/artifacts/authorize              403  403  403  403  200
  GET /jobs/:job_id/artifacts                         403  403  404  403  200
  POST /projects/:id/trigger/pipeline                 400  404  404  404  201
  POST /projects/:id/trigger/pipeline (job)           400  404  404  401  201
  POST /projects/:id/ref/:ref/trigger/pipeline        400  404  404  404  201
  POST /projects/:id/ref/:ref/trigger/pipeline (job)  400  404  404  401  201
  POST /projects/:id/services/:slug/trigger           400  404  404  404  200
  POST /projects/:id/integrations/:slug/trigger       400  404  404  404  200
`
const lines = TABLE.split('\n').flatMap((line): [string, string][] => {
  const [, name, codes] = /^ +([A-Z]+ \/.*?) +(\d.*)$/.exec(line) ?? []
  return name ? [[name, codes!.replaceAll(/ +/g, ' ')]] : []
})
const endpointOf = (line: string): Endpoint => v4.find((one) => nameOf(one) === line.replace(' (job)', ''))!

test('tokens of runners, jobs, triggers and chats open what they are for', async () => {
  const named = new Set(lines.map(([line]) => endpointOf(line)))
  expect([...named]).toEqual(expect.arrayContaining(v4.filter(({ by }) => isTokenCredential(by))))

  await using forge = await startForge()
  const { here, tokensFor } = await stage(forge)
  const answers: [string, string][] = []
  for (const [line] of lines) {
    const { by, method, path } = endpointOf(line)
    if (!isTokenCredential(by)) throw new Error(`${line} is for users`)
    const tokens: Record<string, string> = { none: '', wrong: 'wrong', ...(await tokensFor(line, by.name)) }
    const codes: number[] = []
    for (const kind of KINDS) {
      const job_id = kind === 'over' && line !== DOWNLOAD ? here.ended.id : here.job.id
      const params: Record<string, unknown> = {
        job_id,
        id: here.project.id,
        ref: 'master',
        slug: 'slack_slash_commands',
      }
      const address = path.replaceAll(/:(\w+)/g, (_, name: string) => String(params[name]))
      const headers: Record<string, string> = { 'Content-Range': '0-0' }
      const query: Record<string, string> = { system_id: 's_1', ref: 'master' }
      if (kind !== 'none' && by.header) headers[by.header] = tokens[kind]!
      else if (kind !== 'none') query.token = tokens[kind]!
      const { status } = await ask(forge, method, `${address}?${new URLSearchParams(query)}`, { headers })
      codes.push(status)
    }
    answers.push([line, codes.join(' ')])
  }
  expect(answers).toEqual(lines)
})

test('the OpenAPI document lists what wrong tokens are answered with', () => {
  const { paths } = openApiDocument(families, '1') as { paths: Record<string, Record<string, { responses: object }>> }
  const endpoints = v4.filter(({ by }) => isTokenCredential(by))
  const documented = endpoints.map((endpoint) => {
    const { responses } = paths[templateOf(endpoint.path)]![endpoint.method.toLowerCase()]!
    return [nameOf(endpoint), Object.keys(responses).filter((status) => /^40[134]$/.test(status))]
  })
  const answered = endpoints.map((endpoint) => {
    const codes = lines
      .filter(([line]) => endpointOf(line) === endpoint)
      .flatMap(([, all]) => all.split(' ').slice(0, -1))
    // A credential of a user in the same request is checked first.
    const all = isOfAgent(endpoint.by) ? codes : [...codes, '401']
    return [nameOf(endpoint), [...new Set(all)].filter((status) => status !== '400').toSorted()]
  })
  expect(documented).toEqual(answered)
})

const IN_PERSON = [
  'DELETE /user/passkeys/:passkey_id',
  'DELETE /user/second_factor',
  'GET /user/feed_token',
  'POST /user/feed_token/rotate',
  'POST /user/passkeys',
  'POST /user/passkeys/options',
  'POST /user/private_token/rotate',
  'POST /user/second_factor',
  'POST /user/second_factor/confirm',
  'POST /user/second_factor/recovery_codes',
]

test('an administrator who acts as a user gets and changes nothing that signs the user in', async () => {
  const endpoints = v4.filter(({ inPerson }) => inPerson)
  expect(endpoints.map(nameOf).toSorted()).toEqual(IN_PERSON)

  await using forge = await startForge()
  const jane = await forge.user()
  await jane.post('/user/feed_token/rotate')
  const state = () =>
    Promise.all(['feed_token', 'second_factor', 'passkeys'].map(async (path) => (await jane.get(`/user/${path}`)).body))
  const before = await state()
  for (const { method, path } of endpoints) {
    const address = `${path.replace(':passkey_id', '1')}?sudo=${jane.username}`
    const headers = { 'PRIVATE-TOKEN': forge.administrator.token }
    expect([path, (await ask(forge, method, address, { headers })).status]).toEqual([path, 403])
  }
  expect(await state()).toEqual(before)
})
