import { expect, test, vi } from 'vitest'
import { whileLocked } from '../../../../test/at-once.ts'
import { Browser } from '../../../../test/browser.ts'
import { HOUR } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'
import { currentSettings } from './queries.ts'
import { updateSettings } from './service.ts'

const PATH = '/application/settings'
const PASSWORD = 'correct-horse-battery'

test('the record of a new instance', async () => {
  await using forge = await startForge()
  // A test server allows requests to this machine; an instance does not by default.
  await forge.app.db.deleteFrom('settings').execute()
  const { status, body } = await forge.administrator.get(PATH)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    id: 1,
    // No external service is called by default.
    gravatar_enabled: false,
    usage_ping_enabled: false,
    version_check_enabled: false,
    signup_enabled: true,
    html_emails_enabled: true,
    project_export_enabled: true,
    repository_checks_enabled: true,
    user_oauth_applications: true,
    auto_devops_enabled: false,
    admin_notification_email: null,
    after_sign_out_path: null,
    sign_in_text: null,
    akismet_enabled: false,
    akismet_api_key: null,
    container_registry_token_expire_delay: 5,
    default_artifacts_expire_in: '30 days',
    default_branch_protection: 2,
    default_project_visibility: 'private',
    default_group_visibility: 'private',
    default_snippet_visibility: 'private',
    default_projects_limit: 100_000,
    disabled_oauth_sign_in_sources: [],
    domain_blacklist_enabled: false,
    domain_denylist_enabled: false,
    domain_blacklist: [],
    domain_denylist: [],
    domain_blacklist_raw: '',
    domain_denylist_raw: '',
    domain_whitelist: [],
    domain_allowlist: [],
    domain_whitelist_raw: '',
    domain_allowlist_raw: '',
    enabled_git_access_protocol: null,
    housekeeping_enabled: true,
    housekeeping_bitmaps_enabled: true,
    housekeeping_incremental_repack_period: 10,
    housekeeping_full_repack_period: 50,
    housekeeping_gc_period: 200,
    import_sources: ['github', 'bitbucket', 'gitlab', 'google_code', 'fogbugz', 'git', 'gitlab_project', 'gitea'],
    max_artifacts_size: 100,
    max_pages_size: 100,
    max_attachment_size: 10,
    metrics_enabled: false,
    metrics_host: 'localhost',
    metrics_port: 8089,
    password_authentication_enabled: true,
    password_authentication_enabled_for_web: true,
    password_authentication_enabled_for_git: true,
    signin_enabled: true,
    performance_bar_allowed_group_id: null,
    polling_interval_multiplier: '1.0',
    repository_storages: ['default'],
    require_two_factor_authentication: false,
    two_factor_grace_period: 48,
    restricted_visibility_levels: [],
    rsa_key_restriction: 0,
    ed25519_key_restriction: 0,
    session_expire_delay: 10_080,
    shared_runners_enabled: true,
    terminal_max_session_time: 0,
    unique_ips_limit_per_user: 10,
    unique_ips_limit_time_window: 3600,
    push_event_hooks_limit: 3,
    personal_access_token_prefix: 'mpat-',
    allow_local_requests_from_web_hooks_and_services: false,
  })
  expect(body.updated_at).toBe(body.created_at)
})

test('a change is read back at once, kept, and told by name', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const before = (await administrator.get(PATH)).body
  await currentSettings(forge.app)
  forge.clock.advance(5000)
  const change = {
    default_projects_limit: '7',
    signup_enabled: 'false',
    restricted_visibility_levels: ['public', 'internal'],
    polling_interval_multiplier: '2.5',
    sign_in_text: '# Welcome',
    rsa_key_restriction: 2048,
    kroki_formats: { bpmn: true },
    enabled_git_access_protocol: 'ssh',
    an_attribute_of_tomorrow: 1,
  }
  const answer = await administrator.put(PATH, change)

  const updated_at = answer.body.updated_at
  expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(before.updated_at))
  expect(answer).toMatchObject({ status: 200 })
  expect(answer.body).toEqual({
    ...before,
    updated_at,
    default_projects_limit: 7,
    signup_enabled: false,
    restricted_visibility_levels: ['public', 'internal'],
    polling_interval_multiplier: '2.5',
    sign_in_text: '# Welcome',
    rsa_key_restriction: 2048,
    kroki_formats: { bpmn: true },
    enabled_git_access_protocol: 'ssh',
  })
  expect((await administrator.get(PATH)).body).toEqual(answer.body)
  expect(await currentSettings(forge.app)).toMatchObject({ default_projects_limit: 7, signup_enabled: false })

  const [event] = await forge.app.db.selectFrom('events').selectAll().execute()
  expect(event).toMatchObject({ name: 'settings.updated' })
  const { names } = JSON.parse(event!.payload)
  const { an_attribute_of_tomorrow: _, ...known } = change
  expect(names.toSorted()).toEqual(Object.keys(known).toSorted())

  // Sending the whole record back changes nothing and emits no event.
  forge.clock.advance(5000)
  expect((await administrator.put(PATH, answer.body)).body).toEqual(answer.body)
  expect(await forge.events()).toEqual(['settings.updated'])
})

