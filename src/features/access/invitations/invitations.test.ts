import { describe, expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { linkIn, mailsOf } from '../../../../test/mailbox.ts'
import { KINDS, callersOf, costOf, openSource, statusesOf, type Source } from '../../../../test/sources.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const NOT_FOUND = { message: '404 Not found' }
const FORBIDDEN = { message: '403 Forbidden' }
const PASSWORD = 'correct horse'

async function invited(forge: TestForge, { url, owner }: Source, email: string, more = {}) {
  const { status, body } = await owner.post(`${url}/invitations`, { email, access_level: 30, ...more })
  expect([status, body]).toEqual([201, { status: 'success' }])
  const mail = (await mailsOf(forge)).find(({ to, subject }) => to === email && subject.startsWith('Invitation'))
  return linkIn(mail!)
}

describe.each(KINDS)('invitations to %s', (kind) => {
  test('are made, listed, changed and withdrawn', async () => {
    await using forge = await startForge()
    const { url, owner, title } = await openSource(forge, kind)
    const invitations = `${url}/invitations`
    const before = await forge.events()
    const made = await owner.post(invitations, {
      email: 'Jane+x.y@Example.com',
      access_level: 20,
      expires_at: '2040-1-1',
    })
    expect([made.status, made.body]).toEqual([201, { status: 'success' }])
    const { body } = await owner.get(invitations)
    const invitation = {
      access_level: 20,
      created_at: body[0].created_at,
      expires_at: '2040-01-01T00:00:00.000Z',
      invite_email: 'jane+x.y@example.com',
      invite_token: body[0].invite_token,
      user_name: null,
      created_by_name: body[0].created_by_name,
    }
    expect(body).toEqual([invitation])
    expect(body[0].created_by_name).toMatch(/^Owner \d+$/)
    const mails = await mailsOf(forge)
    expect(mails).toMatchObject([{ to: 'jane+x.y@example.com', subject: `Invitation to ${title}` }])
    expect(mails[0]!.text).toContain(`the ${kind.slice(0, -1)} ${title} as Reporter`)
    expect(linkIn(mails[0]!)).toBe(`/-/invites/${body[0].invite_token}`)
    const row = await forge.app.db.selectFrom('invitations').selectAll().executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(body[0].invite_token)

    await owner.post(invitations, { email: 'john@example.com', access_level: 20 })
    expect((await owner.get(invitations, { query: 'JANE+x.y@example.com' })).body).toEqual([invitation])
    expect((await owner.get(invitations, { query: 'jane' })).body).toEqual([])

    const one = `${invitations}/jane%2Bx.y%40EXAMPLE.com`
    const promoted = await owner.put(one, { access_level: 40 })
    expect([promoted.status, promoted.body]).toEqual([200, { ...invitation, access_level: 40 }])
    expect((await owner.put(one, { expires_at: '' })).body).toEqual({
      ...invitation,
      access_level: 40,
      expires_at: null,
    })
    const early = { 'If-Unmodified-Since': new Date(0).toUTCString() }
    expect((await owner.delete(one, undefined, early)).status).toBe(412)
    expect((await owner.delete(`${invitations}/jane+x.y@example.com`)).status).toBe(204)
    expect(await owner.delete(one)).toMatchObject({ status: 404, body: NOT_FOUND })
    expect((await owner.get(invitations)).body).toHaveLength(1)
    expect((await new Browser(forge.url).get(linkIn(mails[0]!))).status).toBe(404)
    expect((await forge.events()).slice(before.length)).toEqual(['invitation.made', 'invitation.made'])
  })

  test('people who are known come in at once, each on their own account', async () => {
    await using forge = await startForge()
    const { url, owner } = await openSource(forge, kind)
    const [ann, bob, eve] = [await forge.user(), await forge.user(), await forge.user({ skip_confirmation: false })]
    await bob.post('/user/emails', { email: 'claimed@example.com' })
    await owner.post(`${url}/members`, { user_id: bob.id, access_level: 10 })
    const several = await owner.post(`${url}/invitations`, {
      email: [ann.email.toUpperCase(), 'new@example.com', bob.email, 'no address'],
      user_id: `${bob.id},9999`,
      access_level: 30,
    })
    expect([several.status, several.body]).toEqual([
      201,
      {
        status: 'error',
        message: {
          [bob.email]: 'User already exists in source',
          'no address': 'Invite email is invalid',
          [bob.id]: 'User already exists in source',
          9999: 'User not found',
        },
      },
    ])
    expect((await owner.get(`${url}/members/${ann.id}`)).body.access_level).toBe(30)
    expect((await owner.get(`${url}/members/${bob.id}`)).body.access_level).toBe(10)
    const again = await owner.post(`${url}/invitations`, { email: 'new@example.com, x@example.com', access_level: 30 })
    expect(again.body).toEqual({
      status: 'error',
      message: { 'new@example.com': 'Invite email has already been taken' },
    })
    const level = await owner.post(`${url}/invitations`, { email: 'y@example.com', access_level: 60 })
    expect(level.body.message).toEqual({ 'y@example.com': 'Access level is not included in the list' })
    // An address that is only claimed, or not confirmed yet, accepts no invitation.
    await owner.post(`${url}/invitations`, { email: ['claimed@example.com', eve.email], access_level: 30 })
    const { body } = await owner.get(`${url}/invitations`)
    expect(body.map(({ invite_email }: { invite_email: string }) => invite_email)).toEqual([
      'new@example.com',
      'x@example.com',
      'claimed@example.com',
      eve.email,
    ])
    expect((await owner.get(`${url}/members/${eve.id}`)).status).toBe(404)
  })

  test('refusals change nothing', async () => {
    await using forge = await startForge()
    const source = await openSource(forge, kind)
    const { url, owner } = source
    const elsewhere = await openSource(forge, kind)
    await invited(forge, source, 'jane@example.com')
    await invited(forge, elsewhere, 'foreign@example.com')
    const state = async () => [(await owner.get(`${url}/invitations`)).body, await forge.events()]
    const before = await state()
    const many = Array.from({ length: 101 }, (_, n) => `u${n}@example.com`)
    const both = (text: string) => ({ message: text, error: text })
    const refusals: [method: string, path: string, input: Record<string, unknown>, status: number, body: object][] = [
      ['POST', '', { email: 'a@b.c' }, 400, { error: 'access_level is missing' }],
      [
        'POST',
        '',
        { access_level: 30 },
        400,
        both('email, user_id are missing, at least one parameter must be provided'),
      ],
      [
        'POST',
        '',
        { access_level: 30, email: `${'x'.repeat(251)}@a.b` },
        400,
        both('email is too long (maximum is 254 characters)'),
      ],
      ['POST', '', { access_level: 30, email: many }, 400, both('email, user_id are too many (maximum is 100)')],
      [
        'PUT',
        '/jane@example.com',
        {},
        400,
        both('access_level, expires_at are missing, at least one parameter must be provided'),
      ],
      [
        'PUT',
        '/jane@example.com',
        { access_level: 60 },
        400,
        { message: { access_level: ['is not included in the list'] } },
      ],
      ['PUT', '/jane@example.com', { expires_at: 'x' }, 400, both('expires_at is invalid')],
      ['PUT', '/foreign@example.com', { access_level: 40 }, 404, NOT_FOUND],
      ['DELETE', '/foreign@example.com', {}, 404, NOT_FOUND],
    ]
    for (const [method, path, input, status, body] of refusals) {
      const answer = await owner.request(method, `${url}/invitations${path}`, input)
      expect([method, path, answer.status, answer.body]).toEqual([method, path, status, expect.objectContaining(body)])
    }
    expect(await state()).toEqual(before)
    // Users who do not manage the group see no addresses.
    const member = await forge.user()
    await owner.post(`${url}/members`, { user_id: member.id, access_level: 30 })
    for (const email of ['jane@example.com', 'nobody@example.com']) {
      expect(await member.delete(`${url}/invitations/${email}`)).toMatchObject({ status: 403, body: FORBIDDEN })
    }
  })

  test.each(['private', 'public'])('who reaches what of a %s one', async (visibility) => {
    await using forge = await startForge()
    const source = await openSource(forge, kind, { visibility })
    const callers = await callersOf(forge, source)
    const invitations = `${source.url}/invitations`
    let number = 0
    const fresh = async () => {
      const email = `guest${++number}@example.com`
      await source.owner.post(invitations, { email, access_level: 10 })
      return email
    }
    const no = visibility === 'public' ? 403 : 404
    const managed = (done: number) => [401, no, no, 403, 403, 403, kind === 'groups' ? 403 : done, done, done, 401]
    const known = await fresh()
    expect(await statusesOf(callers, (caller) => caller.get(invitations))).toEqual(managed(200))
    expect(
      await statusesOf(callers, (caller) =>
        caller.post(invitations, { email: `new${++number}@example.com`, access_level: 10 }),
      ),
    ).toEqual(managed(201))
    expect(await statusesOf(callers, (caller) => caller.put(`${invitations}/${known}`, { access_level: 20 }))).toEqual(
      managed(200),
    )
    expect(await statusesOf(callers, async (caller) => caller.delete(`${invitations}/${await fresh()}`))).toEqual(
      managed(204),
    )
  })

  test('the list is in pages and costs the same whatever its length', async () => {
    await using forge = await startForge()
    const { url, owner } = await openSource(forge, kind)
    const invitations = `${url}/invitations`
    const add = (from: number, to: number) => {
      const email = Array.from({ length: to - from }, (_, n) => `u${from + n}@example.com`)
      return owner.post(invitations, { email, access_level: 10 })
    }
    await add(0, 2)
    const few = await costOf(forge, () => owner.get(invitations))
    await add(2, 12)
    expect(await costOf(forge, () => owner.get(invitations))).toBe(few)
    const page = await owner.get(invitations, { per_page: 5, page: 3 })
    expect(page.body).toMatchObject([{ invite_email: 'u10@example.com' }, { invite_email: 'u11@example.com' }])
    expect(page.headers.get('X-Total')).toBe('12')
  })

  test('the link of an invitation works once', async () => {
    await using forge = await startForge()
    const source = await openSource(forge, kind)
    const { url, owner, title } = source
    const link = await invited(forge, source, 'jane@example.com', { access_level: 20, expires_at: '2040-01-01' })
    const jane = await forge.user({ username: 'jane', email: 'elsewhere@example.com', password: PASSWORD })
    const late = await forge.user({ username: 'late', password: PASSWORD })

    const browser = new Browser(forge.url)
    const request = await browser.get(link)
    expect(request.status).toBe(200)
    expect(request.body).toContain(title)
    expect(request.body).toContain(`/users/sign_in?return_to=${encodeURIComponent(link)}`)
    expect((await browser.post(link, {})).status).toBe(403)
    expect((await browser.signIn('jane', PASSWORD, link)).location).toBe(link)
    const page = await browser.get(link)
    expect(page.body).toContain('Accept as jane')
    // Opening the link accepts nothing, and neither does a post without the CSRF code.
    expect((await browser.post(link, {})).status).toBe(403)
    expect((await owner.get(`${url}/members/${jane.id}`)).status).toBe(404)

    const second = new Browser(forge.url)
    await second.signIn('late', PASSWORD)
    const other = await second.get(link)
    const answers = await Promise.all([browser.submit(page), second.submit(other)])
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404])
    const people = (await owner.get(`${url}/members`, { user_ids: [jane.id, late.id] })).body
    expect(people).toMatchObject([{ access_level: 20, expires_at: '2040-01-01', created_by: { id: owner.id } }])
    for (const reader of [browser, second, new Browser(forge.url)]) expect((await reader.get(link)).status).toBe(404)
    expect((await browser.submit(page)).status).toBe(404)
    expect((await owner.get(`${url}/invitations`)).body).toEqual([])
  })

  test('an account with the invited address, once it is confirmed, is in', async () => {
    await using forge = await startForge()
    const source = await openSource(forge, kind)
    const { url, owner } = source
    for (const name of ['ann', 'bob']) await invited(forge, source, `${name}@example.com`)
    const ann = await forge.user({ username: 'ann' })
    const bob = await forge.user({ username: 'bob', password: PASSWORD, skip_confirmation: false })
    await forge.settle()
    const statuses = async () => [
      (await owner.get(`${url}/members/${ann.id}`)).status,
      (await owner.get(`${url}/members/${bob.id}`)).status,
    ]
    expect(await statuses()).toEqual([200, 404])
    const mail = (await mailsOf(forge)).find(({ subject }) => subject === 'Confirm your email address')!
    const browser = new Browser(forge.url)
    await browser.submit(await browser.get(linkIn(mail)))
    await forge.settle()
    expect(await statuses()).toEqual([200, 200])
    expect((await owner.get(`${url}/invitations`)).body).toEqual([])
  })
})

