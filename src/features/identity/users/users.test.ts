import { deflateSync, crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { HOUR } from '../../../clock.ts'
import { testDatabaseUrl } from '../../../config.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'
import { PATH_FORMAT_TEXT } from '../../../lib/files/paths.ts'
import { users } from './lists.ts'

const jane = { email: 'jane@example.com', username: 'jane', name: 'Jane Doe', password: 'correct horse' }
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const taken = 'has already been taken'

const everybody = async (forge: TestForge) =>
  forge.administrator.get('/users', { per_page: 100 }).then(({ body }) => body)

test('an administrator creates a user with every attribute and reads the whole record back', async () => {
  await using forge = await startForge()
  const { administrator, url } = forge
  const attributes = {
    messenger: 'jane.d',
    professional_network: 'janedoe',
    microblog: '@jane',
    website_url: 'https://jane.example',
    organization: 'Example',
    job_title: 'Tester',
    pronouns: 'she/her',
    public_email: 'jane@example.com',
    note: 'Asked for more',
    bio: 'Writes tests',
    location: 'Ghent',
    projects_limit: 7,
    can_create_group: false,
    shared_runners_minutes_limit: 133,
  }
  const created = await administrator.post('/users', {
    ...jane,
    ...attributes,
    email: ' Jane@Example.com',
    extern_uid: 'uid=jane',
    provider: 'ldapmain',
    skip_confirmation: true,
  })
  const record = {
    id: 2,
    username: 'jane',
    name: 'Jane Doe',
    state: 'active',
    avatar_url: null,
    web_url: `${url}/jane`,
    created_at: timestamp,
    ...attributes,
    email: 'jane@example.com',
    last_sign_in_at: null,
    confirmed_at: timestamp,
    theme_id: 1,
    last_activity_on: null,
    color_scheme_id: 1,
    current_sign_in_at: null,
    identities: [{ provider: 'ldapmain', extern_uid: 'uid=jane' }],
    can_create_project: true,
    two_factor_enabled: false,
    external: false,
    is_admin: false,
    skype: 'jane.d',
    linkedin: 'janedoe',
    twitter: '@jane',
    work_information: 'Tester at Example',
    bot: false,
    namespace_id: 2,
  }
  expect([created.status, created.body]).toEqual([201, record])
  expect((await administrator.get('/users/2')).body).toEqual(record)

  const { shared_runners_minutes_limit: _, ...listed } = record
  expect((await administrator.get('/users', { username: 'JANE' })).body).toEqual([listed])
  expect((await forge.visitor.get('/users/2')).body).toEqual({
    id: 2,
    username: 'jane',
    name: 'Jane Doe',
    state: 'active',
    avatar_url: null,
    web_url: `${url}/jane`,
    created_at: timestamp,
    bio: 'Writes tests',
    location: 'Ghent',
    messenger: 'jane.d',
    professional_network: 'janedoe',
    microblog: '@jane',
    skype: 'jane.d',
    linkedin: 'janedoe',
    twitter: '@jane',
    website_url: 'https://jane.example',
    organization: 'Example',
    job_title: 'Tester',
    work_information: 'Tester at Example',
    pronouns: 'she/her',
    public_email: 'jane@example.com',
    bot: false,
  })
  expect((await administrator.get('/namespaces', { search: 'jane' })).body).toMatchObject([
    { path: 'jane', kind: 'user' },
  ])
  expect(await forge.events()).toEqual(['user.created'])
})

test('one sees oneself; administrators also see their private token, but never under sudo', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const own = await user.get('/user')
  expect(own.body).toMatchObject({ username: user.username, email: user.email, can_create_group: true, identities: [] })
  expect(own.body).not.toHaveProperty('private_token')
  expect(own.body).not.toHaveProperty('is_admin')
  expect((await forge.administrator.get('/user')).body).toMatchObject({
    is_admin: true,
    private_token: forge.administrator.token,
  })
  expect((await forge.administrator.get('/user', { sudo: user.id })).body).toEqual(own.body)
})

test('names other clients send are accepted for the contract’s own', async () => {
  await using forge = await startForge()
  const { body } = await forge.administrator.post('/users', { ...jane, skype: 's', linkedin: 'l', twitter: '<b>t</b>' })
  expect(body).toMatchObject({ messenger: 's', professional_network: 'l', microblog: 't' })
})

