import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { runGit } from '../../../../test/git-origin.ts'

let forge: TestForge
let jane: Person
beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user()
})
afterAll(() => forge.close())

const refused = (status: number, message: unknown) => ({ status, body: { message } })
const CANNOT = refused(405, 'Branch cannot be merged')

/** A project of Jane with merge requests. */
async function open(request: Record<string, unknown> = {}) {
  const project = await forge.project(request, jane)
  await forge.seed(project, { 'a.txt': 'one\n' }, { as: jane })
  const at = `/projects/${project.id}`
  const url = `${at}/merge_requests`
  const row = await forge.app.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', project.id)
    .executeTakeFirstOrThrow()
  const git = (...args: string[]) => runGit([`--git-dir=${repositoryDir(forge.app, row)}`, ...args])
  const commit = (branch: string, files: Record<string, string | null>, message?: string) =>
    forge.seed(project, files, { branch, as: jane, ...(message && { message }) })
  const propose = async (branch: string, files: Record<string, string>, more: Record<string, unknown> = {}) => {
    await commit(branch, files, `Add ${branch}`)
    const request = { source_branch: branch, target_branch: 'master', title: `Bring ${branch}`, ...more }
    const made = await jane.post(url, request)
    expect(made.status).toBe(201)
    return { ...made.body, url: `${url}/${made.body.iid}` }
  }
  const member = async (access_level: number) => {
    const person = await forge.user()
    await jane.post(`${at}/members`, { user_id: person.id, access_level })
    return person
  }
  /** The state that a merge changes. */
  const state = async (iid: number) => {
    const { body } = await jane.get(`${url}/${iid}`)
    return [await git('rev-parse', 'master'), body.state, body.merge_commit_sha, await forge.events()]
  }
  return { project, at, url, git, commit, propose, member, state }
}

const parentsOf = async (git: (...args: string[]) => Promise<string>, name: string) =>
  (await git('rev-list', '--parents', '-n', '1', name)).split(' ').slice(1)

test('a merge is a commit with both parents by the user who merges, with one event', async () => {
  const { at, git, propose } = await open()
  const issue = await jane.post(`${at}/issues`, { title: 'It is missing' })
  const one = await propose('feature', { 'b.txt': 'two\n' }, { description: `Closes #${issue.body.iid}` })
  const [before, events] = [await git('rev-parse', 'master'), (await forge.events()).length]

  const merged = await jane.put(`${one.url}/merge`)

  expect(merged).toMatchObject({
    status: 200,
    body: { state: 'merged', merged_by: { id: jane.id }, merge_user: { id: jane.id }, sha: one.sha, merge_error: null },
  })
  const tip = await git('rev-parse', 'master')
  expect(tip).toBe(merged.body.merge_commit_sha)
  expect(await parentsOf(git, tip)).toEqual([before, one.sha])
  expect(await git('show', '-s', '--format=%an <%ae> %cn <%ce>%n%B', tip)).toBe(
    [
      `User 1 <${jane.email}> User 1 <${jane.email}>`,
      "Merge branch 'feature' into 'master'",
      '',
      'Bring feature',
      '',
      `Closes #${issue.body.iid}`,
      '',
      `See merge request ${jane.username}/${(await jane.get(at)).body.path}!1`,
    ].join('\n'),
  )
  await forge.settle()
  const emitted = (await forge.events()).slice(events)
  expect(emitted.filter((name) => name === 'merge_request.merged')).toHaveLength(1)
  expect((await jane.get(`${at}/issues/1`)).body).toMatchObject({ state: 'closed', closed_by: { id: jane.id } })
  const notes = (await jane.get(`${at}/issues/1/notes`)).body.map(({ body }: { body: string }) => body)
  expect(notes).toContain('closed via merge request !1')
})

