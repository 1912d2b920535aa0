import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { everything } from '../test/watch.ts'
import { testDatabaseUrl } from './config.ts'
import { startForge, type ForgeOptions, type TestForge } from './forge.ts'
import { PROCESS_TAG } from './lib/async/process-tag.ts'
import { TEMPORARY_FOLDER } from './lib/files/temporary-folder.ts'
import { postgresDatabase } from './store/temporary.ts'

const server = testDatabaseUrl()

const folderOf = ({ app }: TestForge) => dirname(app.config.data)
const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

test.each<[why: string, options: object, message: RegExp]>([
  [
    'an unknown setting',
    { settings: { RATELIMIT: '5' } },
    /^startForge: RATELIMIT is no setting; there are HOST, .*RATE_LIMIT/,
  ],
  ['a setting with its prefix', { settings: { MORTISE_LOG: 'info' } }, /^startForge: MORTISE_LOG is no setting/],
  [
    'a setting that is its own',
    { settings: { ROOT_PASSWORD: 'x' } },
    /^startForge: ROOT_PASSWORD is set by startForge/,
  ],
  ['a bad value', { settings: { RATE_LIMIT: 'many' } }, /^MORTISE_RATE_LIMIT \(--rate-limit\) must be a number/],
  ['an unknown option', { setting: {} }, /^startForge: setting is no option; there are settings, databaseUrl/],
  ['another database', { databaseUrl: 'mysql://localhost' }, /^startForge: databaseUrl must look like postgres:/],
  [
    'no database server',
    { databaseUrl: 'postgres://127.0.0.1:1/x' },
    /^startForge cannot make a database: .*ECONNREFUSED/,
  ],
])('%s is refused', async (_why, options, message) => {
  const before = await readdir(TEMPORARY_FOLDER)
  await expect(startForge(options as ForgeOptions)).rejects.toThrow(message)
  const mine = (await readdir(TEMPORARY_FOLDER)).filter((name) => name.includes(PROCESS_TAG) && !before.includes(name))
  expect(mine).toEqual([])
})

test('an address for SSH is shown where SSH is served', async () => {
  await using without = await startForge()
  expect((await without.project()).ssh_url_to_repo).toBe('')
  await using served = await startForge({ settings: { SSH_PORT: '0' } })
  const { ssh_url_to_repo } = await served.project({ path: 'tower' })
  expect(ssh_url_to_repo).toBe(`ssh://git@127.0.0.1:${served.app.config.sshPort}/root/tower.git`)
  await using elsewhere = await startForge({ settings: { SSH_URL: 'ssh://git.example.com' } })
  expect((await elsewhere.project({ path: 'tower' })).ssh_url_to_repo).toBe('git@git.example.com:root/tower.git')
})

test('labels and milestones are of a project or of a group', async () => {
  await using forge = await startForge()
  const [project, group] = [await forge.project(), await forge.group()]
  expect(await forge.label(project, { name: 'bug', color: 'red' })).toMatchObject({ name: 'bug', color: '#FF0000' })
  expect(await forge.label(group)).toMatchObject({ name: 'label2' })
  expect(await forge.issue(project, { labels: ['bug'] })).toMatchObject({ iid: 1, title: 'issue1', labels: ['bug'] })
  expect(await forge.milestone(project)).toMatchObject({ title: 'milestone1', project_id: project.id })
  expect(await forge.milestone(group, { title: 'v1' })).toMatchObject({ title: 'v1', group_id: group.id })
  await expect(forge.label(project, { name: 'bug' })).rejects.toThrow('the label bug is refused: 409')
})

test('notes are on an issue', async () => {
  await using forge = await startForge()
  const { id } = await forge.project()
  const { body: issue } = await forge.administrator.post(`/projects/${id}/issues`, { title: 'An issue' })
  expect(await forge.note(issue)).toMatchObject({ body: 'note1', noteable_iid: issue.iid })
  expect(await forge.note(issue, { body: 'Aside', internal: true })).toMatchObject({ body: 'Aside', internal: true })
  await expect(forge.note(issue, { body: ' ' })).rejects.toThrow('the note on issue 1 is refused: 400')
})

