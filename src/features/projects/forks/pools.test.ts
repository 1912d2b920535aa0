import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { runGit, temporaryFolder } from '../../../../test/git-origin.ts'
import { openSource, type Source } from '../../../../test/sources.ts'
import { addKey, newKey, startSshForge } from '../../../../test/ssh.ts'
import { addressFor, workspace } from '../../../../test/workspace.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { poolOf } from '../../../git/storage/alternates.ts'
import { diskUse, sizeOf } from '../../../git/storage/repositories.ts'
import { checkRepositories } from '../../repository/checking/service.ts'
import { repositoryDir } from '../repositories/repository.ts'

const SIZE = 300_000
const noise = () => Buffer.from(Uint8Array.from({ length: SIZE }, () => Math.random() * 256))
const OWN = 100_000

const rowOf = ({ app }: TestForge, id: number) =>
  app.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const dirOf = async (forge: TestForge, id: number) => repositoryDir(forge.app, await rowOf(forge, id))
const inside = async (forge: TestForge, id: number, ...args: string[]) =>
  runGit([`--git-dir=${await dirOf(forge, id)}`, ...args])
const poolsOf = ({ app }: TestForge) => app.db.selectFrom('pools').selectAll().orderBy('id').execute()

/** A source with content, public by default. */
async function filledSource(forge: TestForge, input: Record<string, unknown> = { visibility: 'public' }) {
  const source = await openSource(forge, 'projects', input)
  await fillProject(forge, source.id, { files: { big: noise() } }, { files: { small: 'small\n' } })
  return source
}

let forks = 0

async function forkBy(forge: TestForge, person: Person, id: number): Promise<number> {
  const path = `fork${++forks}`
  const { status, body } = await person.post(`/projects/${id}/fork`, { name: path, path })
  expect([status, body.import_status]).toEqual([201, 'scheduled'])
  await forge.settle()
  expect(await rowOf(forge, body.id)).toMatchObject({ import_status: 'finished', empty_repo: false })
  return body.id
}

/** Advances the clock by a day, so that housekeeping is allowed again. */
async function tidy(forge: TestForge, ...ids: number[]): Promise<void> {
  forge.clock.advance(DAY)
  for (const id of ids) expect((await forge.administrator.post(`/projects/${id}/housekeeping`)).status).toBe(201)
  await forge.settle()
}

async function commitTo(person: Person, id: number, more: Record<string, unknown> = {}): Promise<string> {
  const actions = [{ action: 'create', file_path: `f${++forks}`, content: `${forks}` }]
  const input = { branch: 'master', commit_message: 'more', actions, ...more }
  const { status, body } = await person.post(`/projects/${id}/repository/commits`, input)
  expect([status, body.id]).toEqual([201, expect.any(String)])
  return body.id
}

async function expectSound(forge: TestForge): Promise<void> {
  for await (const { path, faults } of checkRepositories(forge.app)) expect([path, faults]).toEqual([path, []])
}

test('forks share the objects of their source, each counts its own, and all outlive it', async () => {
  await using forge = await startForge()
  await using work = await workspace()
  const source = await filledSource(forge)
  const jane = await forge.user()
  const first = await forkBy(forge, jane, source.id)
  const second = await forkBy(forge, jane, source.id)
  const third = await forkBy(forge, jane, second)

  const [pool, ...others] = await poolsOf(forge)
  expect([others, pool!.source_id]).toEqual([[], source.id])
  const poolDir = repositoryDir(forge.app, pool!)
  for (const id of [source.id, first, second, third]) {
    expect([(await rowOf(forge, id)).pool_id, await poolOf(await dirOf(forge, id))]).toEqual([pool!.id, poolDir])
  }
  for (const id of [first, second, third]) {
    const { statistics } = (await jane.get(`/projects/${id}`, { statistics: true })).body
    expect(statistics).toMatchObject({ commit_count: 2, repository_size: await diskUse(await dirOf(forge, id)) })
    expect(statistics.repository_size).toBeLessThan(OWN)
  }
  expect((await sizeOf(await dirOf(forge, source.id))) > SIZE).toBe(true)
  await tidy(forge, source.id, first, second, third)
  expect((await rowOf(forge, source.id)).repository_size).toBeLessThan(OWN)
  await expectSound(forge)

  await source.owner.delete(source.url)
  await forge.settle()
  await tidy(forge, first, second, third)
  await expectSound(forge)
  expect((await poolsOf(forge))[0]).toMatchObject({ id: pool!.id, source_id: null })
  const { path_with_namespace } = (await jane.get(`/projects/${first}`)).body
  expect(await work.git('clone', '--mirror', addressFor(forge, path_with_namespace), 'copy')).toMatchObject({ code: 0 })
  expect(await work.git('-C', 'copy', 'fsck', '--full', '--strict')).toMatchObject({ code: 0 })

  for (const id of [second, first]) await jane.delete(`/projects/${id}`)
  await forge.settle()
  expect([existsSync(poolDir), await inside(forge, third, 'fsck', '--full')]).toEqual([true, ''])
  await jane.delete(`/projects/${third}`)
  await forge.settle()
  expect([existsSync(poolDir), await poolsOf(forge)]).toEqual([false, []])
})