test('security 28: an invitation ends after 90 days, with its source, and when it is withdrawn', async () => {
  await using forge = await startForge()
  const [group, project] = [await openSource(forge, 'groups'), await openSource(forge, 'projects')]
  const links = {
    group: await invited(forge, group, 'a@example.com'),
    withdrawn: await invited(forge, group, 'b@example.com'),
    project: await invited(forge, project, 'c@example.com'),
    old: await invited(forge, group, 'd@example.com'),
  }
  const browser = new Browser(forge.url)
  await forge.user({ username: 'jane', password: PASSWORD })
  await browser.signIn('jane', PASSWORD)
  const pages = { withdrawn: await browser.get(links.withdrawn), old: await browser.get(links.old) }
  await group.owner.delete(`${group.url}/invitations/b@example.com`)
  expect((await browser.submit(pages.withdrawn)).status).toBe(404)
  await forge.app.db.updateTable('projects').set({ deleting: true }).where('id', '=', project.id).execute()
  expect((await browser.get(links.project)).status).toBe(404)

  await forge.stopWorker()
  forge.clock.advance(90 * DAY - 60_000)
  await browser.signIn('jane', PASSWORD)
  expect((await browser.get(links.old)).status).toBe(200)
  forge.clock.advance(120_000)
  expect((await browser.get(links.old)).status).toBe(404)
  expect((await browser.submit(pages.old)).status).not.toBe(200)
  expect((await group.owner.get(`${group.url}/members`)).body).toHaveLength(1)
  expect((await browser.get('/-/invites/%00')).status).toBeLessThan(500)
  expect((await browser.get(`/-/invites/${'x'.repeat(500)}`)).status).toBeLessThan(500)
})

