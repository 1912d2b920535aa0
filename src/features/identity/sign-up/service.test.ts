import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { Browser, type Page } from '../../../../test/browser.ts'
import { linkIn, mailsOf } from '../../../../test/mailbox.ts'
import { newKey, sshPortOf, startSshForge } from '../../../../test/ssh.ts'
import { DAY, HOUR, MINUTE } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PASSWORD = 'correct horse'
const JANE = { name: 'Jane Doe', username: 'jane', email: 'jane@example.com', password: PASSWORD }
const OPEN = { require_admin_approval_after_user_signup: false }
const PATH = '/application/settings'

const fieldsOf = (input: object) =>
  Object.fromEntries(Object.entries(input).map(([name, value]) => [`user[${name}]`, value as string]))

async function register(forge: TestForge, input: object = {}, browser = new Browser(forge.url)): Promise<Page> {
  return browser.submit(await browser.get('/users/sign_up'), fieldsOf({ ...JANE, ...input }))
}

const set = (forge: TestForge, settings: Record<string, unknown>) => forge.administrator.put(PATH, settings)

const usernames = async (forge: TestForge) =>
  (await forge.app.db.selectFrom('users').select('username').orderBy('id').execute()).map(({ username }) => username)

const userRow = (forge: TestForge, username = 'jane') =>
  forge.app.db.selectFrom('users').selectAll().where('username', '=', username).executeTakeFirstOrThrow()

const session = (forge: TestForge, login = 'jane') => forge.visitor.post('/session', { login, password: PASSWORD })

const titleOf = ({ body }: Page) => /<h1>(.*?)<\/h1>/.exec(body)![1]

const isSignedIn = async (browser: Browser) => (await browser.get('/-/csrf')).status === 200

test('a new user of an open instance is signed in at once and redirected', async () => {
  await using forge = await startForge()
  await set(forge, { ...OPEN, user_default_external: false, default_projects_limit: 7, can_create_group: false })
  const browser = new Browser(forge.url)
  const signIn = await browser.get('/users/sign_in?return_to=/explore?a=b')
  expect(signIn.body).toContain('<a href="/users/sign_up?return_to=%2Fexplore%3Fa%3Db">Create an account</a>')
  const page = await browser.get('/users/sign_up?return_to=/explore?a=b')
  expect([page.status, titleOf(page)]).toEqual([200, 'Create an account'])
  expect(page.body).toContain('<a href="/users/sign_in?return_to=%2Fexplore%3Fa%3Db">Sign in</a>')
  for (const name of ['name', 'username', 'email', 'password']) expect(page.body).toContain(`<label for="${name}">`)

  const done = await browser.submit(page, fieldsOf({ ...JANE, email: ' Jane@Example.com' }))

  expect(done).toMatchObject({ status: 303, location: '/explore?a=b' })
  expect(JSON.parse((await browser.get('/api/v4/user')).body)).toMatchObject({
    username: 'jane',
    name: 'Jane Doe',
    email: 'jane@example.com',
    state: 'active',
    external: false,
    projects_limit: 7,
    can_create_group: false,
    // The address is a claim until its owner confirms it.
    confirmed_at: null,
  })
  expect(await browser.get('/users/sign_up?return_to=/there')).toMatchObject({ status: 303, location: '/there' })
  expect(await forge.events()).toContain('user.created')
  const [mail, ...rest] = await mailsOf(forge)
  expect([mail!.to, mail!.subject, rest]).toEqual(['jane@example.com', 'Confirm your email address', []])
  await browser.submit(await browser.get(linkIn(mail!)))
  expect((await userRow(forge)).confirmed_at).not.toBeNull()
  forge.clock.advance(30 * DAY)
  expect((await new Browser(forge.url).signIn('jane', PASSWORD)).status).toBe(303)
})

test('new people are external where the instance says so', async () => {
  await using forge = await startForge()
  await set(forge, { ...OPEN, user_default_external: true })
  await register(forge)
  expect(await userRow(forge)).toMatchObject({ external: true, projects_limit: 0, can_create_group: false })
})

