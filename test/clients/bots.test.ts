/**
 * The requests of bots and integrations on a repository, as they send them: with a bearer token, in JSON or in a form,
 * with the project named by its path.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Command } from '../start/command.ts'
import { workspace } from '../workspace.ts'
import { TOKEN, startServer } from './server.ts'

const PROJECT = '/projects/root%2Fbots'

let command: Command
let sha: string
beforeAll(async () => {
  command = await startServer()
  await ask('POST', '/projects', { name: 'Bots', visibility: 'public' })
  const files = { 'package.json': '{}\n', 'src/a.txt': 'a\nb\n' }
  const actions = Object.entries(files).map(([file_path, content]) => ({ action: 'create', file_path, content }))
  const { body } = await ask('POST', `${PROJECT}/repository/commits`, {
    branch: 'main',
    commit_message: 'Begin',
    actions,
  })
  sha = body.id
})
afterAll(() => command.stop())

async function ask(method: string, path: string, input?: object | URLSearchParams) {
  const isForm = input instanceof URLSearchParams
  const response = await fetch(`${command.url}/api/v4${path}`, {
    method,
    redirect: 'manual',
    headers: { Authorization: `Bearer ${TOKEN}`, ...(input && !isForm && { 'Content-Type': 'application/json' }) },
    ...(input && { body: isForm ? input : JSON.stringify(input) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

test('Renovate reads a repository and reports on a commit', async () => {
  const found = await ask(
    'GET',
    '/projects?membership=true&min_access_level=30&with_merge_requests_enabled=true&archived=false',
  )
  expect(found.body).toMatchObject([{ path_with_namespace: 'root/bots' }])
  expect((await ask('GET', PROJECT)).body).toMatchObject({
    default_branch: 'main',
    empty_repo: false,
    archived: false,
    mirror: false,
    merge_method: 'merge',
    repository_access_level: 'enabled',
    http_url_to_repo: `${command.url}/root/bots.git`,
  })
  const file = await ask('GET', `${PROJECT}/repository/files/package.json?ref=HEAD`)
  expect(Buffer.from(file.body.content, 'base64').toString()).toBe('{}\n')
  expect((await ask('GET', `${PROJECT}/repository/files/src%2Fa.txt/raw?ref=HEAD`)).body).toBe('a\nb\n')
  expect((await ask('GET', `${PROJECT}/repository/branches/main`)).body.commit.id).toBe(sha)

  const status = { description: 'too young', context: 'renovate/stability-days' }
  const report = (state: string) => ask('POST', `${PROJECT}/statuses/${sha}`, { state, ...status })
  expect(await report('pending')).toMatchObject({ status: 201, body: { name: 'renovate/stability-days', ref: 'main' } })
  expect(await report('pending')).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^Cannot transition status via :enqueue from :pending/) },
  })
  expect(await report('success')).toMatchObject({ status: 201 })
  const listed = await ask('GET', `${PROJECT}/repository/commits/${sha}/statuses`)
  expect(listed.body).toMatchObject([{ name: 'renovate/stability-days', status: 'success' }])
})

test('Renovate keeps a dashboard: made, found again, left alone, updated, closed and made anew', async () => {
  const { body: jane } = await ask('POST', '/users', {
    username: 'bots-jane',
    name: 'Jane',
    email: 'bots-jane@example.com',
    password: 'correct horse',
    skip_confirmation: true,
  })
  await ask('POST', `${PROJECT}/members`, { user_id: jane.id, access_level: 30 })
  const title = 'Dependency Dashboard'
  const head =
    'Lists **updates** & <b>more</b>   \nünï 🙂 \\o/ /close\n\n- [ ] <!-- rebase-all -->Rebase @bots-jane #1 `a\tb`'
  const find = async () => {
    const first = await ask('GET', `${PROJECT}/issues?per_page=100&state=opened&scope=created_by_me`)
    return first.body.find((issue: { title: string }) => issue.title === title)
  }
  const ensure = async (description: string, labels?: string[]) => {
    const issue = await find()
    const request = { title, description, labels: (labels ?? issue?.labels ?? []).join(','), confidential: false }
    if (!issue) return (await ask('POST', `${PROJECT}/issues`, request)).status
    const stored = (await ask('GET', `${PROJECT}/issues/${issue.iid}`)).body.description
    return stored === description ? 'same' : (await ask('PUT', `${PROJECT}/issues/${issue.iid}`, request)).status
  }
  expect(await find()).toBeUndefined()
  expect(await ensure(head, ['dependencies', 'bot'])).toBe(201)
  expect(await ensure(head)).toBe('same')
  // Created texts are trimmed; updated ones are not.
  const long = `${head}\r\n\n${'- [x] ünï <!-- manual job -->\n'.repeat(5000)}\n\n`
  expect(await ensure(long)).toBe(200)
  expect(await ensure(long)).toBe('same')
  const { iid } = await find()

  const found = await ask('GET', '/users?username=bots-jane')
  await ask('PUT', `${PROJECT}/issues/${iid}`, { assignee_ids: [found.body[0].id] })
  expect(await find()).toMatchObject({ labels: ['bot', 'dependencies'], assignees: [{ username: 'bots-jane' }] })
  const closed = await ask('PUT', `${PROJECT}/issues/${iid}`, { state_event: 'close' })
  expect(closed).toMatchObject({ status: 200, body: { state: 'closed', description: long } })
  expect(await find()).toBeUndefined()
  expect(await ensure(head)).toBe(201)
  const again = await ask('PUT', `${PROJECT}/issues/${iid}`, { state_event: 'reopen' })
  expect(again.body).toMatchObject({ state: 'opened', description: long, labels: ['bot', 'dependencies'] })
})

/** As observed with Renovate 44 in four runs on a project with one outdated dependency. */
test('Renovate opens a merge request, updates, rebases and automerges it', async () => {
  await using place = await workspace()
  const git = async (...args: string[]) => {
    const { code, stdout, stderr } = await place.git(...args)
    expect(code, stderr).toBe(0)
    return stdout
  }
  const at = '/projects/root%2Fapp'
  await ask('POST', '/projects', { name: 'App', visibility: 'private' })
  const begin = { branch: 'main', commit_message: 'Begin' }
  const create = (file_path: string, content: string) => ({ action: 'create', file_path, content })
  await ask('POST', `${at}/repository/commits`, { ...begin, actions: [create('deps.txt', 'lib=v1.0.0\n')] })
  const address = `${command.url.replace('://', `://oauth2:${TOKEN}@`)}/root/app.git`
  await git('clone', '--quiet', address, 'app')
  const branch = 'renovate/lib-1.x'
  const bump = async (version: string) => {
    await git('-C', 'app', 'fetch', '--quiet', 'origin')
    await git('-C', 'app', 'switch', '--quiet', '--force-create', branch, 'origin/main')
    await writeFile(join(place.folder, 'app', 'deps.txt'), `lib=${version}\n`)
    await git('-C', 'app', 'commit', '--quiet', '--all', '--message', `Update dependency lib to ${version}`)
    await git('-C', 'app', 'push', '--quiet', '--force', 'origin', `${branch}:refs/heads/${branch}`)
    return git('-C', 'app', 'rev-parse', 'HEAD')
  }
  const list = async () =>
    (await ask('GET', `${at}/merge_requests?per_page=100&order_by=updated_at&sort=desc&scope=created_by_me`)).body
  const show = async () => (await ask('GET', `${at}/merge_requests/1?include_diverged_commits_count=1`)).body
  const text = (version: string) => ({
    title: `Update dependency lib to ${version}`,
    description: `This MR contains the following updates:\n\n| \`v1.0.0\` → \`${version}\` |\n\n - [ ] <!-- rebase-check -->`,
  })

  expect(await list()).toEqual([])
  const first = await bump('v1.1.0')
  const branches = { source_branch: branch, target_branch: 'main', remove_source_branch: true }
  const request = { ...branches, ...text('v1.1.0'), labels: 'deps', squash: false }
  expect(await ask('POST', `${at}/merge_requests`, request)).toMatchObject({
    status: 201,
    body: { iid: 1, sha: first },
  })
  expect(await ask('POST', `${at}/merge_requests`, request)).toMatchObject({ status: 409 })
  const [root] = (await ask('GET', '/users?username=root')).body
  expect(await ask('PUT', `${at}/merge_requests/1?assignee_ids%5B%5D=${root.id}`)).toMatchObject({ status: 200 })
  expect(await ask('PUT', `${at}/merge_requests/1`, { reviewer_ids: [root.id] })).toMatchObject({ status: 200 })
  expect(await list()).toMatchObject([
    {
      ...text('v1.1.0'),
      iid: 1,
      source_branch: branch,
      target_branch: 'main',
      state: 'opened',
      sha: first,
      labels: ['deps'],
      assignees: [{ username: 'root' }],
      reviewers: [{ username: 'root' }],
    },
  ])

  // A newer version: the branch is recreated, then the texts.
  const second = await bump('v1.2.0')
  expect(await show()).toMatchObject({ ...text('v1.1.0'), sha: second, diverged_commits_count: 0, head_pipeline: null })
  const changed = { ...text('v1.2.0'), add_labels: ['minor'], remove_labels: ['deps'] }
  expect(await ask('PUT', `${at}/merge_requests/1`, changed)).toMatchObject({ status: 200 })
  expect(await show()).toMatchObject({ ...text('v1.2.0'), labels: ['minor'] })
  const note = (await ask('POST', `${at}/merge_requests/1/notes`, { body: '##### Edited\n\nIt was edited.' })).body
  expect(await ask('PUT', `${at}/merge_requests/1/notes/${note.id}`, { body: 'Not edited' })).toMatchObject({
    status: 200,
  })
  const notes = (await ask('GET', `${at}/merge_requests/1/notes?per_page=100`)).body
  expect(notes.find((one: { id: number }) => one.id === note.id)).toMatchObject({ body: 'Not edited' })
  expect((await ask('DELETE', `${at}/merge_requests/1/notes/${note.id}`)).status).toBe(204)

  // The target branch has moved on.
  await ask('POST', `${at}/repository/commits`, { ...begin, actions: [create('more.txt', 'more\n')] })
  expect(await show()).toMatchObject({ sha: second, diverged_commits_count: 1 })
  const third = await bump('v1.2.0')
  expect(await show()).toMatchObject({ sha: third, diverged_commits_count: 0, detailed_merge_status: 'mergeable' })

  // Configured to ignore approvals: a rule that requires none. It waits for tests.
  const rules = `${at}/merge_requests/1/approval_rules`
  expect((await ask('GET', rules)).body).toEqual([])
  const rule = { name: 'renovateIgnoreApprovals', approvals_required: 0 }
  expect(await ask('POST', rules, rule)).toMatchObject({ status: 201, body: { ...rule, rule_type: 'regular' } })
  expect((await ask('GET', rules)).body).toMatchObject([rule])
  const report = (state: string) => ask('POST', `${at}/statuses/${third}`, { state, name: 'build', ref: branch })
  await report('running')
  const merge = { should_remove_source_branch: true, merge_when_pipeline_succeeds: true }
  expect(await ask('PUT', `${at}/merge_requests/1/merge`, merge)).toMatchObject({
    status: 200,
    body: { state: 'opened', merge_when_pipeline_succeeds: true },
  })
  await report('success')
  await expect.poll(async () => (await show()).state).toBe('merged')
  expect((await ask('GET', `${at}/repository/files/deps.txt/raw?ref=HEAD`)).body).toBe('lib=v1.2.0\n')
  const gone = async () => (await ask('GET', `${at}/repository/branches/${encodeURIComponent(branch)}`)).status
  await expect.poll(gone).toBe(404)
  expect(await list()).toMatchObject([{ iid: 1, state: 'merged', merged_at: expect.any(String) }])
})

