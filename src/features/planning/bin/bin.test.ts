import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { hoursLater, openReview } from '../../../../test/reviews.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { purgeDue } from './service.ts'

/** A forge whose deleted records stay in the bin for a week. */
async function withBin(): Promise<TestForge> {
  const forge = await startForge()
  await forge.administrator.put('/application/settings', { deletion_adjourned_period: 7 })
  return forge
}

/** The answers to these requests, without what restoring changes. */
async function recordsAt(person: Person, paths: readonly string[]) {
  const answers: unknown[] = []
  for (const path of paths) {
    const { status, body } = await person.get(path)
    expect([path, status]).toEqual([path, 200])
    answers.push(body)
  }
  return answers
}

const contentOf = async ({ app }: TestForge): Promise<number> =>
  Number(
    (
      await app.db
        .selectFrom('deleted_parts')
        .select((eb) => eb.fn.countAll().as('n'))
        .executeTakeFirst()
    )?.n,
  )

/** An issue with all that can belong to one. */
async function richIssue(forge: TestForge) {
  const [jane, joe] = [await forge.user(), await forge.user()]
  const project = await forge.project({ visibility: 'public' }, jane)
  const at = `/projects/${project.id}`
  await jane.post(`${at}/members`, { user_id: joe.id, access_level: 30 })
  await jane.post(`${at}/labels`, { name: 'bug', color: 'red', priority: 1 })
  const milestone = (await jane.post(`${at}/milestones`, { title: 'v1', due_date: '2027-01-01' })).body
  const other = await forge.issue(project, { title: 'The other one' }, jane)
  const input = { title: 'A wheel', description: `See #${other.iid}`, labels: 'bug', assignee_ids: [joe.id] }
  const { body: issue } = await jane.post(`${at}/issues`, { ...input, milestone_id: milestone.id, weight: 3 })
  const url = `${at}/issues/${issue.iid}`
  const { body: note } = await joe.post(`${url}/notes`, { body: `@${jane.username} look` })
  await jane.post(`${url}/discussions`, { body: 'a thread' })
  await jane.post(`${url}/notes/${note.id}/award_emoji`, { name: 'tada' })
  await joe.post(`${url}/award_emoji`, { name: 'thumbsup' })
  await jane.post(`${url}/links`, { target_project_id: project.id, target_issue_iid: other.iid })
  await jane.post(`${url}/add_spent_time`, { duration: '1h' })
  await joe.post(`${url}/subscribe`)
  await jane.post(`/projects/${project.id}/issues/${other.iid}/notes`, { body: `about #${issue.iid}` })
  await forge.settle()
  const paths = [
    url,
    `${url}/notes?per_page=100`,
    `${url}/discussions`,
    `${url}/award_emoji`,
    `${url}/notes/${note.id}/award_emoji`,
    `${url}/links`,
    `${url}/participants`,
    `${url}/resource_label_events`,
    `${url}/resource_milestone_events`,
    `${url}/time_stats`,
    `${at}/issues?order_by=label_priority`,
    `${at}/issues?order_by=milestone_due`,
    `${at}/issues?labels=bug&assignee_id=${joe.id}`,
    `${at}/search?scope=issues&search=wheel`,
    `${at}/search?scope=notes&search=look`,
    `${at}/issues/${other.iid}/links`,
    `${at}/issues_statistics`,
    '/todos',
  ]
  return { jane, joe, project, at, url, issue, paths }
}

