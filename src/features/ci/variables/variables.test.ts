import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { registerRunner } from '../../../../test/runners.ts'
import { startForge } from '../../../forge.ts'

const PLAIN = {
  variable_type: 'env_var',
  value: 'v',
  hidden: false,
  protected: false,
  masked: false,
  raw: false,
  environment_scope: '*',
  description: null,
}

test('a project, a group and the instance have variables', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const group = await forge.group()
  const project = await forge.project()
  for (const url of [`/projects/${project.id}/variables`, `/groups/${group.id}/variables`, '/admin/ci/variables']) {
    const isOfInstance = url.startsWith('/admin')
    const { hidden: _hidden, environment_scope: _scope, ...common } = PLAIN
    const made = { ...(isOfInstance ? common : PLAIN), key: 'KEY' }
    expect(await root.post(url, { key: 'KEY', value: 'v' })).toMatchObject({ status: 201, body: made })
    expect((await root.get(url)).body).toEqual([made])
    expect((await root.get(`${url}/KEY`)).body).toEqual(made)
    const change = { value: 'hunter2hunter2', masked: true, protected: true, raw: true, description: 'why' }
    expect((await root.put(`${url}/KEY`, change)).body).toEqual({ ...made, ...change })
    expect(await root.put(`${url}/KEY`, { variable_type: 'file', description: '' })).toMatchObject({
      status: 200,
      body: { variable_type: 'file', description: null, value: 'hunter2hunter2' },
    })
    expect((await root.delete(`${url}/KEY`)).status).toBe(204)
    const word = isOfInstance ? 'Instance Variable' : url.startsWith('/groups') ? 'GroupVariable' : 'Variable'
    for (const gone of [
      await root.get(`${url}/KEY`),
      await root.put(`${url}/KEY`, {}),
      await root.delete(`${url}/KEY`),
    ])
      expect(gone).toMatchObject({ status: 404, body: { message: `404 ${word} Not Found` } })
  }
})

test('values are sealed, and hidden ones are not shown again', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const { id } = await forge.project()
  const url = `/projects/${id}/variables`
  const input = { key: 'SECRET', value: 'hunter2hunter2', masked_and_hidden: true }
  const shown = { key: 'SECRET', value: null, masked: true, hidden: true }
  expect(await root.post(url, input)).toMatchObject({ status: 201, body: shown })
  expect((await root.get(url)).body).toMatchObject([shown])
  expect((await root.put(`${url}/SECRET`, { value: 'another-secret' })).body).toMatchObject(shown)
  expect(await root.put(`${url}/SECRET`, { masked: false })).toEqual(
    expect.objectContaining({
      status: 400,
      body: { message: { base: ['The visibility setting cannot be changed for masked and hidden variables.'] } },
    }),
  )
  const [row] = await forge.app.db.selectFrom('ci_variables').selectAll().execute()
  expect(JSON.stringify(row)).not.toContain('another-secret')
  expect(forge.app.vault.open(row!.value_sealed)).toBe('another-secret')
})

test('a key stands once for each scope, and is chosen by it', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const { id } = await forge.project()
  const url = `/projects/${id}/variables`
  await root.post(url, { key: 'KEY', value: 'all' })
  await root.post(url, { key: 'KEY', value: 'review', environment_scope: 'review/*' })
  const several = "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'"
  for (const unclear of [
    await root.get(`${url}/KEY`),
    await root.put(`${url}/KEY`, {}),
    await root.delete(`${url}/KEY`),
  ])
    expect(unclear).toMatchObject({ status: 409, body: { message: several } })
  const chosen = `${url}/KEY?filter[environment_scope]=${encodeURIComponent('review/*')}`
  expect((await root.get(chosen)).body.value).toBe('review')
  const taken = { status: 400, body: { message: { key: ['has already been taken'] } } }
  expect(await root.put(chosen, { environment_scope: '*' })).toMatchObject(taken)
  expect(await root.post(url, { key: 'KEY', value: '' })).toMatchObject(taken)
  expect((await root.put(chosen, { value: 'r', environment_scope: 'test' })).body).toMatchObject({ value: 'r' })
  expect((await root.delete(`${url}/KEY`, { filter: { environment_scope: 'test' } })).status).toBe(204)
  expect((await root.get(`${url}/KEY`)).body.value).toBe('all')
})

const tooLong = (most: number) => [`is too long (maximum is ${most} characters)`]

