/** Forks while another operation changes their source. */
import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { LfsClient, authorizationOf, objectOf } from '../../../../test/lfs.ts'
import { repositoriesOf } from '../../../../test/projects.ts'
import { openSource, type Source } from '../../../../test/sources.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { removeRepository, repositoryExists } from '../../../git/storage/repositories.ts'
import { checkRepositories } from '../../repository/checking/service.ts'
import { scheduleTidying } from '../housekeeping/jobs.ts'
import { repositoryDir } from '../repositories/repository.ts'

const rowOf = ({ app }: TestForge, id: number) =>
  app.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

const refsOf = async (forge: TestForge, id: number) =>
  runGit([`--git-dir=${repositoryDir(forge.app, await rowOf(forge, id))}`, 'for-each-ref'])

async function filledSource(forge: TestForge, visibility = 'public') {
  const source = await openSource(forge, 'projects', { visibility })
  await fillProject(forge, source.id, { files: { big: 'x'.repeat(100_000) } }, { files: { small: 'small' } })
  return source
}

async function expectSound(forge: TestForge): Promise<void> {
  for await (const { path, faults } of checkRepositories(forge.app)) expect([path, faults]).toEqual([path, []])
}

async function commitTo(person: Person, id: number, name: string): Promise<string> {
  const actions = [{ action: 'create', file_path: name, content: name }]
  const input = { branch: 'master', commit_message: 'more', actions }
  const { status, body } = await person.post(`/projects/${id}/repository/commits`, input)
  expect(status).toBe(201)
  return body.id
}

type Closing = [string, visibility: string, (forge: TestForge, source: Source, jane: Person) => Promise<unknown>]

const CLOSINGS: Closing[] = [
  ['the source became private', 'public', (_, { owner, url }) => owner.put(url, { visibility: 'private' })],
  [
    'its code is for members now',
    'public',
    (_, { owner, url }) => owner.put(url, { repository_access_level: 'private' }),
  ],
  [
    'its forks are for members now',
    'public',
    (_, { owner, url }) => owner.put(url, { forking_access_level: 'private' }),
  ],
  ['the forker is a member no more', 'private', (_, { owner, url }, jane) => owner.delete(`${url}/members/${jane.id}`)],
  ['the forker was blocked', 'public', (forge, _, jane) => forge.administrator.post(`/users/${jane.id}/block`)],
]

test.each(CLOSINGS)('what comes in after %s is not copied', async (_what, visibility, close) => {
  await using forge = await startForge()
  const source = await filledSource(forge, visibility)
  const jane = await forge.user()
  const joan = await forge.user()
  for (const { id: user_id } of [jane, joan])
    await source.owner.post(`${source.url}/members`, { user_id, access_level: 20 })
  if (visibility === 'public') await source.owner.delete(`${source.url}/members/${jane.id}`)
  const object = objectOf('a secret')
  const forks: number[] = []
  // The worker pauses while queries are counted.
  await forge.queries(async () => {
    for (const person of [jane, joan]) forks.push((await person.post(`${source.url}/fork`)).body.id)
    await close(forge, source, jane)
    await commitTo(source.owner, source.id, 'secret')
    const { path_with_namespace: path } = (await source.owner.get(source.url)).body
    await new LfsClient(forge, path, authorizationOf(source.owner)).put(object)
  })
  await forge.settle()
  const [hers, joans] = [await rowOf(forge, forks[0]!), await rowOf(forge, forks[1]!)]
  expect(hers).toMatchObject({ import_status: 'failed', import_error: 'The source project is gone', empty_repo: true })
  expect(await refsOf(forge, hers.id)).toBe('')
  const links = await forge.app.db.selectFrom('lfs_object_projects').select('project_id').execute()
  expect(links.map(({ project_id }) => project_id)).not.toContain(hers.id)
  // A user who still has access gets the fork.
  expect(joans).toMatchObject({ import_status: 'finished', empty_repo: false })
  expect(links.map(({ project_id }) => project_id)).toContain(joans.id)
  await expectSound(forge)
})

test('while the source is removed: each fork is whole or empty, and nothing stays behind', async () => {
  await using forge = await startForge()
  for (let round = 0; round < 3; round++) {
    const source = await filledSource(forge)
    const people = await Promise.all([1, 2, 3, 4, 5].map(() => forge.user()))
    const answers = people.map((one) => one.post(`${source.url}/fork`))
    await Promise.race(answers)
    const [forks] = await Promise.all([Promise.all(answers), source.owner.delete(source.url)])
    await forge.settle()
    const made = forks.filter(({ status }) => status === 201).map(({ body }) => body.id as number)
    for (const id of made) {
      const { import_status, empty_repo } = await rowOf(forge, id)
      expect(['finished', 'failed']).toContain(import_status)
      expect(empty_repo).toBe(import_status === 'failed')
      expect((await refsOf(forge, id)) === '').toBe(empty_repo)
    }
    await expectSound(forge)
    await Promise.all(made.map((id) => forge.administrator.delete(`/projects/${id}`)))
    await forge.settle()
    expect(await forge.app.db.selectFrom('pools').selectAll().execute()).toEqual([])
    expect(await repositoriesOf(forge)).toEqual([])
  }
})

test('a source that is gone before the copy leaves a pool that is there, and goes with its last member', async () => {
  await using forge = await startForge()
  const source = await filledSource(forge)
  const jane = await forge.user()
  let fork = 0
  await forge.queries(async () => {
    fork = (await jane.post(`${source.url}/fork`)).body.id
    await removeRepository(repositoryDir(forge.app, await rowOf(forge, source.id)))
  })
  await forge.settle()
  expect(await rowOf(forge, fork)).toMatchObject({ import_status: 'failed', empty_repo: true })
  const pools = await forge.app.db.selectFrom('pools').selectAll().execute()
  expect(pools).toHaveLength(1)
  expect(await repositoryExists(repositoryDir(forge.app, pools[0]!))).toBe(true)
  await source.owner.delete(source.url)
  await jane.delete(`/projects/${fork}`)
  await forge.settle()
  expect(await repositoriesOf(forge)).toEqual([])
})

test('while the source and its pool are packed anew, and pushed to', async () => {
  await using forge = await startForge()
  const source = await filledSource(forge)
  const people = await Promise.all(Array.from({ length: 8 }, () => forge.user()))
  const forks: number[] = []
  for (const [n, one] of people.entries()) {
    // The API allows housekeeping once a day.
    const [fork] = await Promise.all([
      one.post(`${source.url}/fork`),
      scheduleTidying(forge.app, source),
      commitTo(source.owner, source.id, `f${n}`),
    ])
    expect(fork.status).toBe(201)
    forks.push(fork.body.id)
    if (n % 3 === 2) await forge.settle()
  }
  await forge.settle()
  for (const id of forks) {
    expect(await rowOf(forge, id)).toMatchObject({ import_status: 'finished', import_error: null, empty_repo: false })
  }
  await expectSound(forge)
  await source.owner.delete(source.url)
  for (const id of forks) await scheduleTidying(forge.app, { id })
  await forge.settle()
  await expectSound(forge)
})
