import { createServer, type Server } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSource, type Source } from '../../../../test/sources.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { ServiceFailure } from './asking.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { serviceOf } from './registry.ts'
import { interestedServices, sendToService } from './send.ts'
import type { Payload } from './payload.ts'

interface Received {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

let forge: TestForge
let source: Source
let receiver: Server
let base: string
let received: Received[] = []
let status = 200
/** The answer per path. */
let answers: Record<string, unknown> = {}

beforeAll(async () => {
  receiver = createServer((request, response) => {
    void text(request).then((body) => {
      const { method, url, headers } = request
      received.push({ method: method!, path: url!, headers, body })
      const answer = answers[`${method} ${url}`]
      response.writeHead(answer === 404 ? 404 : status, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(answer ?? {}))
    })
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  forge = await startForge()
  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
  source = await openSource(forge, 'projects')
})
afterAll(async () => {
  receiver.close()
  await forge[Symbol.asyncDispose]()
})

const OLD = 'a'.repeat(40)
const NEW = 'b'.repeat(40)
const user = { name: 'Jane Doe', username: 'jane', avatar_url: 'https://forge.example.com/jane.png' }
/** A title with markup that receivers would interpret. */
const TITLE = 'Saw <!channel> & [x](y) @all |'

const commit = {
  id: NEW,
  message: 'Sharpen <!here> @all\n\nCloses SAW-7, see SAW-8',
  timestamp: '2026-11-16T10:00:00+01:00',
  url: 'https://forge.example.com/c/b',
  author: { name: 'Jane Doe', email: 'jane@example.com' },
}
const push: Payload = {
  object_kind: 'push',
  ref: 'refs/heads/master',
  before: OLD,
  after: NEW,
  checkout_sha: NEW,
  user_name: 'Jane Doe',
  user_username: 'jane',
  user_avatar: user.avatar_url,
  commits: [commit],
  total_commits_count: 1,
}
const issue: Payload = {
  object_kind: 'issue',
  event_type: 'issue',
  user,
  object_attributes: {
    id: 5,
    iid: 3,
    title: TITLE,
    description: 'It is <b>blunt</b> @all',
    url: 'https://forge.example.com/i/3',
    state: 'opened',
    action: 'open',
  },
}
const mergeRequest: Payload = {
  object_kind: 'merge_request',
  user,
  object_attributes: {
    iid: 4,
    title: 'Closes SAW-7',
    description: '',
    url: 'https://forge.example.com/m/4',
    state: 'opened',
    action: 'open',
    source_branch: 'blade<1>',
    target_branch: 'master',
  },
}
const note: Payload = {
  object_kind: 'note',
  user,
  object_attributes: { note: 'Yes & no', url: 'https://forge.example.com/i/3#note_1' },
  issue: { iid: 3, title: 'Blunt' },
}
const pipeline: Payload = {
  object_kind: 'pipeline',
  user,
  object_attributes: { id: 9, ref: 'master', tag: false, sha: NEW, status: 'failed', duration: 65 },
  builds: [{ stage: 'test', name: 'unit', status: 'failed' }],
}
const passed: Payload = { ...pipeline, object_attributes: { ...pipeline.object_attributes, status: 'success' } }
const wiki: Payload = {
  object_kind: 'wiki_page',
  user,
  object_attributes: { title: 'Home', content: 'Welcome', url: 'https://forge.example.com/w/home', action: 'create' },
}

const url = () => `${forge.url}${source.path}`
const name = () => source.title

/** Configures a service, sends messages, and switches it off again. Returns what the receiver got. */
async function requestsFor(slug: string, settings: Record<string, unknown>, ...bodies: Payload[]): Promise<Received[]> {
  const path = `${source.url}/integrations/${slug}`
  const { status: set, body } = await source.owner.put(path, settings)
  expect([set, body]).toEqual([200, expect.anything()])
  received = []
  try {
    for (const payload of bodies) {
      const kind = payload.object_kind!
      for (const row of await interestedServices(forge.app, source.id, kind))
        await sendToService(forge.app, row, { kind, body: payload, project_id: source.id })
    }
  } finally {
    await source.owner.delete(path)
  }
  return received
}

const allow = (isAllowed: boolean) =>
  forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: isAllowed })

const jsonOf = ([first]: readonly Received[]) => JSON.parse(first!.body) as unknown
const payloadOf = ({ body }: Received) => JSON.parse(new URLSearchParams(body).get('payload')!) as unknown

test('slack: each kind in its words, and nobody is called', async () => {
  const settings = {
    webhook: `${base}/slack`,
    username: 'forge',
    channel: '#all',
    issue_channel: '#issues,#triage',
    notify_only_broken_pipelines: false,
  }
  const got = await requestsFor('slack', settings, push, issue, mergeRequest, note, pipeline, wiki)
  expect(got[0]).toMatchObject({
    method: 'POST',
    path: '/slack',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const common = { username: 'forge', channel: '#all' }
  const project = `<${url()}|${name()}>`
  const expected = [
    `Jane Doe (jane) pushed to branch <${url()}/-/commits/master|master> of ${project} (<${url()}/-/compare/${OLD}...${NEW}|Compare changes>)`,
    `[${project}] Issue opened by Jane Doe (jane)`,
    `Jane Doe (jane) opened <https://forge.example.com/m/4|merge request !4> in ${project}: *Closes SAW-7*`,
    `Jane Doe (jane) commented on <https://forge.example.com/i/3#note_1|issue #3> in ${project}: *Blunt*`,
    `${project}: Pipeline <${url()}/-/pipelines/9|#9> of branch <${url()}/-/commits/master|master> by Jane Doe (jane) failed in 01:05`,
    `Jane Doe (jane) created <https://forge.example.com/w/home|wiki page> in ${project}: *Home*`,
  ] as const
  const opened = {
    ...common,
    text: expected[1],
    fallback: expected[1],
    attachments: [
      {
        title: '#3 Saw &lt;!channel&gt; &amp; [x](y) @all |',
        title_link: 'https://forge.example.com/i/3',
        text: 'It is &lt;b&gt;blunt&lt;/b&gt; @all',
        color: '#C95823',
      },
    ],
  }
  expect(got.map(payloadOf)).toEqual([
    {
      ...common,
      text: expected[0],
      fallback: expected[0],
      attachments: [
        { text: '<https://forge.example.com/c/b|bbbbbbbb>: Sharpen &lt;!here&gt; @all - Jane Doe', color: '#345' },
      ],
    },
    { ...opened, channel: '#issues' },
    { ...opened, channel: '#triage' },
    { ...common, text: expected[2], fallback: expected[2], attachments: [] },
    { ...common, text: expected[3], fallback: expected[3], attachments: [{ text: 'Yes &amp; no', color: '#345' }] },
    {
      ...common,
      text: '',
      fallback: expected[4],
      attachments: [{ fallback: expected[4], text: expected[4], color: 'danger' }],
    },
    { ...common, text: expected[5], fallback: expected[5], attachments: [{ text: 'Welcome', color: '#345' }] },
  ])
})

test('what is made, what is removed and what is edited', async () => {
  const zero = '0'.repeat(40)
  const hook = { webhook: `${base}/slack`, branches_to_be_notified: 'all' }
  const got = await requestsFor(
    'slack',
    hook,
    { ...push, before: zero },
    { ...push, after: zero, commits: [] },
    { ...push, object_kind: 'tag_push', ref: 'refs/tags/v1', before: zero },
    { ...issue, object_attributes: { ...issue.object_attributes, action: 'update' } },
    { ...mergeRequest, object_attributes: { ...mergeRequest.object_attributes, action: 'update' } },
    { ...issue, object_attributes: { ...issue.object_attributes, title: 'A | b', action: 'close' } },
  )
  const project = `<${url()}|${name()}>`
  expect(got.map((one) => (payloadOf(one) as { text: string }).text)).toEqual([
    `Jane Doe (jane) pushed new branch <${url()}/-/commits/master|master> to ${project}`,
    `Jane Doe (jane) removed branch master from ${project}`,
    `Jane Doe (jane) pushed new tag <${url()}/-/tags/v1|v1> to ${project}`,
    `[${project}] Issue <https://forge.example.com/i/3|#3 A ¦ b> closed by Jane Doe (jane)`,
  ])
})

test('mattermost speaks Markdown in which nobody is called', async () => {
  const [got] = await requestsFor('mattermost', { webhook: `${base}/mm` }, push)
  const silent = '@\u200Ball'
  expect(payloadOf(got!)).toEqual({
    text: expect.stringContaining(`[${name()}](${url()})`),
    fallback: expect.any(String),
    attachments: [
      { text: `[bbbbbbbb](https://forge.example.com/c/b): Sharpen \\<!here\\> ${silent} - Jane Doe`, color: '#345' },
    ],
  })
})

test('receivers of JSON', async () => {
  const hook = { webhook: `${base}/in?key=1` }
  const sentence = `\\[[${name()}](${url()})\\] Issue opened by Jane Doe (jane)`
  const title = '[\\#3 Saw \\<!channel\\> & \\[x\\]\\(y\\) @\u200Ball \\|](https://forge.example.com/i/3)'
  const text = 'It is &lt;b>blunt&lt;/b> @\u200Ball'
  const spoken = `${sentence}\n${title}\n${text}`

  expect(jsonOf(await requestsFor('microsoft-teams', hook, issue))).toEqual({
    title: name(),
    summary: `[${name()}] Issue opened by Jane Doe (jane)`,
    sections: [
      {
        activityTitle: sentence,
        activitySubtitle: `[${name()}](${url()})`,
        activityText: title,
        activityImage: user.avatar_url,
      },
      { title: 'Details', facts: [{ name: 'Details', value: text }] },
    ],
  })
  expect(jsonOf(await requestsFor('discord', hook, issue))).toEqual({
    embeds: [
      {
        author: { name: 'Jane Doe (jane)', icon_url: user.avatar_url },
        description: spoken.replaceAll('&lt;', '<'),
        color: 0xc95823,
      },
    ],
    allowed_mentions: { parse: [] },
  })
  expect(jsonOf(await requestsFor('webex-teams', hook, issue))).toEqual({ markdown: spoken })
  expect(jsonOf(await requestsFor('unify-circuit', hook, issue))).toEqual({
    subject: name(),
    text: spoken,
    markdown: true,
  })
  expect(jsonOf(await requestsFor('pumble', hook, issue))).toEqual({
    text: expect.stringContaining('&lt;!channel&gt;'),
  })
  const [chat] = await requestsFor('hangouts-chat', hook, issue)
  expect(chat!.path).toBe('/in?key=1&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD')
  expect(jsonOf([chat!])).toEqual({
    text: `[<${url()}|${name()}>] Issue opened by Jane Doe (jane)\n<https://forge.example.com/i/3|#3 Saw ‹!channel› & [x](y) @all ¦>\nIt is ‹b›blunt‹/b› @all`,
    thread: { threadKey: `${source.path.slice(1)} issue 3` },
  })
})

test('telegram and matrix', async () => {
  const [telegram] = await requestsFor('telegram', { hostname: base, token: '1:AB', room: '@dev', thread: '7' }, issue)
  expect(telegram).toMatchObject({ method: 'POST', path: '/bot1:AB/sendMessage' })
  const html = `[<a href="${url()}">${name()}</a>] Issue opened by Jane Doe (jane)\n<a href="https://forge.example.com/i/3">#3 Saw &lt;!channel&gt; &amp; [x](y) @all |</a>\nIt is &lt;b&gt;blunt&lt;/b&gt; @all`
  expect(jsonOf([telegram!])).toEqual({
    chat_id: '@dev',
    text: html,
    parse_mode: 'HTML',
    disable_web_page_preview: true,
    message_thread_id: 7,
  })
  const [matrix, again] = await requestsFor('matrix', { hostname: base, token: 'secret', room: '!a:b' }, issue, issue)
  expect(matrix!.path).toMatch(/^\/_matrix\/client\/v3\/rooms\/!a%3Ab\/send\/m\.room\.message\/[\w-]{43}$/)
  expect(again!.path).toBe(matrix!.path)
  expect([matrix!.method, matrix!.headers.authorization]).toEqual(['PUT', 'Bearer secret'])
  expect(jsonOf([matrix!])).toEqual({
    msgtype: 'm.text',
    body: `[${name()}] Issue opened by Jane Doe (jane)\n#3 ${TITLE}\nIt is <b>blunt</b> @all`,
    format: 'org.matrix.custom.html',
    formatted_body: html.replaceAll('\n', '<br>'),
    'm.mentions': {},
  })
})

test('long texts are cut to what the receiver takes', async () => {
  const long = { ...issue, object_attributes: { ...issue.object_attributes, description: '<'.repeat(100_000) } }
  const many = { ...push, commits: Array.from({ length: 20 }, () => ({ ...commit, message: 'x'.repeat(900) })) }
  for (const payload of [long, many]) {
    const discord = jsonOf(await requestsFor('discord', { webhook: base }, payload)) as {
      embeds: { description: string }[]
    }
    expect(discord.embeds[0]!.description.length).toBeLessThanOrEqual(4096)
    const telegram = await requestsFor('telegram', { hostname: base, token: 'a', room: 'b' }, payload)
    expect((jsonOf(telegram) as { text: string }).text.length).toBeLessThanOrEqual(4096)
    // A link is complete or missing.
    expect((jsonOf(telegram) as { text: string }).text.split('<a ').length).toBe(
      (jsonOf(telegram) as { text: string }).text.split('</a>').length,
    )
  }
})

test('machines get the message itself, or what they build by', async () => {
  const login = { username: 'jane', password: 'sesame' }
  const authorization = `Basic ${Buffer.from('jane:sesame').toString('base64')}`
  const [drone] = await requestsFor('drone-ci', { drone_url: `${base}/d/`, token: 'a&b' }, push)
  const [owner, path] = source.path.slice(1).split('/')
  expect(drone).toMatchObject({
    method: 'POST',
    path: `/d/api/hook?owner=${owner}&name=${path}&access_token=a%26b`,
    headers: { 'content-type': 'application/json', 'x-gitlab-event': 'Service Hook', 'x-gitlab-instance': forge.url },
  })
  expect(jsonOf([drone!])).toEqual(push)
  const merged = { ...mergeRequest, object_attributes: { ...mergeRequest.object_attributes, state: 'merged' } }
  expect(await requestsFor('drone-ci', { drone_url: base, token: 'a' }, merged)).toEqual([])

  const [jenkins] = await requestsFor('jenkins', { jenkins_url: base, project_name: 'a b/c', ...login }, push)
  expect(jenkins).toMatchObject({
    path: '/project/a%20b/c',
    headers: { authorization, 'x-gitlab-event': 'Push Hook' },
  })
  expect(jsonOf([jenkins!])).toEqual(push)

  const [bamboo] = await requestsFor('bamboo', { bamboo_url: base, build_key: 'A-B', ...login }, push)
  expect(bamboo).toMatchObject({
    method: 'POST',
    path: '/updateAndBuild.action?buildKey=A-B&os_authType=basic',
    headers: { authorization },
    body: '',
  })
  const teamcity = { teamcity_url: base, build_type: 'b"1', ...login }
  const [pushed, opened] = await requestsFor('teamcity', teamcity, push, mergeRequest)
  expect(pushed).toMatchObject({
    method: 'POST',
    path: '/httpAuth/app/rest/buildQueue',
    headers: { authorization, 'content-type': 'application/xml' },
    body: '<build branchName="master"><buildType id="b&#34;1"/></build>',
  })
  expect(opened!.body).toBe('<build branchName="blade&#60;1&#62;"><buildType id="b&#34;1"/></build>')

  const [packagist] = await requestsFor('packagist', { server: base, username: 'jane', token: 't' }, push)
  expect(packagist!.path).toBe('/api/update-package?username=jane&apiToken=t')
  const datadog = { api_url: `${base}/dd`, api_key: 'key', datadog_env: 'prod', datadog_tags: 'a:1\nb:2' }
  const [metrics] = await requestsFor('datadog', datadog, pipeline)
  expect(metrics).toMatchObject({ path: '/dd?env=prod&tags=a%3A1%2Cb%3A2', headers: { 'dd-api-key': 'key' } })
  expect(jsonOf([metrics!])).toEqual(pipeline)
  const [squash] = await requestsFor('squash-tm', { url: `${base}/tm`, token: 't' }, issue)
  expect(squash!.headers).toMatchObject({
    'x-gitlab-event': 'Issue Hook',
    'x-squash-tm-integration': 'GitLab',
    'x-gitlab-token': 't',
  })
  const [github] = await requestsFor(
    'github',
    { repository_url: `${base}/a/b`, token: 't', static_context: false },
    pipeline,
  )
  expect(github).toMatchObject({ path: `/api/v3/repos/a/b/statuses/${NEW}`, headers: { authorization: 'Bearer t' } })
  expect(jsonOf([github!])).toEqual({
    state: 'failure',
    context: 'ci/mortise/master',
    description: 'Pipeline failed',
    target_url: `${url()}/-/pipelines/9`,
  })
})

test('jira: comments once, links, and closes what is said to be closed', async () => {
  const settings = { url: `${base}/jira/`, username: 'jane', password: 'sesame', jira_issue_transition_automatic: true }
  answers = {
    'GET /jira/rest/api/2/issue/SAW-7?fields=resolution': { fields: { resolution: null } },
    'GET /jira/rest/api/2/issue/SAW-7/transitions': {
      transitions: [
        ...Array.from({ length: 300 }, (_, n) => ({ id: String(n), to: { statusCategory: { key: 'new' } } })),
        { id: '3100', to: { statusCategory: { key: 'done' } } },
      ],
    },
  }
  // No remote link exists yet.
  const isLink = (key: string) => key.startsWith('GET') && key.includes('/remotelink?')
  answers = new Proxy(answers, { get: (target, key: string) => (isLink(key) ? 404 : target[key]) })
  try {
    const got = await requestsFor('jira', settings, push)
    expect(got.map(({ method, path }) => `${method} ${path.replace(/globalId=.*/, 'globalId')}`)).toEqual([
      'GET /jira/rest/api/2/issue/SAW-7/remotelink?globalId',
      'POST /jira/rest/api/2/issue/SAW-7/comment',
      'POST /jira/rest/api/2/issue/SAW-7/remotelink',
      'GET /jira/rest/api/2/issue/SAW-7?fields=resolution',
      'GET /jira/rest/api/2/issue/SAW-7/transitions',
      'POST /jira/rest/api/2/issue/SAW-7/transitions',
      'GET /jira/rest/api/2/issue/SAW-8/remotelink?globalId',
      'POST /jira/rest/api/2/issue/SAW-8/comment',
      'POST /jira/rest/api/2/issue/SAW-8/remotelink',
    ])
    expect(got[1]!.headers.authorization).toBe(`Basic ${Buffer.from('jane:sesame').toString('base64')}`)
    expect(jsonOf([got[1]!])).toEqual({
      body: `Jane Doe mentioned this issue in [a commit|${commit.url}] of [${name()}|${url()}] on branch master:\n{quote}Sharpen <\\!here> @all{quote}`,
    })
    expect(jsonOf([got[5]!])).toEqual({ transition: { id: '3100' } })
    answers = {}
    const again = await requestsFor('jira', settings, mergeRequest)
    expect(again.map(({ method }) => method)).toEqual(['GET'])
  } finally {
    answers = {}
  }
})

test('irker is sent a line of JSON each, over a connection of its own', async () => {
  const lines: string[] = []
  const server = createTcpServer((socket) =>
    socket.on('data', (data) => lines.push(...data.toString().trim().split('\n'))),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const settings = { recipients: '#dev irc://other.example/x', default_irc_uri: 'irc://irc.example/' }
  await requestsFor('irker', { ...settings, server_host: '127.0.0.1', server_port: port }, push)
  server.close()
  const to = ['irc://irc.example/%23dev', 'irc://other.example/x']
  const path = source.path.slice(1)
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { to, privmsg: `${path}: Jane Doe (jane) pushed 1 new commit to master: ${url()}/-/compare/${OLD}...${NEW}` },
    { to, privmsg: `${path}: master bbbbbbbb Jane Doe: Sharpen <!here> @all` },
  ])

  await source.owner.put(`${source.url}/integrations/irker`, {
    ...settings,
    server_host: '127.0.0.1',
    server_port: port,
  })
  const [row] = await interestedServices(forge.app, source.id, 'push')
  const message = { kind: 'push', body: push, project_id: source.id }
  await allow(false)
  await expect(sendToService(forge.app, row!, message)).rejects.toMatchObject({ reason: 'refused' })
  await allow(true)
  await source.owner.delete(`${source.url}/integrations/irker`)
  expect(lines).toHaveLength(2)
})

test('switches, branches and pipelines: what is not wanted is not sent', async () => {
  const webhook = `${base}/slack`
  const branch = { ...push, ref: 'refs/heads/blade' }
  const secret = { ...issue, event_type: 'confidential_issue' }
  const counts: [Record<string, unknown>, Payload, number][] = [
    [{}, push, 1],
    [{ push_events: false }, push, 0],
    [{}, branch, 0],
    [{ branches_to_be_notified: 'all' }, branch, 1],
    [{ notify_only_default_branch: false }, branch, 1],
    [{ branches_to_be_notified: 'protected' }, branch, 0],
    [{ branches_to_be_notified: 'default_and_protected' }, push, 1],
    [{}, pipeline, 1],
    [{}, passed, 0],
    [{ notify_only_broken_pipelines: false }, passed, 1],
    [
      { notify_only_broken_pipelines: false },
      { ...passed, object_attributes: { ...passed.object_attributes, status: 'running' } },
      0,
    ],
    [{}, secret, 1],
    [{ confidential_issues_events: false }, secret, 0],
    [{ issues_events: false }, issue, 0],
    [{ issues_events: false }, secret, 1],
    [{ active: false }, push, 0],
  ]
  for (const [settings, payload, count] of counts)
    expect([
      settings,
      (
        await requestsFor(
          'slack',
          { webhook, push_events: true, issues_events: true, confidential_issues_events: true, ...settings },
          payload,
        )
      ).length,
    ]).toEqual([settings, count])
  expect(await requestsFor('campfire', { token: 'a', subdomain: 'b', room: '1' }, push)).toEqual([])
})

test("a group's services are told of what happens in its projects", async () => {
  const path = `${source.group.url}/integrations/discord`
  await source.owner.put(path, { webhook: `${base}/group` })
  await source.owner.put(`${source.url}/integrations/discord`, { use_inherited_settings: true })
  expect(
    (await interestedServices(forge.app, source.id, 'push')).map(({ slug, group_id }) => [slug, group_id]),
  ).toEqual([['discord', source.group.id]])
  expect((await requestsFor('discord', { webhook: `${base}/own` }, push)).map((one) => one.path)).toEqual(['/own'])
  await source.owner.delete(path)
})

test('what may go better later is thrown, a refusal is an answer', async () => {
  const settings = { webhook: `${base}/slack` }
  for (const bad of [500, 503, 429]) {
    status = bad
    await expect(requestsFor('slack', settings, push)).rejects.toThrow(ServiceFailure)
  }
  status = 404
  expect(await requestsFor('slack', settings, push)).toHaveLength(1)
  status = 200
  await source.owner.put(`${source.url}/integrations/slack`, settings)
  const [row] = await interestedServices(forge.app, source.id, 'push')
  received = []
  await allow(false)
  const message = { kind: 'push', body: push, project_id: source.id }
  await expect(sendToService(forge.app, row!, message)).rejects.toThrow('not allowed')
  expect(received).toEqual([])
  await allow(true)
  await source.owner.delete(`${source.url}/integrations/slack`)
})

/** The requests of services with a fixed URL. */
const asked = (slug: string, settings: Record<string, string>, body: Payload) =>
  serviceOf(slug)!.requests!({
    event: 'push',
    body,
    settings,
    project: {
      id: 1,
      name: 'Saw',
      name_with_namespace: 'Tools / Saw',
      path: 'saw',
      namespace: 'tools',
      path_with_namespace: 'tools/saw',
      web_url: 'https://forge.example.com/tools/saw',
      default_branch: 'master',
    },
    instance: { url: 'https://forge.example.com', version: '1' },
    comments: true,
  })

const json = { 'Content-Type': 'application/json' }

test('services that are at one address only', () => {
  expect(asked('pushover', { api_key: 'a', user_key: 'b', priority: '0', device: '', sound: 'bike' }, push)).toEqual([
    {
      method: 'POST',
      url: 'https://api.pushover.net/1/messages.json',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: String(
        new URLSearchParams({
          token: 'a',
          user: 'b',
          priority: '0',
          sound: 'bike',
          title: 'Tools / Saw',
          message: 'Jane Doe (jane) pushed to branch master of Tools / Saw\nTotal commits count: 1',
          url: 'https://forge.example.com/tools/saw',
          url_title: 'See project Tools / Saw',
        }),
      ),
    },
  ])
  expect(asked('buildkite', { token: 'ab/c:status' }, push)).toEqual([
    {
      method: 'POST',
      url: 'https://webhook.buildkite.com/deliver/ab%2Fc',
      headers: {
        ...json,
        'User-Agent': 'GitLab/1',
        'X-Gitlab-Event': 'Service Hook',
        'X-Gitlab-Instance': 'https://forge.example.com',
      },
      body: JSON.stringify(push),
      verifyTls: true,
    },
  ])
  expect(asked('pivotaltracker', { token: 't', restrict_to_branch: 'main, master' }, push)).toEqual([
    {
      method: 'POST',
      url: 'https://www.pivotaltracker.com/services/v5/source_commits',
      headers: { ...json, 'X-TrackerToken': 't' },
      body: JSON.stringify({
        source_commit: { commit_id: NEW, author: 'Jane Doe', url: commit.url, message: commit.message },
      }),
    },
  ])
  expect(asked('pivotaltracker', { token: 't', restrict_to_branch: 'main' }, push)).toEqual([])
  expect(asked('assembla', { token: 't', subdomain: 's' }, push)).toEqual([
    {
      method: 'POST',
      url: 'https://atlas.assembla.com/spaces/s/github_tool?secret_key=t',
      headers: json,
      body: JSON.stringify({ payload: push }),
    },
  ])
  const done = { ...push, commits: [{ ...commit, message: 'Fixes #12, see https://app.asana.com/0/1/34' }] }
  expect(asked('asana', { api_key: 'k' }, done).map(({ method, url, body }) => [method, url, body])).toEqual([
    ['POST', 'https://app.asana.com/api/1.0/tasks/12/stories', expect.stringContaining('Fixes #12')],
    ['PUT', 'https://app.asana.com/api/1.0/tasks/12', '{"data":{"completed":true}}'],
    ['POST', 'https://app.asana.com/api/1.0/tasks/34/stories', expect.any(String)],
  ])
})

test('mails on push and about pipelines, one for each recipient', async () => {
  const sent: Mail[] = []
  const { mail } = forge.app
  Object.assign(forge.app, { mail: { ...mail, send: async (one: Mail) => void sent.push(one) } })
  const first = await forge.seed({ id: source.id }, { 'saw.txt': 'blunt\n' })
  const second = await forge.seed({ id: source.id }, { 'saw.txt': 'sharp\n' })
  const real = { ...push, before: first.id, after: second.id }
  const recipients = 'jane@example.com, joe@example.com jane@example.com'
  try {
    await requestsFor('emails-on-push', { recipients }, real, { ...push, after: '0'.repeat(40), commits: [] })
    expect(sent.map(({ to, subject }) => [to, subject])).toEqual([
      ['jane@example.com', `[Git][${source.path.slice(1)}][master] Sharpen <!here> @all`],
      ['joe@example.com', `[Git][${source.path.slice(1)}][master] Sharpen <!here> @all`],
      ['jane@example.com', `[Git][${source.path.slice(1)}] Deleted branch master`],
      ['joe@example.com', `[Git][${source.path.slice(1)}] Deleted branch master`],
    ])
    expect(sent[0]!.text).toContain('-blunt\n+sharp')
    expect(sent[0]!.text).toContain('bbbbbbbb by Jane Doe')
    expect(sent[0]).toMatchObject({ fromName: 'Jane Doe', headers: { 'X-GitLab-Author': 'jane' } })
    sent.length = 0
    await requestsFor('emails-on-push', { recipients, disable_diffs: true }, real)
    expect(sent[0]!.text).not.toContain('blunt')
    // A pusher's address of this host may be the sender, another domain may not.
    const { hostname } = new URL(forge.url)
    const ours = await forge.user({ email: `pusher@${hostname}` })
    const theirs = await forge.user({ email: 'pusher@example.com' })
    sent.length = 0
    for (const { id } of [ours, theirs])
      for (const send_from_committer_email of [true, false])
        await requestsFor(
          'emails-on-push',
          { recipients: 'jo@example.com', send_from_committer_email },
          { ...real, user_id: id },
        )
    expect(sent.map(({ from }) => from)).toEqual([ours.email, undefined, undefined, undefined])
    sent.length = 0
    const many = Array.from({ length: 101 }, () => real)
    await requestsFor('emails-on-push', { recipients: 'flooded@example.com', disable_diffs: true }, ...many)
    expect(sent).toHaveLength(100)
    sent.length = 0
    await requestsFor('pipelines-email', { recipients: 'jane@example.com' }, passed, pipeline)
    expect(sent).toEqual([
      {
        to: 'jane@example.com',
        subject: 'Saw | Failed pipeline for master | bbbbbbbb',
        text: expect.stringContaining('Failed jobs:\n- test: unit'),
      },
    ])
  } finally {
    Object.assign(forge.app, { mail })
  }
})
