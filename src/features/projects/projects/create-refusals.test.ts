import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { castFor, groupOf, projectIn, statuses } from '../../../../test/groups.ts'
import { formOf, picture, projectBy, repositoriesOf, stateOf } from '../../../../test/projects.ts'
import { startForge } from '../../../forge.ts'
import { PATH_FORMAT_TEXT, PROJECT_PATH_TEXT } from '../../../lib/files/paths.ts'

const NAME_TEXT =
  "can contain only letters, digits, emojis, '_', '.', dash, space. It must start with letter, digit, emoji or '_'."
const TAKEN = ['has already been taken']
const both = (text: string) => ({ message: text, error: text })
const faults = (message: object) => ({ message })
const BLANK = ["can't be blank"]
const tooLong = (most: number) => [`is too long (maximum is ${most} characters)`]

test('each refusal says why, and nothing moves', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  await projectBy(user, 'taken', { name: 'Taken' })
  const before = await stateOf(forge)
  const missing = both('name, path are missing, at least one parameter must be provided')
  const table: [Record<string, unknown>, object][] = [
    [{}, missing],
    [{ name: null, path: null }, missing],
    [{ name: '' }, faults({ name: BLANK, path: BLANK })],
    [{ name: '   ', path: 'x' }, faults({ name: BLANK })],
    [{ name: '日本語' }, faults({ path: BLANK })],
    [{ name: '-x' }, faults({ name: [NAME_TEXT] })],
    [{ name: '.x' }, faults({ name: [NAME_TEXT] })],
    [{ name: 'a/b', path: 'x' }, faults({ name: [NAME_TEXT] })],
    [{ name: 'a\nb', path: 'x' }, faults({ name: [NAME_TEXT] })],
    [{ name: '<b>', path: 'x' }, faults({ name: [NAME_TEXT] })],
    [{ name: 'a'.repeat(256), path: 'x' }, faults({ name: tooLong(255) })],
    [{ name: 'x', path: 'a'.repeat(256) }, faults({ path: tooLong(255) })],
    // The namespace path counts, too.
    [{ name: 'x', path: 'a'.repeat(250) }, faults({ path: tooLong(255) })],
    [{ name: 'x', path: '' }, faults({ path: BLANK })],
    [{ name: 'x', path: '-x' }, faults({ path: [PATH_FORMAT_TEXT, PROJECT_PATH_TEXT] })],
    [{ name: 'x', path: 'a b' }, faults({ path: [PATH_FORMAT_TEXT, PROJECT_PATH_TEXT] })],
    [{ name: 'x', path: '../up' }, faults({ path: [PATH_FORMAT_TEXT, PROJECT_PATH_TEXT] })],
    [{ name: 'x', path: 'ü' }, faults({ path: [PATH_FORMAT_TEXT, PROJECT_PATH_TEXT] })],
    [{ name: 'x', path: 'x.GIT' }, faults({ path: [PATH_FORMAT_TEXT, PROJECT_PATH_TEXT] })],
    [{ name: 'x', path: 'x.atom' }, faults({ path: [PATH_FORMAT_TEXT, PROJECT_PATH_TEXT] })],
    [{ name: 'x', path: '..' }, faults({ path: [PATH_FORMAT_TEXT] })],
    [{ name: 'x', path: 'x.' }, faults({ path: [PATH_FORMAT_TEXT] })],
    [{ path: 'wikis' }, faults({ path: ['wikis is a reserved name'] })],
    [{ name: 'x', path: 'Tree' }, faults({ path: ['Tree is a reserved name'] })],
    [{ name: 'x', description: 'a'.repeat(2001) }, faults({ description: tooLong(2000) })],
    [{ name: 'x', ci_config_path: 'a'.repeat(256) }, faults({ ci_config_path: tooLong(255) })],
    [{ name: 'x', ci_config_path: '../x' }, faults({ ci_config_path: ['cannot include directory traversal.'] })],
    [
      { name: 'x', approvals_before_merge: -1 },
      faults({ approvals_before_merge: ['must be greater than or equal to 0'] }),
    ],
    [
      { name: 'x', approvals_before_merge: 2147483648 },
      faults({ approvals_before_merge: ['must be less than or equal to 2147483647'] }),
    ],
    [{ name: 'x', tag_list: ['a'.repeat(256)] }, faults({ tag_list: tooLong(255) })],
    [
      { name: 'x', topics: Array.from({ length: 101 }, (_, n) => `t${n}`) },
      faults({ tag_list: ['is too long (maximum is 100 topics)'] }),
    ],
    [{ name: 'x', default_branch: 'a..b' }, faults({ default_branch: ['is invalid'] })],
    [{ name: 'x', default_branch: '--upload-pack=x' }, faults({ default_branch: ['is invalid'] })],
    [{ name: '-', path: '-', description: 'a'.repeat(2001) }, expect.anything()],
    [{ name: 'x', visibility: 'secret' }, both('visibility does not have a valid value')],
    [{ name: 'x', visibility: '' }, both('visibility does not have a valid value')],
    [{ name: 'x', merge_method: 'octopus' }, both('merge_method does not have a valid value')],
    [{ name: 'x', issues_access_level: 'public' }, both('issues_access_level does not have a valid value')],
    [{ name: 'x', issues_enabled: 'perhaps' }, both('issues_enabled is invalid')],
    [{ name: 'x', approvals_before_merge: '12x' }, both('approvals_before_merge is invalid')],
    [{ name: 'x', approvals_before_merge: 1e30 }, both('approvals_before_merge is invalid')],
    [{ name: ['x'] }, both('name is invalid')],
    [{ name: { x: 1 } }, both('name is invalid')],
    [{ name: 'a\0b' }, both('name is invalid')],
    [{ name: '\ud800' }, both('name is invalid')],
    [{ name: 'x', tag_list: { a: 1 } }, both('tag_list is invalid')],
    [{ name: 'x', tag_list: [['a']] }, both('tag_list is invalid')],
    [{ name: 'x', description: ['x'] }, both('description is invalid')],
    [{ name: 'x', namespace_id: 'x' }, both('namespace_id is invalid')],
    [{ name: 'x', namespace_id: 4711 }, faults({ namespace: ['is not valid'] })],
    [{ name: 'x', namespace_id: 0 }, faults({ namespace: ['is not valid'] })],
    [{ name: 'x', namespace_id: -1 }, faults({ namespace: ['is not valid'] })],
    [{ name: 'x', namespace_id: 999999999999999 }, faults({ namespace: ['is not valid'] })],
    [{ name: 'x', avatar: 'text' }, both('avatar is invalid')],
    [{ name: 'x', import_url: 'not a url' }, faults({ import_url: ['must be a valid URL'] })],
    [{ name: 'x', import_url: 'file:///etc/passwd' }, faults({ import_url: ['must be a valid URL'] })],
    [{ name: 'Taken', path: 'taken' }, faults({ name: TAKEN, path: TAKEN, limit_reached: [] })],
    [{ name: 'Taken', path: 'free' }, faults({ name: TAKEN, limit_reached: [] })],
    [{ path: 'TAKEN' }, faults({ path: TAKEN, limit_reached: [] })],
    [{ path: 'taken.wiki' }, faults({ name: TAKEN, limit_reached: [] })],
    [{ path: 'Taken.WIKI' }, faults({ name: TAKEN, limit_reached: [] })],
  ]
  for (const [input, body] of table) {
    const answer = await user.post('/projects', input)
    expect([answer.status, answer.body], JSON.stringify(input).slice(0, 80)).toEqual([400, body])
  }
  expect((await forge.visitor.post('/projects', { name: 'x' })).status).toBe(401)
  expect(await stateOf(forge)).toEqual(before)
})