test('a system hook is told of who registers as of other new people', async () => {
  await using forge = await startForge()
  await using receiver = await forge.receiver()
  await forge.administrator.post('/hooks', { url: receiver.url })
  await register(forge)
  expect((await receiver.next('user_create')).body).toMatchObject({ username: 'jane', email: 'jane@example.com' })
})

test.each([
  ['sign-up is off', { signup_enabled: false }],
  ['passwords open nothing', { password_authentication_enabled: false }],
])('where %s nobody registers', async (_why, settings) => {
  await using forge = await startForge()
  const browser = new Browser(forge.url)
  const page = await browser.get('/users/sign_up')
  await set(forge, settings)
  const before = await usernames(forge)
  expect((await browser.get('/users/sign_in')).body).not.toContain('sign_up')
  const closed = await browser.get('/users/sign_up')
  expect([closed.status, closed.body.includes('Sign-up is disabled')]).toEqual([403, true])
  const refused = await browser.submit(page, fieldsOf(JANE))
  expect([refused.status, refused.body.includes('Sign-up is disabled')]).toEqual([403, true])
  expect([await usernames(forge), await mailsOf(forge)]).toEqual([before, []])
})

test('what is wrong is said beside its field; what was typed is kept, but for the password', async () => {
  await using forge = await startForge()
  await set(forge, OPEN)
  const taken = await forge.user({ username: 'taken', email: 'taken@example.com' })
  await forge.group({ name: 'Wheels', path: 'wheels' })
  await taken.post('/user/emails', { email: 'second@example.com' })
  await forge.app.db.updateTable('emails').set({ confirmed_at: forge.clock.now().toISOString() }).execute()
  const before = [await usernames(forge), await forge.events()]
  const refusals: [object, string][] = [
    [{ name: ' ' }, 'Name can&#39;t be blank.'],
    [{ name: 'x'.repeat(256) }, 'Name is too long (maximum is 255 characters).'],
    [{ username: '' }, 'Username can&#39;t be blank.'],
    [{ username: 'TAKEN' }, 'Username has already been taken.'],
    [{ username: 'Wheels' }, 'Username has already been taken.'],
    [{ username: 'admin' }, 'Username admin is a reserved name.'],
    [{ username: '-jane' }, 'Username can contain only letters'],
    [{ email: '' }, 'Email can&#39;t be blank.'],
    [{ email: 'jane' }, 'Email is invalid.'],
    [{ email: 'Taken@example.com' }, 'Email has already been taken.'],
    [{ email: 'second@example.com' }, 'Email has already been taken.'],
    [{ password: 'short' }, 'Password is too short (minimum is 8 characters).'],
    [{ password: 'x'.repeat(129) }, 'Password is too long (maximum is 128 characters).'],
  ]
  for (const [input, words] of refusals) {
    forge.clock.advance(2 * MINUTE)
    const page = await register(forge, input)
    const [name] = Object.keys(input)
    expect([page.status, page.body.includes(`id="${name}-fault">${words}`)], words).toEqual([422, true])
    expect(page.body).toContain(`aria-describedby="${name}-fault"`)
    expect(page.body).not.toContain(PASSWORD)
    expect(page.body).toContain(name === 'username' ? 'value="jane@example.com"' : 'value="jane"')
  }
  const all = await register(forge, { name: '<b>"', username: '', email: 'x', password: 'x' })
  expect(all.body.match(/class="bad"/g)).toHaveLength(4)
  expect(all.body).not.toContain('<b>')
  expect([await usernames(forge), await forge.events()]).toEqual(before)
})

test('only addresses of the domains that are allowed, and of none that is refused', async () => {
  await using forge = await startForge()
  await set(forge, { ...OPEN, domain_whitelist: 'example.com, *.example.org' })
  const tryWith = async (domain: string) => {
    forge.clock.advance(2 * MINUTE)
    const username = `at-${domain.replaceAll('.', '-')}`.replace(/-$/, '')
    return (await register(forge, { username, email: `someone@${domain}` })).status
  }
  expect(await tryWith('example.com')).toBe(303)
  expect(await tryWith('mail.example.org')).toBe(303)
  const before = await usernames(forge)
  for (const domain of ['example.org', 'mail.example.com', 'badexample.com', 'example.com.bad']) {
    expect(await tryWith(domain), domain).toBe(422)
  }
  expect(await usernames(forge)).toEqual(before)

  await set(forge, { domain_whitelist: '', domain_blacklist_enabled: true, domain_blacklist: 'bad.test *.bad.test' })
  for (const domain of ['bad.test', 'BAD.test', 'bad.test.', 'a.bad.test']) expect(await tryWith(domain)).toBe(422)
  expect(await usernames(forge)).toEqual(before)
  await set(forge, { domain_blacklist_enabled: false, domain_blacklist: 'bad.test' })
  expect(await tryWith('bad.test')).toBe(303)
})

