import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MINUTE } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { mergeRequestOptions } from './options.ts'

let forge: TestForge
let jane: Person
let work: string
beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user()
  work = await mkdtemp(join(tmpdir(), 'pushes-'))
})
afterAll(async () => {
  await forge.close()
  await rm(work, { recursive: true })
})

let opened = 0

/** A project with a clone; `push` returns the output of git. */
async function open() {
  const project = await forge.project({}, jane)
  await forge.seed(project, { 'a.txt': 'one\n' }, { as: jane })
  const at = `/projects/${project.id}`
  const { path_with_namespace } = (await jane.get(at)).body
  const folder = join(work, `clone${++opened}`)
  const remote = `${forge.url.replace('//', `//oauth2:${jane.token}@`)}/${path_with_namespace}.git`
  await runGit(['clone', '-q', remote, folder])
  const git = (...args: string[]) =>
    runGit(['-C', folder, '-c', 'user.name=Jane', '-c', 'user.email=jane@example.org', ...args])
  const commit = async (branch: string, file: string, message = `Add ${file}`) => {
    await git(
      'switch',
      '-q',
      '-C',
      branch,
      ...((await git('branch', '--list', branch)) === '' ? ['origin/master'] : []),
    )
    await git('commit', '-q', '--allow-empty', '-m', message)
  }
  const push = async (branch: string, ...options: string[]) => {
    const flags = options.flatMap((option) => ['-o', option])
    return git('-c', 'alias.p=!git push "$@" 2>&1; :', 'p', '--force', ...flags, 'origin', branch)
  }
  const list = async () => {
    const found = await forge.app.db
      .selectFrom('merge_requests')
      .select('iid')
      .where('project_id', '=', project.id)
      .orderBy('iid')
      .execute()
    return Promise.all(found.map(async ({ iid }) => (await jane.get(`${at}/merge_requests/${iid}`)).body))
  }
  return { at, project, path_with_namespace, git, commit, push, list }
}

test('options of a push, in both spellings', () => {
  expect(mergeRequestOptions(['ci.skip', 'other'])).toBeNull()
  expect(
    mergeRequestOptions([
      'merge_request.create',
      'mr.title=Two\\nlines',
      'mr.label=a',
      'merge_request.label=b',
      'mr.unknown=x',
      'mr.squash=false',
      'mr.merge_when_pipeline_succeeds',
    ]),
  ).toEqual({
    create: true,
    draft: false,
    squash: false,
    remove_source_branch: false,
    auto_merge: true,
    title: 'Two\nlines',
    labels: ['a', 'b'],
    unlabels: [],
    assign: [],
    unassign: [],
  })
})

test('a push says where to make a merge request, then where it is', async () => {
  const { at, commit, push, path_with_namespace } = await open()
  await commit('feature/x', 'b.txt')
  expect(await push('feature/x')).toMatch(
    /To create a merge request for feature\/x, visit:\s+remote: {3}http.*feature%2Fx/,
  )
  await jane.post(`${at}/merge_requests`, { source_branch: 'feature/x', target_branch: 'master', title: 'X' })
  await commit('feature/x', 'c.txt')
  const printed = await push('feature/x')
  expect(printed).toContain('View merge request for feature/x:')
  expect(printed).toContain(`${forge.url}/${path_with_namespace}/-/merge_requests/1`)
})

test('a push makes a merge request as its options say, and the next one changes it', async () => {
  const { commit, push, list } = await open()
  await commit('feature', 'b.txt', 'Add b\n\nIt was missing.')
  await push(
    'feature',
    'merge_request.create',
    'mr.label=ready',
    `mr.assign=${jane.username}`,
    'mr.remove_source_branch',
  )
  expect(await list()).toMatchObject([
    {
      source_branch: 'feature',
      target_branch: 'master',
      title: 'Add b',
      description: 'It was missing.',
      labels: ['ready'],
      assignees: [{ id: jane.id }],
      force_remove_source_branch: true,
      changes_count: null,
      draft: false,
    },
  ])
  await commit('feature', 'c.txt')
  await push(
    'feature',
    'mr.title=Both',
    'mr.draft',
    'mr.label=more',
    'mr.unlabel=ready',
    `mr.unassign=${jane.username}`,
  )
  expect(await list()).toMatchObject([{ title: 'Draft: Both', draft: true, labels: ['more'], assignees: [] }])
  await forge.settle()
  expect(await list()).toHaveLength(1)
})