test('an empty text clears what may be empty; null leaves the rest alone', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  await administrator.put(PATH, { sign_in_text: 'hello', home_page_url: 'https://example.com', max_attachment_size: 7 })
  const { body } = await administrator.put(PATH, { sign_in_text: '', home_page_url: null, max_attachment_size: null })
  expect(body).toMatchObject({ sign_in_text: null, home_page_url: null, max_attachment_size: 7 })
})

test('every spelling of a setting writes it, and all are read back', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  for (const [name, value] of [
    ['domain_whitelist', 'a.example, b.example;c.example'],
    ['domain_allowlist', ['a.example', 'b.example', 'c.example']],
    ['domain_whitelist_raw', 'a.example\nb.example\nc.example'],
  ]) {
    await administrator.put(PATH, { domain_whitelist: '' })
    expect((await administrator.put(PATH, { [name as string]: value })).body).toMatchObject({
      domain_whitelist: ['a.example', 'b.example', 'c.example'],
      domain_allowlist: ['a.example', 'b.example', 'c.example'],
      domain_whitelist_raw: 'a.example\nb.example\nc.example',
      domain_allowlist_raw: 'a.example\nb.example\nc.example',
    })
  }
  const off = { signin_enabled: false, password_authentication_enabled: false }
  for (const name of [
    'signin_enabled',
    'password_authentication_enabled',
    'password_authentication_enabled_for_web',
  ] as const) {
    await administrator.put(PATH, { signin_enabled: true })
    const { body } = await administrator.put(PATH, { [name]: false })
    expect(body).toMatchObject({ ...off, password_authentication_enabled_for_web: false })
    expect(body.password_authentication_enabled_for_git).toBe(true)
  }
  expect(
    (await administrator.put(PATH, { domain_denylist_enabled: true, domain_denylist: 'spam.example' })).body,
  ).toMatchObject({ domain_blacklist_enabled: true, domain_blacklist_raw: 'spam.example' })
  for (const protocol of ['nil', 'all', '', null]) {
    await administrator.put(PATH, { enabled_git_access_protocol: 'http' })
    const { body } = await administrator.put(PATH, { enabled_git_access_protocol: protocol })
    expect(body.enabled_git_access_protocol).toBe(null)
  }
})

const missing = (...names: string[]) => ({
  message: `400 (Bad request) ${names.join(', ')} not given`,
  error: names.map((name) => `${name} is missing`).join(', '),
})
const refusal = (text: string) => ({ message: text, error: text })
const faulty = (name: string, fault: string) => ({ message: { [name]: [fault] } })

