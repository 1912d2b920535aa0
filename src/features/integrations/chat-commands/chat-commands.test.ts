import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { runJobByName } from '../../../../test/pipelines.ts'
import { openSource, type Source } from '../../../../test/sources.ts'
import { MINUTE } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { parseCommand } from './parsing.ts'

let forge: TestForge
let source: Source
let jane: Person
const PASSWORD = 'correct horse battery'
const TOKEN = 'open sesame'
const headers: unknown = expect.anything()

beforeAll(async () => {
  forge = await startForge()
  source = await openSource(forge, 'projects')
  jane = await forge.user({ username: 'jane', password: PASSWORD })
  await source.owner.post(`${source.url}/members`, { user_id: jane.id, access_level: 30 })
  for (const slug of ['slack-slash-commands', 'mattermost-slash-commands'])
    await source.owner.put(`${source.url}/integrations/${slug}`, { token: TOKEN })
})
afterAll(() => forge[Symbol.asyncDispose]())

const COMMAND = { team_id: 'T1', team_domain: 'tools', user_id: 'U1', user_name: 'jane.chat', command: '/forge' }
const ask = (text: string, more: Record<string, unknown> = {}, slug = 'slack_slash_commands') =>
  forge.visitor.post(`${source.url}/services/${slug}/trigger`, { token: TOKEN, text, ...COMMAND, ...more })

const linkIn = (text: string) => new URL(/<([^|]+)\|/.exec(text)![1]!.replaceAll('&amp;', '&'))

async function signIn(person: Person): Promise<Browser> {
  const browser = new Browser(forge.url)
  await browser.signIn(person.username, PASSWORD)
  return browser
}