test('snippets are of a project or of a person', async () => {
  await using forge = await startForge()
  const project = await forge.project()
  const proposed = await forge.mergeRequest(project, { files: { 'new.txt': 'new\n' }, labels: ['ready'] })
  expect(proposed).toMatchObject({ source_branch: 'change1', title: 'change1', labels: ['ready'], changes_count: '1' })
  const amended = { source_branch: 'change1', target_branch: 'elsewhere', title: 'Another' }
  await expect(forge.mergeRequest(project, amended)).rejects.toThrow('the merge request Another is refused: 422')
  await forge.administrator.post(`/projects/${project.id}/repository/branches`, { branch: 'elsewhere', ref: 'master' })
  expect(await forge.mergeRequest(project, amended)).toMatchObject({ title: 'Another', merge_status: 'can_be_merged' })
  await expect(forge.mergeRequest(project, amended)).rejects.toThrow('the merge request Another is refused: 409')
  expect(await forge.snippet(project)).toMatchObject({ title: 'snippet1', project_id: project.id })
  const files = [{ file_path: 'a.ts', content: 'x' }]
  expect(await forge.snippet(null, { files })).toMatchObject({ title: 'snippet2', project_id: null, file_name: 'a.ts' })
  await expect(forge.snippet(project, { content: ' ' })).rejects.toThrow('the snippet snippet3 is refused: 400')
})

test('builders say why they fail', async () => {
  await using forge = await startForge()
  await forge.user({ username: 'jane' })
  await expect(forge.user({ username: 'jane' })).rejects.toThrow(/^the user jane is refused: .*has already been taken/)
  await forge.project({ path: 'tower' })
  await expect(forge.project({ path: 'tower' })).rejects.toThrow(
    /^the project tower is refused: 400 .*already been taken/,
  )
  await expect(forge.seed({ id: 99 }, {})).rejects.toThrow('the project 99 is refused: 404')
  await expect(forge.git(['clone', `${forge.url}/root/none.git`])).rejects.toThrow(/^git clone .*not found/s)

  // The answer of a 500 says nothing about its cause.
  await rm(forge.app.config.data, { recursive: true })
  await writeFile(forge.app.config.data, 'no folder')
  await expect(forge.project()).rejects.toThrow(/^the project project3 is refused: 500 .*: .*ENOTDIR/)
  const { url } = forge
  await forge.close()
  await expect(forge.visitor.get('/version')).rejects.toThrow(`GET ${url}/api/v4/version: connect ECONNREFUSED`)
})

test('files are seeded and read back by git, with the credentials of the named user', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  const project = await forge.project({ path: 'tower', visibility: 'private' }, jane)
  await forge.seed(
    project,
    { 'README.md': '# One\n', 'bin/data': new Uint8Array([0, 255]), 'old.txt': 'x' },
    { as: jane },
  )
  const { id, author_email } = await forge.seed(
    project,
    { 'README.md': '# Two\n', 'old.txt': null },
    { message: 'Change' },
  )
  expect(author_email).toBe(forge.administrator.email)
  await forge.seed(project, { 'more.txt': 'm' }, { branch: 'topic/1', as: jane })

  await forge.git(['clone', '--quiet', project.http_url_to_repo, 'mine'], { as: jane })
  expect(await forge.git(['-C', 'mine', 'log', '--format=%H %s %an', '-1'])).toBe(`${id} Change Administrator`)
  expect(await forge.git(['-C', 'mine', 'ls-tree', '-r', '--name-only', 'HEAD'])).toBe('README.md\nbin/data')
  expect(await forge.git(['-C', 'mine', 'ls-tree', '--name-only', 'origin/topic/1'])).toBe('README.md\nbin\nmore.txt')
  await forge.git(['-C', 'mine', 'commit', '--allow-empty', '--quiet', '-m', 'empty'], { as: jane })
  await forge.git(['-C', 'mine', 'push', '--quiet', 'origin', 'HEAD'], { as: jane })
  const { body } = await jane.get(`/projects/${project.id}/repository/commits`, { per_page: 1 })
  expect(body[0]).toMatchObject({ title: 'empty', author_name: 'jane', author_email: jane.email })

  const stranger = await forge.user()
  await expect(forge.git(['ls-remote', project.http_url_to_repo], { as: stranger })).rejects.toThrow(/not found/)
})