test('the form counts only with its code, and only ten times a minute', async () => {
  await using forge = await startForge()
  await set(forge, OPEN)
  const before = await usernames(forge)
  const bare = await new Browser(forge.url).post('/users/sign_up', fieldsOf(JANE))
  expect(bare.status).toBe(403)
  for (let n = 0; n < 10; n++) expect((await register(forge, { password: '' })).status).toBe(422)
  const late = await register(forge)
  expect([late.status, late.headers.get('retry-after'), late.body.includes('Too many attempts')]).toEqual([
    429,
    '60',
    true,
  ])
  expect(late.body).toContain('value="jane@example.com"')
  expect(await usernames(forge)).toEqual(before)
  forge.clock.advance(MINUTE + 1000)
  expect((await register(forge)).status).toBe(303)
})

test('nobody floods a mailbox by registering', async () => {
  await using forge = await startForge()
  await set(forge, { ...OPEN, email_confirmation_setting: 'hard' })
  await forge.user({ username: 'owner', email: 'owner@example.com' })
  const tryOnce = async (n: number) => {
    if (n % 5 === 0) forge.clock.advance(MINUTE + 1000)
    return (await register(forge, { username: `u${n}`, email: 'owner@example.com' })).status
  }
  for (let n = 0; n < 10; n++) expect(await tryOnce(n)).toBe(200)
  expect(await tryOnce(10)).toBe(429)
  expect(await mailsOf(forge)).toHaveLength(10)
  forge.clock.advance(HOUR)
  expect(await tryOnce(11)).toBe(200)
})

test('where addresses are confirmed first, nobody comes in before by any password', async () => {
  await using forge = await startForge()
  await set(forge, { ...OPEN, email_confirmation_setting: 'hard' })
  const browser = new Browser(forge.url)
  const page = await register(forge, {}, browser)
  expect([page.status, titleOf(page)]).toEqual([200, 'Check your email'])
  expect(await isSignedIn(browser)).toBe(false)
  const refused = await browser.signIn('jane', PASSWORD)
  expect([refused.status, titleOf(refused)]).toEqual([403, 'Confirm your email address'])
  expect((await session(forge)).status).toBe(401)
  const grant = { grant_type: 'password', username: 'jane', password: PASSWORD }
  expect((await browser.post('/oauth/token', grant)).status).toBeGreaterThanOrEqual(400)
  expect(await gitStatus(forge, PASSWORD)).toBe(401)
  expect(await forge.app.db.selectFrom('sessions').selectAll().execute()).toEqual([])

  const [mail] = await mailsOf(forge)
  await browser.submit(await browser.get(linkIn(mail!)))
  expect((await browser.signIn('jane', PASSWORD)).status).toBe(303)
  expect((await session(forge)).status).toBe(201)
  expect(await gitStatus(forge, PASSWORD)).toBe(200)
})

/** The status that git gets where every user with an account may read. */
async function gitStatus(forge: TestForge, secret: string): Promise<number> {
  const known = await forge.administrator.get('/projects/root%2Fopen')
  if (known.status === 404) await forge.project({ path: 'open', visibility: 'internal' }, forge.administrator)
  const headers = { Authorization: `Basic ${Buffer.from(`jane:${secret}`).toString('base64')}` }
  return (await fetch(`${forge.url}/root/open.git/info/refs?service=git-upload-pack`, { headers })).status
}

function opensSsh(forge: TestForge, privateKey: string): Promise<boolean> {
  const client = new ssh2.Client()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  client.on('ready', () => resolve(true)).on('error', () => resolve(false))
  client.connect({ host: '127.0.0.1', port: sshPortOf(forge), username: 'git', privateKey })
  return promise.finally(() => client.end())
}