test('Dependabot makes a branch, commits to it and makes it anew', async () => {
  const made = await ask('POST', `${PROJECT}/repository/branches?branch=dependabot%2Fnpm&ref=${sha}`)
  expect(made).toMatchObject({ status: 201, body: { name: 'dependabot/npm' } })
  const bump = (content: string, more = {}) =>
    ask('POST', `${PROJECT}/repository/commits`, {
      branch: 'dependabot/npm',
      commit_message: 'Bump',
      author_name: 'Bot',
      author_email: 'bot@example.com',
      actions: [{ action: 'update', file_path: '/package.json', content, encoding: 'text' }],
      ...more,
    })
  expect(await bump('{"a":1}\n')).toMatchObject({ status: 201, body: { parent_ids: [sha], author_name: 'Bot' } })
  const forced = await bump('{"a":2}\n', { start_branch: 'main', force: true })
  expect(forced).toMatchObject({ status: 201, body: { parent_ids: [sha] } })
  const head = await ask('GET', `${PROJECT}/repository/commits/dependabot%2Fnpm`)
  expect(head.body.id).toBe(forced.body.id)
  const { body } = await ask('GET', `${PROJECT}/repository/compare?from=main&to=dependabot%2Fnpm`)
  expect(body.diffs).toMatchObject([
    { new_path: 'package.json', diff: '--- a/package.json\n+++ b/package.json\n@@ -1 +1 @@\n-{}\n+{"a":2}\n' },
  ])
})

