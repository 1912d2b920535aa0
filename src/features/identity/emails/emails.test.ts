import { expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { linkIn, mailsOf } from '../../../../test/mailbox.ts'
import { startForge, type TestForge } from '../../../forge.ts'

test('an address is kept trimmed, in lower case, and is a claim until it is confirmed', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const answer = await jane.post('/user/emails', { email: ' Jane@Work.Example ' })
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({
    id: expect.any(Number),
    email: 'jane@work.example',
    confirmed_at: null,
  })
  expect((await jane.get('/user/emails')).body).toEqual([answer.body])
})

test('refuses what is no address, or somebody’s already', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ email: 'jane@example.com' })
  const john = await forge.user({ email: 'john@example.com' })
  const vouched = { email: 'john@work.example', skip_confirmation: true }
  const { body: known } = await administrator.post(`/users/${john.id}/emails`, vouched)
  const events = await forge.events()

  const refusals = [
    ['', "can't be blank"],
    ['jane', 'is invalid'],
    ['jane@', 'is invalid'],
    ['jane@example.com, john@example.com', 'is invalid'],
    [`${'x'.repeat(250)}@example.com`, 'is invalid'],
    ['jane@example.com', 'has already been taken'],
    ['JOHN@example.com', 'has already been taken'],
    ['John@Work.example', 'has already been taken'],
  ] as const
  for (const [email, text] of refusals) {
    const refused = { status: 400, body: { message: { email: [text] } }, headers: expect.anything() }
    expect(await jane.post('/user/emails', { email })).toEqual(refused)
    expect(await administrator.post(`/users/${jane.id}/emails`, { email })).toEqual(refused)
  }
  const list = await jane.post('/user/emails', { email: ['jane@home.example', 'john@home.example'] })
  expect(list).toMatchObject({ status: 400, body: { message: 'email is invalid' } })

  expect((await jane.get('/user/emails')).body).toEqual([])
  expect((await john.get('/user/emails')).body).toEqual([known])
  expect(await forge.events()).toEqual(events)
})

test('a deleted address is free again, and its former owner is notified', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const john = await forge.user()
  const { body } = await jane.post('/user/emails', { email: 'shared@example.com' })
  await jane.delete(`/user/emails/${body.id}`)
  expect((await john.post('/user/emails', { email: 'shared@example.com' })).status).toBe(201)

  const events = await forge.app.db.selectFrom('events').select('payload').where('name', '=', 'email.deleted').execute()
  expect(events.map(({ payload }) => JSON.parse(payload))).toEqual([
    { id: body.id, user_id: jane.id, email: 'shared@example.com' },
  ])
})

const claim = { email: 'wanted@example.com' }
const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

async function confirmLink(forge: TestForge, username: string): Promise<string> {
  const mails = (await mailsOf(forge)).filter(({ to }) => to === claim.email)
  return linkIn(mails.find(({ text }) => text.includes(`the account ${username} `))!)
}

test('the mailed link confirms an address, tells whose account it is, and works once', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  await jane.post('/user/emails', claim)
  const link = await confirmLink(forge, 'jane')
  const browser = new Browser(forge.url)
  const page = await browser.get(link)
  expect([page.status, page.body]).toEqual([200, expect.stringContaining('to the account jane?')])
  expect((await jane.get('/user/emails')).body).toMatchObject([{ confirmed_at: null }])

  expect((await browser.submit(page)).status).toBe(200)
  expect((await jane.get('/user/emails')).body).toMatchObject([{ ...claim, confirmed_at: moment }])
  expect((await browser.submit(page)).status).toBe(404)
  expect((await browser.get(link)).status).toBe(404)
  expect((await forge.events()).slice(-2)).toEqual(['email.created', 'email.confirmed'])
})

test('an unproven claim locks nobody out, and is gone once the address has an owner', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const [mallory, jane] = [await forge.user({ username: 'mallory' }), await forge.user({ username: 'jane' })]
  expect((await mallory.post('/user/emails', claim)).status).toBe(201)
  expect((await mallory.post('/user/emails', claim)).status).toBe(400)
  const hostile = await confirmLink(forge, 'mallory')

  expect((await jane.post('/user/emails', claim)).status).toBe(201)
  const browser = new Browser(forge.url)
  await browser.submit(await browser.get(await confirmLink(forge, 'jane')))
  expect((await jane.get('/user/emails')).body).toMatchObject([{ ...claim, confirmed_at: moment }])
  expect((await mallory.get('/user/emails')).body).toEqual([])
  expect((await browser.get(hostile)).status).toBe(404)
  expect((await mallory.post('/user/emails', claim)).body).toEqual({ message: { email: ['has already been taken'] } })

  await mallory.post('/user/emails', { email: 'new@example.com' })
  const created = { username: 'new', name: 'New', email: 'new@example.com', reset_password: true }
  expect((await administrator.post('/users', created)).status).toBe(201)
  await mallory.post('/user/emails', { email: 'moved@example.com' })
  expect((await administrator.put(`/users/${jane.id}`, { email: 'moved@example.com' })).status).toBe(200)
  expect((await mallory.get('/user/emails')).body).toEqual([])
})