test('what nobody accepted in time is removed', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'groups')
  await invited(forge, source, 'a@example.com')
  forge.clock.advance(80 * DAY)
  await forge.settle()
  await invited(forge, source, 'b@example.com')
  forge.clock.advance(11 * DAY)
  await forge.settle()
  expect((await source.owner.get(`${source.url}/invitations`)).body).toMatchObject([{ invite_email: 'b@example.com' }])
})

test('a project that was locked meanwhile lets nobody in, and the invitation waits', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'projects')
  const { url, owner, group } = source
  const link = await invited(forge, source, 'jane@example.com')
  const lock = (membership_lock: boolean) =>
    forge.app.db.updateTable('namespaces').set({ membership_lock }).where('id', '=', group.id).execute()
  await lock(true)
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  await forge.settle()
  const browser = new Browser(forge.url)
  await browser.signIn('jane', PASSWORD)
  expect((await browser.submit(await browser.get(link))).status).toBe(403)
  expect((await owner.get(`${url}/members/${jane.id}`)).status).toBe(404)
  await lock(false)
  expect((await browser.submit(await browser.get(link))).status).toBe(200)
  expect((await owner.get(`${url}/members/${jane.id}`)).body.access_level).toBe(30)
})

test('a member who accepts stays the one they are', async () => {
  await using forge = await startForge()
  const source = await openSource(forge, 'groups')
  const link = await invited(forge, source, 'other@example.com', { access_level: 10 })
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  await source.owner.post(`${source.url}/members`, { user_id: jane.id, access_level: 40 })
  const browser = new Browser(forge.url)
  await browser.signIn('jane', PASSWORD)
  expect((await browser.submit(await browser.get(link))).status).toBe(200)
  expect((await source.owner.get(`${source.url}/members/${jane.id}`)).body.access_level).toBe(40)
})

test('invitations are no means to flood strangers, nor one mailbox', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'groups')
  const invite = async (email: string[], by = owner, at = url) =>
    (await by.post(`${at}/invitations`, { email, access_level: 10 })).body
  const strangers = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => `stranger${from + n}@example.com`)
  expect(await invite(strangers(0, 100))).toEqual({ status: 'success' })
  const refusal = 'Too many mails were sent. Try again later.'
  expect(await invite(['late@example.com'])).toEqual({ status: 'error', message: { 'late@example.com': refusal } })
  expect((await owner.get(`${url}/invitations?query=late@example.com`)).body).toEqual([])
  expect(await mailsOf(forge)).toHaveLength(100)

  const answers: unknown[] = []
  for (let i = 0; i < 11; i++) {
    const mallory = await forge.user()
    const { id } = await forge.group({}, mallory)
    answers.push((await invite(['victim@example.com'], mallory, `/groups/${id}`)).status)
  }
  expect(answers).toEqual([...Array(10).fill('success'), 'error'])
  forge.clock.advance(3_600_001)
  expect(await invite(['late@example.com', 'victim@example.com'])).toEqual({ status: 'success' })
})