test('semantic-release, release-it and glab publish what they built', async () => {
  expect((await ask('GET', PROJECT)).body.permissions.project_access.access_level).toBeGreaterThanOrEqual(30)
  expect((await ask('GET', `${PROJECT}/repository/commits/${sha}/merge_requests`)).body).toEqual([])
  const tag = { tag_name: 'v1.0.0', ref: 'main', message: 'v1.0.0' }
  expect(await ask('POST', `${PROJECT}/repository/tags`, tag)).toMatchObject({ status: 201, body: { release: null } })
  const links = [{ name: 'saw', url: 'https://files.example/saw', link_type: 'package', filepath: '/bin/saw' }]
  const release = { tag_name: 'v1.0.0', description: '# 1.0.0', milestones: [], assets: { links } }
  expect(await ask('POST', `${PROJECT}/releases`, release)).toMatchObject({
    status: 201,
    body: { name: 'v1.0.0', commit: { id: sha }, assets: { links: [{ name: 'saw', link_type: 'package' }] } },
  })
  expect(await ask('POST', `${PROJECT}/releases`, release)).toMatchObject({ status: 409 })
  const link = { name: 'notes', url: 'https://files.example/notes', direct_asset_path: '/notes' }
  expect(await ask('POST', `${PROJECT}/releases/v1.0.0/assets/links`, link)).toMatchObject({ status: 201 })
  const latest = await ask('GET', `${PROJECT}/releases/permalink/latest`)
  expect([latest.status, latest.headers.get('location')]).toEqual([302, expect.stringMatching(/\/releases\/v1\.0\.0$/)])
  const download = await ask('GET', `${PROJECT}/releases/v1.0.0/downloads/bin/saw`)
  expect([download.status, download.headers.get('location')]).toEqual([302, 'https://files.example/saw'])
})

