import { expect, test } from 'vitest'
import { CALLERS } from '../../../../test/cast.ts'
import { castFor, groupOf, projectIn, statuses } from '../../../../test/groups.ts'
import { projectBy } from '../../../../test/projects.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'

const SIMPLE = [
  'created_at',
  'default_branch',
  'description',
  'forks_count',
  'http_url_to_repo',
  'id',
  'last_activity_at',
  'name',
  'name_with_namespace',
  'path',
  'path_with_namespace',
  'readme_url',
  'ssh_url_to_repo',
  'star_count',
  'tag_list',
  'topics',
  'web_url',
]

const set = (forge: TestForge, id: number, change: object) =>
  forge.app.db.updateTable('projects').set(change).where('id', '=', id).execute()

test('a project is found by id and by path in any case, wherever it moved to', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const tools = await groupOf(forge, 'Tools')
  const sharp = await groupOf(forge, 'sharp', { parent_id: tools.id })
  const { id } = await projectIn(forge, sharp, 'Saw.js')
  const found = async (given: string | number) => {
    const { status, body } = await root.get(`/projects/${encodeURIComponent(given)}`)
    return status === 200 ? body.id : status
  }
  expect(await found(id)).toBe(id)
  expect(await found('Tools/sharp/Saw.js')).toBe(id)
  expect(await found('tOOLS/SHARP/saw.JS')).toBe(id)
  for (const given of [
    'Saw.js',
    'Tools/Saw.js',
    'Tools/sharp',
    '/Tools/sharp/Saw.js',
    'Tools/sharp/Saw.js/',
    'sharp/',
  ]) {
    expect(await found(given), given).toBe(404)
  }
  for (const given of ['9'.repeat(30), '-1', '0', '1e1', 'a/%', 'a/_', 'x'.repeat(300) + '/x', '../..', '😀/😀']) {
    expect(await found(given), given).toBe(404)
  }
  expect((await root.get('/projects/a%2Fb%00')).status).toBe(400)
  const digits = await projectBy(root, '123456')
  expect(await found('123456')).toBe(404)
  expect(await found('root/123456')).toBe(digits.id)
  expect((await root.get('/projects/4711')).body).toEqual({ message: '404 Project Not Found' })
})

test('who reads a project of each visibility, and which record they get', async () => {
  await using forge = await startForge()
  const tools = await groupOf(forge, 'tools', { visibility: 'public' })
  const cast = await castFor(forge, tools.id)
  const { id } = await projectIn(forge, tools, 'p')
  const read = (caller: Client) => caller.get(`/projects/${id}`)
  //         anonymous stranger external guest reporter developer master owner administrator blocked
  expect(await statuses(cast, read)).toEqual([404, 404, 404, 200, 200, 200, 200, 200, 200, 401])
  await set(forge, id, { visibility: 'internal' })
  expect(await statuses(cast, read)).toEqual([404, 200, 404, 200, 200, 200, 200, 200, 200, 401])
  await set(forge, id, { visibility: 'public' })
  expect(await statuses(cast, read)).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 200, 401])

  expect(Object.keys((await cast.anonymous.get(`/projects/${id}`)).body).sort()).toEqual(SIMPLE)
  expect(Object.keys((await cast.anonymous.get('/projects')).body[0]).sort()).toEqual(SIMPLE)
  expect(Object.keys((await cast.master.get('/projects', { simple: true })).body[0]).sort()).toEqual(SIMPLE)

  const secret = async (path: string, input: object = {}, method: 'get' | 'post' = 'get') => {
    const seen: string[] = []
    for (const caller of CALLERS) {
      const { body } = await cast[caller][method](path, { ...input })
      const [record] = [body].flat()
      if (record && ('runners_token' in record || 'import_error' in record)) seen.push(caller)
    }
    return seen
  }
  expect(await secret(`/projects/${id}`)).toEqual(['master', 'owner', 'administrator'])
  expect(await secret('/projects')).toEqual([])
  expect(await secret(`/users/${forge.administrator.id}/projects`)).toEqual([])
  for (const verb of ['star', 'unstar', 'archive', 'unarchive']) {
    expect(await secret(`/projects/${id}/${verb}`, {}, 'post'), verb).toEqual([])
  }
  const counted = async (path: string) => {
    const seen: string[] = []
    for (const caller of CALLERS) {
      const [record] = [(await cast[caller].get(path, { statistics: true })).body].flat()
      if (record?.statistics) seen.push(caller)
    }
    return seen
  }
  const reporters = ['reporter', 'developer', 'master', 'owner', 'administrator']
  expect(await counted(`/projects/${id}`)).toEqual(reporters)
  expect(await counted('/projects')).toEqual(reporters)
  expect((await cast.master.get(`/projects/${id}`)).body.statistics).toBeUndefined()
  await set(forge, id, { repository_size: 5, lfs_objects_size: 3_000_000_000, commit_count: 9 })
  await forge.app.db.insertInto('ci_artifacts_facets').values({ project_id: id, total: 2 }).execute()
  expect((await cast.reporter.get(`/projects/${id}`, { statistics: true })).body.statistics).toEqual({
    commit_count: 9,
    storage_size: 3_000_000_007,
    repository_size: 5,
    lfs_objects_size: 3_000_000_000,
    job_artifacts_size: 2,
  })
})