test('a deleted issue is gone for everybody, and comes back whole', async () => {
  await using forge = await withBin()
  const { jane, joe, at, url, issue, paths } = await richIssue(forge)
  const before = [await recordsAt(jane, paths), await recordsAt(joe, paths)]
  const [, ...others] = (await jane.get(`${at}/issues`)).body.map(({ iid }: { iid: number }) => iid)

  expect((await jane.delete(url)).status).toBe(204)
  expect(await jane.delete(url)).toMatchObject({ status: 404, body: { message: '404 Issue Not Found' } })
  await forge.settle()
  for (const person of [jane, joe, forge.administrator]) {
    expect((await person.get(url)).status).toBe(404)
    expect((await person.get(`${at}/issues`)).body.map(({ iid }: { iid: number }) => iid)).toEqual(others)
  }
  expect((await joe.get('/todos')).body).toEqual([])
  expect((await jane.get(`${at}/search?scope=issues&search=wheel`)).body).toEqual([])

  const { body: listed } = await jane.get(`${at}/deleted_items`)
  expect(listed).toMatchObject([{ kind: 'issue', iid: issue.iid, title: 'A wheel', deleted_by: { id: jane.id } }])
  expect(Date.parse(listed[0].restorable_until) - Date.parse(listed[0].deleted_at)).toBe(7 * DAY)
  expect((await jane.get(`${at}/deleted_items`, { kind: 'merge_request' })).body).toEqual([])

  const restored = await jane.post(`${url}/restore`)
  expect([restored.status, restored.body.id]).toEqual([201, issue.id])
  await forge.settle()
  expect([await recordsAt(jane, paths), await recordsAt(joe, paths)]).toEqual(before)
  expect((await jane.get(`${at}/deleted_items`)).body).toEqual([])
  expect((await jane.post(`${url}/restore`)).status).toBe(404)
  expect(await contentOf(forge)).toBe(0)
})

test('an issue with many and long notes moves in parts, and all of them return', async () => {
  await using forge = await withBin()
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  const { id, iid } = await forge.issue(project, {}, jane)
  const url = `/projects/${project.id}/issues/${iid}`
  const { body: note } = await jane.post(`${url}/notes`, { body: 'first' })
  const { id: _, ...row } = await forge.app.db
    .selectFrom('notes')
    .selectAll()
    .where('id', '=', note.id)
    .executeTakeFirstOrThrow()
  const bodies = [...Array.from({ length: 250 }, (_, n) => `note ${n}`), 'x'.repeat(900_000), 'y'.repeat(900_000), 'z']
  for (const body of bodies)
    await forge.app.db
      .insertInto('notes')
      .values({ ...row, body })
      .execute()
  const all = async () => {
    const rows = await forge.app.db.selectFrom('notes').selectAll().where('issue_id', '=', id).orderBy('id').execute()
    return rows
  }
  const before = await all()
  expect(before).toHaveLength(254)

  expect((await jane.delete(url)).status).toBe(204)
  expect(await all()).toEqual([])
  const parts = await forge.app.db.selectFrom('deleted_parts').select('content').execute()
  expect(parts.length).toBeGreaterThan(4)
  expect(Math.max(...parts.map(({ content }) => content.length))).toBeLessThan(2_000_000)
  const queries = forge.app.store.queries
  expect((await jane.post(`${url}/restore`)).body.user_notes_count).toBe(254)
  // Not one for each note.
  expect(forge.app.store.queries - queries).toBeLessThan(150)
  expect(await all()).toEqual(before)
})

test('labels, assignees and votes that are gone meanwhile do not return with the issue', async () => {
  await using forge = await withBin()
  const { jane, joe, at, url } = await richIssue(forge)
  await jane.delete(url)
  await jane.delete(`${at}/labels/bug`)
  expect((await forge.administrator.delete(`/users/${joe.id}`, { hard_delete: true })).status).toBe(204)
  await forge.settle()
  const { status, body } = await jane.post(`${url}/restore`)
  expect([status, body.labels, body.assignees, body.upvotes]).toEqual([201, [], [], 0])
})

test('restoring is refused while another issue has the number, and nothing changes', async () => {
  await using forge = await withBin()
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  const at = `/projects/${project.id}`
  const { iid } = await forge.issue(project, { title: 'old' }, jane)
  await jane.delete(`${at}/issues/${iid}`)
  expect((await jane.post(`${at}/issues`, { title: 'new', iid })).body.iid).toBe(iid)
  const { body: bin } = await jane.get(`${at}/deleted_items`)
  expect(await jane.post(`${at}/deleted_items/${bin[0].id}/restore`)).toMatchObject({
    status: 409,
    body: { message: 'An issue with the same number or title already exists' },
  })
  expect((await jane.get(`${at}/deleted_items`)).body).toEqual(bin)
  expect((await jane.get(`${at}/issues`)).body).toMatchObject([{ title: 'new' }])
})