const refusals: [input: Record<string, unknown>, body: unknown][] = [
  [{ akismet_enabled: true }, missing('akismet_api_key')],
  [{ sentry_enabled: true }, missing('sentry_dsn')],
  [{ clientside_sentry_enabled: true }, missing('clientside_sentry_dsn')],
  [{ domain_blacklist_enabled: true }, missing('domain_blacklist')],
  [{ domain_denylist_enabled: true }, missing('domain_blacklist')],
  [
    { housekeeping_enabled: true, housekeeping_gc_period: 300 },
    missing(
      'housekeeping_bitmaps_enabled',
      'housekeeping_incremental_repack_period',
      'housekeeping_full_repack_period',
    ),
  ],
  [{ koding_enabled: true }, missing('koding_url')],
  [{ plantuml_enabled: true }, missing('plantuml_url')],
  [
    { metrics_enabled: true },
    missing(
      'metrics_host',
      'metrics_port',
      'metrics_pool_size',
      'metrics_timeout',
      'metrics_method_call_threshold',
      'metrics_sample_interval',
      'metrics_packet_size',
    ),
  ],
  [{ recaptcha_enabled: true }, missing('recaptcha_site_key', 'recaptcha_private_key')],
  [{ require_two_factor_authentication: true }, missing('two_factor_grace_period')],
  [{ shared_runners_enabled: true }, missing('shared_runners_text')],
  [{ sidekiq_throttling_enabled: true }, missing('sidekiq_throttling_queues', 'sidekiq_throttling_factor')],
  [{ enforce_terms: true }, missing('terms')],
  [{ akismet_enabled: true, akismet_api_key: '' }, faulty('akismet_api_key', "can't be blank")],
  [{ domain_blacklist_enabled: true, domain_blacklist: '' }, faulty('domain_blacklist', "can't be blank")],

  [
    { signin_enabled: true, password_authentication_enabled: false },
    refusal('password_authentication_enabled, signin_enabled are mutually exclusive'),
  ],
  [{ gravatar_enabled: 'perhaps' }, refusal('gravatar_enabled is invalid')],
  [{ max_attachment_size: '12x' }, refusal('max_attachment_size is invalid')],
  [{ default_project_visibility: 'secret' }, refusal('default_project_visibility does not have a valid value')],
  [{ restricted_visibility_levels: ['secret'] }, refusal('restricted_visibility_levels does not have a valid value')],
  [{ import_sources: ['svn'] }, refusal('import_sources does not have a valid value')],
  [{ enabled_git_access_protocol: 'ftp' }, refusal('enabled_git_access_protocol does not have a valid value')],
  [{ default_branch_protection: 9 }, refusal('default_branch_protection does not have a valid value')],
  [{ rsa_key_restriction: 512 }, refusal('rsa_key_restriction does not have a valid value')],
  [{ ed25519_key_restriction: 1024 }, refusal('ed25519_key_restriction does not have a valid value')],

  [{ max_attachment_size: 0 }, faulty('max_attachment_size', 'must be greater than 0')],
  [{ session_expire_delay: -1 }, faulty('session_expire_delay', 'must be greater than or equal to 0')],
  [
    { default_projects_limit: 2_147_483_648 },
    faulty('default_projects_limit', 'must be less than or equal to 2147483647'),
  ],
  [{ polling_interval_multiplier: -0.5 }, faulty('polling_interval_multiplier', 'must be greater than or equal to 0')],
  [{ sidekiq_throttling_factor: 1 }, faulty('sidekiq_throttling_factor', 'must be less than 1')],
  [{ admin_notification_email: 'nobody' }, faulty('admin_notification_email', 'is invalid')],
  [{ home_page_url: 'javascript:alert(1)' }, faulty('home_page_url', 'must be a valid URL')],
  [{ repository_storages: ['default', 'ssd', 'tape'] }, faulty('repository_storages', "can't include: ssd, tape")],
  [{ kroki_formats: { x: 'x'.repeat(70_000) } }, faulty('kroki_formats', 'is too long (maximum is 65535 characters)')],
  [
    { default_branch_protection_defaults: { allowed_to_push: [{ access_level: 35 }] } },
    faulty('default_branch_protection_defaults', 'is invalid'),
  ],
  [
    { default_branch_protection_defaults: { allow_force_push: 'perhaps' } },
    faulty('default_branch_protection_defaults', 'is invalid'),
  ],
  [{ repository_storages: [] }, faulty('repository_storages', "can't be blank")],
  [
    { disabled_oauth_sign_in_sources: ['acme'] },
    faulty('disabled_oauth_sign_in_sources', "'acme' is not an OAuth sign-in source"),
  ],
  [{ housekeeping_full_repack_period: 10 }, faulty('housekeeping_full_repack_period', 'must be greater than 10')],
  [{ housekeeping_gc_period: 50 }, faulty('housekeeping_gc_period', 'must be greater than 50')],
  [
    {
      rsa_key_restriction: -1,
      dsa_key_restriction: -1,
      ecdsa_key_restriction: -1,
      ed25519_key_restriction: -1,
    },
    faulty('allowed_key_types', "can't be blank"),
  ],
  [{ performance_bar_allowed_group_id: 'no/such' }, faulty('performance_bar_allowed_group_id', 'not found')],
  // One invalid value also rejects the valid one next to it.
  [{ default_projects_limit: 5, max_pages_size: 0 }, faulty('max_pages_size', 'must be greater than 0')],
]