test('a token that may only read leads to no runner', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const { id } = await projectBy(root, 'p')
  const withScopes = async (...scopes: string[]) => {
    const { body } = await root.post(`/users/${root.id}/impersonation_tokens`, { name: 't', scopes })
    return forge.as({ 'PRIVATE-TOKEN': body.token }).get(`/projects/${id}`)
  }
  expect((await withScopes('api')).body.runners_token).toHaveLength(20)
  const reader = await withScopes('read_api')
  expect([reader.status, 'runners_token' in reader.body, 'import_error' in reader.body]).toEqual([200, false, false])
  expect((await withScopes('read_user')).status).toBe(403)
})

test('permissions tell the direct memberships of the viewer, on reads only', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const tools = await groupOf(forge, 'tools')
  const sharp = await groupOf(forge, 'sharp', { parent_id: tools.id })
  const cast = await castFor(forge, tools.id)
  const { id } = await projectIn(forge, sharp, 'p')
  const permissions = async (caller: Client, path = `/projects/${id}`) =>
    [(await caller.get(path)).body].flat()[0].permissions
  const none = { project_access: null, group_access: null }
  expect(await permissions(cast.master)).toEqual(none) // the group above is not the direct group
  await root.post(`/groups/${sharp.id}/members`, { user_id: cast.master.id, access_level: 50 })
  await root.post(`/projects/${id}/members`, { user_id: cast.developer.id, access_level: 40 })
  const group = { project_access: null, group_access: { access_level: 50, notification_level: 3 } }
  const project = { project_access: { access_level: 40, notification_level: 3 }, group_access: null }
  expect(await permissions(cast.master)).toEqual(group)
  expect(await permissions(cast.developer)).toEqual(project)
  expect(await permissions(cast.developer, '/projects')).toEqual(project)
  expect((await cast.master.put(`/projects/${id}`, { description: 'x' })).body.permissions).toBeUndefined()
  expect((await cast.master.post(`/projects/${id}/archive`)).body.permissions).toBeUndefined()
})

test('features are told as the viewer has them', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const stranger = await forge.user()
  const members = ['issues', 'merge_requests', 'wiki', 'builds', 'snippets', 'container_registry']
  const levels = Object.fromEntries(members.map((name) => [`${name}_access_level`, 'private']))
  const { id } = await projectBy(owner, 'p', { visibility: 'public', ...levels })
  const seen = async (caller: Client) => {
    const { body } = await caller.get(`/projects/${id}`)
    const { issues_enabled, merge_requests_enabled, wiki_enabled, jobs_enabled, snippets_enabled } = body
    const on = [issues_enabled, merge_requests_enabled, wiki_enabled, jobs_enabled, snippets_enabled]
    const links = ['issues', 'merge_requests'].map((name) => name in body._links)
    return [...on, body.container_registry_enabled, 'open_issues_count' in body, ...links]
  }
  expect(await seen(owner)).toEqual(Array(9).fill(true))
  expect(await seen(stranger)).toEqual(Array(9).fill(false))
  await owner.put(`/projects/${id}`, { issues_enabled: false, merge_requests_enabled: true })
  expect((await seen(owner)).slice(6)).toEqual([false, false, true])
  expect((await seen(stranger)).slice(6)).toEqual([false, false, true])
})

test("a hidden source and hidden groups are not told of, and nobody's record is another's", async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const owner = await forge.user()
  const stranger = await forge.user()
  const source = await projectBy(owner, 'source', { visibility: 'internal' })
  const fork = await projectBy(owner, 'fork', { visibility: 'public' })
  await set(forge, fork.id, { forked_from_id: source.id })
  const secret = await groupOf(forge, 'secret')
  const open = await groupOf(forge, 'open', { visibility: 'public' })
  for (const group_id of [secret.id, open.id]) {
    await root.post(`/projects/${fork.id}/share`, { group_id, group_access: 20, expires_at: '2999-01-02' })
  }
  const seen = async (caller: Client) => {
    const { body } = await caller.get(`/projects/${fork.id}`)
    const groups = body.shared_with_groups.map((one: { group_full_path: string }) => one.group_full_path)
    return [body.forked_from_project?.id ?? null, groups]
  }
  expect(await seen(owner)).toEqual([source.id, ['secret', 'open']])
  expect(await seen(stranger)).toEqual([source.id, ['open']])
  await set(forge, source.id, { visibility: 'private' })
  expect(await seen(stranger)).toEqual([null, ['open']])
  expect(await seen(owner)).toEqual([source.id, ['secret', 'open']])
  const { body } = await owner.get(`/projects/${fork.id}`)
  expect(Object.keys(body.forked_from_project).sort()).toEqual(SIMPLE)
  expect(body.shared_with_groups[1]).toEqual({
    group_id: open.id,
    group_name: 'open',
    group_full_path: 'open',
    group_access_level: 20,
    expires_at: '2999-01-02',
  })
  await set(forge, source.id, { deleting: true })
  expect(await seen(owner)).toEqual([null, ['secret', 'open']])
})
