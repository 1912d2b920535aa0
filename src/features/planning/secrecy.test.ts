/** Confidential and internal records: viewers without access get the same answers as if the records did not exist. */
import { expect, test } from 'vitest'
import { addMember } from '../../../test/cast.ts'
import { startForge, type Client, type Person } from '../../forge.ts'

/** Times reveal that something changed, not what. */
const masked = (answer: unknown) =>
  JSON.stringify(answer).replace(/"(updated_at|last_activity_at)":"[^"]*"/g, '"$1":"a time"')

test('nothing tells outsiders of a confidential issue, or of an internal note', async () => {
  await using forge = await startForge()
  const owner = await forge.user({ username: 'owner' })
  const group = await forge.group({ visibility: 'public' }, owner)
  const project = await forge.project({ visibility: 'public', namespace_id: group.id }, owner)
  const { id: sha } = await forge.seed(project, { 'a.txt': 'a' }, { as: owner })
  const [guest, reporter, stranger] = [
    await forge.user({ username: 'guest' }),
    await forge.user({ username: 'reporter' }),
    await forge.user({ username: 'stranger' }),
  ]
  await addMember(forge, { project_id: project.id }, guest.id, 10)
  await addMember(forge, { project_id: project.id }, reporter.id, 20)
  const at = `/projects/${project.id}`
  const label = await forge.label(project, { name: 'bug' }, owner)
  const milestone = await forge.milestone(project, { title: 'v1' }, owner)
  const [board] = (await owner.get(`${at}/boards`)).body
  await owner.post(`${at}/boards/${board.id}/lists`, { label_id: label.id })
  const snippet = await forge.snippet(project, { visibility: 'public' }, owner)
  for (const title of ['First', 'Second']) await forge.issue(project, { title, labels: ['bug'] }, owner)
  await owner.post(`${at}/issues/1/notes`, { body: 'An open word' })
  await forge.settle()

  const addresses = [
    at,
    `${at}/issues`,
    `${at}/issues?search=hush`,
    `${at}/issues?labels=bug`,
    `${at}/issues?milestone=v1`,
    `${at}/issues?assignee_id=${reporter.id}`,
    `${at}/issues_statistics`,
    '/issues?scope=all',
    '/issues_statistics?scope=all',
    `/groups/${group.id}/issues`,
    `/groups/${group.id}/issues_statistics`,
    ...[1, 2, 3].flatMap((iid) =>
      ['', '/notes', '/discussions', '/participants', '/links', '/award_emoji', '/resource_label_events'].map(
        (tail) => `${at}/issues/${iid}${tail}`,
      ),
    ),
    `${at}/repository/commits/${sha}/comments`,
    `${at}/repository/commits/${sha}/discussions`,
    `${at}/snippets/${snippet.id}/notes`,
    `${at}/events`,
    ...[owner, reporter, guest].map(({ id }) => `/users/${id}/events`),
    '/events',
    '/todos',
    '/todos?state=done',
    '/user_counts',
    `${at}/labels?with_counts=true`,
    `${at}/milestones`,
    `${at}/milestones/${milestone.id}/issues`,
    `${at}/boards/${board.id}/lists`,
    ...['issues', 'notes', 'milestones'].map((scope) => `${at}/search?scope=${scope}&search=hush`),
    '/search?scope=issues&search=hush',
    `/groups/${group.id}/search?scope=issues&search=hush`,
  ]
  const answers = async (by: Client, some = addresses): Promise<Record<string, string>> => {
    await forge.settle()
    const found = some.map(async (address) => {
      const { status, body, headers } = await by.get(address)
      // Hidden cross-references are removed after the page is cut: the total counts them, as the API defines.
      const total = /commits\/.*\/discussions/.test(address) ? null : headers.get('x-total')
      return [address, masked([status, total, body])] as const
    })
    return Object.fromEntries(await Promise.all(found))
  }
  const outsiders = { guest, stranger, visitor: forge.visitor }
  const before: Record<string, Awaited<ReturnType<typeof answers>>> = {}
  for (const [name, by] of Object.entries(outsiders)) before[name] = await answers(by)

  const named = `@guest @stranger @all @${group.full_path} hush #2 ${sha} $${snippet.id}`
  const say = async (by: Person, path: string, input: Record<string, unknown>) => {
    const { status, body } = await by.post(`${at}/${path}`, input)
    expect(status, path).toBe(201)
    return body
  }
  const note = await say(reporter, 'issues/1/notes', { body: named, internal: true })
  const discussion = (await reporter.get(`${at}/issues/1/discussions`)).body.find(
    ({ notes }: { notes: { id: number }[] }) => notes[0]!.id === note.id,
  )
  await say(owner, `issues/1/discussions/${discussion.id}/notes`, { body: 'hush, too' })
  await say(owner, `issues/1/notes/${note.id}/award_emoji`, { name: 'tada' })
  await owner.put(`${at}/issues/1/notes/${note.id}`, { body: `${named} again` })
  const secret = await say(owner, 'issues', {
    title: 'hush',
    description: named,
    confidential: true,
    labels: 'bug',
    milestone_id: milestone.id,
    assignee_ids: [reporter.id],
  })
  expect(secret.iid).toBe(3)
  await say(owner, 'issues/3/notes', { body: named })
  await say(owner, 'issues/3/award_emoji', { name: 'tada' })
  await say(owner, 'issues/3/links', { target_project_id: project.id, target_issue_iid: 2 })
  await owner.post(`${at}/issues/2/notes`, { body: '/duplicate #3\n/reopen' })
  await owner.put(`${at}/issues/2`, { state_event: 'reopen' })
  await owner.put(`${at}/issues/3`, { state_event: 'close' })
  await owner.put(`${at}/issues/3`, { state_event: 'reopen' })

  // Changes of the open issue itself are visible.
  const isOpen = (address: string) =>
    /issues\/2($|\/notes|\/discussions)|events|^\/issues|\/issues$|labels=bug|statistics/.test(address)
  for (const [name, by] of Object.entries(outsiders)) {
    const after = await answers(by)
    for (const address of addresses) {
      expect(after[address], `${name}: ${address}`).not.toMatch(/hush|#3\b|issues\/3\b/)
    }
    for (const address of addresses.filter((one) => !isOpen(one)))
      expect(after[address], `${name}: ${address}`).toBe(before[name]![address])
  }
  // Viewers with access see it.
  const paths = [`${at}/issues/1/notes`, `${at}/issues/3`, `${at}/search?scope=notes&search=hush`, `${at}/events`]
  for (const [address, answer] of Object.entries(await answers(reporter, paths)))
    expect(answer, address).toContain('hush')
  expect(JSON.stringify((await reporter.get(`${at}/issues/2/notes`)).body)).toContain('mentioned in issue #3')
})

test('what only members may see of a public project is in no list of others', async () => {
  await using forge = await startForge()
  const [owner, stranger] = [await forge.user(), await forge.user()]
  const group = await forge.group({ visibility: 'public' }, owner)
  const project = await forge.project({ visibility: 'public', namespace_id: group.id }, owner)
  const issue = await forge.issue(project, { title: 'Hush hush', assignee_ids: [stranger.id] }, owner)
  const open = await forge.issue(await forge.project({ visibility: 'public' }, owner), { title: 'Open' }, owner)
  await owner.post(`/projects/${open.project_id}/issues/${open.iid}/notes`, {
    body: `Like ${project.path_with_namespace}#${issue.iid}`,
  })
  await forge.mergeRequest(project, { title: 'Hush, too' }, owner)
  await forge.settle()
  const addresses = [
    '/issues?scope=all',
    `/issues?scope=all&assignee_id=${stranger.id}`,
    '/issues?scope=all&search=hush',
    `/groups/${group.id}/issues`,
    '/merge_requests?scope=all',
    `/groups/${group.id}/merge_requests`,
    `/users/${owner.id}/events`,
    ...['issues', 'merge_requests'].flatMap((scope) => [
      `/search?scope=${scope}&search=hush`,
      `/groups/${group.id}/search?scope=${scope}&search=hush`,
    ]),
    '/todos',
  ]
  /** The addresses whose answers have one of the titles. */
  const telling = async (by: Client) => {
    const found: string[] = []
    for (const address of addresses)
      if (/"(target_)?title":"Hush/.test(JSON.stringify((await by.get(address)).body))) found.push(address)
    return found
  }
  expect(await telling(stranger)).toEqual(addresses)

  await owner.put(`/projects/${project.id}`, { issues_access_level: 'private', merge_requests_access_level: 'private' })
  await forge.settle()
  expect(await telling(stranger)).toEqual([])
  expect(await telling(owner)).toEqual(addresses.filter((address) => address !== '/todos'))
})