test('a fork is cloned, fetched from and pushed to by both ways, and offers nothing of the pool', async () => {
  await using forge = await startSshForge()
  await using work = await workspace()
  const source = await filledSource(forge)
  const jane = await forge.user()
  const key = await newKey()
  await addKey(jane, key)
  const file = join(work.folder, 'id')
  await writeFile(file, key.private, { mode: 0o600 })
  const ssh = `core.sshCommand=ssh -F /dev/null -i ${file} -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no`
  await tidy(forge, source.id)
  const id = await forkBy(forge, jane, source.id)
  // The output reveals no storage details: git would warn about a second bitmap with its path on the server.
  const clone = await work.git('clone', '-q', addressFor(forge, source.path.slice(1)), 'source')
  expect(clone).toMatchObject({ code: 0, stderr: '' })
  const topic = await commitTo(source.owner, source.id, { branch: 'topic', start_branch: 'master' })
  await forkBy(forge, jane, source.id)
  await tidy(forge, source.id, id)

  const { path_with_namespace, ssh_url_to_repo } = (await jane.get(`/projects/${id}`)).body
  const http = addressFor(forge, path_with_namespace, jane)
  for (const [name, address] of Object.entries({ http, ssh: ssh_url_to_repo })) {
    expect(await work.git('-c', ssh, '-c', 'protocol.version=2', 'clone', '-q', address, name)).toMatchObject({
      code: 0,
    })
    expect(await work.git('-C', name, 'fsck', '--full')).toMatchObject({ code: 0 })
    await work.git('-C', name, 'commit', '-q', '--allow-empty', '-m', name)
    expect(await work.git('-C', name, '-c', ssh, 'push', '-q', address, `HEAD:refs/heads/${name}`)).toMatchObject({
      code: 0,
    })
  }
  // The pool has the commit, and the fork lacks it: the push contains no object.
  await work.git('-C', 'http', 'fetch', '-q', addressFor(forge, source.path.slice(1)), 'topic')
  expect(await work.git('-C', 'http', 'push', '-q', http, 'FETCH_HEAD:refs/heads/topic')).toMatchObject({ code: 0 })
  expect(await inside(forge, id, 'rev-parse', 'topic')).toBe(topic)
  const service = `${http.replace(/\/\/.*@/, '//')}/info/refs?service=git-receive-pack`
  const authorization = `Basic ${btoa(`${jane.username}:${jane.token}`)}`
  const offered = await (await fetch(service, { headers: { authorization } })).text()
  expect(offered).toContain('refs/heads/master')
  expect(offered).not.toContain('.have')
  await tidy(forge, id)
  await expectSound(forge)
})

const commitIn = async (person: Person, id: number, sha: string) =>
  (await person.get(`/projects/${id}/repository/commits/${sha}`)).status

test('an older fork never shows what its source came to have while it was private', async () => {
  await using forge = await startForge()
  await using work = await workspace()
  const source = await filledSource(forge)
  const jane = await forge.user()
  const older = await forkBy(forge, jane, source.id)

  await source.owner.put(source.url, { visibility: 'private' })
  const secret = await commitTo(source.owner, source.id)
  const younger = await forkBy(forge, source.owner, source.id)
  await tidy(forge, source.id, older, younger)
  const expectHidden = async () => {
    for (const sha of [secret, secret.slice(0, 8)]) expect(await commitIn(jane, older, sha)).toBe(404)
    const { path_with_namespace } = (await jane.get(`/projects/${older}`)).body
    await work.git('init', '-q', '--bare', 'x')
    const { code } = await work.git('-C', 'x', 'fetch', '-q', addressFor(forge, path_with_namespace, jane), secret)
    expect(code).not.toBe(0)
  }
  await expectHidden()
  expect(await commitIn(source.owner, younger, secret)).toBe(200)

  // Even if it becomes public again, the source does not fill the pool.
  await source.owner.put(source.url, { visibility: 'public' })
  const latest = await forkBy(forge, jane, source.id)
  await tidy(forge, source.id, older, latest)
  await expectHidden()
  expect(await commitIn(jane, latest, secret)).toBe(200)
  await expectSound(forge)
})