test('of two deletions at once one deletes, and of two restorations one restores', async () => {
  await using forge = await withBin()
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  const { iid } = await forge.issue(project, {}, jane)
  const url = `/projects/${project.id}/issues/${iid}`
  for (let n = 0; n < 3; n++) await jane.post(`${url}/notes`, { body: `${n}` })
  const deletions = await atOnce(
    forge,
    () => jane.delete(url),
    () => jane.delete(url),
  )
  expect(deletions.map(({ status }) => status)).toEqual([204, 404])
  const restorations = await atOnce(
    forge,
    () => jane.post(`${url}/restore`),
    () => jane.post(`${url}/restore`),
  )
  expect(restorations.map(({ status }) => status)).toEqual([201, 404])
  expect((await jane.get(`${url}/notes`)).body).toHaveLength(3)
})

test('after the period, and on demand, a deleted issue is gone for good', async () => {
  await using forge = await withBin()
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  const at = `/projects/${project.id}`
  for (const title of ['one', 'two']) await forge.issue(project, { title }, jane)
  for (const iid of [1, 2]) await jane.delete(`${at}/issues/${iid}`)
  const [newest] = (await jane.get(`${at}/deleted_items`)).body
  expect((await jane.delete(`${at}/deleted_items/${newest.id}`)).status).toBe(204)
  expect((await jane.post(`${at}/issues/2/restore`)).status).toBe(404)
  forge.clock.advance(7 * DAY - 1000)
  await purgeDue.handle(forge.app, {})
  expect((await jane.get(`${at}/deleted_items`)).body).toMatchObject([{ title: 'one' }])
  forge.clock.advance(2000)
  await purgeDue.handle(forge.app, {})
  expect((await jane.get(`${at}/deleted_items`)).body).toEqual([])
  expect((await jane.post(`${at}/issues/1/restore`)).status).toBe(404)
  await forge.settle()
  expect(await contentOf(forge)).toBe(0)
})

test('with the period 0, an issue is deleted at once', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  await forge.issue(project, {}, jane)
  expect((await jane.delete(`/projects/${project.id}/issues/1`)).status).toBe(204)
  expect((await jane.get(`/projects/${project.id}/deleted_items`)).body).toEqual([])
})

test('a deleted merge request keeps its commits, which nobody reads, and comes back whole', async () => {
  await using forge = await withBin()
  const { jane, project, dir, git, commit, propose } = await openReview(forge, { a: 'a\n' })
  await git('checkout', '-q', '-b', 'topic')
  const first = await commit('b', 'b\n')
  await git('push', '-q', 'origin', 'topic')
  const { iid, url } = await propose('topic')
  await git('commit', '-q', '--amend', '-m', 'Amended')
  const head = await git('rev-parse', 'HEAD')
  await git('push', '-q', '--force', 'origin', 'topic')
  await jane.post(`${url}/notes`, { body: 'good' })
  await jane.post(`${url}/award_emoji`, { name: 'thumbsup' })
  await jane.post(`${url}/approve`)
  await forge.settle()
  await jane.get(url)
  const paths = ['', '/notes', '/changes', '/commits', '/versions', '/award_emoji', '/approvals', '/discussions']
  const at = `/projects/${project.id}`
  const all = [...paths.map((path) => url + path), `${at}/merge_requests?source_branch=topic`]
  const before = await recordsAt(jane, all)

  expect((await jane.delete(url)).status).toBe(204)
  // The refs of the merge request go in the background. Then only the bin has the commits.
  await forge.settle()
  await git('push', '-q', 'origin', ':topic')
  const { body: changes } = await jane.get(`${at}/repository/ref_changes`, { ref: 'refs/heads/topic' })
  expect((await jane.delete(`${at}/repository/ref_changes/${changes[0].id}`)).status).toBe(204)
  await hoursLater(forge, dir)
  expect((await jane.post(`${at}/housekeeping`)).status).toBe(201)
  await hoursLater(forge, dir)
  expect((await jane.get(url)).status).toBe(404)
  for (const sha of [first, head]) expect((await jane.get(`${at}/repository/commits/${sha}`)).status).toBe(404)
  expect(await git('ls-remote', 'origin', 'refs/merge-requests/*')).toBe('')

  await git('push', '-q', 'origin', 'topic')
  expect((await jane.post(`${url}/restore`)).status).toBe(201)
  await forge.settle()
  await jane.get(url)
  expect(await recordsAt(jane, all)).toEqual(before)
  expect((await git('ls-remote', 'origin', `refs/merge-requests/${iid}/head`)).split('\t')[0]).toBe(head)
  expect((await jane.get(`${at}/repository/commits/${first}`)).status).toBe(200)
})