test('creation refuses what is not valid, and creates nothing', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  await forge.user({ username: 'Taken', email: 'taken@example.com' })
  const helper = await forge.user({ username: 'helper' })
  await administrator.post(`/users/${helper.id}/emails`, { email: 'second@example.com', skip_confirmation: true })
  const before = [await everybody(forge), await forge.events()]
  const tooLong = (n: number) => [`is too long (maximum is ${n} characters)`]
  type Refused = [Record<string, unknown>, number, unknown]
  const table: Refused[] = [
    [{ email: 'taken@example.com' }, 409, { message: 'Email has already been taken' }],
    [{ email: 'TAKEN@example.com' }, 409, { message: 'Email has already been taken' }],
    [{ username: 'tAKEN' }, 409, { message: 'Username has already been taken' }],
    [{ email: 'second@example.com' }, 400, { message: { email: [taken] } }],
    [{ email: 'no address' }, 400, { message: { email: ['is invalid'] } }],
    [{ email: 'jane@example.com.' }, 400, { message: { email: ['is invalid'] } }],
    [{ email: '' }, 400, { message: { email: ["can't be blank"] } }],
    [{ name: ' ' }, 400, { message: { name: ["can't be blank"] } }],
    [{ username: '-dash' }, 400, { message: { username: [PATH_FORMAT_TEXT] } }],
    [{ username: 'a/b' }, 400, { message: { username: [PATH_FORMAT_TEXT] } }],
    [{ username: '..' }, 400, { message: { username: [PATH_FORMAT_TEXT] } }],
    [{ username: 'x.git' }, 400, { message: { username: [PATH_FORMAT_TEXT] } }],
    [{ username: 'Admin' }, 400, { message: { username: ['Admin is a reserved name'] } }],
    [{ username: 'u'.repeat(256) }, 400, { message: { username: tooLong(255) } }],
    [{ password: 'short' }, 400, { message: { password: ['is too short (minimum is 8 characters)'] } }],
    [{ password: 'p'.repeat(129) }, 400, { message: { password: tooLong(128) } }],
    [{ bio: 'b'.repeat(256) }, 400, { message: { bio: tooLong(255) } }],
    [
      { shared_runners_minutes_limit: 2_147_483_648 },
      400,
      { message: { shared_runners_minutes_limit: ['must be less than or equal to 2147483647'] } },
    ],
    [{ projects_limit: -1 }, 400, { message: { projects_limit: ['must be greater than or equal to 0'] } }],
    [
      { projects_limit: 2147483648 },
      400,
      { message: { projects_limit: ['must be less than or equal to 2147483647'] } },
    ],
    ...[
      'javascript:alert(1)',
      'javascript:1;alert(1)',
      'javascript:80/alert(1)',
      'java\tscript:alert(1)',
      ' javascript:alert(1)',
      'data:text/html,1',
      'http:/jane.example',
      'https://',
    ].map((website_url): Refused => [{ website_url }, 400, { message: { website_url: ['must be a valid URL'] } }]),
    [{ bio: 'b'.repeat(256), name: '' }, 400, { message: { name: ["can't be blank"], bio: tooLong(255) } }],
    [{ provider: 'ldap' }, 400, { error: 'extern_uid, provider provide all or none of parameters' }],
    [
      { password: undefined },
      400,
      { error: 'password, reset_password are missing, at least one parameter must be provided' },
    ],
    [
      { email: undefined, name: undefined },
      400,
      { error: 'email is missing, name is missing', message: '400 (Bad request) email, name not given' },
    ],
  ]
  for (const [change, status, body] of table) {
    expect(await administrator.post('/users', { ...jane, ...change }), JSON.stringify(change)).toMatchObject({
      status,
      body,
    })
  }
  expect([await everybody(forge), await forge.events()]).toEqual(before)
})

test('the same user created many times at once: one is made, the others are told it is taken', async () => {
  await using forge = await startForge()
  const attempts = Array.from({ length: 8 }, (_, i) =>
    forge.administrator.post('/users', { ...jane, email: `jane${i}@example.com` }),
  )
  const answers = await Promise.all(attempts)
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    201, 409, 409, 409, 409, 409, 409, 409,
  ])
  for (const { body } of answers.filter(({ status }) => status === 409))
    expect(body).toEqual({ message: 'Username has already been taken' })
  expect((await everybody(forge)).length).toBe(2)
})

test('an update changes what it names and nothing else', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const { body: before } = await administrator.post('/users', { ...jane, bio: 'old', location: 'Ghent' })
  const change = { name: 'Jane Roe', bio: '', location: null, admin: true, projects_limit: 3, can_create_group: false }
  const { status, body } = await administrator.put(`/users/${before.id}`, change)
  expect([status, body]).toEqual([
    200,
    {
      ...before,
      name: 'Jane Roe',
      bio: '',
      location: null,
      is_admin: true,
      projects_limit: 3,
      can_create_group: false,
    },
  ])

  expect(await administrator.put(`/users/${before.id}`, { admin: false })).toMatchObject({
    body: { is_admin: false, name: 'Jane Roe' },
  })
  expect(await administrator.put(`/users/${before.id}`, { provider: 'p', extern_uid: '1' })).toMatchObject({
    body: { identities: [{ provider: 'p', extern_uid: '1' }] },
  })
  expect(await administrator.put(`/users/${before.id}`, { provider: 'p', extern_uid: '2' })).toMatchObject({
    body: { identities: [{ provider: 'p', extern_uid: '2' }] },
  })
  expect(await administrator.get('/users', { provider: 'p', extern_uid: '2' })).toMatchObject({
    body: [{ id: before.id }],
  })
  expect(await administrator.get('/users', { provider: 'p', extern_uid: '1' })).toMatchObject({ body: [] })
})

