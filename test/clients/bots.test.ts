/**
 * What bots and integrations ask of a repository, request by request as they send it: by bearer token, in JSON or in a
 * form, with the project named by its path.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Command } from '../start/command.ts'
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
    const wish = { title, description, labels: (labels ?? issue?.labels ?? []).join(','), confidential: false }
    if (!issue) return (await ask('POST', `${PROJECT}/issues`, wish)).status
    const stored = (await ask('GET', `${PROJECT}/issues/${issue.iid}`)).body.description
    return stored === description ? 'same' : (await ask('PUT', `${PROJECT}/issues/${issue.iid}`, wish)).status
  }
  expect(await find()).toBeUndefined()
  expect(await ensure(head, ['dependencies', 'bot'])).toBe(201)
  expect(await ensure(head)).toBe('same')
  // What is created is trimmed; what is updated is not.
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
  const wish = { title: 'robot', key, can_push: true, expires_at: '2999-01-01T00:00:00.000Z' }
  const { body: made } = await ask('POST', `${PROJECT}/deploy_keys`, wish)
  expect((await ask('GET', `${PROJECT}/deploy_keys/${made.id}`)).body).toMatchObject(wish)
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