test('Jenkins reports in a form, and asks for heads only', async () => {
  const fields = { state: 'running', ref: 'main', name: 'jenkins', target_url: 'http://ci.example/1' }
  const report = (more: object) =>
    ask('POST', `${PROJECT}/statuses/${sha}`, new URLSearchParams({ ...fields, ...more }))
  expect(await report({})).toMatchObject({
    status: 201,
    body: { status: 'running', target_url: 'http://ci.example/1' },
  })
  expect(await report({ state: 'success', coverage: '12.5' })).toMatchObject({ status: 201, body: { coverage: 12.5 } })
  expect((await ask('HEAD', '/user')).status).toBe(200)
  expect((await ask('HEAD', `${PROJECT}/repository/branches/main`)).status).toBe(204)
  expect((await ask('HEAD', `${PROJECT}/repository/branches/none`)).status).toBe(404)
})

test('Argo CD and Sentry look at files', async () => {
  const head = await ask('HEAD', `${PROJECT}/repository/files/src%2Fa.txt?ref=main`)
  expect([head.status, head.headers.get('x-gitlab-size'), head.headers.get('x-gitlab-file-path')]).toEqual([
    200,
    '4',
    'src/a.txt',
  ])
  expect((await ask('HEAD', `${PROJECT}/repository/files/none.txt?ref=main`)).status).toBe(404)
  const tree = await ask('GET', `${PROJECT}/repository/tree?path=src/&ref=main&per_page=100`)
  expect(tree.body).toMatchObject([{ path: 'src/a.txt', type: 'blob' }])
  const range = 'range%5Bstart%5D=2&range%5Bend%5D=2'
  const blame = await ask('GET', `${PROJECT}/repository/files/src%2Fa.txt/blame?ref=main&${range}`)
  expect(blame.body).toMatchObject([{ commit: { id: sha, author_email: expect.any(String) }, lines: ['b'] }])
  const since = '2001-01-01T00:00:00.000Z'
  const commits = await ask('GET', `${PROJECT}/repository/commits?since=${since}&until=2999-01-01T00:00:00Z&path=src`)
  expect(commits.body).toMatchObject([{ id: sha }])
  expect(commits.headers.get('ratelimit-limit')).toMatch(/^\d+$/)
})

test('Terraform reads back what it wrote', async () => {
  const rule = { name: 'stable', push_access_level: 30, merge_access_level: 40, allow_force_push: true }
  expect(await ask('POST', `${PROJECT}/protected_branches`, rule)).toMatchObject({ status: 201 })
  expect((await ask('GET', `${PROJECT}/protected_branches/stable`)).body).toMatchObject({
    push_access_levels: [{ access_level: 30 }],
    merge_access_levels: [{ access_level: 40 }],
    allow_force_push: true,
  })
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMiKCNOaZ0Yz3eWtCBEtHc3sEvj1rn8bHLjbXKpGDlXv robot'
  const request = { title: 'robot', key, can_push: true, expires_at: '2999-01-01T00:00:00.000Z' }
  const { body: made } = await ask('POST', `${PROJECT}/deploy_keys`, request)
  expect((await ask('GET', `${PROJECT}/deploy_keys/${made.id}`)).body).toMatchObject(request)
  const file = {
    branch: 'main',
    content: '#!/bin/sh\n',
    commit_message: 'Add',
    encoding: 'text',
    execute_filemode: true,
  }
  expect(await ask('POST', `${PROJECT}/repository/files/bin%2Frun`, file)).toMatchObject({ status: 201 })
  expect((await ask('GET', `${PROJECT}/repository/files/bin%2Frun?ref=main`)).body).toMatchObject({
    content: Buffer.from('#!/bin/sh\n').toString('base64'),
    execute_filemode: true,
  })
})