test('renaming a user renames their namespace', async () => {
  await using forge = await startForge()
  const user = await forge.user({ username: 'before' })
  expect(await forge.administrator.put(`/users/${user.id}`, { username: 'After' })).toMatchObject({
    status: 200,
    body: { username: 'After' },
  })
  expect(await forge.administrator.put(`/users/${user.id}`, { username: 'AFTER' })).toMatchObject({
    status: 200,
    body: { username: 'AFTER' },
  })
  expect((await user.get('/namespaces')).body).toMatchObject([{ name: 'AFTER', path: 'AFTER', full_path: 'AFTER' }])
  expect(await forge.user({ username: 'before', email: 'other@example.com' })).toMatchObject({ username: 'before' })
})

test('a primary email that was secondary changes places with it', async () => {
  await using forge = await startForge()
  const user = await forge.user({ email: 'one@example.com' })
  await user.post('/user/emails', { email: 'two@example.com' })
  expect(await forge.administrator.put(`/users/${user.id}`, { email: 'two@example.com' })).toMatchObject({
    status: 200,
    body: { email: 'two@example.com' },
  })
  expect((await user.get('/user/emails')).body).toMatchObject([{ email: 'one@example.com' }])
})

test('an update refuses what is not valid; conflicts answer 404, and nothing changes', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'taken', email: 'taken@example.com' })
  const user = await forge.user({ username: 'jane' })
  await forge.administrator.put(`/users/${user.id}`, { provider: 'p', extern_uid: 'jane' })
  const other = await forge.user()
  const before = [await everybody(forge), await forge.events()]
  const table: [string, Record<string, unknown>, number, unknown][] = [
    [`/users/${user.id}`, { email: 'taken@example.com' }, 404, { message: 'Email has already been taken' }],
    [`/users/${user.id}`, { username: 'TAKEN' }, 404, { message: 'Username has already been taken' }],
    [`/users/${user.id}`, { name: '' }, 400, { message: { name: ["can't be blank"] } }],
    [`/users/${user.id}`, { admin: 'perhaps' }, 400, { error: 'admin is invalid' }],
    [`/users/${other.id}`, { provider: 'p', extern_uid: 'jane' }, 400, { message: { extern_uid: [taken] } }],
    ['/users/99999', { name: 'Nobody' }, 404, { message: '404 User Not Found' }],
    ['/users/0', { name: 'Nobody' }, 404, { message: '404 User Not Found' }],
    ['/users/99999999999999999999', { name: 'Nobody' }, 404, { message: '404 User Not Found' }],
    ['/users/1', { admin: false }, 403, { message: '403 Forbidden' }],
  ]
  for (const [path, change, status, body] of table) {
    expect(await forge.administrator.put(path, change), JSON.stringify(change)).toMatchObject({ status, body })
  }
  expect([await everybody(forge), await forge.events()]).toEqual(before)
})

test('becoming external takes the right to create away; ceasing to be restores it', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const limits = (external: boolean, projects_limit: number, can_create_group: boolean) => ({
    status: 200,
    body: { external, projects_limit, can_create_group, can_create_project: projects_limit > 0 },
  })
  const change = (request: Record<string, unknown>) => forge.administrator.put(`/users/${user.id}`, request)
  expect(await change({ external: true })).toMatchObject(limits(true, 0, false))
  expect(await change({ external: false })).toMatchObject(limits(false, 100_000, true))
  expect(await forge.administrator.post('/users', { ...jane, external: true, projects_limit: 5 })).toMatchObject({
    body: limits(true, 0, false).body,
  })
})

