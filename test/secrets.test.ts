/** Values that no read-only token may see: credentials, in any record that could contain them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resetRegistrationToken } from '../src/features/ci/runners/registration.ts'
import { startForge, type Client, type TestForge } from '../src/forge.ts'
import { CALLERS } from './cast.ts'
import { addressOf, call, inputOf, setStage, type Case, type Stage } from './cases.ts'
import { families } from './endpoints.ts'
import { TestRunner } from './runners.ts'

describe('no read answers a reading token of an administrator with a secret', () => {
  let s: Stage
  let secrets: string[]
  let reader: Client
  let answered = 0
  beforeAll(async () => {
    const forge = await startForge()
    const { administrator, app } = forge
    s = await setStage(forge, 'private')
    const { project, group, owner } = s
    const settings = {
      recaptcha_private_key: 'secret-captcha',
      akismet_api_key: 'secret-akismet',
      sentry_dsn: 'x://dsn',
    }
    await administrator.put('/application/settings', { ...settings, asset_proxy_secret_key: 'secret-proxy' })
    const made = (path: string, input: Record<string, unknown>) => s.make(path, input, administrator)
    const hook = { url: 'https://hooks.example/x', token: 'secret-of-the-hook' }
    await made(`/projects/${project.id}/hooks`, hook)
    const scoped = { name: 'x', scopes: ['api'] }
    const held = [
      await made(`/users/${owner.id}/impersonation_tokens`, scoped),
      await made(`/users/${owner.id}/personal_access_tokens`, scoped),
      await made(`/projects/${project.id}/deploy_tokens`, { name: 'x', scopes: ['read_repository'] }),
    ].map(({ token }) => token as string)
    const registered = await made('/applications', { name: 'x', redirect_uri: 'https://app.example', scopes: 'api' })
    for (const at of [`/projects/${project.id}`, `/groups/${group.id}`])
      await made(`${at}/invitations`, { email: 'jane@elsewhere.example', access_level: 10 })
    const invitations = await app.db.selectFrom('invitations').select('token_sealed').execute()
    const rows = await app.db.selectFrom('projects').select('runners_token_sealed').execute()
    secrets = [
      ...Object.values(settings),
      'secret-proxy',
      hook.token,
      ...held,
      registered.secret as string,
      owner.token,
      administrator.token,
      ...invitations.map((row) => app.vault.open(row.token_sealed)),
      ...rows.map((row) => app.vault.open(row.runners_token_sealed)),
    ]

    const request = { name: 'reader', scopes: ['read_api', 'read_user'] }
    const { token } = await made('/user/personal_access_tokens', request)
    reader = forge.as({ 'PRIVATE-TOKEN': token })
  })
  afterAll(() => s.forge.close())

  test('every secret is known', () => {
    expect(secrets.every((one) => typeof one === 'string' && one.length > 5)).toBe(true)
  })

  const isRead = ({ method }: Case) => method === 'GET'
  test.each(families.filter(({ cases }) => cases.some(isRead)))('$name', async ({ cases }) => {
    const told: Record<string, string[]> = {}
    for (const one of cases.filter(isRead)) {
      const address = await addressOf(one, s, s.forge.administrator)
      const { status, body } = await call(reader, 'GET', address, await inputOf(one, s))
      if (status === 200) answered++
      const text = typeof body === 'string' ? body : JSON.stringify(body ?? '')
      const found = secrets.filter((secret) => text.includes(secret))
      if (found.length > 0) told[one.name] = found
    }
    expect(told).toEqual({})
  })

  test('most reads succeed', () => {
    expect(answered).toBeGreaterThan(100)
  })
})

const CONFIG = `
build: { script: make, environment: live, artifacts: { paths: [x] } }
ship: { stage: deploy, script: make, when: manual }
`

test('secrets of pipelines are told to those alone who set them, nowhere in the clear', async () => {
  const lines: string[] = []
  await using forge = await startForge({ logTo: { write: (line) => void lines.push(line) } })
  const s = await setStage(forge, 'public')
  const { group, owner, cast } = s
  const { id } = await cast.project()
  const at = (path = '') => `/projects/${id}${path}`
  const made = (path: string, input: Record<string, unknown>, by = owner) => s.make(path, input, by)
  const masked = (value: string) => ({ key: 'KEY', value, masked: true })
  await made(at('/variables'), masked('secret-of-project'))
  await made(`/groups/${group.id}/variables`, { ...masked('secret-of-group'), key: 'GROUP_KEY' })
  await made('/admin/ci/variables', { ...masked('secret-of-instance'), key: 'INSTANCE_KEY' }, forge.administrator)
  await made(at('/repository/commits'), {
    branch: 'master',
    commit_message: 'Run it',
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: CONFIG }],
  })
  const given = { key: 'GIVEN', value: 'secret-of-pipeline' }
  const pipeline = await made(at('/pipeline'), { ref: 'master', variables: [given] })
  const schedule = await made(at('/pipeline_schedules'), { description: 'x', ref: 'master', cron: '0 1 * * *' })
  const every = at(`/pipeline_schedules/${schedule.id}`)
  await made(`${every}/variables`, { key: 'KEY', value: 'secret-of-schedule' })
  const trigger = await made(at('/triggers'), { description: 'robot' })
  const { token: runnerToken, id: runnerId } = await made('/user/runners', {
    runner_type: 'project_type',
    project_id: id,
  })
  const registering = await resetRegistrationToken(forge.app, null)
  const { runners_token: ofProject } = (await owner.get(at())).body
  const { token: ofGroup } = await made(`/groups/${group.id}/runners/reset_registration_token`, {})

  const runner = new TestRunner(forge, { id: runnerId, token: runnerToken })
  const played = await jobsOf(forge, 'ship', pipeline.id)
  const { body: earlier } = await runner.request()
  await runner.put(earlier, { state: 'success' })
  const { body: job } = await runner.request()
  expect(job.job_info).toMatchObject({ name: 'build', pipeline_id: pipeline.id })
  const values = Object.fromEntries(job.variables.map((one: { key: string; value: string }) => [one.key, one.value]))
  expect([values.KEY, values.GROUP_KEY, values.INSTANCE_KEY, values.GIVEN]).toEqual([
    'secret-of-project',
    'secret-of-group',
    'secret-of-instance',
    'secret-of-pipeline',
  ])
  const printed = ['secret-of-project', 'secret-of-group', 'secret-of-instance', job.token].join(' ')
  expect((await runner.patch(job, 0, printed)).status).toBe(202)
  const secrets: Record<string, string> = {
    'a variable of the project': 'secret-of-project',
    'a variable of the group': 'secret-of-group',
    'a variable of the instance': 'secret-of-instance',
    'a variable of the pipeline': 'secret-of-pipeline',
    'a variable of the schedule': 'secret-of-schedule',
    'a value to play with': 'secret-of-hands',
    'the token of the job': job.token,
    'the token of the runner': runnerToken,
    'the token of the trigger': trigger.token,
    'registration for the project': ofProject,
    'registration for the group': ofGroup,
    'registration for all': registering,
  }
  const listed = 'variables triggers pipeline_schedules runners pipelines jobs environments deployments events hooks'
  const reads = [
    at(),
    ...listed.split(' ').map((name) => at(`/${name}`)),
    ...['', '/jobs', '/variables', '/bridges', '/test_report'].map((path) => at(`/pipelines/${pipeline.id}${path}`)),
    ...['', '/trace'].map((path) => at(`/jobs/${job.id}${path}`)),
  ]
  const single = ['variables/KEY', `triggers/${trigger.id}`, `pipeline_schedules/${schedule.id}`, `jobs/${played}`]
  const others = ['pipelines/latest', 'ci/lint', 'repository/commits/master/statuses']
  reads.push(...[...single, ...others].map((path) => at(`/${path}`)))
  reads.push(`/groups/${group.id}`, `/groups/${group.id}/variables`, `/groups/${group.id}/runners`)
  reads.push('/admin/ci/variables', '/runners', '/runners/all', `/runners/${runnerId}`, `/runners/${runnerId}/jobs`)
  reads.push('/events', '/todos', '/user', '/application/settings', '/job')

  const seers = async () => {
    const seen = new Map(Object.keys(secrets).map((name) => [name, [] as string[]]))
    for (const caller of CALLERS) {
      const texts = []
      for (const path of reads) texts.push(JSON.stringify((await cast.callers[caller].get(path)).body ?? ''))
      for (const [name, secret] of Object.entries(secrets))
        if (texts.some((text) => text.includes(secret))) seen.get(name)!.push(caller)
    }
    return Object.fromEntries(seen)
  }
  const MASTERS = ['master', 'owner', 'administrator']
  const expected = {
    'a variable of the project': MASTERS,
    'a variable of the group': ['owner', 'administrator'],
    'a variable of the instance': ['administrator'],
    'a variable of the pipeline': MASTERS,
    'a variable of the schedule': MASTERS,
    'a value to play with': [],
    'the token of the job': [],
    'the token of the runner': [],
    'the token of the trigger': ['owner'],
    'registration for the project': MASTERS,
    'registration for the group': [],
    'registration for all': [],
  }
  expect(await seers()).toEqual(expected)
  await runner.put(job, { state: 'success' })
  const hands = { job_variables_attributes: [{ key: 'BY_HAND', value: 'secret-of-hands' }] }
  expect((await owner.post(at(`/jobs/${played}/play`), hands)).status).toBe(201)
  await forge.settle()
  expect(await seers()).toEqual(expected)
  expect(await inTheClear(forge, Object.values(secrets))).toEqual([])
  expect(lines.length).toBeGreaterThan(reads.length)
  expect(lines.filter((line) => Object.values(secrets).some((secret) => line.includes(secret)))).toEqual([])
})

async function jobsOf({ app }: TestForge, name: string, pipeline: number): Promise<number> {
  const jobs = app.db.selectFrom('ci_jobs').select('id').where('name', '=', name).where('pipeline_id', '=', pipeline)
  return (await jobs.executeTakeFirstOrThrow()).id
}

/** Columns of the store that contain one of them. */
async function inTheClear({ app: { db } }: TestForge, secrets: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  for (const { name } of await db.introspection.getTables()) {
    const rows = await db
      .selectFrom(name as 'users')
      .selectAll()
      .execute()
    for (const row of rows)
      for (const [column, value] of Object.entries(row)) {
        const text = Buffer.isBuffer(value) ? value.toString('latin1') : String(value)
        if (secrets.some((secret) => text.includes(secret))) found.add(`${name}.${column}`)
      }
  }
  return [...found]
}