test('templates of the project say what its commits say', async () => {
  const { at, git, commit, propose } = await open()
  const template =
    '%{title} (%{local_reference})\n\n%{issues}\n\n%{unknown} %{first_commit}\n\n%{approved_by}\nBy: %{merged_by}'
  await jane.put(at, { merge_commit_template: template, squash_commit_template: '%{source_branch}: %{title}' })
  const one = await propose('feature', { 'b.txt': 'two\n' }, { squash: true })
  await commit('feature', { 'c.txt': 'three\n' }, 'More')
  const { body } = await jane.put(`${one.url}/merge`)
  expect(await git('show', '-s', '--format=%B', body.merge_commit_sha)).toBe(
    `Bring feature (!1)\n\n%{unknown} Add feature\n\nBy: User 1 <${jane.email}>`,
  )
  expect(await git('show', '-s', '--format=%B', body.squash_commit_sha)).toBe('feature: Bring feature')
  expect((await jane.put(at, { merge_commit_template: 'x'.repeat(501) })).status).toBe(400)
})

test('what cannot be merged is refused, and nothing moves', async () => {
  const { at, commit, propose, state, member } = await open()
  const one = await propose('feature', { 'a.txt': 'two\n' })
  const attempt = async (who: Person, input: Record<string, unknown>, answer: unknown) => {
    await forge.settle()
    const before = await state(one.iid)
    expect(await who.put(`${one.url}/merge`, input)).toMatchObject(answer as object)
    expect(await state(one.iid)).toEqual(before)
  }
  await attempt(jane, { sha: '0'.repeat(40) }, refused(409, 'SHA does not match HEAD of source branch'))
  await jane.put(one.url, { title: 'WIP: Bring feature' })
  await attempt(jane, {}, refused(405, '405 Method Not Allowed'))
  await jane.put(one.url, { title: 'Bring feature' })
  await attempt(await member(20), {}, refused(401, '401 Unauthorized'))
  // The default branch is protected: only Masters merge.
  await attempt(await member(30), {}, refused(401, '401 Unauthorized'))
  await jane.put(at, { only_allow_merge_if_pipeline_succeeds: true })
  await jane.post(`${at}/statuses/${one.sha}`, { state: 'failed' })
  await attempt(jane, {}, refused(405, '405 Method Not Allowed'))
  await jane.post(`${at}/statuses/${one.sha}`, { state: 'success' })
  await commit('master', { 'a.txt': 'three\n' })
  await attempt(jane, {}, CANNOT)
  const gates = (await jane.get(`${one.url}/mergeability`)).body
  expect(gates).toMatchObject({ mergeable: false, detailed_merge_status: 'conflict', conflicts: ['a.txt'] })
  await jane.put(one.url, { state_event: 'close' })
  await attempt(jane, {}, refused(406, 'Method Not Allowed'))
  expect((await jane.post(`${at}/archive`)).status).toBe(200)
  await attempt(jane, {}, refused(401, '401 Unauthorized'))
})

test('a level of its own lets Developers merge into a protected branch', async () => {
  const { at, propose, member } = await open()
  const one = await propose('feature', { 'b.txt': 'two\n' })
  const developer = await member(30)
  await jane.delete(`${at}/protected_branches/master`)
  await jane.post(`${at}/protected_branches`, { name: 'master', push_access_level: 0, merge_access_level: 30 })
  expect((await jane.get(one.url)).body.user).toEqual({ can_merge: true })
  expect(await developer.put(`${one.url}/merge`)).toMatchObject({ status: 200, body: { state: 'merged' } })
})