test('lists: each filter finds whom it should', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const [ann, bob] = [
    await forge.user({ username: 'ann', name: 'Ann Smith' }),
    await forge.user({ username: 'bob', name: 'Bob Ann-Jones' }),
  ]
  const blocked = await forge.user({ username: 'blocked', blocked: true })
  const external = await forge.user({ username: 'outsider', external: true })
  const gone = await forge.user({ username: 'gone' })
  await administrator.delete(`/users/${gone.id}`) // creates the ghost
  const names = async (caller: Client, filter: Record<string, unknown>) =>
    (await caller.get('/users', filter)).body.map(({ username }: { username: string }) => username)

  expect(await names(administrator, {})).toEqual(['ghost', 'outsider', 'blocked', 'bob', 'ann', 'root'])
  expect(await names(ann, {})).toEqual(['ghost', 'blocked', 'bob', 'ann', 'root'])
  expect(await names(administrator, { active: true })).toEqual(['outsider', 'bob', 'ann', 'root'])
  expect(await names(administrator, { blocked: true })).toEqual(['blocked'])
  expect(await names(administrator, { external: true })).toEqual(['outsider'])
  expect(await names(administrator, { search: 'ann' })).toEqual(['ann', 'bob'])
  expect(await names(administrator, { search: 'SMITH' })).toEqual(['ann'])
  expect(await names(administrator, { search: 'bob@example' })).toEqual(['bob'])
  expect(await names(administrator, { search: 'BOB@example.com' })).toEqual(['bob'])
  expect(await names(administrator, { search: 'an' })).toEqual([])
  expect(await names(ann, { search: 'outsider' })).toEqual([])
  expect(await names(ann, { username: 'outsider' })).toEqual(['outsider'])
  expect(await names(forge.visitor, { username: 'BOB' })).toEqual(['bob'])

  const { created_at } = (await administrator.get(`/users/${bob.id}`)).body
  expect(await names(administrator, { created_before: created_at })).toEqual(['bob', 'ann', 'root'])
  expect(await names(administrator, { created_after: created_at })).toEqual(['ghost', 'outsider', 'blocked', 'bob'])
  expect(await names(administrator, { created_after: '2999-1-1' })).toEqual([])
  expect(await names(ann, { created_after: '2999-01-01' })).toEqual([])
  expect([blocked.id, external.id]).toEqual([expect.any(Number), expect.any(Number)])
})

test('searching pages through exact and other hits without losing or repeating one', async () => {
  await using forge = await startForge()
  for (let i = 0; i < 7; i++) await forge.user({ username: `twin${i}` })
  await forge.user({ username: 'twin' })
  await forge.user({ username: 'zwin', email: 'a-twin@example.com' })
  const seen: string[] = []
  for (let page = 1; page <= 5; page++) {
    const { body, headers } = await forge.administrator.get('/users', { search: 'twin', per_page: 2, page })
    expect(headers.get('x-total')).toBe('9')
    seen.push(...body.map(({ username }: { username: string }) => username))
  }
  expect(seen).toEqual(['twin', 'zwin', 'twin6', 'twin5', 'twin4', 'twin3', 'twin2', 'twin1', 'twin0'])
})

test('an address is found by the whole of it only, but by administrators', async () => {
  await using forge = await startForge()
  const owner = await forge.user({ username: 'owner' })
  const jane = await forge.user({ username: 'jane', name: 'Jane', email: 'jd.hidden@corp.example' })
  const { id } = await forge.project({ visibility: 'public' }, owner)
  const project = `/projects/${id}`
  const group = await owner.post('/groups', { name: 'g', path: 'g', visibility: 'public' })
  await owner.post(`${project}/members`, { user_id: jane.id, access_level: 30 })
  await owner.post(`/groups/${group.body.id}/members`, { user_id: jane.id, access_level: 30 })
  await jane.post(`${project}/star`)
  const lists: [string, Record<string, unknown>, 'search' | 'query'][] = [
    ['/users', {}, 'search'],
    ['/search', { scope: 'users' }, 'search'],
    [`${project}/search`, { scope: 'users' }, 'search'],
    [`/groups/${group.body.id}/search`, { scope: 'users' }, 'search'],
    [`/projects/${id}/users`, {}, 'search'],
    [`${project}/members`, {}, 'query'],
    [`${project}/members/all`, {}, 'query'],
    [`/groups/${group.body.id}/members`, {}, 'query'],
    [`/groups/${group.body.id}/members/all`, {}, 'query'],
    [`${project}/starrers`, {}, 'search'],
  ]
  const parts = ['hidden', 'jd.', '@corp.example', 'jd.hidden@corp.exampl', 'd.hidden@corp.example', 'jd', '@', 'dd']
  for (const [path, filter, name] of lists) {
    const found = async (caller: Client, text: string) => {
      const { status, body, headers } = await caller.get(path, { ...filter, [name]: text })
      expect(status, path).toBe(200)
      return [body.length, headers.get('x-total') ?? '0']
    }
    for (const part of parts) expect(await found(owner, part), `${path} ${part}`).toEqual([0, '0'])
    expect(await found(owner, 'jan'), path).toEqual([1, '1'])
    const whole = path.endsWith('starrers') ? [0, '0'] : [1, '1']
    expect(await found(owner, 'JD.hidden@corp.example'), path).toEqual(whole)
  }
  expect((await forge.administrator.get('/users', { search: 'd.hidden@' })).body).toHaveLength(1)
})

