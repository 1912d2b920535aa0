import { expect, test } from 'vitest'
import { groupOf } from '../../../../test/groups.ts'
import { formOf, picture, projectBy, repositoriesOf } from '../../../../test/projects.ts'
import { startForge } from '../../../forge.ts'
import { headOf } from '../../../git/storage/repositories.ts'
import { repositoryDir } from '../repositories/repository.ts'

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const token = expect.stringMatching(/^[A-HJ-NP-Za-km-z1-9_-]{20}$/)

/** The default values. */
const defaults = {
  description: null,
  default_branch: null,
  tag_list: [],
  topics: [],
  readme_url: null,
  archived: false,
  marked_for_deletion_at: null,
  marked_for_deletion_on: null,
  visibility: 'private',
  empty_repo: true,
  star_count: 0,
  forks_count: 0,
  open_issues_count: 0,
  issues_enabled: true,
  merge_requests_enabled: true,
  wiki_enabled: true,
  jobs_enabled: true,
  snippets_enabled: true,
  container_registry_enabled: true,
  repository_access_level: 'enabled',
  issues_access_level: 'enabled',
  merge_requests_access_level: 'enabled',
  builds_access_level: 'enabled',
  wiki_access_level: 'enabled',
  snippets_access_level: 'enabled',
  forking_access_level: 'enabled',
  container_registry_access_level: 'enabled',
  resolve_outdated_diff_discussions: false,
  shared_runners_enabled: true,
  lfs_enabled: true,
  public_jobs: true,
  ci_config_path: null,
  repository_storage: 'default',
  only_allow_merge_if_pipeline_succeeds: false,
  only_allow_merge_if_all_discussions_are_resolved: false,
  printing_merge_requests_link_enabled: true,
  printing_merge_request_link_enabled: true,
  request_access_enabled: false,
  merge_method: 'merge',
  squash_option: 'default_off',
  remove_source_branch_after_merge: false,
  approvals_before_merge: 0,
  pages_access_level: 'enabled',
  autoclose_referenced_issues: true,
  allow_merge_on_skipped_pipeline: false,
  suggestion_commit_message: null,
  merge_commit_template: null,
  squash_commit_template: null,
  packages_enabled: true,
  emails_disabled: false,
  emails_enabled: true,
  build_timeout: 3600,
  build_git_strategy: 'fetch',
  ci_default_git_depth: 20,
  auto_cancel_pending_pipelines: 'enabled',
  merge_pipelines_enabled: false,
  keep_latest_artifact: false,
  auto_devops_enabled: false,
  auto_devops_deploy_strategy: 'continuous',
  container_expiration_policy: {
    cadence: '1d',
    enabled: false,
    keep_n: 10,
    older_than: '90d',
    name_regex: '.*',
    name_regex_keep: null,
    next_run_at: null,
  },
  mirror: false,
  import_status: 'none',
  import_url: null,
  import_error: null,
  avatar_url: null,
  shared_with_groups: [],
}

const places = (url: string, id: number, path: string) => {
  const self = `${url}/api/v4/projects/${id}`
  return {
    ssh_url_to_repo: '',
    http_url_to_repo: `${url}/${path}.git`,
    web_url: `${url}/${path}`,
    path_with_namespace: path,
    _links: {
      self,
      issues: `${self}/issues`,
      merge_requests: `${self}/merge_requests`,
      repo_branches: `${self}/repository/branches`,
      labels: `${self}/labels`,
      events: `${self}/events`,
      members: `${self}/members`,
    },
  }
}

test('a personal project: the whole record, its repository, its first member, its event', async () => {
  await using forge = await startForge()
  const { app, url } = forge
  const jane = await forge.user({ username: 'jane', name: 'Jane Doe' })
  const { status, body } = await jane.post('/projects', { name: 'Big Saw' })
  const { body: namespace } = await jane.get('/namespaces/jane')

  expect(status).toBe(201)
  expect(body).toEqual({
    ...defaults,
    ...places(url, body.id, 'jane/big-saw'),
    id: expect.any(Number),
    name: 'Big Saw',
    path: 'big-saw',
    name_with_namespace: 'Jane Doe / Big Saw',
    namespace: { id: namespace.id, name: 'jane', path: 'jane', kind: 'user', full_path: 'jane', parent_id: null },
    owner: { id: jane.id, name: 'Jane Doe', created_at: timestamp },
    creator_id: jane.id,
    runners_token: token,
    created_at: timestamp,
    updated_at: timestamp,
    last_activity_at: body.created_at,
  })
  const row = await app.db.selectFrom('projects').selectAll().where('id', '=', body.id).executeTakeFirstOrThrow()
  expect(await repositoriesOf(forge)).toEqual([row.disk_path])
  expect(await headOf(repositoryDir(app, row))).toBe('master')
  const members = await app.db.selectFrom('members').selectAll().where('project_id', '=', body.id).execute()
  expect(members).toMatchObject([{ user_id: jane.id, access_level: 40 }])
  expect((await forge.events()).filter((name) => name.startsWith('project'))).toEqual(['project.created'])
  expect(row.runners_token_sealed).not.toContain(body.runners_token)
})