test('a source that keeps its code to its members fills its pool no more', async () => {
  await using forge = await startForge()
  const source = await filledSource(forge)
  const jane = await forge.user()
  const older = await forkBy(forge, jane, source.id)
  await source.owner.put(source.url, { repository_access_level: 'private' })
  const secret = await commitTo(source.owner, source.id)
  await tidy(forge, source.id)
  await forkBy(forge, source.owner, source.id)
  expect(await commitIn(jane, older, secret)).toBe(404)
})

test('what is new in a public source is in its pool, what is new in a fork is not', async () => {
  await using forge = await startForge()
  const source = await filledSource(forge)
  const jane = await forge.user()
  const first = await forkBy(forge, jane, source.id)
  const [ofSource, ofFork] = [await commitTo(source.owner, source.id), await commitTo(jane, first)]
  const second = await forkBy(forge, jane, first)
  await tidy(forge, source.id, first, second)
  const third = await forkBy(forge, jane, source.id)
  expect([await commitIn(jane, second, ofSource), await commitIn(jane, second, ofFork)]).toEqual([200, 200])
  expect([await commitIn(jane, third, ofSource), await commitIn(jane, third, ofFork)]).toEqual([200, 404])
  expect(await commitIn(jane, source.id, ofFork)).toBe(404)
  await expectSound(forge)
})

test.each([
  { visibility: 'private' },
  { visibility: 'internal' },
  { visibility: 'public', repository_access_level: 'private' },
])('the forks of %o have everything themselves', async (input) => {
  await using forge = await startForge()
  const source = await filledSource(forge, input)
  await tidy(forge, source.id)
  const fork = await forkBy(forge, source.owner, source.id)
  expect([(await rowOf(forge, fork)).pool_id, await poolOf(await dirOf(forge, fork)), await poolsOf(forge)]).toEqual([
    null,
    null,
    [],
  ])
  await source.owner.delete(source.url)
  await forge.settle()
  expect(await inside(forge, fork, 'fsck', '--full', '--strict')).toBe('')
})

test('forks in another storage than their source have everything themselves', async () => {
  await using elsewhere = await temporaryFolder()
  await using forge = await startForge({ settings: { STORAGES: `fast=${elsewhere.path}` } })
  const source = await forge.project({ visibility: 'public', repository_storage: 'fast' })
  await fillProject(forge, source.id)
  const fork = await forkBy(forge, await forge.user(), source.id)
  expect(await rowOf(forge, fork)).toMatchObject({ repository_storage: 'default', pool_id: null })
  expect([await poolsOf(forge), await poolOf(await dirOf(forge, fork))]).toEqual([[], null])
})

test('the last of a pool takes all home when it is tidied', async () => {
  await using forge = await startForge()
  const source = await filledSource(forge)
  const jane = await forge.user()
  const fork = await forkBy(forge, jane, source.id)
  await tidy(forge, source.id)
  await jane.delete(`/projects/${fork}`)
  await forge.settle()
  const [pool] = await poolsOf(forge)
  await tidy(forge, source.id)
  expect([await poolsOf(forge), existsSync(repositoryDir(forge.app, pool!))]).toEqual([[], false])
  expect(await poolOf(await dirOf(forge, source.id))).toBeNull()
  await expectSound(forge)
  await forkBy(forge, jane, source.id)
  expect(await poolsOf(forge)).toHaveLength(1)
})

test('many forks at once make one pool', async () => {
  await using forge = await startForge()
  const source = await filledSource(forge)
  const people = await Promise.all([1, 2, 3, 4].map(() => forge.user()))
  await Promise.all(people.map((one) => one.post(`${source.url}/fork`)))
  await forge.settle()
  expect(await poolsOf(forge)).toHaveLength(1)
  const sharing = await forge.app.db
    .selectFrom('projects')
    .select('import_status')
    .where('pool_id', 'is not', null)
    .execute()
  expect(sharing.map((row) => row.import_status).toSorted()).toEqual([...people.map(() => 'finished'), 'none'])
  await expectSound(forge)
  await deleteAll(forge, source)
  expect(await poolsOf(forge)).toEqual([])
})

/** Deletes all at the same moment. One of them is the last member. */
async function deleteAll(forge: TestForge, source: Source): Promise<void> {
  const { body } = await forge.administrator.get(`${source.url}/forks`)
  const ids: number[] = [source.id, ...body.map((one: { id: number }) => one.id)]
  await Promise.all(ids.map((id) => forge.administrator.delete(`/projects/${id}`)))
  await forge.settle()
}
