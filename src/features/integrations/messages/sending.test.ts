import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildRepository } from '../../../../test/git-builder.ts'
import { hookReceiver, type HookReceiver } from '../../../../test/listening-hooks.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { HOOK_SWITCHES, type HookSwitch } from '../hooks/model.ts'

let forge: TestForge
let receiver: HookReceiver
let ada: Person
beforeAll(async () => {
  forge = await startForge()
  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
  receiver = await hookReceiver(forge)
  ada = await forge.user()
})
afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
  await forge.close()
})

async function hooked(...on: HookSwitch[]) {
  const project = await forge.project({}, ada)
  const at = `/projects/${project.id}`
  const switches = Object.fromEntries(on.map((name) => [name, true]))
  const hook = await ada.post(`${at}/hooks`, { url: receiver.url, push_events: false, ...switches })
  expect(hook.status).toBe(201)
  return { project, at }
}

const actionsOf = (came: Awaited<ReturnType<HookReceiver['take']>>) =>
  came.map(({ header, body }) => `${header} ${body.object_attributes?.action ?? body.action ?? body.ref}`)

/** The messages of one project's activity for a hook with only that switch on. */
const RECEIVED: [HookSwitch, string[]][] = [
  ['push_events', ['Push Hook refs/heads/master', 'Push Hook refs/heads/work']],
  ['tag_push_events', ['Tag Push Hook refs/tags/v1']],
  ['issues_events', ['Issue Hook open', 'Issue Hook update']],
  ['confidential_issues_events', ['Confidential Issue Hook open']],
  ['merge_requests_events', ['Merge Request Hook open']],
  ['note_events', ['Note Hook create']],
  ['confidential_note_events', ['Confidential Note Hook create', 'Confidential Note Hook create']],
  ['wiki_page_events', ['Wiki Page Hook create']],
  ['releases_events', ['Release Hook create']],
  ['emoji_events', ['Emoji Hook award']],
]

test('a switch alone brings its messages, and all others nothing', async () => {
  const others = HOOK_SWITCHES.filter((name) => !RECEIVED.some(([received]) => received === name))
  const { project, at } = await hooked(...others)
  const ids = new Map<string, number>()
  const server = await Promise.all(RECEIVED.map(() => hookReceiver(forge)))
  for (const [n, [name]] of RECEIVED.entries()) {
    const { body } = await ada.post(`${at}/hooks`, { url: server[n]!.url, push_events: false, [name]: true })
    ids.set(name, body.id)
  }
  await forge.seed(project, { a: 'a' }, { as: ada })
  await forge.seed(project, { b: 'b' }, { as: ada, branch: 'work' })
  await ada.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'master' })
  await ada.post(`${at}/issues`, { title: 'Open' })
  await ada.put(`${at}/issues/1`, { weight: 2 })
  await ada.post(`${at}/issues`, { title: 'Secret', confidential: true })
  await ada.post(`${at}/issues/1/notes`, { body: 'Said' })
  await ada.post(`${at}/issues/1/notes`, { body: 'Said among us', internal: true })
  await ada.post(`${at}/issues/2/notes`, { body: 'Said of a secret' })
  await ada.post(`${at}/issues/1/award_emoji`, { name: 'tada' })
  await ada.post(`${at}/issues/2/award_emoji`, { name: 'tada' })
  await ada.post(`${at}/merge_requests`, { source_branch: 'work', target_branch: 'master', title: 'Work' })
  await ada.post(`${at}/wikis`, { title: 'Page', content: 'x' })
  await ada.post(`${at}/releases`, { tag_name: 'v1', description: 'One' })
  for (const [n, [name, actions]] of RECEIVED.entries())
    expect([name, actionsOf(await server[n]!.take())]).toEqual([name, actions])
  expect((await receiver.take()).map(({ header }) => header)).toEqual([])
  for (const one of server) await one[Symbol.asyncDispose]()
})

test('each message shows its own moment, however late it is sent', async () => {
  const { project, at } = await hooked('issues_events', 'push_events', 'note_events')
  await forge.seed(project, { a: 'a' }, { as: ada })
  await receiver.take()
  // No delivery goes out before all changes are made.
  await forge.queries(async () => {
    await ada.post(`${at}/issues`, { title: 'One' })
    await ada.put(`${at}/issues/1`, { title: 'Two' })
    const { body } = await ada.post(`${at}/issues/1/notes`, { body: 'First' })
    await ada.put(`${at}/issues/1/notes/${body.id}`, { body: 'Second' })
    await ada.put(`${at}/issues/1`, { title: 'Three', state_event: 'close' })
    await forge.seed(project, { b: 'b' }, { as: ada, branch: 'work', message: 'On a branch' })
    await ada.post(`${at}/merge_requests`, { source_branch: 'work', target_branch: 'master', title: 'M' })
    await ada.put(`${at}/merge_requests/1/merge`, {})
    await ada.put(at, { name: 'renamed', path: `renamed-${project.id}` })
  })
  const came = await receiver.take()
  const summaries = came.map(({ body }) => [
    body.object_attributes?.action ?? body.ref,
    body.object_attributes?.title ?? body.object_attributes?.note ?? body.commits.length,
    body.issue?.title ?? body.changes?.title?.previous ?? null,
    body.project.name,
  ])
  const { name } = project
  expect(summaries).toEqual([
    ['open', 'One', null, name],
    ['update', 'Two', 'One', name],
    ['create', 'First', 'Two', name],
    ['update', 'Second', 'Two', name],
    ['close', 'Three', null, name],
    ['update', 'Three', 'Two', name],
    // The default branch when the branch was created, not after the merge.
    ['refs/heads/work', 1, null, name],
    ['refs/heads/master', 2, null, name],
  ])
})