test('events are told with what they tell', async () => {
  await using forge = await startForge()
  const { id } = await forge.user()
  await forge.project({ path: 'tower' })
  expect(await forge.events()).toEqual(['user.created', 'project.created'])
  expect(await forge.eventLog()).toEqual([
    { name: 'user.created', payload: { id, reset_password: false }, created_at: expect.stringMatching(/^\d{4}-/) },
    { name: 'project.created', payload: { id: 1, by: 1 }, created_at: expect.stringMatching(/^\d{4}-/) },
  ])
})

test('requests are listed with what they were answered', async () => {
  await using forge = await startForge()
  await forge.visitor.get('/version')
  await forge.administrator.get('/users', { search: 'jane', per_page: 5 })
  await forge.administrator.delete('/users/99')
  const project = await forge.project()
  await forge.git(['ls-remote', project.http_url_to_repo])
  await fetch(`${forge.url}/-/liveness`)
  expect(forge.requests()).toEqual([
    { method: 'GET', path: '/api/v4/version', status: 401 },
    { method: 'GET', path: '/api/v4/users?search=jane&per_page=5', status: 200 },
    { method: 'DELETE', path: '/api/v4/users/99', status: 404 },
    { method: 'POST', path: '/api/v4/projects', status: 201 },
    { method: 'GET', path: '/root/project1.git/info/refs?service=git-upload-pack', status: 200 },
    { method: 'POST', path: '/root/project1.git/git-upload-pack', status: 200 },
    { method: 'GET', path: '/-/liveness', status: 200 },
  ])
})

/** Everything that an administrator can read about a forge. */
async function sayings(forge: TestForge) {
  const paths = [
    '/user',
    '/users',
    '/groups',
    '/projects',
    '/namespaces',
    '/application/settings',
    '/features',
    '/hooks',
  ]
  const answers = await Promise.all(paths.map((path) => forge.administrator.get(path)))
  const files = await readdir(forge.app.config.data, { recursive: true })
  const text = JSON.stringify(answers.map(({ status, body }) => ({ status, body })))
  return { text: text.replaceAll(forge.url, 'http://forge'), files, events: await forge.events() }
}

test('reset: as it was when it started, at the same address', async () => {
  await using fresh = await startForge()
  await using forge = await startForge({ settings: { RATE_LIMIT: '30' } })
  const { url } = forge
  const live = async () => {
    const jane = await forge.user({ username: 'jane' })
    const group = await forge.group({}, jane)
    const project = await forge.project({ namespace_id: group.id, path: 'tower' }, jane)
    await forge.seed(project, { 'a.txt': 'a' }, { as: jane })
    await forge.git(['clone', '--quiet', project.http_url_to_repo, 'mine'], { as: jane })
    const form = new FormData()
    form.set('file', new File(['words'], 'notes.txt'))
    expect((await jane.post(`/projects/${project.id}/uploads`, form)).status).toBe(201)
    expect((await forge.administrator.put('/application/settings', { signup_enabled: false })).status).toBe(200)
    await forge.settle()
    forge.clock.advance(3_600_000)
    const { headers } = await jane.get(`/projects/${project.id}`)
    return { ids: [jane.id, group.id, project.id], left: headers.get('ratelimit-remaining'), token: jane.token }
  }
  const first = await live()
  await forge.reset()
  expect(forge.requests()).toEqual([])
  expect(await sayings(forge)).toEqual(await sayings(fresh))
  expect(forge.url).toBe(url)
  expect(Math.abs(forge.clock.now().getTime() - Date.now())).toBeLessThan(60_000)
  expect((await forge.as({ 'PRIVATE-TOKEN': first.token }).get('/user')).status).toBe(401)

  const second = await live()
  expect([second.ids, second.left]).toEqual([first.ids, first.left])
  expect(await isThere(join(folderOf(forge), 'work', 'mine'))).toBe(true)
})