test.each([
  { merge_method: 'merge', squash: false },
  { merge_method: 'merge', squash: true },
  { merge_method: 'ff', squash: true },
  { merge_method: 'rebase_merge', squash: false, needsRebase: true },
  { merge_method: 'rebase_merge', squash: true, needsRebase: true },
  { merge_method: 'ff', squash: false, needsRebase: true },
])('method $merge_method, squash $squash', async ({ merge_method, squash, needsRebase = false }) => {
  const { at, git, commit, propose } = await open()
  await jane.put(at, { merge_method })
  const one = await propose('feature', { 'b.txt': 'two\n' }, { squash })
  await commit('feature', { 'c.txt': 'three\n' }, 'More')
  await commit('master', { 'd.txt': 'meanwhile\n' })
  const before = await git('rev-parse', 'master')
  const status = (await jane.get(one.url)).body.detailed_merge_status
  expect(status).toBe(needsRebase ? 'need_rebase' : 'mergeable')
  if (needsRebase) {
    const refusal = await jane.put(`${one.url}/merge`)
    const done = await jane.put(`${one.url}/rebase`)
    // oxlint-disable-next-line vitest/no-conditional-expect -- the table says which rows are refused
    expect([refusal, await git('rev-parse', 'master'), done]).toMatchObject([CANNOT, before, { status: 202 }])
  }
  const head = (await jane.get(one.url)).body.sha
  const { body } = await jane.put(`${one.url}/merge`, { squash_commit_message: 'All of it' })
  const tip = await git('rev-parse', 'master')
  const isForward = merge_method === 'ff'
  const brought = squash ? body.squash_commit_sha : head
  expect(body).toMatchObject({ state: 'merged', sha: head, merge_commit_sha: isForward ? null : tip })
  expect(await git('ls-tree', '--name-only', tip)).toBe('a.txt\nb.txt\nc.txt\nd.txt')
  const [first, second] = await parentsOf(git, tip)
  const isPlain = isForward && !squash
  expect([isPlain ? before : first, isForward ? tip : second]).toEqual([before, brought])
  expect(await git('show', '-s', '--format=%B', brought)).toBe(squash ? 'All of it' : 'More')
})

test('it waits for its pipeline, is called off, and merges by itself', async () => {
  const { at, git, propose, state } = await open()
  const one = await propose('feature', { 'b.txt': 'two\n' })
  await jane.post(`${at}/statuses/${one.sha}`, { state: 'running' })
  const wait = () =>
    jane.put(`${one.url}/merge`, { merge_when_pipeline_succeeds: true, should_remove_source_branch: true })
  const cancel = () => jane.put(`${one.url}/cancel_merge_when_pipeline_succeeds`)
  expect(await cancel()).toMatchObject(refused(406, 'Method Not Allowed'))
  const before = await git('rev-parse', 'master')
  expect(await wait()).toMatchObject({ status: 200, body: { state: 'opened', merge_when_pipeline_succeeds: true } })
  expect(await cancel()).toMatchObject({ status: 200, body: { merge_when_pipeline_succeeds: false } })
  await wait()
  await jane.post(`${at}/statuses/${one.sha}`, { state: 'failed' })
  await forge.settle()
  expect(await git('rev-parse', 'master')).toBe(before)
  await jane.post(`${at}/statuses/${one.sha}`, { state: 'success' })
  await forge.settle()
  expect((await jane.get(one.url)).body).toMatchObject({ state: 'merged', merged_by: { id: jane.id } })
  expect(await git('branch', '--list', 'feature')).toBe('')
  const after = await state(one.iid)
  expect(await cancel()).toMatchObject(refused(405, '405 Method Not Allowed'))
  expect(await state(one.iid)).toEqual(after)
})

test('a push to the source calls off waiting, and is not merged unseen', async () => {
  const { at, commit, propose } = await open()
  const one = await propose('feature', { 'b.txt': 'two\n' })
  await jane.post(`${at}/statuses/${one.sha}`, { state: 'running' })
  await jane.put(`${one.url}/merge`, { merge_when_pipeline_succeeds: true })
  await commit('feature', { 'c.txt': 'unseen\n' })
  await jane.post(`${at}/statuses/${one.sha}`, { state: 'success' })
  await forge.settle()
  expect((await jane.get(one.url)).body).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: false })
})