test('lists refuse what the caller may not ask', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const forbidden = { status: 403, body: { message: '403 Forbidden' } }
  expect(await user.get('/users', { external: true })).toMatchObject(forbidden)
  expect(await user.get('/users', { extern_uid: '1', provider: 'p' })).toMatchObject(forbidden)
  expect(await forge.visitor.get('/users', { username: 'root', external: true })).toMatchObject({ status: 401 })
  expect(await forge.visitor.get('/users')).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden - Not authorized to access /api/v4/users' },
  })
  expect(await user.get('/users', { active: 'perhaps' })).toMatchObject({
    status: 400,
    body: { error: 'active is invalid' },
  })
  expect(await forge.administrator.get('/users', { created_after: 'soon' })).toMatchObject({
    status: 400,
    body: { error: 'created_after is invalid' },
  })
})

test('a list costs the same number of queries however many rows it has', async () => {
  await using forge = await startForge()
  const reader = await forge.user()
  await forge.user()
  const cost = (caller: Client, filter: Record<string, unknown>) =>
    forge.queries(() => caller.get('/users', { per_page: 100, ...filter }))
  const filters = [{}, { search: 'user' }, { active: true }, { blocked: true }, { created_after: '2000-01-01' }]
  const measure = async () => {
    const costs = []
    for (const filter of filters)
      for (const caller of [reader, forge.administrator]) costs.push(await cost(caller, filter))
    return costs
  }
  await measure()
  const few = await measure()
  for (let i = 0; i < 12; i++) await forge.user()
  await measure()
  expect(await measure()).toEqual(few)
  expect(Math.min(...few)).toBeGreaterThan(0)
  // One of the queries is for rows that were not read before.
  expect(Math.max(...few)).toBeLessThanOrEqual(7)
})

// The planner of PostgreSQL decides by the size of the table.
test.skipIf(testDatabaseUrl())(
  'lists read by index: nothing is sorted, no table is scanned past the page',
  async () => {
    await using forge = await startForge()
    const { db } = forge.app
    const plan = async (filter: Parameters<typeof users>[1]) => {
      const page = users.compile(db, filter, { limit: 20, offset: 0 })
      const { rows } = await db.executeQuery<{ detail: string }>({ ...page, sql: `explain query plan ${page.sql}` })
      return rows.map(({ detail }) => detail).join('; ')
    }
    expect(await plan({})).toBe('SCAN users') // by id, from the newest, until the page is full
    const when = '2026-01-01T00:00:00.000Z'
    const filters = [
      { active: true },
      { external: true },
      { external: false, let_in: true as const },
      { username: 'x' },
      { created_before: when },
      { created_after: when },
    ]
    for (const filter of filters) {
      expect(await plan(filter), JSON.stringify(filter)).toMatch(
        /^SEARCH users USING (?:COVERING )?INDEX \w+ \([^;]*\)$/,
      )
    }
    expect(await plan({ exactly: 'x', others: '"xyz"' })).toMatch(
      /^SCAN found VIRTUAL TABLE INDEX [^;]+; SEARCH users USING INTEGER PRIMARY KEY \(rowid=\?\)$/,
    )
  },
)

test('blocking ends every way in, unblocking opens it again; each tells whether it changed anything', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const { administrator } = forge
  const answer = async (verb: string) =>
    administrator.post(`/users/${user.id}/${verb}`).then(({ status, body }) => [status, body])
  expect(await answer('block')).toEqual([201, true])
  expect(await answer('block')).toEqual([201, false])
  expect(await user.get('/user')).toMatchObject({ status: 401, body: { message: '401 Unauthorized' } })
  expect((await administrator.get(`/users/${user.id}`)).body.state).toBe('blocked')
  expect(await answer('unblock')).toEqual([201, true])
  expect(await answer('unblock')).toEqual([201, false])
  expect((await user.get('/user')).status).toBe(200)
  expect(await forge.events()).toEqual(['user.created', 'user.blocked', 'user.unblocked'])
})

test('whom the directory blocked, the API neither blocks nor unblocks', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  await forge.app.db.updateTable('users').set({ state: 'ldap_blocked' }).where('id', '=', user.id).execute()
  const { administrator } = forge
  const told = (text: string) => ({
    status: 403,
    body: { message: `403 Forbidden - LDAP blocked users cannot be ${text} by the API` },
  })
  expect(await administrator.post(`/users/${user.id}/block`)).toMatchObject(told('modified'))
  expect(await administrator.post(`/users/${user.id}/unblock`)).toMatchObject(told('unblocked'))
  expect((await administrator.get(`/users/${user.id}`)).body.state).toBe('blocked')
  expect((await administrator.get('/users', { blocked: true })).body).toMatchObject([{ id: user.id }])
  expect((await user.get('/user')).status).toBe(401)
})