test('refuses what breaks a rule, and keeps everything as it was', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const before = (await administrator.get(PATH)).body
  for (const [input, body] of refusals) {
    const answer = await administrator.put(PATH, input)
    expect([input, answer.status, answer.body]).toEqual([input, 400, body])
  }
  for (const input of [{}, { id: 1, created_at: before.created_at, unheard_of: true }]) {
    const { status, body } = await administrator.put(PATH, input)
    expect(status).toBe(400)
    expect(body.error).toMatch(/^signup_enabled, .* are missing, at least one parameter must be provided$/)
  }
  expect((await administrator.get(PATH)).body).toEqual(before)
  expect(await forge.events()).toEqual([])
})

test('secrets are kept sealed and read back by administrators; rows of other families stay theirs', async () => {
  await using forge = await startForge()
  const { app, administrator } = forge
  await app.db.insertInto('settings').values({ name: 'secret:other', value: 'not JSON' }).execute()
  const { body } = await administrator.put(PATH, { akismet_enabled: true, akismet_api_key: 'hunter2' })
  expect(body).toMatchObject({ akismet_enabled: true, akismet_api_key: 'hunter2' })
  expect(body).not.toHaveProperty('secret:other')

  const rows = await app.db.selectFrom('settings').selectAll().execute()
  expect(rows.map((row) => row.name).toSorted()).toEqual([
    'akismet_api_key',
    'akismet_enabled',
    'allow_local_requests_from_web_hooks_and_services',
    'defaults',
    'deletion_adjourned_period',
    'secret:other',
    'updated_at',
  ])
  expect(JSON.stringify(rows)).not.toContain('hunter2')
  expect(JSON.stringify(await app.db.selectFrom('events').selectAll().execute())).not.toContain('hunter2')
})

test('the performance bar is for a group, by path or id, until it is switched off', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const { id } = (await administrator.post('/groups', { name: 'Ops', path: 'ops' })).body
  for (const given of ['OPS', id]) {
    const { body } = await administrator.put(PATH, { performance_bar_allowed_group_id: given })
    expect(body.performance_bar_allowed_group_id).toBe(id)
    const off = await administrator.put(PATH, { performance_bar_enabled: false })
    expect(off.body.performance_bar_allowed_group_id).toBe(null)
  }
  // A personal namespace is no group.
  expect(await administrator.put(PATH, { performance_bar_allowed_group_id: 'root' })).toMatchObject({ status: 400 })
})

test('of two changes that are only wrong together, the second is refused', async () => {
  await using forge = await startForge()
  const { app } = forge
  await updateSettings(app, { rsa_key_restriction: -1, dsa_key_restriction: -1 })
  // Opens connections for both transactions.
  await Promise.all(Array.from({ length: 4 }, () => app.db.selectFrom('settings').selectAll().execute()))
  const second = await whileLocked(
    forge,
    (first) => updateSettings(first, { ecdsa_key_restriction: -1 }),
    () => updateSettings(app, { ed25519_key_restriction: -1 }).catch((error: unknown) => error),
  )
  expect(second).toMatchObject({ reason: { allowed_key_types: ["can't be blank"] } })
  expect(await currentSettings(app)).toMatchObject({ ecdsa_key_restriction: -1, ed25519_key_restriction: 0 })
})

test('the two names of the confirmation of addresses are one setting', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const write = async (request: object) => {
    const { body } = await administrator.put(PATH, { ...request })
    return [body.send_user_confirmation_email, body.email_confirmation_setting]
  }
  const record = async () => (await administrator.get(PATH)).body
  expect(await write({ send_user_confirmation_email: true })).toEqual([true, 'hard'])
  expect(await write({ email_confirmation_setting: 'soft' })).toEqual([false, 'soft'])
  // Sent back as read, together with another change.
  expect(await write({ ...(await record()), signup_enabled: false })).toEqual([false, 'soft'])
  expect(await write({ send_user_confirmation_email: false })).toEqual([false, 'soft'])
  expect(await write({ ...(await record()), send_user_confirmation_email: true })).toEqual([true, 'hard'])
  expect(await write({ ...(await record()), send_user_confirmation_email: false })).toEqual([false, 'off'])
  expect(await write({ ...(await record()), email_confirmation_setting: 'hard' })).toEqual([true, 'hard'])
  expect(await write({ ...(await record()), email_confirmation_setting: 'off' })).toEqual([false, 'off'])
})