test.each([
  ['no key', { value: 'v' }, { error: 'key is missing' }],
  ['no value', { key: 'K' }, { error: 'value is missing' }],
  ['a blank key', { key: '', value: 'v' }, { message: { key: ["can't be blank"] } }],
  [
    'a key of other characters',
    { key: 'A-B', value: 'v' },
    { message: { key: ["can contain only letters, digits and '_'."] } },
  ],
  ['a long key', { key: 'K'.repeat(256), value: 'v' }, { message: { key: tooLong(255) } }],
  ['a long value', { key: 'K', value: 'v'.repeat(10_001) }, { message: { value: tooLong(10_000) } }],
  ['a short masked value', { key: 'K', value: 'short', masked: true }, { message: { value: ['is invalid'] } }],
  [
    'a masked value of two lines',
    { key: 'K', value: 'hunter2\nhunter2', masked: true },
    { message: { value: ['is invalid'] } },
  ],
  [
    'a masked value to expand',
    { key: 'K', value: 'hunter2$HOME', masked: true },
    { message: { value: ['is invalid'] } },
  ],
  [
    'a strange scope',
    { key: 'K', value: 'v', environment_scope: 'a?' },
    {
      message: {
        environment_scope: ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"],
      },
    },
  ],
  [
    'a long description',
    { key: 'K', value: 'v', description: 'd'.repeat(256) },
    { message: { description: tooLong(255) } },
  ],
  [
    'an unknown type',
    { key: 'K', value: 'v', variable_type: 'disk' },
    { error: 'variable_type does not have a valid value' },
  ],
])('refuses %s', async (_what, input, body) => {
  await using forge = await startForge()
  const { id } = await forge.project()
  expect(await forge.administrator.post(`/projects/${id}/variables`, input)).toMatchObject({ status: 400, body })
  expect((await forge.administrator.get(`/projects/${id}/variables`)).body).toEqual([])
})

test('the instance has no more variables than its limit', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  await root.put('/application/plan_limits', { plan_name: 'default', ci_instance_level_variables: 1 })
  expect((await root.post('/admin/ci/variables', { key: 'A', value: 'v' })).status).toBe(201)
  expect(await root.post('/admin/ci/variables', { key: 'B', value: 'v' })).toMatchObject({
    status: 400,
    body: { message: { base: ['Maximum number of ci instance level variables (1) exceeded'] } },
  })
})

test('of variables added at once a key is there once, and no more than the limit', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const { id } = await forge.project()
  const { id: group } = await forge.group()
  await root.put('/application/plan_limits', { plan_name: 'default', ci_instance_level_variables: 1 })
  const taken = { status: 400, body: { message: { key: ['has already been taken'] } } }
  const full = {
    status: 400,
    body: { message: { base: ['Maximum number of ci instance level variables (1) exceeded'] } },
  }
  for (const [url, keys, refused] of [
    [`/projects/${id}/variables`, ['A', 'A'], taken],
    [`/groups/${group}/variables`, ['A', 'A'], taken],
    ['/admin/ci/variables', ['A', 'B'], full],
  ] as const) {
    const calls = keys.map((key) => () => root.post(url, { key, value: 'v' }))
    expect(await atOnce(forge, ...calls), url).toMatchObject([{ status: 201 }, refused])
    expect((await root.get(url)).body).toHaveLength(1)
  }
})

test('what is protected goes to jobs of protected refs alone, and so does what services give', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  const url = `/projects/${project.id}`
  await forge.seed(project, { '.gitlab-ci.yml': 'a: { script: x, rules: [{ if: $CI_PIPELINE_SOURCE == "api" }] }\n' })
  await owner.post(`${url}/repository/branches`, { branch: 'topic', ref: 'master' })
  await owner.post(`${url}/variables`, { key: 'SECRET', value: 'v', protected: true })
  await owner.post(`${url}/variables`, { key: 'OPEN', value: 'v' })
  const play = { package_name: 'a.b', service_account_key: '{}', service_account_key_file_name: 'key.json' }
  expect((await owner.put(`${url}/integrations/google-play`, play)).status).toBe(200)
  const runner = await registerRunner(forge)
  for (const [ref, given] of [
    ['master', ['OPEN', 'SECRET', 'SUPPLY_JSON_KEY_DATA', 'SUPPLY_PACKAGE_NAME']],
    ['topic', ['OPEN']],
  ] as const) {
    expect((await owner.post(`${url}/pipeline`, { ref })).status).toBe(201)
    const { body: job } = await runner.request({ last_update: '' })
    expect(job.git_info.ref).toBe(ref)
    const keys = (job.variables as { key: string }[]).map(({ key }) => key)
    expect(keys.filter((key) => /^(OPEN|SECRET|SUPPLY_\w+)$/.test(key)).toSorted()).toEqual(given)
  }
})

test('where pipelines are switched off, nobody comes to the variables', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const { id } = await forge.project()
  await root.put(`/projects/${id}`, { builds_access_level: 'disabled' })
  expect((await root.get(`/projects/${id}`)).body).toMatchObject({ builds_access_level: 'disabled' })
  expect((await root.get(`/projects/${id}/variables`)).status).toBe(403)
  expect((await root.post(`/projects/${id}/variables`, { key: 'A', value: 'v' })).status).toBe(403)
})

test('a page of variables costs as many queries for many as for few', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const { id } = await forge.project()
  const url = `/projects/${id}/variables`
  const list = () => root.get(url, { per_page: 100 })
  await root.post(url, { key: 'KEY_0', value: 'v' })
  const few = await forge.queries(list)
  for (let n = 1; n < 10; n++) await root.post(url, { key: `KEY_${n}`, value: 'v' })
  expect(await forge.queries(list)).toBe(few)
  expect((await list()).body).toHaveLength(10)
})