test('every fault of every attribute is told at once', async () => {
  await using forge = await startForge()
  const { body } = await (await forge.user()).post('/projects', { name: '-', path: '-', approvals_before_merge: -1 })
  expect(body.message).toEqual({
    name: [NAME_TEXT],
    path: [PATH_FORMAT_TEXT, PROJECT_PATH_TEXT, '- is a reserved name'],
    approvals_before_merge: ['must be greater than or equal to 0'],
  })
})

test('pictures: bytes decide, and a bad one leaves nothing', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const before = await stateOf(forge)
  const answer = async (file: File) => {
    const { status, body } = await user.post('/projects', formOf({ name: 'p', avatar: file }))
    return [status, body.message.avatar]
  }
  const svg = new File(['<svg xmlns="http://www.w3.org/2000/svg"/>'], 'a.png', { type: 'image/png' })
  expect(await answer(svg)).toEqual([400, ['only images allowed']])
  const large = Buffer.concat([Buffer.from(await picture().arrayBuffer()), Buffer.alloc(200 * 1024)])
  expect(await answer(picture('a.png', large))).toEqual([400, ['is too big (should be at most 200 KB)']])
  expect(await stateOf(forge)).toEqual(before)
})

test('a path is one for projects, subgroups and what is being deleted', async () => {
  await using forge = await startForge()
  const { administrator: root, app } = forge
  const tools = await groupOf(forge, 'tools')
  await groupOf(forge, 'Sub', { parent_id: tools.id })
  const wiki = await projectIn(forge, tools, 'guide.wiki')
  const create = async (path: string, name = path) => {
    const { status, body } = await root.post('/projects', { name, path, namespace_id: tools.id })
    return status === 201 ? status : body.message
  }
  expect(await create('sub', 'x')).toEqual({ path: TAKEN, limit_reached: [] })
  expect(await create('guide')).toEqual({ name: TAKEN, limit_reached: [] })

  await app.db.updateTable('projects').set({ deleting: true }).where('id', '=', wiki.id).execute()
  const going = { base: ['The project is still being deleted. Please try again later.'], limit_reached: [] }
  expect(await create('guide.wiki')).toEqual(going)
  expect(await create('GUIDE.wiki', 'x')).toEqual(going)
  expect(await create('x', 'guide.wiki')).toEqual(going)
  await app.db.deleteFrom('projects').execute()
  expect(await create('guide')).toBe(201)
  expect((await root.post('/projects', { path: 'guide' })).status).toBe(201)
})