test('settings that are read anew after a while are in no count of queries, however long it takes', async () => {
  await using forge = await startForge()
  const read = () => currentSettings(forge.app)
  expect(await forge.queries(read)).toBe(0)
  forge.clock.advance(HOUR)
  expect(await forge.queries(read)).toBe(0)
  const readLater = async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR })
    try {
      await read()
    } finally {
      vi.useRealTimers()
    }
  }
  expect(await forge.queries(readLater)).toBe(0)

  // A change by another process is visible after a while.
  await forge.app.db.insertInto('settings').values({ name: 'signup_enabled', value: 'false' }).execute()
  forge.clock.advance(2000)
  expect((await read()).signup_enabled).toBe(false)
})

test('throttles of the API hold for each user and for each address, and are told', async () => {
  await using forge = await startForge()
  const { administrator, visitor } = forge
  const [jane, ben] = [await forge.user(), await forge.user()]
  const { id } = await forge.project({ visibility: 'public' })
  using _ = forge.clock.hold()
  await administrator.put('/application/settings', {
    throttle_authenticated_api_enabled: true,
    throttle_authenticated_api_requests_per_period: 3,
    throttle_authenticated_api_period_in_seconds: 600,
    throttle_unauthenticated_enabled: true,
    throttle_unauthenticated_requests_per_period: 2,
    throttle_unauthenticated_period_in_seconds: 600,
  })
  const statuses = async (caller: { get(path: string): Promise<{ status: number }> }, times: number) => {
    const answers: number[] = []
    for (let n = 0; n < times; n++) answers.push((await caller.get(`/projects/${id}`)).status)
    return answers
  }
  expect(await statuses(jane, 5)).toEqual([200, 200, 200, 429, 429])
  expect(await statuses(ben, 1)).toEqual([200])
  expect(await statuses(visitor, 3)).toEqual([200, 200, 429])
  const { headers } = await jane.get('/user')
  const rateLimit = ['limit', 'observed', 'remaining'].map((name) => headers.get(`ratelimit-${name}`))
  expect(rateLimit).toEqual(['3', '6', '0'])
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  forge.clock.advance(600_000)
  expect(await statuses(jane, 1)).toEqual([200])
  await administrator.put('/application/settings', { throttle_authenticated_api_enabled: false })
  expect(await statuses(jane, 6)).toEqual(Array(6).fill(200))
})

test('throttles of pages hold for each user, feeds included, and leave the API and visitors alone', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ password: PASSWORD })
  const ben = await forge.user({ password: PASSWORD })
  const [hers, his] = [new Browser(forge.url), new Browser(forge.url)]
  await hers.signIn(jane.username, PASSWORD)
  await his.signIn(ben.username, PASSWORD)
  using _ = forge.clock.hold()
  const { administrator } = forge
  await administrator.put('/application/settings', {
    throttle_authenticated_web_enabled: true,
    throttle_authenticated_web_requests_per_period: 3,
    throttle_authenticated_web_period_in_seconds: 600,
  })
  const ask = (browser: Browser, path = '/help') => browser.get(path, { Accept: 'text/html' })
  for (const path of ['/help', '/dashboard/issues.atom', '/help']) expect((await ask(hers, path)).status).toBe(200)
  const refused = await ask(hers)
  expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8'])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(refused.body).toContain('Too many requests')
  expect((await ask(hers, '/dashboard/issues.atom')).status).toBe(429)

  // A URL without a page counts like any other.
  for (const status of [404, 404, 404, 429]) expect((await ask(his, '/no/such/page')).status).toBe(status)
  for (let n = 0; n < 5; n++) {
    expect((await jane.get('/user')).status).toBe(200)
    expect((await ask(new Browser(forge.url))).status).toBe(200)
  }
  forge.clock.advance(600_000)
  expect((await ask(hers)).status).toBe(200)
  await administrator.put('/application/settings', { throttle_authenticated_web_enabled: false })
  for (let n = 0; n < 5; n++) expect((await ask(hers)).status).toBe(200)
})