test('a merge request is not restored beside another one of the same branches', async () => {
  await using forge = await withBin()
  const { jane, project, git, commit, propose } = await openReview(forge, { a: 'a\n' })
  await git('checkout', '-q', '-b', 'topic')
  await commit('b', 'b\n')
  await git('push', '-q', 'origin', 'topic')
  const first = await propose('topic')
  await jane.delete(first.url)
  const second = await propose('topic')
  const refused = await jane.post(`${first.url}/restore`)
  expect(refused.status).toBe(409)
  expect((await jane.get(first.url)).status).toBe(404)
  await jane.put(second.url, { state_event: 'close' })
  expect((await jane.post(`${first.url}/restore`)).status).toBe(201)
  expect((await jane.get(`/projects/${project.id}/merge_requests?state=opened`)).body).toMatchObject([{ id: first.id }])
})

test('deleted labels and milestones of projects and groups come back to their issues', async () => {
  await using forge = await withBin()
  const jane = await forge.user()
  const { body: group } = await jane.post('/groups', { name: 'Mill', path: 'mill' })
  const project = await forge.project({ namespace_id: group.id }, jane)
  const [at, above] = [`/projects/${project.id}`, `/groups/${group.id}`]
  await jane.post(`${at}/labels`, { name: 'bug', color: 'red', priority: 2 })
  await jane.post(`${above}/labels`, { name: 'ours', color: 'blue' })
  const { body: own } = await jane.post(`${at}/milestones`, { title: 'v1', due_date: '2027-01-01' })
  const { body: shared } = await jane.post(`${above}/milestones`, { title: 'v2' })
  await jane.post(`${at}/boards`, { name: 'b' })
  for (const [title, milestone] of [
    ['one', own],
    ['two', shared],
  ] as const)
    await jane.post(`${at}/issues`, { title, labels: 'bug,ours', milestone_id: milestone.id })
  await forge.settle()
  const paths = [
    `${at}/issues?with_labels_details=true&order_by=label_priority`,
    `${at}/issues?order_by=milestone_due`,
    `${at}/issues?labels=bug`,
    `${at}/labels?with_counts=true`,
    `${at}/milestones`,
    `${above}/labels?with_counts=true`,
    `${above}/milestones`,
    `${at}/issues/1/resource_label_events`,
    `${at}/issues/1/resource_milestone_events`,
  ]
  const before = await recordsAt(jane, paths)

  for (const path of [`${at}/labels/bug`, `${above}/labels/ours`]) expect((await jane.delete(path)).status).toBe(204)
  for (const path of [`${at}/milestones/${own.id}`, `${above}/milestones/${shared.id}`])
    expect((await jane.delete(path)).status).toBe(204)
  await forge.settle()
  expect((await jane.get(`${at}/issues`)).body).toMatchObject([
    { labels: [], milestone: null },
    { labels: [], milestone: null },
  ])
  for (const [scope, titles] of [
    [at, ['v1', 'bug']],
    [above, ['v2', 'ours']],
  ] as const) {
    const { body } = await jane.get(`${scope}/deleted_items`)
    expect(body.map(({ title }: { title: string }) => title)).toEqual(titles)
    for (const { id } of body) expect((await jane.post(`${scope}/deleted_items/${id}/restore`)).status).toBe(201)
  }
  await forge.settle()
  const plain = (records: unknown) =>
    JSON.parse(JSON.stringify(records, (key, value) => (key === 'updated_at' ? 0 : value)))
  expect(plain(await recordsAt(jane, paths))).toEqual(plain(before))
})