test('first use answers with a link, and who follows it is who speaks from then on', async () => {
  const { status, body } = await ask('issue new A title')
  expect([status, body]).toEqual([
    200,
    {
      response_type: 'ephemeral',
      text: expect.stringMatching(/^Before you can use this, <[^|]+\|connect your account>\.$/),
    },
  ])
  const { pathname, search } = linkIn(body.text)
  const browser = new Browser(forge.url)
  const asked = await browser.get(pathname + search)
  expect(asked.location).toMatch(/^\/users\/sign_in\?return_to=/)

  const signedIn = await signIn(jane)
  const page = await signedIn.get(pathname + search)
  expect(page.body).toContain('jane.chat')
  expect(page.body).toContain(source.path.slice(1))
  expect((await jane.get('/user/chat_names')).body).toEqual([])
  // Without the page's CSRF proof nothing is stored.
  const forged = await fetch(`${forge.url}${pathname}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: search.slice(1),
  })
  expect(forged.status).toBe(403)
  expect((await jane.get('/user/chat_names')).body).toEqual([])
  expect((await signedIn.submit(page, {})).status).toBe(200)
  const names = await jane.get('/user/chat_names')
  expect(names.body).toEqual([
    expect.objectContaining({ team_id: 'T1', team_domain: 'tools', chat_id: 'U1', chat_name: 'jane.chat' }),
  ])

  expect((await ask('issue show 1')).body.text).toBe("Not found, or you don't have access.")
  // Another user of the same chat team, or of another one, is not linked.
  for (const other of [{ user_id: 'U2' }, { team_id: 'T2' }])
    expect((await ask('issue show 1', other)).body.text).toContain('connect your account')
  expect((await ask('issue show 1', {}, 'mattermost_slash_commands')).body.text).toContain('connect your account')
})

test('a link that is old or altered connects nobody', async () => {
  const { pathname, search } = linkIn((await ask('help', { user_id: 'U9' })).body.text)
  const browser = await signIn(jane)
  const altered = search.replace(/token=./, 'token=x')
  expect((await browser.get(pathname + altered)).status).toBe(400)
  expect((await browser.get(pathname)).status).toBe(400)
  forge.clock.advance(11 * MINUTE)
  expect((await browser.get(pathname + search)).status).toBe(400)
})

test('refuses who does not know the token, and tells nothing', async () => {
  const missing = { status: 404, body: { message: '404 Service Not Found' }, headers }
  expect(await ask('help', { token: 'other' })).toEqual(missing)
  expect(await ask('help', {}, 'slack')).toEqual(missing)
  expect(await ask('help', {}, 'other')).toEqual(missing)
  expect(await forge.visitor.post('/projects/999/services/slack_slash_commands/trigger', { token: TOKEN })).toEqual(
    missing,
  )
  await source.owner.put(`${source.url}/integrations/slack-slash-commands`, { active: false })
  expect(await ask('help')).toEqual(missing)
  await source.owner.put(`${source.url}/integrations/slack-slash-commands`, { active: true })
  expect(await forge.visitor.post(`${source.url}/services/slack_slash_commands/trigger`, {})).toMatchObject({
    status: 400,
    body: { error: 'token is missing' },
  })
})

test('issues are made, found, talked about and closed, with the rights of who asks', async () => {
  const url = `${forge.url}${source.path}`
  const made = await ask('issue new Blunt <!channel>\nIt does not cut')
  const issue = `<${url}/-/issues/1|#1 Blunt &lt;!channel&gt;>`
  expect(made.body).toEqual({
    response_type: 'in_channel',
    text: `I created an issue on jane's behalf: ${issue} in <${url}|${source.title}>`,
    attachments: [
      {
        title: '#1 Blunt &lt;!channel&gt;',
        title_link: `${url}/-/issues/1`,
        text: 'It does not cut',
        color: '#C95823',
      },
    ],
  })
  const kept = (await jane.get(`${source.url}/issues/1`)).body
  expect(kept).toMatchObject({
    title: 'Blunt <!channel>',
    description: 'It does not cut',
    author: { username: 'jane' },
  })
  expect((await ask('issue show #1')).body).toMatchObject({
    response_type: 'in_channel',
    text: `Open issue ${issue} in <${url}|${source.title}>`,
  })
  expect((await ask('issue search blunt')).body).toEqual({
    response_type: 'ephemeral',
    text: `Here are the issues I found:\n• ${issue}`,
  })
  await ask('issue comment 1\nSharpen it')
  const { body: notes } = await jane.get(`${source.url}/issues/1/notes`)
  expect(notes).toMatchObject([{ body: 'Sharpen it', author: { username: 'jane' } }])
  expect((await ask('issue close 1')).body.text).toBe(`I closed an issue on jane's behalf: ${issue}`)
  expect((await jane.get(`${source.url}/issues/1`)).body.state).toBe('closed')
  expect((await ask('issue close 1')).body.text).toContain('already closed')

  await source.owner.post(`${source.url}/issues`, { title: 'Secret', confidential: true })
  expect((await ask('issue show 2')).body.response_type).toBe('ephemeral')
  await source.owner.put(`${source.url}/members/${jane.id}`, { access_level: 10 })
  expect((await ask('issue show 2')).body.text).toContain('Not found')
  expect((await ask('run tests')).body.text).toBe("You don't have permission to do this.")
  expect((await ask('deploy a to b')).body.text).toBe("You don't have permission to do this.")
  await source.owner.delete(`${source.url}/members/${jane.id}`)
  expect((await ask('issue new Another')).body.text).toBe('You have no access to this project.')
  expect((await source.owner.get(`${source.url}/issues`)).body).toHaveLength(2)
  await source.owner.post(`${source.url}/members`, { user_id: jane.id, access_level: 40 })
})

test('deploys what runs in one environment to another, and runs a job', async () => {
  const config = `
stages: [a, b]
stage it: { stage: a, script: [x], environment: staging }
ship it: { stage: b, script: [x], environment: production, when: manual }
tests: { stage: a, script: ['echo $CHAT_INPUT'], only: [chat] }
`
  await forge.seed({ id: source.id }, { '.gitlab-ci.yml': config })
  await forge.settle()
  const { body: pipelines } = await jane.get(`${source.url}/pipelines`)
  const { body: jobs } = await jane.get(`${source.url}/pipelines/${pipelines[0].id}/jobs`)
  const job = (name: string) => jobs.find((one: { name: string }) => one.name === name)
  expect((await ask('deploy staging to production')).body.text).toBe('No action found to be executed.')
  await runJobByName(forge, 'stage it')
  const { body } = await ask('deploy staging to production')
  expect(body).toEqual({
    response_type: 'in_channel',
    text: `Deployment started from staging to production. <${forge.url}${source.path}/-/jobs/${job('ship it').id}|View job>.`,
  })
  const { body: ran } = await ask('run tests all of them', { channel_name: 'dev' })
  expect(ran.text).toMatch(/^Your job tests runs in pipeline </)
  const { body: newest } = await jane.get(`${source.url}/pipelines`, { source: 'chat' })
  expect(newest).toMatchObject([{ source: 'chat' }])
  expect((await jane.get(`${source.url}/pipelines/${newest[0].id}/jobs`)).body).toMatchObject([{ name: 'tests' }])
  expect((await jane.get(`${source.url}/pipelines/${newest[0].id}/variables`)).body).toEqual(
    expect.arrayContaining([expect.objectContaining({ key: 'CHAT_INPUT', value: 'all of them' })]),
  )
  expect((await ask('run other')).body.text).toContain('Pipeline could not be created')
})

test('what is made in a chat counts as what its people make elsewhere', async () => {
  const at = `${source.url}/issues`
  const { iid } = (await jane.post(at, { title: 'counted' })).body
  forge.clock.advance(MINUTE)
  using _ = forge.clock.hold()
  await forge.administrator.put('/application/settings', { issues_create_limit: 1, notes_create_limit: 1 })
  expect((await jane.post(at, { title: 'counted' })).status).toBe(201)
  expect((await jane.post(`${at}/${iid}/notes`, { body: 'counted' })).status).toBe(201)
  const before = [(await jane.get(at)).body.length, (await jane.get(`${at}/${iid}`)).body.user_notes_count]
  for (const text of ['issue new One more', `issue comment ${iid}\nOne more`])
    expect((await ask(text)).body).toEqual({
      response_type: 'ephemeral',
      text: 'Rate limit reached. Try again later.',
    })
  expect([(await jane.get(at)).body.length, (await jane.get(`${at}/${iid}`)).body.user_notes_count]).toEqual(before)
  await forge.administrator.put('/application/settings', { issues_create_limit: 300, notes_create_limit: 300 })
})

test('who is no longer meant is nobody', async () => {
  const { body } = await jane.get('/user/chat_names')
  expect((await forge.administrator.delete(`/user/chat_names/${body[0].id}`)).status).toBe(404)
  expect((await jane.delete(`/user/chat_names/${body[0].id}`)).status).toBe(204)
  expect((await jane.delete(`/user/chat_names/${body[0].id}`)).status).toBe(404)
  expect((await ask('help')).body.text).toContain('connect your account')
})

test.each([
  ['', { kind: 'help' }],
  ['help', { kind: 'help' }],
  ['dance', { kind: 'help', unknown: 'dance' }],
  ['issue', { kind: 'help', unknown: 'issue' }],
  ['issue show x', { kind: 'help', unknown: 'issue show x' }],
  ['issue show #12', { kind: 'issue show', iid: 12 }],
  ['Issue New  Two  words\n\nMore\nlines', { kind: 'issue new', title: 'Two words', description: 'More\nlines' }],
  ['issue comment 3 inline\nand below', { kind: 'issue comment', iid: 3, note: 'inline\nand below' }],
  ['issue comment 3', { kind: 'help', unknown: 'issue comment 3' }],
  ['deploy staging to production', { kind: 'deploy', from: 'staging', to: 'production' }],
  ['deploy staging production', { kind: 'help', unknown: 'deploy staging production' }],
  ['run tests a b', { kind: 'run', job: 'tests', rest: 'a b' }],
])('%s', (text, command) => expect(parseCommand(text)).toEqual(command))