test('another target calls off waiting: nothing lands where nobody ordered it', async () => {
  const { at, url, git, commit, member } = await open()
  const author = await member(30)
  await jane.post(`${at}/repository/branches`, { branch: 'scratch', ref: 'master' })
  await commit('feature', { 'b.txt': 'two\n' })
  const request = { source_branch: 'feature', target_branch: 'scratch', title: 'Try' }
  const { iid, sha } = (await author.post(url, request)).body
  await jane.post(`${at}/statuses/${sha}`, { state: 'running' })
  const ordered = await jane.put(`${url}/${iid}/merge`, { merge_when_pipeline_succeeds: true })
  expect(ordered.body).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true })
  const before = await git('rev-parse', 'master')
  const moved = await author.put(`${url}/${iid}`, { target_branch: 'master' })
  expect(moved.body).toMatchObject({ target_branch: 'master', merge_when_pipeline_succeeds: false, merge_user: null })
  await jane.post(`${at}/statuses/${sha}`, { state: 'success' })
  await forge.settle()
  expect((await jane.get(`${url}/${iid}`)).body).toMatchObject({ state: 'opened', merge_error: null })
  expect(await git('rev-parse', 'master')).toBe(before)
  const notes = (await jane.get(`${url}/${iid}/notes`)).body as { body: string; author: { id: number } }[]
  expect(notes.filter(({ body }) => body === 'canceled the automatic merge')).toMatchObject([
    { author: { id: author.id } },
  ])
})

test('its source branch goes, unless it moved, is protected or is nobody’s to remove', async () => {
  const { at, git, propose } = await open()
  const names = ['wished', 'asked', 'kept', 'protected', 'spared']
  for (const name of names) {
    const remove_source_branch = name === 'wished' || name === 'spared'
    const one = await propose(name, { [`${name}.txt`]: 'x\n' }, { remove_source_branch })
    if (name === 'protected') await jane.post(`${at}/protected_branches`, { name })
    const isAsked = name === 'asked' || name === 'protected'
    const input = name === 'spared' || isAsked ? { should_remove_source_branch: isAsked } : {}
    expect((await jane.put(`${one.url}/merge`, input)).body).toMatchObject({ state: 'merged' })
  }
  expect(await git('for-each-ref', '--format=%(refname:short)', 'refs/heads')).toBe('kept\nmaster\nprotected\nspared')
})

test('a push that brings its head to the target merges it', async () => {
  const { at, git, propose } = await open()
  const one = await propose('feature', { 'b.txt': 'two\n' })
  await jane.delete(`${at}/protected_branches/master`)
  const folder = `push-${one.id}`
  await forge.git(['clone', '-q', `${forge.url}/${(await jane.get(at)).body.path_with_namespace}.git`, folder], {
    as: jane,
  })
  await forge.git(['-C', folder, 'push', '-q', 'origin', 'origin/feature:master'], { as: jane })
  expect((await jane.get(one.url)).body).toMatchObject({
    state: 'merged',
    merge_commit_sha: null,
    merged_by: { id: jane.id },
  })
  expect(await git('rev-parse', 'master')).toBe(one.sha)
})

test('of many who merge at once, one does', async () => {
  const { git, propose } = await open()
  const one = await propose('feature', { 'b.txt': 'two\n' })
  const before = await git('rev-list', '--count', 'master')
  const answers = await Promise.all(Array.from({ length: 8 }, () => jane.put(`${one.url}/merge`)))
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  expect(statuses).toEqual([200, ...Array<number>(7).fill(406)])
  expect(Number(await git('rev-list', '--count', 'master'))).toBe(Number(before) + 2)
})

test('what the gate refuses stays open and says why', async () => {
  const { at, git, propose } = await open()
  const one = await propose('feature', { 'b.txt': 'two\n' })
  await jane.post(`${at}/push_rule`, { commit_message_regex: '^JIRA-' })
  const before = await git('rev-parse', 'master')
  const answer = await jane.put(`${one.url}/merge`)
  expect(answer).toMatchObject({ status: 200, body: { state: 'opened', merge_commit_sha: null } })
  expect(answer.body.merge_error).toMatch(/does not follow the pattern/)
  expect(await git('rev-parse', 'master')).toBe(before)
})

