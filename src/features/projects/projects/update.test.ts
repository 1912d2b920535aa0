import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { castFor, groupOf, projectIn, statuses } from '../../../../test/groups.ts'
import { formOf, picture, projectBy, repositoriesOf, stateOf } from '../../../../test/projects.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'
import { headOf } from '../../../git/storage/repositories.ts'
import { PATH_FORMAT_TEXT } from '../../../lib/files/paths.ts'
import { repositoryDir } from '../repositories/repository.ts'

const rowOf = ({ app }: TestForge, id: number) =>
  app.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** Creates one commit on each of these branches, and updates the row as a push would. */
async function fill(forge: TestForge, id: number, ...branches: string[]): Promise<string> {
  const dir = repositoryDir(forge.app, await rowOf(forge, id))
  const git = (...args: string[]) => promisify(execFile)('git', ['-C', dir, ...args])
  const who = ['-c', 'user.name=x', '-c', 'user.email=x@example.com']
  const empty = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
  await git('hash-object', '-t', 'tree', '-w', '/dev/null')
  const { stdout } = await git(...who, 'commit-tree', empty, '-m', 'first')
  for (const branch of branches) await git('update-ref', `refs/heads/${branch}`, stdout.trim())
  await forge.app.db.updateTable('projects').set({ empty_repo: false }).where('id', '=', id).execute()
  return dir
}

test('who may change what', async () => {
  await using forge = await startForge()
  const tools = await groupOf(forge, 'tools', { visibility: 'public' })
  const cast = await castFor(forge, tools.id)
  const { id } = await projectIn(forge, tools, 'p', { name: 'P', visibility: 'public' })
  let n = 0
  const change = (input: () => object) => (caller: Client) => caller.put(`/projects/${id}`, { ...input() })
  //                  anonymous stranger external guest reporter developer master owner administrator blocked
  const masters = [401, 403, 403, 403, 403, 403, 200, 200, 200, 401]
  const owners = [401, 403, 403, 403, 403, 403, 403, 200, 200, 401]
  expect(
    await statuses(
      cast,
      change(() => ({ description: `d${++n}` })),
    ),
  ).toEqual(masters)
  expect(
    await statuses(
      cast,
      change(() => ({ path: `p${++n}` })),
    ),
  ).toEqual(masters)
  expect(
    await statuses(
      cast,
      change(() => ({ name: `P${++n}` })),
    ),
  ).toEqual(owners)
  const { body } = await cast.owner.get(`/projects/${id}`)
  const same = { name: body.name, visibility: body.visibility, description: 'named as it is' }
  expect(
    await statuses(
      cast,
      change(() => same),
    ),
  ).toEqual(masters)
  const widths = ['private', 'internal', 'public']
  const others = () => ({ visibility: widths.filter((one) => one !== body.visibility)[++n % 2] })
  expect((await cast.master.put(`/projects/${id}`, others())).status).toBe(403)
  expect((await cast.owner.put(`/projects/${id}`, others())).status).toBe(200)

  const hidden = await projectIn(forge, await groupOf(forge, 'hidden'), 'q')
  expect((await cast.master.put(`/projects/${hidden.id}`, { description: 'x' })).status).toBe(404)
  // The path decides, whatever id the body contains.
  await cast.master.put(`/projects/${id}`, { id: hidden.id, description: 'mine' })
  expect([(await rowOf(forge, hidden.id)).description, (await rowOf(forge, id)).description]).toEqual([null, 'mine'])
})

