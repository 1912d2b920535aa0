/** The git processes that common operations start. A query that runs twice, or needs no process, shows up here. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { processesOf } from '../../../../test/git-builder.ts'
import { runGit, temporaryFolder } from '../../../../test/git-origin.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

let forge: TestForge
let jane: Person
beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user()
})
afterAll(() => forge.close())

const FIFTY = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`files/${n}.txt`, `${n}\n`.repeat(20)]))

/** The object reader is long-lived, the commit-graph is written now and then, and `-C` marks clients. */
const UNCOUNTED = new Set(['cat-file', 'commit-graph', '-C'])

/** Includes all follow-up jobs, but no job that is due some seconds later, which a busy machine would reach. */
async function started(work: () => Promise<unknown>): Promise<string[]> {
  using _ = forge.clock.hold()
  await forge.settle()
  const processes = await processesOf(async () => {
    await work()
    await forge.settle()
  })
  return processes.map(([, verb]) => verb!).filter((verb) => !UNCOUNTED.has(verb))
}

async function open(request: Record<string, unknown> = {}) {
  const project = await forge.project(request, jane)
  await forge.seed(project, { 'a.txt': 'one\n' }, { as: jane })
  const at = `/projects/${project.id}`
  const commit = (branch: string, files: Record<string, string>) => forge.seed(project, files, { branch, as: jane })
  const propose = async (branch: string) => {
    const input = { source_branch: branch, target_branch: 'master', title: branch }
    const made = await jane.post(`${at}/merge_requests`, input)
    expect(made.status).toBe(201)
    return `${at}/merge_requests/${made.body.iid}`
  }
  const accept = async (url: string, input = {}) => {
    expect(await jane.put(`${url}/merge`, input)).toMatchObject({ status: 200, body: { state: 'merged' } })
  }
  return { project, commit, propose, accept }
}

test('a merge request is made by one process for its diff and one for its merge ref, however many files it has', async () => {
  const { commit, propose } = await open()
  await commit('one', { 'b.txt': 'two\n' })
  await commit('fifty', FIFTY)
  const processes = ['diff-tree', 'merge-tree']
  expect(await started(() => propose('one'))).toEqual(processes)
  expect(await started(() => propose('fifty'))).toEqual(processes)
})

test('a commit through the API is followed by its merge request, and by those to its branch', async () => {
  const { commit, propose } = await open()
  expect(await started(() => commit('one', { 'b.txt': 'two\n' }))).toEqual([])
  await propose('one')
  expect(await started(() => commit('one', { 'c.txt': 'two\n' }))).toEqual(['diff-tree'])
  expect(await started(() => commit('master', { 'd.txt': 'two\n' }))).toEqual(['merge-tree'])
})

test('what stands on its target is merged, squashed and forwarded without a process', async () => {
  const { commit, propose, accept } = await open()
  await commit('one', { 'b.txt': 'two\n' })
  const one = await propose('one')
  expect(await started(() => accept(one))).toEqual([])
  await commit('two', { 'c.txt': 'two\n' })
  await commit('two', { 'd.txt': 'two\n' })
  const two = await propose('two')
  expect(await started(() => accept(two, { squash: true }))).toEqual([])
  const forward = await open({ merge_method: 'ff' })
  await forward.commit('three', { 'e.txt': 'two\n' })
  const three = await forward.propose('three')
  expect(await started(() => forward.accept(three))).toEqual([])
})

test('what does not is merged by one, and its files are looked at by another', async () => {
  const { commit, propose, accept } = await open()
  await commit('one', { 'b.txt': 'two\n' })
  const one = await propose('one')
  await commit('master', { 'c.txt': 'two\n' })
  expect(await started(() => accept(one))).toEqual(['merge-tree', 'rev-list'])
})

test('a small push over HTTP is no process, and one for the merge request of its branch', async () => {
  const { project, propose } = await open()
  await using folder = await temporaryFolder()
  const work = join(folder.path, 'work')
  const address = new URL(`${project.path_with_namespace}.git`, `${forge.url}/`)
  Object.assign(address, { username: jane.username, password: jane.token })
  await runGit(['clone', '-q', address.href, work])
  let n = 0
  const push = async (branch: string) => {
    const git = (...args: string[]) =>
      runGit(['-C', work, '-c', 'user.name=J', '-c', 'user.email=j@example.com', ...args])
    await git('checkout', '-q', '-B', branch)
    await writeFile(join(work, `file${++n}`), `${n}\n`)
    await git('add', '.')
    await git('commit', '-q', '-m', `${n}`)
    return started(() => git('push', '-q', 'origin', branch))
  }
  // The configuration of object checks is read once for all repositories with the same settings.
  await push('master')
  expect(await push('master')).toEqual([])
  expect(await push('one')).toEqual([])
  await propose('one')
  expect(await push('one')).toEqual(['diff-tree'])
  const shallow = ['clone', '-q', '--depth=1', address.href, join(folder.path, 'shallow')]
  expect(await started(() => runGit(shallow))).toEqual(['clone', 'upload-pack'])
})
