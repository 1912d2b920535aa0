/** Filters of later releases, and statuses. */
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../../config.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'
import { USER_ORDERS, users } from './lists.ts'

const namesOf = async (caller: Client, filter: Record<string, unknown>): Promise<string[]> => {
  const { status, body, headers } = await caller.get('/users', filter)
  expect([status, headers.get('x-total')], JSON.stringify(filter)).toEqual([200, String(body.length)])
  return body.map(({ username }: { username: string }) => username)
}

/**
 * One of each kind: an administrator, two ordinary users, one with a second factor, one from a directory, a bot, the
 * ghost.
 */
async function seed(forge: TestForge) {
  const { administrator } = forge
  const ann = await forge.user({ username: 'ann', name: 'Zoe' })
  const bob = await forge.user({ username: 'bob', name: 'adam', external: true })
  const far = await forge.user({ username: 'far', provider: 'ldapmain', extern_uid: 'uid=far' })
  const shut = await forge.user({ username: 'shut' })
  await administrator.post(`/users/${shut.id}/block`)
  await forge.app.db.updateTable('users').set({ two_factor_enabled: true }).where('id', '=', ann.id).execute()
  const { id } = (await ann.post('/projects', { name: 'Saw' })).body
  const token = await ann.post(`/projects/${id}/access_tokens`, {
    name: 'bot',
    scopes: ['api'],
    access_level: 30,
    expires_at: '2030-01-01',
  })
  expect(token.status).toBe(201)
  const gone = await forge.user({ username: 'gone' })
  await administrator.delete(`/users/${gone.id}`) // creates the ghost
  const bot = (await administrator.get(`/users/${token.body.user_id}`)).body.username as string
  return { ann, bob, far, bot }
}

test('every filter of later releases leaves out whom it should, in the list and in its total', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const { ann, bot } = await seed(forge)
  await administrator.put(`/users/${ann.id}`, { email: 'ann@example.com', skip_reconfirmation: true })
  expect((await ann.put('/user', { public_email: 'Ann@Example.com' })).status).toBe(200)

  const all = ['ghost', bot, 'shut', 'far', 'bob', 'ann', 'root']
  const without = (...names: string[]) => all.filter((name) => !names.includes(name))
  const table: [Record<string, unknown>, string[]][] = [
    [{}, all],
    [{ public_email: 'ANN@example.com' }, ['ann']],
    [{ public_email: 'bob@example.com' }, []],
    [{ humans: true }, without('ghost', bot)],
    [{ humans: false }, all],
    [{ without_project_bots: true }, without(bot)],
    [{ exclude_active: true }, ['ghost', 'shut']],
    [{ exclude_external: true }, without(bot, 'bob')],
    [{ exclude_humans: true }, ['ghost', bot]],
    [{ exclude_internal: true }, without('ghost')],
    [{ two_factor: 'enabled' }, ['ann']],
    [{ two_factor: 'disabled' }, without('ann')],
    [{ admins: true }, ['root']],
    [{ without_projects: true }, without('ann', bot)],
    [{ skip_ldap: true }, without('far')],
    [{ humans: true, two_factor: 'disabled', exclude_external: true }, ['shut', 'far', 'root']],
    [{ order_by: 'id', sort: 'asc' }, all.toReversed()],
    [{ order_by: 'username', sort: 'asc' }, all.toSorted()],
    [{ order_by: 'created_at', sort: 'asc' }, all.toReversed()],
  ]
  for (const [filter, expected] of table) {
    expect(await namesOf(administrator, filter), JSON.stringify(filter)).toEqual(expected)
  }
  const byName = await administrator.get('/users', { order_by: 'name', sort: 'asc' })
  const names = byName.body.map(({ name }: { name: string }) => name.toLowerCase())
  expect(names).toEqual(names.toSorted())
  const byUpdate = await namesOf(administrator, { order_by: 'updated_at' })
  expect(byUpdate.toSorted()).toEqual(all.toSorted())

  // A total follows changes of the filtered column.
  await administrator.put(`/users/${ann.id}`, { admin: true })
  expect(await namesOf(administrator, { admins: true })).toEqual(['ann', 'root'])
})

test('what a list may not be narrowed by is refused', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const filters = [{ two_factor: 'enabled' }, { admins: true }, { without_projects: true }, { skip_ldap: true }]
  for (const filter of filters) {
    expect((await user.get('/users', filter)).status, JSON.stringify(filter)).toBe(403)
    expect((await forge.visitor.get('/users', { username: 'root', ...filter })).status).toBe(401)
  }
  for (const name of ['auditors', 'saml_provider_id']) {
    expect(await forge.administrator.get('/users', { [name]: '1' })).toMatchObject({
      status: 400,
      body: { error: `${name} is not supported` },
    })
    expect((await forge.administrator.get('/users', { [name]: '' })).status).toBe(200)
  }
  expect((await forge.administrator.get('/users', { no_release_knows_this: '1' })).status).toBe(200)
})