test('each refusal says why, and nothing moves', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const user = await forge.user()
  const group = (await user.post('/groups', { name: 'g', path: 'g', visibility: 'internal' })).body
  await user.post('/groups', { name: 'sub', path: 'sub', parent_id: group.id, visibility: 'internal' })
  const { id } = await projectBy(user, 'p', { namespace_id: group.id })
  await projectBy(user, 'taken', { name: 'Taken', namespace_id: group.id })
  const dir = await fill(forge, id, 'master', 'next')
  const before = await stateOf(forge)
  const TAKEN = ['has already been taken']
  const none = (await user.put(`/projects/${id}`, {})).body
  expect(none.error).toMatch(/^name, path, .* are missing, at least one parameter must be provided$/)
  const table: [object, object | string][] = [
    [{ unknown: 1 }, none.message],
    [{ name: '' }, { name: ["can't be blank"] }],
    [{ name: 'Taken' }, { name: TAKEN }],
    [{ path: 'TAKEN' }, { path: TAKEN }],
    [{ path: 'taken.wiki' }, { name: TAKEN }],
    [{ path: 'sub' }, { path: TAKEN }],
    [{ path: 'wikis' }, { path: ['wikis is a reserved name'] }],
    [{ path: 'x.' }, { path: [PATH_FORMAT_TEXT] }],
    [{ visibility: 'public' }, { visibility_level: ['public is not allowed in a internal group.'] }],
    [{ default_branch: 'gone' }, { base: ["Could not change HEAD: branch 'gone' does not exist"] }],
    [{ default_branch: 'a..b' }, { default_branch: ['is invalid'] }],
    // A request with one invalid field changes nothing.
    [{ default_branch: 'next', path: 'taken' }, { path: TAKEN }],
    [{ default_branch: 'next', description: 'a'.repeat(2001) }, expect.anything()],
    [{ import_url: 'https://example.com/x.git' }, { import_url: ['can be set only on an empty repository'] }],
    [{ approvals_before_merge: -1 }, { approvals_before_merge: ['must be greater than or equal to 0'] }],
    [{ avatar: 'text' }, 'avatar is invalid'],
  ]
  for (const [input, message] of table) {
    const { status, body } = await user.put(`/projects/${id}`, { ...input })
    expect([status, body.message], JSON.stringify(input)).toEqual([400, message])
  }
  const moved = { repository_storage: ['is not included in the list'] }
  expect((await root.put(`/projects/${id}`, { repository_storage: 'x' })).body.message).toEqual(moved)
  expect((await user.put(`/projects/${id}`, formOf({ avatar: picture('x.png', Buffer.from('x')) }))).status).toBe(400)
  expect(await stateOf(forge)).toEqual(before)
  expect(await headOf(dir)).toBe('master')
})

test('a change tells the whole record, stamps it and says so once', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const { id } = await projectBy(user, 'p')
  const { body: before } = await user.get(`/projects/${id}`)
  forge.clock.advance(5000)
  const { status, body } = await user.put(`/projects/${id}`, { name: 'New', tag_list: 'b,a', issues_enabled: false })
  const { permissions: _, open_issues_count: _count, ...rest } = before
  const { issues: _issues, ...links } = before._links
  expect([status, body]).toEqual([
    200,
    {
      ...rest,
      _links: links,
      name: 'New',
      name_with_namespace: before.name_with_namespace.replace('/ p', '/ New'),
      tag_list: ['b', 'a'],
      topics: ['b', 'a'],
      issues_enabled: false,
      issues_access_level: 'disabled',
      updated_at: expect.not.stringMatching(before.updated_at),
    },
  ])
  expect((await forge.events()).filter((name) => name.startsWith('project'))).toEqual([
    'project.created',
    'project.updated',
  ])
  await user.put(`/projects/${id}`, { tag_list: [] })
  expect((await user.get(`/projects/${id}`)).body.topics).toEqual([])
  await user.put(`/projects/${id}`, { description: 'x' })
  expect((await user.put(`/projects/${id}`, { description: null })).body.description).toBeNull()
})

test('a new path leaves a redirect, keeps the repository, and the API answers at the new one only', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const user = await forge.user({ username: 'jane' })
  const { id } = await projectBy(user, 'old')
  const repositories = await repositoriesOf(forge)
  const { body } = await user.put('/projects/jane%2Fold', { path: 'fresh' })
  expect([body.path_with_namespace, body.name]).toEqual(['jane/fresh', 'old'])
  const at = async (path: string) => (await user.get(`/projects/jane%2F${path}`)).status
  expect([await at('old'), await at('fresh')]).toEqual([404, 200])
  expect(await repositoriesOf(forge)).toEqual(repositories)
  const redirects = async () =>
    (await db.selectFrom('redirects').select(['path', 'project_id']).orderBy('id').execute()).map(
      ({ path, project_id }) => [path, project_id],
    )
  expect(await redirects()).toEqual([['jane/old', id]])
  await user.put(`/projects/${id}`, { path: 'third' })
  expect(await redirects()).toEqual([
    ['jane/old', id],
    ['jane/fresh', id],
  ])
  // A new project at that path replaces the redirect.
  await projectBy(user, 'FRESH')
  expect(await redirects()).toEqual([['jane/old', id]])
  await user.put(`/projects/${id}`, { path: 'Old' })
  expect(await redirects()).toEqual([['jane/third', id]])
  await user.put(`/projects/${id}`, { path: 'OLD' }) // only the case differs: no redirect is needed
  expect(await redirects()).toEqual([['jane/third', id]])
  expect(await at('old')).toBe(200)
})

