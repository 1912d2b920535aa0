import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openSource, type Source } from '../../../../test/sources.ts'
import { startMailServer, type MailServer } from '../../../../test/smtp.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { sendMails } from './jobs.ts'
import { reactions } from './on.ts'

let forge: TestForge
let server: MailServer

beforeAll(async () => {
  server = await startMailServer()
  forge = await startForge({ settings: { SMTP_URL: server.url } })
})
afterAll(async () => {
  await forge.close()
  await server[Symbol.asyncDispose]()
})
beforeEach(() => {
  server.refuse = () => null
})

async function member({ url, owner }: Source, access_level: number, level?: string, more = {}): Promise<Person> {
  const person = await forge.user()
  await owner.post(`${url}/members`, { user_id: person.id, access_level })
  if (level) await person.put(`${url}/notification_settings`, { level, ...more })
  return person
}

/** Mails since the last call, after all are sent. */
async function arrived() {
  await forge.settle()
  return server.received.splice(0)
}

/** `<reason>: <subject>` by recipient. Fails if a recipient gets more than one mail. */
async function mailed(people: Record<string, Person>): Promise<Record<string, string>> {
  const mails = await arrived()
  const names = new Map(Object.entries(people).map(([name, { username }]) => [`${username}@example.com`, name]))
  const found = mails.map(({ to, subject, headers }) => [
    names.get(to) ?? to,
    `${headers['x-gitlab-notificationreason']}: ${subject}`,
  ])
  expect(new Set(found.map(([name]) => name)).size).toBe(found.length)
  return Object.fromEntries(found)
}

test('a new issue is told once to each whom it concerns, by their level, with the strongest reason', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner } = source
  const people = {
    assigned: await member(source, 30),
    named: await member(source, 20),
    namedAtMention: await member(source, 20, 'mention'),
    namedAtDisabled: await member(source, 20, 'disabled'),
    assignedAtMention: await member(source, 20, 'mention'),
    watcher: await member(source, 20, 'watch'),
    chooser: await member(source, 20, 'custom', { new_issue: true }),
    otherChooser: await member(source, 20, 'custom', { new_issue: false, new_note: true }),
    participant: await member(source, 20, 'participating'),
    labelFan: await member(source, 20, 'disabled'),
    watcherOfAll: await member(source, 20),
    watcherOfGroup: await member(source, 20),
    stranger: await forge.user(),
  }
  await people.watcherOfAll.put('/notification_settings', { level: 'watch' })
  await owner.post(`${source.group.url}/members`, { user_id: people.watcherOfGroup.id, access_level: 20 })
  await people.watcherOfGroup.put(`${source.group.url}/notification_settings`, { level: 'watch' })
  const label = (await owner.post(`${url}/labels`, { name: 'hot', color: '#ff0000' })).body
  await people.labelFan.post(`${url}/labels/${label.id}/subscribe`)
  await arrived()
  const { assigned, named, namedAtMention, namedAtDisabled, assignedAtMention, stranger } = people
  await owner.post(`${url}/issues`, {
    title: 'Broken\r\nBcc: eve@example.com',
    description: `@${named.username} @${assigned.username} @${namedAtMention.username} @${namedAtDisabled.username} @${stranger.username}`,
    assignee_ids: [assigned.id, assignedAtMention.id],
    labels: 'hot',
  })
  const subject = 'Saw | Broken Bcc: eve@example.com (#1)'
  expect(await mailed(people)).toEqual({
    assigned: `assigned: ${subject}`,
    named: `mentioned: ${subject}`,
    namedAtMention: `mentioned: ${subject}`,
    watcher: `watching: ${subject}`,
    chooser: `watching: ${subject}`,
    labelFan: `subscribed: ${subject}`,
    watcherOfAll: `watching: ${subject}`,
    watcherOfGroup: `watching: ${subject}`,
  })
})

