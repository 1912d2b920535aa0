import { afterAll, beforeAll, expect, test } from 'vitest'
import { atStep } from '../../../../test/at-once.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { findProjectById } from '../../projects/projects/queries.ts'

let forge: TestForge
let jane: Person
beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user()
})
afterAll(() => forge.close())

async function open(input: Record<string, unknown> = {}) {
  const project = await forge.project(input, jane)
  await forge.seed(project, { 'a.txt': 'one\n' }, { as: jane })
  const at = `/projects/${project.id}`
  const dir = repositoryDir(forge.app, (await findProjectById(forge.app.db, project.id))!)
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  const commit = (branch: string, file: string) =>
    jane.post(`${at}/repository/commits`, {
      branch,
      commit_message: `Add ${file}`,
      actions: [{ action: 'create', file_path: file, content: `${file}\n` }],
    })
  const propose = async (branch: string) => {
    const made = await forge.mergeRequest(project, { source_branch: branch, title: branch }, jane)
    return { ...made, url: `${at}/merge_requests/${made.iid}` }
  }
  return { project, at, git, commit, propose }
}

/** The transactions of the first call beside which the second starts; 0: both start together. */
const STEPS = [0, 1, 2, 3, 4]

test('accept beside a push to the source merges one of the heads, and tells which', async () => {
  const { at, git, commit, propose } = await open()
  for (const step of STEPS) {
    const one = await propose(`source${step}`)
    const accept = () => jane.put(`${one.url}/merge`, { sha: one.sha })
    const [merged, pushed] = await atStep(forge, step, accept, () => commit(`source${step}`, `more${step}.txt`))
    expect(pushed).toBe(201)
    expect([200, 409]).toContain(merged)
    const now = (await jane.get(one.url)).body
    const isThere = (await jane.get(`${at}/repository/files/more${step}.txt?ref=master`)).status
    // A merge with a given head merges exactly that head or nothing; later commits do not reach the target.
    expect([now.state, isThere]).toEqual([merged === 200 ? 'merged' : 'opened', 404])
    const brought = merged === 200 ? [now.sha, await git('rev-parse', 'master^2')] : [one.sha, one.sha]
    expect(brought).toEqual([one.sha, one.sha])
  }
})

test('accept beside a push to the target loses neither', async () => {
  const { git, commit, propose } = await open()
  for (const step of STEPS) {
    const one = await propose(`source${step}`)
    const codes = await atStep(
      forge,
      step,
      () => jane.put(`${one.url}/merge`),
      () => commit('master', `main${step}.txt`),
    )
    expect(codes).toEqual([200, 201])
    const files = (await git('ls-tree', '--name-only', 'master')).split('\n')
    expect(files).toEqual(expect.arrayContaining([`source${step}.txt`, `main${step}.txt`]))
  }
})

test('accept beside close, beside deletion: one of them happens', async () => {
  const { git, propose } = await open()
  for (const step of STEPS) {
    const one = await propose(`closed${step}`)
    const [merged] = await atStep(
      forge,
      step,
      () => jane.put(`${one.url}/merge`),
      () => jane.put(one.url, { state_event: 'close' }),
    )
    const { state } = (await jane.get(one.url)).body
    const files = await git('ls-tree', '--name-only', 'master')
    expect([merged, files.includes(`closed${step}.txt`)]).toEqual(state === 'merged' ? [200, true] : [406, false])
  }
  for (const step of STEPS) {
    const one = await propose(`deleted${step}`)
    const [merged, deleted] = await atStep(
      forge,
      step,
      () => jane.put(`${one.url}/merge`),
      () => jane.delete(one.url),
    )
    const isThere = (await git('ls-tree', '--name-only', 'master')).includes(`deleted${step}.txt`)
    expect([200, 404, 405]).toContain(merged)
    expect([204, 409]).toContain(deleted)
    expect(isThere).toBe(merged === 200)
  }
})

test('what is being merged is not deleted', async () => {
  const { propose } = await open()
  const one = await propose('source')
  const set = (state: 'locked' | 'opened') =>
    forge.app.db.updateTable('merge_requests').set({ state }).where('id', '=', one.id).execute()
  await set('locked')
  expect(await jane.delete(one.url)).toMatchObject({ status: 409 })
  await set('opened')
  expect(await jane.delete(one.url)).toMatchObject({ status: 204 })
})

test('accept beside the deletion of the source branch or of the project', async () => {
  const { at, git, propose } = await open()
  for (const step of STEPS) {
    const one = await propose(`gone${step}`)
    const remove = () => jane.delete(`${at}/repository/branches/gone${step}`)
    const [merged] = await atStep(forge, step, () => jane.put(`${one.url}/merge`), remove)
    const isThere = (await git('ls-tree', '--name-only', 'master')).includes(`gone${step}.txt`)
    expect([merged, isThere]).toEqual([merged === 200 ? 200 : 405, merged === 200])
  }
  for (const step of STEPS) {
    const other = await open()
    const one = await other.propose('source')
    const codes = await atStep(
      forge,
      step,
      () => jane.put(`${one.url}/merge`),
      () => jane.delete(other.at),
    )
    expect([200, 401, 404, 405]).toContain(codes[0])
    expect(codes[1]).toBe(204)
  }
})