test('who may put a project where', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const tools = await groupOf(forge, 'tools', { visibility: 'public' })
  const cast = await castFor(forge, tools.id)
  let made = 0
  const into = (namespace_id: number) => (caller: { post: typeof root.post }) =>
    caller.post('/projects', { path: `p${++made}`, namespace_id })
  //         anonymous stranger external guest reporter developer master owner administrator blocked
  expect(await statuses(cast, into(tools.id))).toEqual([401, 400, 400, 400, 400, 400, 201, 201, 201, 401])
  const { body: own } = await cast.stranger.get('/namespaces', { search: cast.stranger.username })
  expect(await statuses(cast, into(own[0].id))).toEqual([401, 201, 400, 400, 400, 400, 400, 400, 201, 401])
  expect((await cast.external.post('/projects', { path: 'mine' })).status).toBe(403) // their limit is 0

  const hidden = await groupOf(forge, 'hidden')
  const refused = { status: 400, body: { message: { namespace: ['is not valid'] } } }
  expect(await cast.master.post('/projects', { path: 'x', namespace_id: hidden.id })).toMatchObject(refused)
  await forge.app.db.updateTable('namespaces').set({ deleting: true }).where('id', '=', tools.id).execute()
  expect(await root.post('/projects', { path: 'late', namespace_id: tools.id })).toMatchObject(refused)
})

test('the limit counts personal projects, not those of groups nor those that are going', async () => {
  await using forge = await startForge()
  const { administrator: root, app } = forge
  const user = await forge.user({ projects_limit: 1 })
  const group = (await user.post('/groups', { name: 'g', path: 'g' })).body
  const refusal = (message: string) => ({ status: 403, body: { error: [message] } })
  const one = refusal('Your project limit is 1 projects! Please contact your administrator to increase it')
  const first = await projectBy(user, 'first')
  expect(await user.post('/projects', { path: 'second' })).toMatchObject(one)
  expect(await user.post('/projects', { path: '-' })).toMatchObject(one)
  expect(await root.post(`/projects/user/${user.id}`, { name: 'gift' })).toMatchObject(one)
  await projectBy(user, 'in-group', { namespace_id: group.id })

  await forge.stopWorker()
  expect((await user.delete(`/projects/${first.id}`)).status).toBe(204)
  await projectBy(user, 'second')
  await app.db.updateTable('users').set({ projects_limit: 0 }).where('id', '=', user.id).execute()
  const none = 'Personal project creation is not allowed. Please contact your administrator with questions'
  expect(await user.post('/projects', { path: 'third' })).toMatchObject(refusal(none))
  expect((await repositoriesOf(forge)).length).toBe(3)
})