test('deleting removes the user with all that is theirs and leaves a ghost, who can be neither deleted nor blocked', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const user = await forge.user({ username: 'leaver' })
  await user.post('/user/emails', { email: 'leaver2@example.com' })
  expect(await administrator.delete(`/users/${user.id}`)).toMatchObject({ status: 204, body: '' })
  expect(await administrator.get(`/users/${user.id}`)).toMatchObject({
    status: 404,
    body: { message: '404 User Not Found' },
  })
  expect((await user.get('/user')).status).toBe(401)
  expect(await administrator.delete(`/users/${user.id}`)).toMatchObject({ status: 404 })
  const left = await Promise.all(
    (['namespaces', 'emails', 'access_tokens'] as const).map((table) =>
      forge.app.db
        .selectFrom(table)
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
        .then(({ n }) => Number(n)),
    ),
  )
  expect(left).toEqual([2, 0, 1]) // namespaces of root and the ghost, no email, root's token

  const [ghost] = (await administrator.get('/users', { username: 'ghost' })).body
  expect(ghost).toMatchObject({ name: 'Ghost User', is_admin: false })
  for (const refused of [administrator.delete(`/users/${ghost.id}`), administrator.post(`/users/${ghost.id}/block`)]) {
    expect(await refused).toMatchObject({ status: 403 })
  }
  const again = await forge.user({ username: 'leaver', email: 'leaver2@example.com' })
  expect(again.id).toBeGreaterThan(user.id)
  await administrator.delete(`/users/${again.id}`, { hard_delete: true })
  expect((await administrator.get('/users', { search: 'ghost' })).headers.get('x-total')).toBe('1')
})

test('a hard deletion leaves no ghost, and the ghost finds another name when its own is taken', async () => {
  await using forge = await startForge()
  const first = await forge.user({ username: 'ghost' })
  const second = await forge.user()
  await forge.administrator.delete(`/users/${second.id}?hard_delete=true`)
  expect((await everybody(forge)).length).toBe(2)
  const third = await forge.user()
  await forge.administrator.delete(`/users/${third.id}`)
  expect((await everybody(forge)).map(({ username }: { username: string }) => username)).toEqual([
    'ghost1',
    'ghost',
    'root',
  ])
  expect(first.username).toBe('ghost')
})

test('of two changes at once the second meets what the first one left', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const statuses = async (...answers: Promise<{ status: number }>[]) =>
    (await Promise.all(answers)).map(({ status }) => status).toSorted((a, b) => a - b)
  const [ann, bob, cid, dot] = await Promise.all([forge.user(), forge.user(), forge.user(), forge.user()])
  const urls = [ann, bob, cid].map(({ id }) => `/users/${id}`)
  // Concurrent first deletions create one ghost.
  expect(await statuses(...urls.map((url) => administrator.delete(url)))).toEqual([204, 204, 204])
  expect((await everybody(forge)).map(({ username }: { username: string }) => username)).toEqual([
    'ghost',
    dot.username,
    'root',
  ])

  // Hashing a password takes time, and the user is usually deleted by then.
  const url = `/users/${dot.id}`
  const change = administrator.put(url, { password: 'a new password' })
  await administrator.get(url)
  expect(await statuses(administrator.delete(url), administrator.delete(url))).toEqual([204, 404])
  expect((await change).status).toBeOneOf([200, 404])
  expect((await forge.events()).filter((name) => name === 'user.deleted')).toHaveLength(4)
})

test('of two administrators who demote each other at once, one stays', async () => {
  await using forge = await startForge()
  const other = await forge.user({ admin: true })
  const answers = await atOnce(
    forge,
    () => forge.administrator.put(`/users/${other.id}`, { admin: false }),
    () => other.put('/users/1', { admin: false }),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 403])
})

test('nobody deletes or blocks themselves or the last administrator', async () => {
  await using forge = await startForge()
  const other = await forge.user({ admin: true })
  expect(await forge.administrator.delete('/users/1')).toMatchObject({ status: 403 })
  expect(await forge.administrator.post('/users/1/block')).toMatchObject({ status: 403 })
  await other.post('/users/1/block')
  expect(await other.put(`/users/${other.id}`, { admin: false })).toMatchObject({ status: 403 })
  expect((await other.get('/user')).body.is_admin).toBe(true)
})