test('what cannot be done is told, and the push stands', async () => {
  const { at, commit, push, list } = await open()
  await commit('feature', 'b.txt')
  expect(await push('feature', 'mr.title=X')).toContain(
    'A merge_request.create push option is required to create a merge request for branch feature',
  )
  await commit('feature', 'c.txt')
  expect(await push('feature', 'mr.create', 'mr.target_project=no/such')).toContain(
    'Target project no/such was not found',
  )
  expect(await list()).toEqual([])
  expect((await jane.get(`${at}/repository/branches/feature`)).status).toBe(200)
})

test('a force push and a deleted branch are followed', async () => {
  const { at, git, commit, push, list } = await open()
  await commit('feature', 'b.txt')
  await push('feature', 'mr.create')
  const [before] = await list()
  await git('commit', '-q', '--amend', '--allow-empty', '-m', 'fixup! Add b.txt')
  await push('feature')
  const [after] = await list()
  expect(after.sha).not.toBe(before.sha)
  expect(after).toMatchObject({ title: 'WIP: Add b.txt', draft: true })
  expect(await git('ls-remote', 'origin', 'refs/merge-requests/1/head')).toBe(
    `${after.sha}\trefs/merge-requests/1/head`,
  )
  await git('push', '-q', 'origin', ':feature')
  expect((await list())[0]).toMatchObject({ state: 'opened', sha: after.sha, merge_status: 'cannot_be_merged' })
  await forge.settle()
  const notes = await forge.app.db
    .selectFrom('notes')
    .select('body')
    .where('project_id', '=', after.project_id)
    .execute()
  expect(notes.filter(({ body }) => body === 'deleted source branch `feature`')).toHaveLength(1)
  expect((await jane.put(`${at}/merge_requests/1/merge`)).status).toBe(405)
  await git('push', '-q', 'origin', `${after.sha}:refs/heads/feature`)
  expect((await list())[0]).toMatchObject({ sha: after.sha, merge_status: 'can_be_merged' })
})

test('from a fork, its commits come along and are followed', async () => {
  const { at, project } = await open()
  const joe = await forge.user()
  await jane.put(at, { visibility: 'public' })
  const fork = (await joe.post(`${at}/fork`)).body
  await forge.settle()
  await forge.seed(fork, { 'b.txt': 'two\n' }, { branch: 'feature', as: joe })
  const input = { source_branch: 'feature', target_branch: 'master', title: 'From afar', target_project_id: project.id }
  const made = await joe.post(`/projects/${fork.id}/merge_requests`, input)
  expect(made).toMatchObject({
    status: 201,
    body: { project_id: project.id, source_project_id: fork.id, merge_status: 'can_be_merged' },
  })
  const { sha } = await (async () => {
    const { id } = await forge.seed(fork, { 'c.txt': 'three\n' }, { branch: 'feature', as: joe })
    return { sha: id }
  })()
  expect((await jane.get(`${at}/merge_requests/1`)).body).toMatchObject({ sha, changes_count: '2' })
  expect((await jane.get(`${at}/repository/commits/${sha}`)).status).toBe(200)
  // A non-member of the target cannot merge there.
  expect((await joe.put(`${at}/merge_requests/1/merge`)).status).toBe(401)
  expect((await jane.put(`${at}/merge_requests/1/merge`)).body).toMatchObject({ state: 'merged' })
})

test('options are carried out once: by the push, or long after it where that was cut off', async () => {
  const { at, project, commit, push, list } = await open()
  await commit('feature', 'b.txt')
  await push('feature', 'mr.create')
  await forge.settle()
  await jane.put(`${at}/merge_requests/1`, { state_event: 'close' })
  const again = async () => {
    forge.clock.advance(2 * MINUTE)
    await forge.settle()
    return (await list()).map(({ iid, state }: { iid: number; state: string }) => [iid, state])
  }
  expect(await again()).toEqual([[1, 'closed']])
  await commit('other', 'c.txt')
  await push('other', 'mr.create')
  // As if the process had ended right after the push.
  const { db } = forge.app
  await db.deleteFrom('pipeline_marks').execute()
  await db.deleteFrom('merge_requests').where('project_id', '=', project.id).where('iid', '=', 2).execute()
  expect(await again()).toEqual([
    [1, 'closed'],
    [3, 'opened'],
  ])
})

test('pushes at the same time are told nothing of what they did themselves', async () => {
  const { git, commit, list } = await open()
  const branches = ['one', 'two', 'three', 'four', 'five', 'six']
  for (const branch of branches) await commit(branch, branch)
  const pushes = branches.map((branch) => git('push', '-q', '-o', 'mr.create', 'origin', branch))
  for (const printed of await Promise.all(pushes)) expect(printed).not.toContain('WARNINGS')
  await forge.settle()
  expect(await list()).toHaveLength(branches.length)
})