test('what becomes of an issue is told to those who take part, and not to who left it or did it', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner } = source
  const people = {
    owner,
    jane: await member(source, 30),
    joe: await member(source, 30),
    left: await member(source, 30, 'watch'),
    silent: await member(source, 30, 'disabled'),
  }
  const { jane, joe, left, silent } = people
  const issue = (await jane.post(`${url}/issues`, { title: 'Work' })).body
  const at = `${url}/issues/${issue.iid}`
  for (const input of ['subscribe', 'unsubscribe']) expect((await left.post(`${at}/${input}`)).status).toBe(201)
  await silent.post(`${at}/subscribe`)
  await arrived()
  const subject = 'Re: Saw | Work (#1)'

  await owner.put(at, { assignee_ids: [joe.id] })
  expect(await mailed(people)).toEqual({
    jane: `participating: ${subject}`,
    joe: `assigned: ${subject}`,
    silent: `subscribed: ${subject}`,
  })
  await joe.post(`${at}/notes`, { body: 'On it' })
  expect(await mailed(people)).toEqual({ jane: `participating: ${subject}`, silent: `subscribed: ${subject}` })
  await jane.put(at, { state_event: 'close' })
  expect(await mailed(people)).toEqual({ joe: `participating: ${subject}`, silent: `subscribed: ${subject}` })
  await owner.put(at, { state_event: 'reopen' })
  expect(Object.keys(await mailed(people)).toSorted()).toEqual(['jane', 'joe', 'silent'])
  // An irrelevant change mails nobody, and neither does a repeated mention.
  await owner.put(at, { weight: 3, description: `see @${joe.username}` })
  expect(await mailed(people)).toEqual({ joe: `mentioned: ${subject}` })
  await owner.put(at, { description: `see also @${joe.username}` })
  expect(await mailed(people)).toEqual({})
  await owner.put(`/notification_settings`, { notified_of_own_activity: true })
  await owner.post(`${at}/notes`, { body: 'Mine' })
  expect(await mailed(people)).toMatchObject({ owner: `own_activity: ${subject}` })
})

test('a mail holds text and HTML, threads, and tells why it came and how to end it', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner, id } = source
  const jane = await member(source, 30)
  await arrived()
  const issue = (
    await owner.post(`${url}/issues`, {
      title: 'Größe',
      assignee_ids: [jane.id],
      description: '**Now** ![x](https://eve.example/t.png) #1 #99',
    })
  ).body
  const [first] = await arrived()
  const note = (await owner.post(`${url}/issues/1/discussions`, { body: 'First' })).body.notes[0]
  const [second] = await arrived()
  const [discussion] = (await owner.get(`${url}/issues/1/discussions`)).body.slice(-1)
  await owner.post(`${url}/issues/1/discussions/${discussion.id}/notes`, {
    body: `see [that](/explore), @${jane.username}`,
  })
  const [third] = await arrived()
  const path = source.path.slice(1)
  const at = `${forge.url}/${path}/-/issues/1`
  const common = {
    'x-gitlab-project': 'Saw',
    'x-gitlab-project-id': String(id),
    'x-gitlab-project-path': path,
    'x-gitlab-issue-id': String(issue.id),
    'x-gitlab-issue-iid': '1',
    'x-gitlab-author': owner.username,
    'list-id': `${path} <${id}.${path.split('/').toReversed().join('.')}.127.0.0.1>`,
    'list-unsubscribe': expect.stringMatching(new RegExp(`^<${forge.url}/-/unsubscribe/[\\w.-]+>$`)),
    'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
    'auto-submitted': 'auto-generated',
    'reply-to': 'noreply@127.0.0.1',
  }
  expect(first).toMatchObject({
    to: `${jane.username}@example.com`,
    subject: 'Saw | Größe (#1)',
    headers: { ...common, 'message-id': `<issue_${issue.id}@127.0.0.1>`, 'x-gitlab-notificationreason': 'assigned' },
  })
  expect(first!.headers).not.toHaveProperty('in-reply-to')
  expect(first!.headers.from).toContain(`<mortise@127.0.0.1>`)
  expect(first!.headers.from).toContain('Owner')
  const name = (await owner.get('/user')).body.name
  const unsubscribe = /<(.*)>/.exec(first!.headers['list-unsubscribe']!)![1]!
  expect(first!.text.replaceAll('\r', '').trimEnd()).toBe(`${name} created an issue.

**Now** ![x](https://eve.example/t.png) #1 #99

Assignees: ${(await jane.get('/user')).body.name}

${at}

-- 
You receive this email from ${forge.url} because you are an assignee. Replies to this email are not read.
Unsubscribe from this issue: ${unsubscribe}`)
  expect(first!.html).toContain(
    `<p><strong>Now</strong> <a href="https://eve.example/t.png" rel="noreferrer">[x]</a> <a href="${at}"`,
  )
  expect(first!.html).toContain(' #99</p>')
  expect(first!.html).not.toMatch(/<(img|table|script|link)/)
  expect(first!.html).toContain(`<a href="${unsubscribe}">Unsubscribe from this issue</a>`)

  expect(second).toMatchObject({
    subject: 'Re: Saw | Größe (#1)',
    headers: {
      ...common,
      'message-id': `<note_${note.id}@127.0.0.1>`,
      'in-reply-to': `<issue_${issue.id}@127.0.0.1>`,
      references: `<issue_${issue.id}@127.0.0.1>`,
      'x-gitlab-discussion-id': expect.stringMatching(/^[0-9a-f]{40}$/),
    },
  })
  expect(third).toMatchObject({
    headers: {
      'in-reply-to': `<note_${note.id}@127.0.0.1>`,
      references: `<issue_${issue.id}@127.0.0.1> <note_${note.id}@127.0.0.1>`,
      'x-gitlab-notificationreason': 'mentioned',
    },
  })
  expect(third!.html).toContain(`<a href="${forge.url}/explore">that</a>`)
})