test('who may do what', async () => {
  await using forge = await startForge()
  const target = await forge.user({ username: 'target' })
  const callers = {
    anonymous: forge.visitor,
    stranger: await forge.user(),
    external: await forge.user({ external: true }),
    blocked: await forge.user({ blocked: true }),
    administrator: forge.administrator,
  }
  const path = `/users/${target.id}`
  // anonymous, stranger, external, blocked, administrator
  const table: [string, string, Record<string, unknown> | undefined, number[]][] = [
    ['GET', '/users', undefined, [403, 200, 200, 401, 200]],
    ['GET', '/users?username=target', undefined, [200, 200, 200, 401, 200]],
    ['GET', path, undefined, [200, 200, 200, 401, 200]],
    ['GET', '/user', undefined, [401, 200, 200, 401, 200]],
    ['POST', '/users', {}, [401, 400, 400, 401, 400]],
    ['POST', '/users', jane, [401, 403, 403, 401, 201]],
    ['PUT', path, { name: 'New' }, [401, 403, 403, 401, 200]],
    ['PUT', '/users/9999', { name: 'New' }, [401, 403, 403, 401, 404]],
    ['POST', `${path}/block`, undefined, [401, 403, 403, 401, 201]],
    ['POST', `${path}/unblock`, undefined, [401, 403, 403, 401, 201]],
    ['DELETE', '/users/9999', undefined, [401, 403, 403, 401, 404]],
    ['DELETE', path, undefined, [401, 403, 403, 401, 204]],
  ]
  for (const [method, path, input, expected] of table) {
    const statuses = []
    for (const caller of Object.values(callers)) statuses.push((await caller.request(method, path, input)).status)
    expect(statuses, `${method} ${path} ${JSON.stringify(input)}`).toEqual(expected)
  }
})

test('profiles hide from visitors while public visibility is restricted', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  await forge.administrator.put('/application/settings', { restricted_visibility_levels: ['public'] })
  expect(await forge.visitor.get(`/users/${user.id}`)).toMatchObject({
    status: 404,
    body: { message: '404 User Not Found' },
  })
  expect((await user.get('/users/1')).status).toBe(200)
})

/** A real image of one red point. */
function png(extra = 0): Uint8Array<ArrayBuffer> {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    const check = Buffer.alloc(4)
    check.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, check])
  }
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])
  const parts = [
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0]))),
    chunk('IEND', Buffer.alloc(0)),
  ]
  const filler = extra > 0 ? [chunk('tEXt', Buffer.alloc(extra, 'x'))] : []
  return new Uint8Array(
    Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts.slice(0, 1), ...filler, ...parts.slice(1)]),
  )
}

const avatarForm = (bytes: Uint8Array<ArrayBuffer>, name: string, more: Record<string, string> = {}) => {
  const form = new FormData()
  for (const [key, value] of Object.entries(more)) form.set(key, value)
  form.set('avatar', new Blob([bytes], { type: 'image/png' }), name)
  return form
}

test('an avatar is kept, shown in the record and served back as an image and nothing else', async () => {
  await using forge = await startForge()
  const { administrator, url } = forge
  const { status, body } = await administrator.post('/users', avatarForm(png(), 'my face.png', jane))
  expect([status, body.avatar_url]).toEqual([201, `${url}/uploads/-/system/user/avatar/${body.id}/my_face.png`])

  const image = await fetch(body.avatar_url)
  expect(new Uint8Array(await image.arrayBuffer())).toEqual(png())
  expect(image.headers.get('content-type')).toBe('image/png')
  expect(image.headers.get('x-content-type-options')).toBe('nosniff')
  expect(image.headers.get('content-security-policy')).toContain('sandbox')
  for (const path of ['1/my_face.png', `${body.id}/other.png`, `${body.id}/..%2f..%2fsecret.key`, '999/x.png']) {
    expect((await fetch(`${url}/uploads/-/system/user/avatar/${path}`)).status, path).toBe(404)
  }
})

test('an avatar that is no image, or too large, is refused and the old one stays', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const set = (bytes: Uint8Array<ArrayBuffer>, name = 'a.png') =>
    forge.administrator.put(`/users/${user.id}`, avatarForm(bytes, name))
  await set(png())
  const before = (await user.get('/user')).body.avatar_url
  const script = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
  expect(await set(script)).toMatchObject({ status: 400, body: { message: { avatar: ['only images allowed'] } } })
  expect(await set(png(201 * 1024))).toMatchObject({
    status: 400,
    body: { message: { avatar: ['is too big (should be at most 200 KB)'] } },
  })
  expect(await set(png(500 * 1024))).toMatchObject({ status: 413 })
  expect((await user.get('/user')).body.avatar_url).toBe(before)
})