test("a group's project: no owner, the group's full name, nothing gained by its creator", async () => {
  await using forge = await startForge()
  const { administrator: root, url } = forge
  const tools = await groupOf(forge, 'tools', { name: 'Power Tools', visibility: 'internal' })
  const sharp = await groupOf(forge, 'sharp', { name: 'Sharp', parent_id: tools.id })
  const { status, body } = await root.post('/projects', { path: 'Saw.js', namespace_id: sharp.id })

  expect(status).toBe(201)
  expect(body).toEqual({
    ...defaults,
    ...places(url, body.id, 'tools/sharp/Saw.js'),
    id: expect.any(Number),
    name: 'Saw.js',
    path: 'Saw.js',
    name_with_namespace: 'Power Tools / Sharp / Saw.js',
    namespace: {
      id: sharp.id,
      name: 'Sharp',
      path: 'sharp',
      kind: 'group',
      full_path: 'tools/sharp',
      parent_id: tools.id,
    },
    creator_id: root.id,
    runners_token: token,
    created_at: timestamp,
    updated_at: timestamp,
    last_activity_at: timestamp,
  })
  const members = await forge.app.db.selectFrom('members').selectAll().where('project_id', '=', body.id).execute()
  expect(members).toEqual([])
})

test('a name makes a path, a path makes a name', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const table: [object, string, string][] = [
    [{ name: 'Ärger über Straßen' }, 'Ärger über Straßen', 'arger-uber-strassen'],
    [{ name: 'Łódź' }, 'Łódź', 'lodz'],
    [{ name: 'A. B  C' }, 'A. B  C', 'a-b-c'],
    [{ name: 'Émile_Zola.js' }, 'Émile_Zola.js', 'emile_zola-js'],
    [{ name: '😀 smile ' }, '😀 smile ', 'smile'],
    [{ path: 'Only.Path' }, 'Only.Path', 'Only.Path'],
    [{ name: 'One', path: 'two' }, 'One', 'two'],
    [{ name: null, path: 'three' }, 'three', 'three'],
    [{ name: '_x' }, '_x', '_x'],
    [{ name: 42 }, '42', '42'],
  ]
  for (const [input, name, path] of table) {
    const { status, body } = await user.post('/projects', { ...input })
    expect([status, body.name, body.path]).toEqual([201, name, path])
  }
})

/** Every attribute with a value other than its default. */
const all = {
  description: 'Cuts. <b>Über</b> 😀',
  visibility: 'internal',
  issues_enabled: false,
  merge_requests_enabled: false,
  jobs_enabled: false,
  wiki_enabled: false,
  snippets_enabled: false,
  container_registry_enabled: false,
  resolve_outdated_diff_discussions: true,
  shared_runners_enabled: false,
  public_jobs: false,
  only_allow_merge_if_pipeline_succeeds: true,
  only_allow_merge_if_all_discussions_are_resolved: true,
  printing_merge_request_link_enabled: false,
  lfs_enabled: false,
  request_access_enabled: true,
  remove_source_branch_after_merge: true,
  merge_method: 'ff',
  squash_option: 'always',
  approvals_before_merge: 3,
  ci_config_path: 'ci/main.yml',
  repository_storage: 'default',
  tag_list: ['ruby', 'Go', 'c plus'],
}

test('whatever was written reads back unchanged, from JSON, a form and a multipart form alike', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const readBack = async (id: number) => {
    const { body } = await root.get(`/projects/${id}`)
    return Object.fromEntries(Object.keys(all).map((name) => [name, body[name]]))
  }
  expect(await readBack((await projectBy(root, 'json', all)).id)).toEqual(all)

  const texts = Object.fromEntries(Object.entries(all).map(([k, v]) => [k, Array.isArray(v) ? v : String(v)]))
  const multipart = await root.post('/projects', formOf({ path: 'multipart', ...texts }))
  expect(multipart.status).toBe(201)
  expect(await readBack(multipart.body.id)).toEqual(all)

  const form = new URLSearchParams({ path: 'form' })
  for (const [name, value] of Object.entries(texts)) {
    for (const one of [value].flat()) form.append(Array.isArray(value) ? `${name}[]` : name, one)
  }
  const answer = await fetch(`${forge.url}/api/v4/projects`, { method: 'POST', headers: root.headers, body: form })
  expect(answer.status).toBe(201)
  expect(await readBack(((await answer.json()) as { id: number }).id)).toEqual(all)

  const { id } = await projectBy(root, 'changed')
  expect((await root.put(`/projects/${id}`, all)).status).toBe(200)
  expect(await readBack(id)).toEqual(all)
  expect((await root.put(`/projects/${id}`, formOf({ ...texts, description: '' }))).status).toBe(200)
  expect(await readBack(id)).toEqual({ ...all, description: '' })
})