test('an address that an administrator confirms is confirmed at once; nobody else can', async () => {
  await using forge = await startForge()
  const [mallory, jane] = [await forge.user(), await forge.user()]
  const own = await mallory.post('/user/emails', { ...claim, skip_confirmation: true })
  expect(own.body).toMatchObject({ confirmed_at: null })
  const vouched = { ...claim, skip_confirmation: true }
  const answer = await forge.administrator.post(`/users/${jane.id}/emails`, vouched)
  expect([answer.status, answer.body]).toMatchObject([201, { ...claim, confirmed_at: moment }])
  expect((await mallory.get('/user/emails')).body).toEqual([])
  const later = await forge.administrator.post(`/users/${jane.id}/emails`, { email: 'later@example.com' })
  expect(later.body).toMatchObject({ confirmed_at: null })
})

test('of two who are vouched for at once, one owns the address', async () => {
  await using forge = await startForge()
  const people = [await forge.user(), await forge.user()]
  const vouch = ({ id }: { id: number }) =>
    forge.administrator.post(`/users/${id}/emails`, { ...claim, skip_confirmation: true })
  const answers = await Promise.all(people.map(vouch))
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400])
})

test('a new primary address is confirmed as far as it was proven or vouched for', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ email: 'one@example.com' })
  const put = async (input: Record<string, unknown>) => (await administrator.put(`/users/${jane.id}`, input)).body
  await administrator.post(`/users/${jane.id}/emails`, { email: 'two@example.com', skip_confirmation: true })
  await jane.post('/user/emails', { email: 'three@example.com' })

  expect(await put({ email: 'two@example.com' })).toMatchObject({ confirmed_at: moment })
  expect(await put({ email: 'three@example.com' })).toMatchObject({ confirmed_at: null })
  const emails = (await jane.get('/user/emails')).body
  expect(emails).toMatchObject([
    { email: 'two@example.com', confirmed_at: moment },
    { email: 'one@example.com', confirmed_at: moment },
  ])
  expect(await put({ email: 'four@example.com', skip_reconfirmation: true })).toMatchObject({ confirmed_at: moment })
  expect(await put({ email: 'five@example.com' })).toMatchObject({ confirmed_at: null })

  const [mail] = (await mailsOf(forge)).filter(({ to }) => to === 'five@example.com')
  const browser = new Browser(forge.url)
  expect((await browser.submit(await browser.get(linkIn(mail!)))).status).toBe(200)
  expect((await jane.get('/user')).body).toMatchObject({ email: 'five@example.com', confirmed_at: moment })
})

test('adding and deleting an address again and again is no way to fill a mailbox', async () => {
  await using forge = await startForge()
  const [jane, john] = [await forge.user(), await forge.user()]
  const statuses: number[] = []
  for (let i = 0; i < 11; i++) {
    const { status, body } = await jane.post('/user/emails', claim)
    statuses.push(status)
    if (status === 201) await jane.delete(`/user/emails/${body.id}`)
  }
  expect(statuses).toEqual([...Array(10).fill(201), 429])
  expect((await john.post('/user/emails', claim)).status).toBe(429)
  expect((await jane.post('/user/emails', { email: 'another@example.com' })).status).toBe(201)
  forge.clock.advance(3_600_001)
  expect((await john.post('/user/emails', claim)).status).toBe(201)
})

test('an administrator adds addresses without a limit of mails an hour; to one address there is one', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  await forge.app.db
    .insertInto('throttles')
    .values({ key: `mail by ${jane.id}`, count: 100, until: '2999-01-01T00:00:00.000Z' })
    .execute()
  expect((await jane.post('/user/emails', { email: 'own@example.com' })).status).toBe(429)
  const add = (email: string) => forge.administrator.post(`/users/${jane.id}/emails`, { email })
  expect((await add('one@example.com')).status).toBe(201)
  const statuses: number[] = []
  for (let n = 0; n < 11; n++) {
    const { status, body } = await add('two@example.com')
    statuses.push(status)
    if (status === 201) await forge.administrator.delete(`/users/${jane.id}/emails/${body.id}`)
  }
  expect(statuses).toEqual([...Array(10).fill(201), 429])
})