test('what was said while it was confidential is not told when it is no more', async () => {
  const { at } = await hooked('issues_events')
  await ada.post(`${at}/issues`, { title: 'The key is 1234', confidential: true })
  await ada.put(`${at}/issues/1`, { title: 'The key is lost', confidential: false })
  const [only, ...rest] = await receiver.take()
  expect(rest).toEqual([])
  expect(only!.body.changes.confidential).toEqual({ previous: true, current: false })
  expect(JSON.stringify(only)).not.toContain('1234')
})

test('moved issues close where they were and open where they are', async () => {
  const here = await hooked('issues_events')
  const there = await hooked('issues_events')
  await ada.post(`${here.at}/issues`, { title: 'Elsewhere' })
  await receiver.take()
  await ada.post(`${here.at}/issues/1/move`, { to_project_id: there.project.id })
  const came = await receiver.take()
  const summaries = came.map(({ body }) => `${body.project.id} ${body.object_attributes.action}`)
  expect(summaries.filter((one) => one.startsWith(`${here.project.id} `))).toEqual([
    `${here.project.id} close`,
    `${here.project.id} update`,
  ])
  expect(summaries).toContain(`${there.project.id} open`)
  const update = came.find(({ body }) => body.object_attributes.action === 'update')!
  expect(update.body.changes.moved_to_id).toEqual({ previous: null, current: expect.any(Number) })
})

test('system notes and pushes to wikis are told to nobody', async () => {
  const { project, at } = await hooked(...HOOK_SWITCHES)
  await ada.post(`${at}/issues`, { title: 'One' })
  await receiver.take()
  await ada.put(`${at}/issues/1`, { title: 'Two' })
  expect(actionsOf(await receiver.take())).toEqual(['Issue Hook update'])
  await using repository = await buildRepository({ files: { 'home.md': 'x' } })
  const address = `${project.http_url_to_repo.replace(/\.git$/, '')}.wiki.git`
  await forge.git(['push', address, 'master'], { as: ada, cwd: repository.dir })
  expect(await receiver.take()).toEqual([])
})

test('a push of 10,000 commits, of 30,000 files and of 1,000 refs makes small messages', async () => {
  const system = await hookReceiver(forge)
  await system.hook('system', { on: ['push_events', 'tag_push_events', 'repository_update_events'] })
  const { project } = await hooked('push_events', 'tag_push_events')
  const files = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`folder-${n % 320}/file-${n}`, 'x']))
  const long = 'm'.repeat(500_000)
  const commits = Array.from({ length: 10_000 }, (_, n) => ({ message: `Commit ${n}` }))
  await using repository = await buildRepository(...commits, { files, message: long })
  const push = (...refs: string[]) =>
    forge.git(['push', '-o', 'ci.skip', project.http_url_to_repo, ...refs], { as: ada, cwd: repository.dir })
  await push('master')
  const [first] = await receiver.take()
  expect(first!.body).toMatchObject({ total_commits_count: 10_001, push_options: { ci: { skip: true } } })
  expect(first!.body.commits.map(({ title }: { title: string }) => title.slice(0, 12))).toEqual([
    ...Array.from({ length: 19 }, (_, n) => `Commit ${9_981 + n}`),
    'mmmmmmmmmmmm',
  ])
  expect(first!.body.commits[19].added).toHaveLength(1000)
  expect(JSON.stringify(first).length).toBeLessThan(200_000)

  // As many refs as get messages of their own, and one more.
  await system.take()
  await push(...['b1', 'b2', 'b3'].map((name) => `master:refs/heads/${name}`), ...tags(4))
  expect((await receiver.take()).map(({ body }) => [body.ref, body.total_commits_count])).toEqual([
    ['refs/heads/b1', 0],
    ['refs/heads/b2', 0],
    ['refs/heads/b3', 0],
  ])
  expect((await system.take()).map(({ body }) => body.event_name)).toEqual([
    'push',
    'push',
    'push',
    'repository_update',
  ])

  await push(...Array.from({ length: 1_001 }, (_, n) => `master:refs/${n < 10 ? 'heads' : 'marks'}/many/${n}`))
  expect(await receiver.take()).toEqual([])
  const [update, ...rest] = await system.take()
  expect(rest).toEqual([])
  expect(update!.body).toMatchObject({ event_name: 'repository_update', total_changes_count: 1_001 })
  expect([update!.body.changes.length, update!.body.refs.length]).toEqual([1_000, 1_000])
  expect(JSON.stringify(update).length).toBeLessThan(300_000)
  await system[Symbol.asyncDispose]()
})

const tags = (count: number) => Array.from({ length: count }, (_, n) => `master:refs/tags/t${n}`)

test('where nobody listens to it, an event costs no more than to ask who does', async () => {
  await using quiet = await startForge()
  const owner = await quiet.user()
  const project = await quiet.project({}, owner)
  const at = `/projects/${project.id}`
  const create = () => owner.post(`${at}/issues`, { title: 'Issue' })
  // The minimum of several runs, because a transaction may be retried.
  const cost = async () =>
    Math.min(await quiet.queries(create), await quiet.queries(create), await quiet.queries(create))
  await create()
  const without = await cost()
  await owner.post(`${at}/hooks`, { url: 'https://hooks.example.com', push_events: true })
  // A hook exists, but not for this event: hooks and services are queried, and no message is built.
  expect(await cost()).toBe(without + 2)
})