test.each([
  ['before the branch moved', false],
  ['after the branch moved', true],
])('a merge that was cut off %s is undone or finished', async (_when, hasMoved) => {
  const { at, git, propose } = await open()
  const one = await propose('feature', { 'b.txt': 'two\n' })
  const tree = await git('rev-parse', `${one.sha}^{tree}`)
  const who = ['-c', 'user.name=x', '-c', 'user.email=x@example.org']
  const base = await git('rev-parse', 'master')
  const commit = await git(...who, 'commit-tree', tree, '-p', base, '-p', one.sha, '-m', 'Merge')
  const merging = { commit, mergeCommit: commit, squashCommit: null, by: jane.id, at: '2020-01-01T00:00:00.000Z' }
  await forge.app.db
    .updateTable('merge_requests')
    .set({ state: 'locked', merging: JSON.stringify(merging) })
    .where('id', '=', one.id)
    .execute()
  if (hasMoved) await git('update-ref', 'refs/heads/master', commit)
  expect((await jane.get(one.url)).body.state).toBe('opened')
  expect((await jane.put(`${one.url}/merge`)).status).toBe(406)
  forge.clock.advance(60_000)
  await forge.settle()
  const after = (await jane.get(one.url)).body
  expect(after).toMatchObject(
    hasMoved ? { state: 'merged', merge_commit_sha: commit } : { state: 'opened', merge_commit_sha: null },
  )
  const again = await jane.put(`${one.url}/merge`)
  expect(again).toMatchObject(hasMoved ? { status: 406 } : { body: { state: 'merged' } })
  expect((await jane.get(`${at}/repository/branches/master`)).status).toBe(200)
})

test('what stood on a merged request goes where it went', async () => {
  const { at, git, commit, propose } = await open()
  const parent = await propose('one', { 'b.txt': 'two\n' }, { remove_source_branch: true })
  await jane.post(`${at}/repository/branches`, { branch: 'two', ref: 'one' })
  const child = await propose('two', { 'c.txt': 'three\n' }, { target_branch: 'one' })
  await jane.post(`${at}/repository/branches`, { branch: 'three', ref: 'two' })
  const grandchild = await propose('three', { 'd.txt': 'four\n' }, { target_branch: 'two' })
  expect((await jane.get(parent.url)).body.stack).toMatchObject({ parent: null, children: [{ iid: child.iid }] })
  expect((await jane.get(child.url)).body.stack).toMatchObject({
    parent: { iid: parent.iid, source_branch: 'one' },
    children: [{ iid: grandchild.iid }],
  })
  await commit('master', { 'z.txt': 'meanwhile\n' })
  expect((await jane.put(`${parent.url}/rebase`, { stack: true })).status).toBe(202)
  expect(await git('merge-base', '--is-ancestor', 'one', 'two').then(() => true)).toBe(true)
  expect((await jane.put(`${parent.url}/merge`)).body.state).toBe('merged')
  expect((await jane.get(child.url)).body).toMatchObject({
    state: 'opened',
    target_branch: 'master',
    stack: { parent: null, children: [{ iid: grandchild.iid }] },
  })
  expect(await git('branch', '--list', 'one')).toBe('')
})

test('what stood on a merged request and waited does not follow it to its target', async () => {
  const { at, url, git, propose } = await open()
  const parent = await propose('one', { 'b.txt': 'two\n' })
  await jane.post(`${at}/repository/branches`, { branch: 'two', ref: 'one' })
  const child = await propose('two', { 'c.txt': 'three\n' }, { target_branch: 'one' })
  await jane.post(`${at}/statuses/${child.sha}`, { state: 'running' })
  const waits = await jane.put(`${child.url}/merge`, { merge_when_pipeline_succeeds: true })
  expect(waits.body).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true })
  await jane.put(`${parent.url}/merge`)
  const before = await git('rev-parse', 'master')
  await jane.post(`${at}/statuses/${child.sha}`, { state: 'success' })
  await forge.settle()
  expect((await jane.get(`${url}/${child.iid}`)).body).toMatchObject({
    state: 'opened',
    target_branch: 'master',
    merge_when_pipeline_succeeds: false,
  })
  expect(await git('rev-parse', 'master')).toBe(before)
})