test('other spellings are understood', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const table: [Record<string, unknown>, object][] = [
    [{ builds_enabled: false }, { jobs_enabled: false, builds_access_level: 'disabled' }],
    [{ public_builds: false }, { public_jobs: false }],
    [
      { printing_merge_requests_link_enabled: 'no' },
      { printing_merge_requests_link_enabled: false, printing_merge_request_link_enabled: false },
    ],
    [{ issues_access_level: 'private' }, { issues_access_level: 'private', issues_enabled: true }],
    [
      { wiki_access_level: 'disabled', wiki_enabled: true },
      { wiki_access_level: 'disabled', wiki_enabled: false },
    ],
    [{ tag_list: 'a, b ,,a' }, { tag_list: ['a', 'b'], topics: ['a', 'b'] }],
    [{ topics: ['x', ' y '] }, { tag_list: ['x', 'y'] }],
    [{ topics: ['later'], tag_list: ['earlier'] }, { topics: ['later'] }],
    [{ topics: '' }, { topics: [] }],
    [{ ci_config_path: '///ci.yml' }, { ci_config_path: 'ci.yml' }],
    [{ ci_config_path: '' }, { ci_config_path: null }],
    [
      { description: null, visibility: null, lfs_enabled: null, tag_list: null },
      { description: null, lfs_enabled: true },
    ],
    [{ approvals_before_merge: '' }, { approvals_before_merge: 0 }],
    [{ default_branch: 'main' }, { default_branch: null, empty_repo: true }],
    [{ nonsense: { deep: [1] }, id: 77, creator_id: 77, runners_token: 'mine', archived: true }, { archived: false }],
  ]
  for (const [n, [input, message]] of table.entries()) {
    const { id } = await projectBy(user, `p${n}`, input)
    expect((await user.get(`/projects/${id}`)).body, JSON.stringify(input)).toMatchObject({
      ...message,
      creator_id: user.id,
    })
  }
})

test('the default branch is what HEAD names', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  await projectBy(user, 'p', { default_branch: 'trunk/next' })
  const row = await forge.app.db.selectFrom('projects').selectAll().executeTakeFirstOrThrow()
  expect([row.default_branch, await headOf(repositoryDir(forge.app, row))]).toEqual(['trunk/next', 'trunk/next'])
})

test('an avatar is served to everyone who can see the project', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const stranger = await forge.user()
  const { status, body } = await user.post('/projects', formOf({ name: 'p', avatar: picture('My Logo.PNG') }))
  expect(status).toBe(201)
  expect(body.avatar_url).toBe(`${forge.url}/uploads/-/system/project/avatar/${body.id}/My_Logo.png`)
  const look = async (headers = {}) => (await fetch(body.avatar_url, { headers })).status
  expect([await look(user.headers), await look(stranger.headers), await look()]).toEqual([200, 404, 404])
  await user.put(`/projects/${body.id}`, { visibility: 'public' })
  expect(await look()).toBe(200)
})

test('an administrator makes a project for somebody: theirs, whatever the limit of the administrator', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const jane = await forge.user({ username: 'jane' })
  const { status, body } = await root.post(`/projects/user/${jane.id}`, { name: 'Gift', ...all, default_branch: 'x' })
  expect(status).toBe(201)
  expect(body).toMatchObject({ ...all, name: 'Gift', path_with_namespace: 'jane/gift', creator_id: jane.id })
  expect(body.owner.id).toBe(jane.id)
  expect((await jane.get(`/projects/${body.id}`)).body.permissions.project_access).toEqual({
    access_level: 40,
    notification_level: 3,
  })
  const row = await forge.app.db.selectFrom('projects').select('default_branch').executeTakeFirstOrThrow()
  expect(row.default_branch).toBe('master')
  const hers = async (caller = root, id: unknown = jane.id, input: object = { name: 'x' }) =>
    (await caller.post(`/projects/user/${String(id)}`, { ...input })).status
  expect(await hers(jane)).toBe(403)
  expect((await forge.visitor.post(`/projects/user/${jane.id}`, { name: 'x' })).status).toBe(401)
  expect(await hers(root, 4711)).toBe(404)
  expect(await hers(root, 'jane')).toBe(400)
  expect(await hers(root, jane.id, { path: 'x' })).toBe(400)
})

test('what new projects begin with of pipelines, the instance says', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  await root.put('/application/settings', { default_ci_config_path: 'ci/main.yml', shared_runners_enabled: false })
  const begun = { ci_config_path: 'ci/main.yml', shared_runners_enabled: false }
  expect((await root.post('/projects', { name: 'one' })).body).toMatchObject(begun)
  const own = { ci_config_path: 'own.yml', shared_runners_enabled: true }
  expect((await root.post('/projects', { name: 'two', ...own })).body).toMatchObject(own)
})