test('a label or milestone is not restored beside another one with its title, in the project or above', async () => {
  await using forge = await withBin()
  const jane = await forge.user()
  const { body: group } = await jane.post('/groups', { name: 'Mill', path: 'mill' })
  const project = await forge.project({ namespace_id: group.id }, jane)
  const [at, above] = [`/projects/${project.id}`, `/groups/${group.id}`]
  await jane.post(`${at}/labels`, { name: 'bug', color: 'red' })
  const { body: own } = await jane.post(`${at}/milestones`, { title: 'v1' })
  await jane.delete(`${at}/labels/bug`)
  await jane.delete(`${at}/milestones/${own.id}`)
  const { body: bin } = await jane.get(`${at}/deleted_items`)
  const restoreBoth = async () => {
    const answers = []
    for (const { id } of bin) answers.push(await jane.post(`${at}/deleted_items/${id}/restore`))
    return answers.map(({ status, body }) => [status, body])
  }
  await jane.post(`${above}/labels`, { name: 'bug', color: 'blue' })
  await jane.post(`${above}/milestones`, { title: 'v1' })
  const refused = [
    [409, { message: 'A milestone with the same number or title already exists' }],
    [409, { message: 'A label with the same number or title already exists' }],
  ]
  expect(await restoreBoth()).toEqual(refused)
  await jane.delete(`${above}/labels/bug`)
  for (const { id } of (await jane.get(`${above}/milestones`)).body) await jane.delete(`${above}/milestones/${id}`)
  await jane.post(`${at}/labels`, { name: 'bug', color: 'blue' })
  await jane.post(`${at}/milestones`, { title: 'v1' })
  expect(await restoreBoth()).toEqual(refused)
  expect((await jane.get(`${at}/deleted_items`)).body).toEqual(bin)
})

test('Reporters restore what they may delete; only owners see issues in the bin', async () => {
  await using forge = await withBin()
  const [jane, rita] = [await forge.user(), await forge.user()]
  const project = await forge.project({}, jane)
  const at = `/projects/${project.id}`
  await jane.post(`${at}/members`, { user_id: rita.id, access_level: 20 })
  await forge.issue(project, {}, jane)
  await jane.post(`${at}/labels`, { name: 'bug', color: 'red' })
  await jane.delete(`${at}/issues/1`)
  await jane.delete(`${at}/labels/bug`)
  const { body: all } = await jane.get(`${at}/deleted_items`)
  expect(all).toMatchObject([{ kind: 'label' }, { kind: 'issue' }])
  expect((await rita.get(`${at}/deleted_items`)).body).toEqual([all[0]])
  for (const ask of [
    () => rita.post(`${at}/deleted_items/${all[1].id}/restore`),
    () => rita.delete(`${at}/deleted_items/${all[1].id}`),
  ])
    expect((await ask()).status).toBe(404)
  expect((await jane.get(`${at}/deleted_items`)).body).toEqual(all)
})

test('a page of the bin costs the same number of queries, however long', async () => {
  await using forge = await withBin()
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  const at = `/projects/${project.id}`
  const cost = async () => {
    await forge.settle()
    const before = forge.app.store.queries
    await jane.get(`${at}/deleted_items?per_page=100`)
    return forge.app.store.queries - before
  }
  const deleteSome = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const { iid } = await forge.issue(project, {}, jane)
      await jane.delete(`${at}/issues/${iid}`)
    }
  }
  await deleteSome(2)
  await cost()
  const few = await cost()
  await deleteSome(20)
  await cost()
  expect(await cost()).toBe(few)
})