test('of two that create the same one does; many pushes leave the last head', async () => {
  const { at, git, commit } = await open()
  await jane.post(`${at}/repository/branches`, { branch: 'source', ref: 'master' })
  await commit('source', 'first.txt')
  const input = { source_branch: 'source', target_branch: 'master', title: 'One' }
  const create = () => jane.post(`${at}/merge_requests`, input)
  const codes = (await Promise.all([create(), create(), create()])).map(({ status }) => status)
  expect(codes.toSorted((a, b) => a - b)).toEqual([201, 409, 409])
  const url = `${at}/merge_requests/1`
  const pushes = await Promise.all(Array.from({ length: 8 }, (_, n) => commit('source', `many${n}.txt`)))
  expect(pushes.map(({ status }) => status)).toEqual(Array(8).fill(201))
  await forge.settle()
  const tip = await git('rev-parse', 'source')
  expect([(await jane.get(url)).body.sha, await git('rev-parse', 'refs/merge-requests/1/head')]).toEqual([tip, tip])
  const versions: { head_commit_sha: string }[] = (await jane.get(`${url}/versions`)).body
  const heads = versions.map(({ head_commit_sha }) => head_commit_sha)
  expect(heads[0]).toBe(tip)
  expect(new Set(heads).size).toBe(heads.length)
  const order = (await git('rev-list', 'source')).split('\n')
  expect(heads).toEqual(order.filter((sha) => heads.includes(sha)))
})

test('create beside deletion of the branch', async () => {
  const { at } = await open()
  for (const step of STEPS) {
    const branch = `short${step}`
    await jane.post(`${at}/repository/branches`, { branch, ref: 'master' })
    const input = { source_branch: branch, target_branch: 'master', title: branch }
    const remove = () => jane.delete(`${at}/repository/branches/${branch}`)
    const [created, removed] = await atStep(forge, step, () => jane.post(`${at}/merge_requests`, input), remove)
    expect([[201, 422].includes(created), removed]).toEqual([true, 204])
  }
})

test('twenty that are accepted at once are all merged, one after the other', async () => {
  const { git, propose } = await open()
  const all = []
  for (let n = 0; n < 20; n++) all.push(await propose(`source${n}`))
  const answers = await Promise.all(all.map(({ url }) => jane.put(`${url}/merge`)))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  const line = (await git('rev-list', '--first-parent', 'master')).split('\n')
  expect(line).toEqual(expect.arrayContaining(answers.map(({ body }) => body.merge_commit_sha)))
  expect(line).toHaveLength(21)
})

test('auto-merge does not run for a user who was blocked or lost permission', async () => {
  for (const how of ['blocked', 'removed'] as const) {
    const { at, git, propose } = await open()
    const john = await forge.user()
    await jane.post(`${at}/members`, { user_id: john.id, access_level: 40 })
    const one = await propose('source')
    await jane.post(`${at}/statuses/${one.sha}`, { state: 'running' })
    const set = await john.put(`${one.url}/merge`, { merge_when_pipeline_succeeds: true })
    expect(set.body).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true })
    const before = await git('rev-parse', 'master')
    if (how === 'blocked') await forge.administrator.post(`/users/${john.id}/block`)
    else await jane.delete(`${at}/members/${john.id}`)
    await jane.post(`${at}/statuses/${one.sha}`, { state: 'success' })
    await forge.settle()
    expect([how, (await jane.get(one.url)).body.state, await git('rev-parse', 'master')]).toEqual([
      how,
      'opened',
      before,
    ])
  }
})

test('a single commit that is squashed onto a tip it does not stand on needs no rebase', async () => {
  const { at, git, commit, propose } = await open({ merge_method: 'ff' })
  const one = await propose('source')
  await commit('master', 'main.txt')
  expect((await jane.put(`${one.url}/merge`)).status).toBe(405)
  await jane.put(one.url, { squash: true })
  expect((await jane.get(`${one.url}/mergeability`)).body).toMatchObject({ mergeable: true })
  const before = await git('rev-parse', 'master')
  const merged = await jane.put(`${one.url}/merge`)
  expect(merged.body).toMatchObject({ state: 'merged', merge_commit_sha: null })
  expect(await git('rev-parse', 'master', 'master^')).toBe(`${merged.body.squash_commit_sha}\n${before}`)
  expect((await jane.get(`${at}/repository/files/source.txt?ref=master`)).status).toBe(200)
})