test('what is hidden is told to those alone who see it, also when they lose sight of it before it is sent', async () => {
  const source = await openSource(forge, 'projects', { visibility: 'public' })
  const { url, owner } = source
  const people = {
    reporter: await member(source, 20, 'watch'),
    guest: await member(source, 10, 'watch'),
    assignedGuest: await member(source, 10),
    passerBy: await forge.user(),
    blocked: await member(source, 30, 'watch'),
    leaver: await member(source, 30, 'watch'),
    unconfirmed: await forge.user({ skip_confirmation: false }),
  }
  const { assignedGuest, passerBy, blocked, unconfirmed } = people
  await passerBy.put(`${url}/notification_settings`, { level: 'watch' })
  await owner.post(`${url}/members`, { user_id: unconfirmed.id, access_level: 30 })
  await forge.administrator.post(`/users/${blocked.id}/block`)
  await forge.app.db
    .insertInto('notification_settings')
    .values({
      user_id: unconfirmed.id,
      project_id: source.id,
      group_id: null,
      level: 2,
      notification_email: null,
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: '2026-01-01T00:00:00.000Z',
    })
    .execute()
  await arrived()
  const everybody = Object.values(people)
    .map(({ username }) => `@${username}`)
    .join(' ')

  const secret = (await owner.post(`${url}/issues`, { title: 'Secret', assignee_ids: [assignedGuest.id] })).body
  await owner.put(`${url}/issues/${secret.iid}`, { confidential: true })
  await arrived()
  await owner.post(`${url}/issues/${secret.iid}/notes`, { body: everybody })
  expect(Object.keys(await mailed(people)).toSorted()).toEqual(['assignedGuest', 'leaver', 'reporter'])
  await owner.post(`${url}/issues`, { title: 'Secret from the start', confidential: true, description: everybody })
  expect(Object.keys(await mailed(people)).toSorted()).toEqual(['leaver', 'reporter'])
  const open = (await owner.post(`${url}/issues`, { title: 'Open' })).body
  expect(Object.keys(await mailed(people)).toSorted()).toEqual(['guest', 'leaver', 'passerBy', 'reporter'])
  await owner.post(`${url}/issues/${open.iid}/notes`, { body: `between us ${everybody}`, internal: true })
  expect(Object.keys(await mailed(people)).toSorted()).toEqual(['leaver', 'reporter'])

  // While the server rejects mails, records change.
  server.refuse = () => 451
  await owner.post(`${url}/issues/${open.iid}/notes`, { body: 'Soon secret' })
  await owner.post(`${url}/issues/${open.iid}/notes`, { body: 'Soon gone' })
  await forge.settle()
  const notes = (await owner.get(`${url}/issues/${open.iid}/notes`)).body
  await owner.delete(`${url}/issues/${open.iid}/notes/${notes[0].id}`)
  await owner.put(`${url}/issues/${open.iid}`, { confidential: true })
  await owner.delete(`${url}/members/${people.leaver.id}`)
  server.refuse = () => null
  forge.clock.advance(3_600_000)
  expect(Object.keys(await mailed(people)).toSorted()).toEqual(['reporter'])
  const states = await forge.app.db.selectFrom('notification_mails').select('state').distinct().execute()
  expect(states.map(({ state }) => state).toSorted()).toEqual(['dropped', 'sent'])

  await owner.put(url, { visibility: 'private' })
  await owner.post(`${url}/issues`, { title: 'Inside' })
  expect(Object.keys(await mailed(people)).toSorted()).toEqual(['guest', 'reporter'])
})