test('visibility: the instance and the group bound it, and choose where nobody does', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const user = await forge.user()
  await root.put('/application/settings', {
    restricted_visibility_levels: ['public'],
    default_project_visibility: 'internal',
  })
  const create = async (caller: typeof user, input: object) => {
    const { status, body } = await caller.post('/projects', { path: `p${Math.random()}`, ...input })
    return status === 201 ? body.visibility : body.message
  }
  const restricted = { visibility_level: ['public has been restricted by your administrator'] }
  expect(await create(user, { visibility: 'public' })).toEqual(restricted)
  expect(await create(root, { visibility: 'public' })).toBe('public')
  expect(await create(user, {})).toBe('internal')
  const { id } = (await user.post('/groups', { name: 'g', path: 'g', visibility: 'private' })).body
  expect(await create(user, { namespace_id: id })).toBe('private')
  const bound = { visibility_level: ['internal is not allowed in a private group.'] }
  expect(await create(user, { namespace_id: id, visibility: 'internal' })).toEqual(bound)
  expect(await create(root, { namespace_id: id, visibility: 'internal' })).toEqual(bound)
})

test('only administrators choose a storage, and only one that exists', async () => {
  await using elsewhere = await mkdtempDisposable(join(tmpdir(), 'mortise-storage-'))
  await using forge = await startForge({ settings: { STORAGES: `second=${elsewhere.path}` } })
  const { administrator: root } = forge
  const user = await forge.user()
  const storageOf = async (caller: typeof user, repository_storage: string) => {
    const { body } = await caller.post('/projects', { path: `p${Math.random()}`, repository_storage })
    return body.repository_storage ?? body.message
  }
  expect(await storageOf(root, 'second')).toBe('second')
  expect(await storageOf(user, 'second')).toBe('default')
  const before = await repositoriesOf(forge)
  const unknown = { repository_storage: ['is not included in the list'] }
  for (const name of ['third', '__proto__', 'constructor', '../default']) {
    expect(await storageOf(root, name)).toEqual(unknown)
  }
  expect(await repositoriesOf(forge)).toEqual(before)
})

test('of twenty who want the same path one gets it, the others the error, and no repository is left over', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => user.post('/projects', { name: 'Race', path: 'race' })),
  )
  const late = answers.filter(({ status }) => status !== 201)
  expect(late.length).toBe(19)
  for (const { status, body } of late) {
    expect([status, body]).toEqual([400, faults({ name: TAKEN, path: TAKEN, limit_reached: [] })])
  }
  const rows = await forge.app.db.selectFrom('projects').select('disk_path').execute()
  expect(await repositoriesOf(forge)).toEqual(rows.map((row) => row.disk_path))
  expect((await forge.events()).filter((name) => name === 'project.created')).toHaveLength(1)
})

test('side by side nobody gets over the limit, and no project stands beside the twin of its wiki', async () => {
  await using forge = await startForge()
  const user = await forge.user({ projects_limit: 3 })
  const inputs = Array.from({ length: 12 }, (_, n) => user.post('/projects', { path: `p${n}` }))
  const made = await Promise.all(inputs)
  expect(made.filter(({ status }) => status === 201)).toHaveLength(3)
  expect(made.filter(({ status }) => status === 403)).toHaveLength(9)
  expect(await repositoriesOf(forge)).toHaveLength(3)
  const other = await forge.user()
  const twins = ['x', 'x.wiki', 'X', 'X.Wiki', 'x', 'x.wiki'].map((path) => other.post('/projects', { path }))
  expect((await Promise.all(twins)).filter(({ status }) => status === 201)).toHaveLength(1)
})