test('a picture that is discarded while somebody uploads it again is there in the end', async () => {
  await using forge = await startForge()
  const { app, administrator: root } = forge
  const { blobs } = app
  const { put } = blobs
  const discardOnce = () => {
    blobs.put = async (...content) => {
      blobs.put = put
      const stored = await put(...content)
      await blobs.remove(stored.digest)
      return stored
    }
  }
  const project = await forge.project()
  const ways = [
    () => root.put(`/users/${root.id}`, avatarForm(png(1), 'a.png')),
    () => root.put(`/projects/${project.id}`, avatarForm(png(2), 'a.png')),
    () => root.post('/groups?name=pictured&path=pictured', avatarForm(png(3), 'a.png')),
    () => root.put('/groups/pictured', avatarForm(png(4), 'a.png')),
    () => root.post('/projects?path=pictured', avatarForm(png(5), 'a.png')),
  ]
  for (const way of ways) {
    discardOnce()
    const { body } = await way()
    expect((await fetch(body.avatar_url, { headers: root.headers })).status).toBe(200)
  }
})

test('a picture goes once the last of those who share it has left it', async () => {
  await using forge = await startForge()
  const [ann, bob] = [await forge.user(), await forge.user()]
  for (const { id } of [ann, bob]) await forge.administrator.put(`/users/${id}`, avatarForm(png(), 'a.png'))
  const { avatar_digest: digest } = await forge.app.db
    .selectFrom('users')
    .select('avatar_digest')
    .where('id', '=', ann.id)
    .executeTakeFirstOrThrow()
  const kept = async () => {
    forge.clock.advance(2 * HOUR)
    await forge.settle()
    const blob = await forge.app.blobs.open(digest!)
    blob?.stream.destroy()
    return blob !== null
  }
  await forge.administrator.put(`/users/${ann.id}`, avatarForm(png(10), 'b.png'))
  expect(await kept()).toBe(true)
  await forge.administrator.delete(`/users/${bob.id}`)
  expect(await kept()).toBe(false)
})

test('who has reached the limit of projects can create none', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ projects_limit: 2 })
  const may = async () => [
    (await jane.get('/user')).body.can_create_project,
    (await administrator.get(`/users/${jane.id}`)).body.can_create_project,
    (await administrator.get('/users', { username: jane.username })).body[0].can_create_project,
  ]
  const group = await forge.group({ path: 'tools' }, jane)
  await forge.project({ path: 'elsewhere', namespace_id: group.id }, jane)
  await forge.project({ path: 'one' }, jane)
  expect(await may()).toEqual([true, true, true])
  const { id } = await forge.project({ path: 'two' }, jane)
  expect(await may()).toEqual([false, false, false])
  expect((await jane.post('/projects', { name: 'three' })).status).toBe(403)
  await jane.delete(`/projects/${id}`)
  expect(await may()).toEqual([true, true, true])
})

test('people change themselves, and their password only with the old one', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ password: 'correct horse' })
  const { status, body } = await jane.put('/user', { name: 'Jane D', bio: 'Mills', admin: true })
  expect([status, body.name, body.bio, body.is_admin]).toEqual([200, 'Jane D', 'Mills', undefined])
  const change = (current_password: string) => jane.put('/user', { current_password, password: 'battery staple' })
  const wrong = await change('wrong horse')
  expect([wrong.status, wrong.body]).toEqual([400, { message: { current_password: ['is wrong'] } }])
  expect((await change('correct horse')).status).toBe(200)
  const login = { login: jane.username, password: 'battery staple' }
  expect((await forge.as({}).post('/session', login)).status).toBe(201)
})

test('a new password by an administrator ends sessions, and tokens where that is asked for', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ password: 'correct horse' })
  const made = await jane.post('/user/personal_access_tokens', { name: 'mine', scopes: ['api'] })
  const token = forge.as({ 'PRIVATE-TOKEN': made.body.token })
  const statuses = async () => [(await token.get('/user')).status, (await jane.get('/user')).status]
  const url = `/users/${jane.id}`
  expect(await administrator.put(url, { revoke_tokens: true, name: 'Other' })).toMatchObject({
    status: 400,
    body: { error: 'revoke_tokens is given only together with password' },
  })
  expect((await jane.get('/user')).body.name).not.toBe('Other')
  for (const revoke_tokens of [undefined, false, null]) {
    expect((await administrator.put(url, { password: 'battery staple', revoke_tokens })).status).toBe(200)
    expect(await statuses()).toEqual([200, 200])
  }
  expect((await administrator.put(url, { password: 'battery horse', revoke_tokens: true })).status).toBe(200)
  expect(await statuses()).toEqual([401, 401])
  const [noted] = (await administrator.get('/audit_events', { per_page: 1 })).body
  expect(noted.details.changes).toEqual(
    expect.arrayContaining([{ change: 'password' }, { change: 'revoke_tokens', to: true }]),
  )
})