test('nobody is mailed where mail is switched off', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner, group } = source
  const people = { jane: await member(source, 30, 'watch') }
  await arrived()
  const issue = () => owner.post(`${url}/issues`, { title: 'News' })
  for (const [where, off, on] of [
    [url, { emails_disabled: true }, { emails_disabled: false }],
    [group.url, { emails_disabled: true }, { emails_disabled: false }],
  ] as const) {
    expect((await owner.put(where, off)).status).toBe(200)
    await issue()
    expect(await mailed(people)).toEqual({})
    await owner.put(where, on)
  }
  const { administrator } = forge
  await administrator.put('/application/settings', { silent_mode_enabled: true })
  await issue()
  expect(await mailed(people)).toEqual({})
  await administrator.put('/application/settings', {
    silent_mode_enabled: false,
    html_emails_enabled: false,
    email_author_in_body: true,
  })
  await issue()
  const [mail] = await arrived()
  expect(mail).toMatchObject({ html: null, headers: { from: 'mortise@127.0.0.1' } })
  await administrator.put('/application/settings', { html_emails_enabled: true, email_author_in_body: false })
})

test('what was done by somebody who is gone is told all the same', async () => {
  const source = await openSource(forge, 'projects')
  const people = { owner: source.owner, jane: await member(source, 30, 'watch') }
  const gone = await member(source, 30)
  await arrived()
  const reaction = reactions.find(({ event }) => event === 'issue.closed')!
  const issue = (await source.owner.post(`${source.url}/issues`, { title: 'Left' })).body
  await forge.administrator.delete(`/users/${gone.id}`, { hard_delete: true })
  await arrived()
  const payload = { id: issue.id, project_id: source.id, by: gone.id }
  await reaction.handle(forge.app, payload as never, undefined, { source: 'a test', at: '' })
  expect(await mailed(people)).toEqual({
    owner: 'participating: Re: Saw | Left (#1)',
    jane: 'watching: Re: Saw | Left (#1)',
  })
})

test('mail goes to the address of one’s settings', async () => {
  const source = await openSource(forge, 'projects')
  const jane = await member(source, 30, 'watch')
  const { administrator } = forge
  const email = `work-${jane.username}@example.com`
  const added = await administrator.post(`/users/${jane.id}/emails`, { email, skip_confirmation: true })
  await jane.put('/notification_settings', { notification_email: email })
  await arrived()
  await source.owner.post(`${source.url}/issues`, { title: 'A' })
  expect((await arrived()).map(({ to }) => to)).toEqual([email])
  await administrator.delete(`/users/${jane.id}/emails/${added.body.id}`)
  await arrived()
  await source.owner.post(`${source.url}/issues`, { title: 'B' })
  expect((await arrived()).map(({ to }) => to)).toEqual([`${jane.username}@example.com`])
})