test('asked for softly, an address has three days', async () => {
  await using forge = await startForge()
  await set(forge, { ...OPEN, email_confirmation_setting: 'soft' })
  const browser = new Browser(forge.url)
  const page = await register(forge, {}, browser)
  expect(page.body).toContain('within three days')
  expect((await browser.signIn('jane', PASSWORD)).status).toBe(303)
  forge.clock.advance(3 * DAY - MINUTE)
  expect(await isSignedIn(browser)).toBe(true)
  forge.clock.advance(2 * MINUTE)
  expect(await isSignedIn(browser)).toBe(false)
  expect(titleOf(await browser.signIn('jane', PASSWORD))).toBe('Confirm your email address')
  expect((await session(forge)).status).toBe(401)
  const [mail] = await mailsOf(forge)
  await browser.submit(await browser.get(linkIn(mail!)))
  expect(await isSignedIn(browser)).toBe(true)
  expect((await session(forge)).status).toBe(201)
})

test.each(['hard', 'soft'])('%s: whose an address is, only its owner is told', async (email_confirmation_setting) => {
  await using forge = await startForge()
  await set(forge, { ...OPEN, email_confirmation_setting })
  const owner = await forge.user({ username: 'owner', email: 'owner@example.com' })
  await owner.post('/user/emails', { email: 'second@example.com' })
  await forge.app.db.updateTable('emails').set({ confirmed_at: forge.clock.now().toISOString() }).execute()
  await forge.user({ username: 'gone', email: 'gone@example.com', blocked: true })
  const before = await usernames(forge)
  const mailed = (await mailsOf(forge)).length
  const pageFor = async (email: string, username: string) => {
    const { status, body } = await register(forge, { username, email })
    return [status, body.replaceAll(email, 'EMAIL')]
  }
  const known = [
    await pageFor('owner@example.com', 'one'),
    await pageFor('second@example.com', 'two'),
    await pageFor('gone@example.com', 'three'),
  ]
  expect(await usernames(forge)).toEqual(before)
  const free = await pageFor('nobody@example.com', 'four')
  for (const page of known) expect(page).toEqual(free)
  // Whether a username is taken is public, and does not depend on the address.
  const named = [await pageFor('owner@example.com', 'owner'), await pageFor('somebody@example.com', 'owner')]
  const withoutCode = ([status, body]: unknown[]) => [
    status,
    String(body).replace(/authenticity_token" value="[\w-]*/, ''),
  ]
  expect(withoutCode(named[0]!)).toEqual(withoutCode(named[1]!))
  const mails = (await mailsOf(forge)).map(({ to, subject }) => `${to}: ${subject}`).toSorted()
  expect(mails).toHaveLength(mailed + 3)
  expect(mails).toContain('owner@example.com: You already have an account')
  expect(mails).toContain('second@example.com: You already have an account')
  expect(mails).toContain('nobody@example.com: Confirm your email address')
})

test('whose an address is, only its owner is told where accounts wait for approval', async () => {
  await using forge = await startForge()
  const words = { after_sign_up_text: 'Be **welcome**.' }
  await set(forge, {
    ...OPEN,
    ...words,
    email_confirmation_setting: 'off',
    require_admin_approval_after_user_signup: true,
  })
  await forge.user({ username: 'owner', email: 'owner@example.com' })
  const before = await usernames(forge)
  const pageFor = async (email: string, username: string) => {
    const { status, body } = await register(forge, { username, email })
    return [status, body]
  }
  const known = await pageFor('owner@example.com', 'one')
  expect(await usernames(forge)).toEqual(before)
  expect(known).toEqual(await pageFor('nobody@example.com', 'two'))
  expect(known).toEqual([200, expect.stringContaining('<strong>welcome</strong>')])
  expect(await usernames(forge)).toHaveLength(before.length + 1)
  const mails = (await mailsOf(forge)).map(({ to, subject }) => `${to}: ${subject}`)
  expect(mails).toContain('owner@example.com: You already have an account')
})