test('closing twice closes once, and nothing is left', async () => {
  const forge = await startForge()
  await forge.project()
  const folder = folderOf(forge)
  expect(await isThere(folder)).toBe(true)
  await Promise.all([forge.close(), forge.close()])
  await forge[Symbol.asyncDispose]()
  expect(await isThere(folder)).toBe(false)
})

/** Runs in a separate process, which prints a folder. */
async function startProcess(program: string) {
  const args = ['--input-type=module', '--eval', program]
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] })
  const [folder] = await once(child.stdout, 'data')
  return { child, folder: String(folder) }
}

test('what a killed process left is swept by the next, what a living one has is not', async () => {
  await using living = await startForge()
  const killed = await startProcess(`
    import { makeTemporaryFolder } from './lib/files/temporary-folder.ts'
    process.stdout.write(await makeTemporaryFolder())
    setInterval(() => {}, 1000)`)
  const foreign = killed.folder.replace(/-[0-9a-f]{8}_/, '-00000000_')
  // Of a machine or a container that this process cannot inspect.
  await mkdir(foreign)
  try {
    killed.child.kill('SIGKILL')
    await once(killed.child, 'close')
    expect(await isThere(killed.folder)).toBe(true)

    const next = await startProcess(`
      import { startForge } from './forge.ts'
      await using forge = await startForge()
      process.stdout.write(forge.app.config.data)`)
    await once(next.child, 'close')
    expect([await isThere(killed.folder), await isThere(dirname(next.folder))]).toEqual([false, false])
    expect([await isThere(foreign), await isThere(folderOf(living))]).toEqual([true, true])
  } finally {
    await rm(foreign, { recursive: true })
  }
})

test.runIf(server)('so are its databases on PostgreSQL', async () => {
  const { default: pg } = await import('pg')
  await using pool = Object.assign(new pg.Pool({ connectionString: server }), {
    [Symbol.asyncDispose]: () => pool.end(),
  })
  const mine = await postgresDatabase(server!)
  // No process has an id this large.
  const gone = mine.name.replace(/_\d+_\d+_/, '_4194305_1_')
  const foreign = gone.replace(/^mortise_[0-9a-f]{8}/, 'mortise_00000000')
  for (const name of [gone, foreign]) await pool.query(`create database ${name}`)

  const again = Object.assign(new URL(server!), { hash: '#again' }).href
  const next = await postgresDatabase(again)
  const { rows } = await pool.query('select datname from pg_database where datname = any($1) order by datname', [
    [mine.name, gone, foreign, next.name],
  ])
  expect(rows.map(({ datname }) => datname)).toEqual([foreign, mine.name, next.name].toSorted())
  await pool.query(`drop database ${foreign}`)
  for (const database of [mine, next]) await database.drop()
})

test.runIf(server)('a database on PostgreSQL is used again once its rows are restored', async () => {
  const databaseOf = ({ app }: TestForge) => app.config.databaseUrl
  const contentsOf = async (forge: TestForge) => ({ ...(await everything(forge)), jobs: '', processes: '' })
  const begin = async (work: (forge: TestForge) => Promise<unknown>) => {
    await using forge = await startForge()
    const [database, contents] = [databaseOf(forge), await contentsOf(forge)]
    const { id } = await forge.project()
    await work(forge)
    return { database, contents, id }
  }
  const first = await begin((forge) => forge.administrator.put('/users/1', { name: 'Another' }))
  const second = await begin(({ app }) => sql`create table more (id integer)`.execute(app.db))
  expect(second).toEqual(first)
  const third = await begin(async () => {})
  expect(third).toEqual({ ...first, database: third.database })
  expect(third.database).not.toBe(first.database)
})