test('what the server does not take is tried again for those who miss it, unless it is refused for good', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner } = source
  const people = {
    first: await member(source, 30, 'watch'),
    later: await member(source, 30, 'watch'),
    never: await member(source, 30, 'watch'),
  }
  await arrived()
  const addressOf = ({ username }: Person) => `${username}@example.com`
  const asked: string[] = []
  server.refuse = (address) => {
    asked.push(address)
    return address === addressOf(people.later) ? 451 : address === addressOf(people.never) ? 550 : null
  }
  await owner.post(`${url}/issues`, { title: 'News' })
  expect(Object.keys(await mailed(people))).toEqual(['first'])
  expect(asked.toSorted()).toEqual(Object.values(people).map(addressOf).toSorted())
  server.refuse = (address) => {
    asked.push(address)
    return null
  }
  asked.length = 0
  forge.clock.advance(3_600_000)
  expect(Object.keys(await mailed(people))).toEqual(['later'])
  expect(asked).toEqual([addressOf(people.later)])
  // The job runs again, as after a crash.
  const row = await forge.app.db.selectFrom('notifications').selectAll().orderBy('id', 'desc').executeTakeFirstOrThrow()
  const users = Object.values(people).map(({ id }) => id)
  await sendMails.handle(forge.app, { notification: row.id, users })
  expect(await arrived()).toEqual([])
  const event = Number(/^event (\d+)/.exec(row.source)![1])
  await forge.app.db.updateTable('events').set({ dispatched_at: null }).where('id', '=', event).execute()
  expect(await mailed(people)).toEqual({})
  const again = forge.app.db.selectFrom('events').select(['name', 'dispatched_at']).where('id', '=', event)
  expect(await again.execute()).toEqual([{ name: 'issue.created', dispatched_at: expect.any(String) }])
})

test('beyond thirty mails in an hour from one to another, the rest comes in one mail that lists all of it', async () => {
  const source = await openSource(forge, 'projects')
  const { url, owner } = source
  const [flooded, calm] = [await member(source, 20), await member(source, 20)]
  const { body: issue } = await owner.post(`${url}/issues`, { title: 'Flood' })
  await arrived()
  const name = async (body: string) =>
    (await owner.post(`${url}/issues/${issue.iid}/notes`, { body: `@${flooded.username} ${body}` })).body.id as number
  await name('first')
  expect(await arrived()).toHaveLength(1)
  const seeded = await forge.app.db
    .updateTable('throttles')
    .set({ count: 30 })
    .where('key', '=', `news by ${owner.id} to ${flooded.id}`)
    .executeTakeFirst()
  expect(Number(seeded.numUpdatedRows)).toBe(1)

  const ids = [await name('second'), await name('third'), await name('fourth')]
  await owner.post(`${url}/issues/${issue.iid}/notes`, { body: `@${calm.username} hello` })
  const others = await arrived()
  expect(others.map(({ to }) => to)).toContain(`${calm.username}@example.com`)
  expect(others.map(({ to }) => to)).not.toContain(`${flooded.username}@example.com`)

  // No mail is lost while the server is unavailable.
  server.refuse = () => 451
  forge.clock.advance(10 * 60_000)
  expect(await arrived()).toEqual([])
  server.refuse = () => null
  forge.clock.advance(60 * 60_000)
  const [digest, ...more] = (await arrived()).filter(({ to }) => to === `${flooded.username}@example.com`)
  expect(more).toEqual([])
  expect(digest!.subject).toMatch(/^\d notifications in one email$/)
  for (const id of ids) expect(digest!.text).toContain(`#note_${id}`)
  forge.clock.advance(60 * 60_000)
  expect(await arrived()).toEqual([])
})