test('a new password by mail ends whatever somebody else had added to an address of which they are not the owner', async () => {
  await using forge = await startForge()
  await set(forge, OPEN)
  await register(forge)
  const { private_token } = (await session(forge)).body as { private_token: string }
  const thief = forge.as({ 'PRIVATE-TOKEN': private_token })
  const made = await thief.post('/user/personal_access_tokens', { name: 'mine', scopes: ['api'] })
  await thief.post('/user/keys', { title: 'mine', key: (await newKey()).public })
  expect(made.status).toBe(201)

  const owner = new Browser(forge.url)
  await owner.submit(await owner.get('/users/password/new'), { 'user[email]': JANE.email })
  const reset = (await mailsOf(forge)).find(({ subject }) => subject === 'Set your password')!
  const page = await owner.submit(await owner.get(linkIn(reset)), { 'user[password]': 'another horse' })
  expect(page.status).toBe(200)
  expect((await thief.get('/user')).status).toBe(401)
  expect((await forge.as({ 'PRIVATE-TOKEN': made.body.token }).get('/user')).status).toBe(401)
  expect(await forge.app.db.selectFrom('keys').selectAll().execute()).toEqual([])
  expect((await owner.signIn('jane', 'another horse')).status).toBe(303)
})

test('a user who is pending approval cannot sign in by any means, and sees why', async () => {
  await using forge = await startSshForge()
  await set(forge, { after_sign_up_text: 'Read the **rules**.' })
  const browser = new Browser(forge.url)
  const page = await register(forge, {}, browser)
  expect([page.status, titleOf(page)]).toEqual([200, 'Your account is pending approval'])
  expect(page.body).toContain('<strong>rules</strong>')
  const { id, state } = await userRow(forge)
  expect(state).toBe('blocked_pending_approval')
  const mails = await mailsOf(forge)
  expect(mails.map(({ to, subject }) => `${to}: ${subject}`).toSorted()).toEqual([
    'admin@example.com: Account pending approval',
    'jane@example.com: Confirm your email address',
  ])
  expect(mails.find(({ to }) => to === 'admin@example.com')!.text).not.toContain('Jane Doe')

  // Confirming the address does not approve the account.
  const confirmed = await browser.submit(await browser.get(linkIn(mails.find(({ to }) => to === JANE.email)!)))
  expect([confirmed.status, confirmed.body.includes('Your account is pending approval')]).toEqual([200, true])
  expect((await userRow(forge)).confirmed_at).not.toBeNull()

  const { administrator: root } = forge
  const token = (await root.post(`/users/${id}/impersonation_tokens`, { name: 'i', scopes: ['api'] })).body.token
  const key = await newKey()
  expect((await root.post(`/users/${id}/keys`, { title: 'mine', key: key.public })).status).toBe(201)
  const grant = { grant_type: 'password', username: 'jane', password: PASSWORD }
  const doors = async () => ({
    password: (await new Browser(forge.url).signIn('jane', PASSWORD)).status,
    session: (await session(forge)).status,
    token: (await forge.as({ 'PRIVATE-TOKEN': token }).get('/user')).status,
    bearer: (await forge.as({ Authorization: `Bearer ${token}` }).get('/user')).status,
    oauth: (await browser.post('/oauth/token', grant)).status,
    git: await gitStatus(forge, PASSWORD),
    gitByToken: await gitStatus(forge, token),
    ssh: await opensSsh(forge, key.private),
  })
  const refused = { password: 403, session: 401, token: 401, bearer: 401, oauth: 401, git: 401, gitByToken: 403 }
  expect(await doors()).toEqual({ ...refused, ssh: false })
  const answer = await new Browser(forge.url).signIn('jane', PASSWORD)
  expect(titleOf(answer)).toBe('Your account is pending approval')
  await browser.submit(await browser.get('/users/password/new'), { 'user[email]': JANE.email })
  expect((await mailsOf(forge)).filter(({ subject }) => subject === 'Set your password')).toEqual([])
  expect(await forge.app.db.selectFrom('sessions').selectAll().execute()).toEqual([])

  await root.post(`/users/${id}/approve`)
  const open = { password: 303, session: 201, token: 200, bearer: 200, oauth: 200, git: 200, gitByToken: 200 }
  expect(await doors()).toEqual({ ...open, ssh: true })
})