test('the default branch moves HEAD', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const { id } = await projectBy(user, 'p')
  const refused = await user.put(`/projects/${id}`, { default_branch: 'next' })
  expect(refused.body.message).toEqual({ base: ["Could not change HEAD: branch 'next' does not exist"] })
  expect((await user.put(`/projects/${id}`, { default_branch: 'master' })).status).toBe(200)
  const dir = await fill(forge, id, 'master', 'next')
  expect((await user.put(`/projects/${id}`, { default_branch: 'next' })).body.default_branch).toBe('next')
  expect(await headOf(dir)).toBe('next')
})

test('lowering a project, or moving it under less, lowers its forks and theirs, and a fork is never wider than its source', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const make = async (path: string, visibility: string, forked_from_id?: number) => {
    const { id } = await projectBy(user, path, { visibility })
    if (forked_from_id)
      await forge.app.db.updateTable('projects').set({ forked_from_id }).where('id', '=', id).execute()
    return id
  }
  const source = await make('source', 'public')
  const fork = await make('fork', 'public', source)
  const forkOfFork = await make('fork-of-fork', 'internal', fork)
  const closed = await make('closed', 'private', source)
  const other = await make('other', 'public')
  const widths = async () =>
    Promise.all([source, fork, forkOfFork, closed, other].map(async (id) => (await rowOf(forge, id)).visibility))
  await user.put(`/projects/${source}`, { visibility: 'internal' })
  expect(await widths()).toEqual(['internal', 'internal', 'internal', 'private', 'public'])
  const { body } = await user.put(`/projects/${fork}`, { visibility: 'public' })
  expect(body.message).toEqual({
    visibility_level: ['public is not allowed since the fork source project has lower visibility.'],
  })
  const group = await groupOf(forge, 'closed-group')
  expect((await forge.administrator.post(`/groups/${group.id}/projects/${source}`)).status).toBe(201)
  expect(await widths()).toEqual(['private', 'private', 'private', 'private', 'public'])
  await forge.administrator.put(`/groups/${group.id}`, { visibility: 'public' })
  await forge.administrator.put(`/projects/${source}`, { visibility: 'public' })
  expect(await widths()).toEqual(['public', 'private', 'private', 'private', 'public'])
})

test('an avatar is put up, replaced and taken away', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const { id } = await projectBy(user, 'p')
  const put = async (input: FormData | Record<string, unknown>) => (await user.put(`/projects/${id}`, input)).body
  const base = `${forge.url}/uploads/-/system/project/avatar/${id}`
  expect((await put(formOf({ avatar: picture('a.png') }))).avatar_url).toBe(`${base}/a.png`)
  expect((await put({ description: 'x', avatar: null })).avatar_url).toBe(`${base}/a.png`)
  expect((await put(formOf({ avatar: picture('b.png') }))).avatar_url).toBe(`${base}/b.png`)
  expect((await put({ avatar: '' })).avatar_url).toBeNull()
})

test('a restricted visibility that a project already has stops no other change', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const { id } = await projectBy(user, 'p', { visibility: 'public' })
  await forge.administrator.put('/application/settings', { restricted_visibility_levels: ['public', 'internal'] })
  expect((await user.put(`/projects/${id}`, { visibility: 'public', description: 'x' })).status).toBe(200)
  const { body } = await user.put(`/projects/${id}`, { visibility: 'internal' })
  expect(body.message).toEqual({ visibility_level: ['internal has been restricted by your administrator'] })
})