// The planner of PostgreSQL decides by the size of the table.
test.skipIf(testDatabaseUrl())('every order is walked by its index whatever is asked', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const asked = [
    {},
    { active: true },
    { external: false, let_in: true as const },
    { humans: true },
    { second_factor: false },
    { without_projects: true, skip_ldap: true },
    { created_after: '2026-01-01T00:00:00.000Z' },
  ]
  for (const order of USER_ORDERS) {
    for (const values of asked) {
      const way = { [`by ${order} desc`]: true, walked: true, limit: 20, offset: 0 }
      const page = users.page.compile(db, { ...values, ...way } as never)
      const { rows } = await db.executeQuery<{ detail: string }>({ ...page, sql: `explain query plan ${page.sql}` })
      const steps = rows.map(({ detail }) => detail).join('; ')
      expect(steps, `${order} ${JSON.stringify(values)}`).not.toContain('TEMP B-TREE')
    }
  }
})

test('what people say of themselves is kept and shown; a note is for administrators', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ username: 'jane', email: 'jane@example.com' })
  const input = { job_title: 'Joiner', organization: 'Saw & Co', pronouns: 'she/her', public_email: 'jane@example.com' }
  const sent = { ...input, skype: 'jane.s', linkedin: 'jane-l', twitter: 'jane_t' }
  const own = await jane.put('/user', sent)
  expect([own.status, own.body]).toMatchObject([200, { ...sent, messenger: 'jane.s', bot: false }])
  expect((await administrator.put(`/users/${jane.id}`, { note: 'Knows the way.' })).body.note).toBe('Knows the way.')
  const space = await forge.app.db.selectFrom('namespaces').select('id').where('owner_id', '=', jane.id).execute()
  expect(own.body.namespace_id).toBe(space[0]!.id)
  const shown = { ...sent, work_information: 'Joiner at Saw & Co', bot: false }
  for (const caller of [forge.visitor, jane]) {
    const { body } = await caller.get(`/users/${jane.id}`)
    expect(body).toMatchObject(shown)
    expect(body).not.toHaveProperty('note')
  }
  expect((await jane.get('/user')).body).not.toHaveProperty('note')
  const known = { ...shown, note: 'Knows the way.', namespace_id: space[0]!.id }
  expect((await administrator.get(`/users/${jane.id}`)).body).toMatchObject(known)
  expect((await administrator.get('/users', { username: 'jane' })).body).toMatchObject([known])

  const refusals: [Record<string, unknown>, Record<string, string[]>][] = [
    [{ public_email: 'other@example.com' }, { public_email: ['is not an email you own'] }],
    [{ public_email: 'nobody' }, { public_email: ['is invalid'] }],
    [{ pronouns: 'x'.repeat(51) }, { pronouns: ['is too long (maximum is 50 characters)'] }],
    [{ job_title: 'x'.repeat(201) }, { job_title: ['is too long (maximum is 200 characters)'] }],
  ]
  for (const [input, message] of refusals)
    expect(await jane.put('/user', input)).toMatchObject({ status: 400, body: { message } })
  expect((await jane.get('/user')).body).toMatchObject(shown)
  expect((await jane.put('/user', { note: 'mine' })).status).toBe(200)
  expect((await administrator.get(`/users/${jane.id}`)).body.note).toBe('Knows the way.')
  for (const cleared of ['', null]) {
    expect((await jane.put('/user', { public_email: cleared, pronouns: cleared })).body.public_email).toBe(null)
  }
})

test('an address that is no longer somebody’s own is hidden', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ email: 'jane@example.com' })
  const { id } = (
    await administrator.post(`/users/${jane.id}/emails`, { email: 'two@example.com', skip_confirmation: true })
  ).body
  const shown = async () => (await forge.visitor.get(`/users/${jane.id}`)).body.public_email
  await jane.put('/user', { public_email: 'two@example.com' })
  expect(await shown()).toBe('two@example.com')
  await jane.delete(`/user/emails/${id}`)
  expect(await shown()).toBe(null)
  await jane.put('/user', { public_email: 'jane@example.com' })
  expect(await shown()).toBe('jane@example.com')
  await administrator.put(`/users/${jane.id}`, { email: 'new@example.com' })
  expect(await shown()).toBe(null)
  // Nor is another user's claim.
  expect((await administrator.put(`/users/${jane.id}`, { public_email: 'new@example.com' })).status).toBe(400)
})