test('what a stranger calls themselves is seen by administrators alone until they are let in', async () => {
  await using forge = await startForge()
  const bob = await forge.user()
  await register(forge)
  const { id } = await userRow(forge)
  const seenBy = async (viewer: TestForge['visitor']) => {
    const found = async (path: string) => {
      const { status, body } = await viewer.get(path)
      return status === 200 ? (Array.isArray(body) ? body.length : 1) : status
    }
    const lists = [
      '/users?username=jane',
      '/users?search=jane@example.com',
      '/users?search=Jane',
      '/users?blocked=true',
    ]
    const asked = ['/users?pending_approval=true', '/search?scope=users&search=jane', `/users/${id}`]
    const theirs = [`/users/${id}/status`, '/users/jane/projects']
    const people = (await viewer.get('/users')).headers.get('x-total')
    return [...(await Promise.all([...lists, ...asked, ...theirs].map(found))), Number(people)]
  }
  const { administrator: root, visitor } = forge
  const page = async () => (await fetch(`${forge.url}/jane`, { headers: { accept: 'text/html' } })).status
  expect(await seenBy(root)).toEqual([1, 1, 1, 0, 1, 0, 1, 1, 0, 3])
  expect(await seenBy(bob)).toEqual([0, 0, 0, 0, 403, 0, 404, 404, 404, 2])
  expect((await seenBy(visitor)).slice(6, 9)).toEqual([404, 404, 404])
  expect(await page()).toBe(404)

  await root.post(`/users/${id}/approve`)
  expect(await seenBy(bob)).toEqual([1, 1, 1, 0, 403, 1, 1, 1, 0, 3])
  expect(await page()).toBe(200)
})

test('administrators are mailed of a few an hour, those who can be', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'second', admin: true })
  await forge.user({ username: 'away', admin: true, blocked: true })
  for (let n = 0; n < 12; n++) {
    if (n % 5 === 0) forge.clock.advance(MINUTE + 1000)
    await register(forge, { username: `u${n}`, email: `u${n}@example.com` })
  }
  const mails = (await mailsOf(forge)).filter(({ subject }) => subject === 'Account pending approval')
  expect(mails.map(({ to }) => to).toSorted()).toEqual([
    ...Array.from({ length: 10 }, () => 'admin@example.com'),
    ...Array.from({ length: 10 }, () => 'second@example.com'),
  ])
})

test('where mail and approval are both awaited, both are', async () => {
  await using forge = await startForge()
  await set(forge, { email_confirmation_setting: 'hard' })
  const page = await register(forge)
  expect([titleOf(page), page.body.includes('must approve your account')]).toEqual(['Check your email', true])
  const { id } = await userRow(forge)
  await forge.administrator.post(`/users/${id}/approve`)
  const browser = new Browser(forge.url)
  expect(titleOf(await browser.signIn('jane', PASSWORD))).toBe('Confirm your email address')
  const mail = (await mailsOf(forge)).find(({ subject }) => subject === 'Confirm your email address')!
  await browser.submit(await browser.get(linkIn(mail)))
  expect((await browser.signIn('jane', PASSWORD)).status).toBe(303)
})

test('of many sessions the oldest end', async () => {
  await using forge = await startForge()
  await set(forge, OPEN)
  await register(forge)
  const { id } = await userRow(forge)
  const rows = Array.from({ length: 100 }, (_, n) => ({
    user_id: id,
    digest: `other ${n}`,
    expires_at: '2100-01-01T00:00:00.000Z',
    created_at: '2026-01-01T00:00:00.000Z',
  }))
  await forge.app.db.insertInto('sessions').values(rows).execute()
  const before = (await forge.app.db.selectFrom('sessions').select('id').orderBy('id').execute()).map((one) => one.id)
  const browser = new Browser(forge.url)
  await browser.signIn('jane', PASSWORD)
  const now = (await forge.app.db.selectFrom('sessions').select('id').orderBy('id').execute()).map((one) => one.id)
  expect([before.length, now.length, now.includes(before[0]!), now.includes(before[2]!)]).toEqual([
    101,
    100,
    false,
    true,
  ])
  expect(await isSignedIn(browser)).toBe(true)
})
