import { readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge, type Reply, type TestForge } from '../../../forge.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { findProjectById } from '../../projects/projects/queries.ts'

async function stage(forge: TestForge, { isEmpty = false } = {}) {
  const ann = await forge.user()
  const { id } = await forge.project({}, ann)
  const first = { message: 'first', files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } }
  if (!isEmpty) await fillProject(forge, id, first)
  const dir = repositoryDir(forge.app, (await findProjectById(forge.app.db, id))!)
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  const url = `/projects/${id}/repository`
  const commit = (action: Record<string, unknown>, more: Record<string, unknown> = {}) =>
    ann.post(`${url}/commits`, { branch: 'master', commit_message: 'change', actions: [action], ...more })
  const create = (path: string) => commit({ action: 'create', file_path: path, content: `${path}\n` })
  const createByFile = (path: string) =>
    ann.post(`${url}/files/${path}`, { branch: 'master', commit_message: 'change', content: `${path}\n` })
  const history = async () => (await git('rev-list', '--first-parent', '--reverse', 'master')).split('\n')
  return { ann, dir, git, url, commit, create, createByFile, history }
}

const several = <T>(length: number, make: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length }, (_, n) => make(n)))
const statuses = (answers: readonly Reply[]) => answers.map(({ status }) => status)
const inOrder = (answers: readonly Reply[]) => statuses(answers).toSorted((a, b) => a - b)

test.each([
  [8, 'a filled repository', false],
  [20, 'a filled repository', false],
  [8, 'an empty repository', true],
])(
  '%i who write different files of %s at once all succeed, and all are in the history',
  async (writers, _, isEmpty) => {
    await using forge = await startForge()
    const { git, create, createByFile, history } = await stage(forge, { isEmpty })
    const answers = await several(writers, (n) => (n % 3 === 2 ? createByFile(`n${n}`) : create(`n${n}`)))
    expect(statuses(answers)).toEqual(answers.map(() => 201))
    const commits = await history()
    expect(commits).toHaveLength(writers + (isEmpty ? 0 : 1))
    const created = answers.flatMap(({ body }) => body.id ?? [])
    expect(created).toHaveLength(writers - Math.floor(writers / 3))
    expect(commits).toEqual(expect.arrayContaining(created))
    const files = (await git('ls-tree', '--name-only', 'master')).split('\n')
    expect(files).toEqual(expect.arrayContaining(answers.map((_, n) => `n${n}`)))
    expect((await forge.events()).filter((name) => name === 'repository.changed')).toHaveLength(writers)
    expect(await forge.app.db.selectFrom('pending_changes').selectAll().execute()).toEqual([])
  },
)

test('of several who make the same file one does, and the others hear that it is there', async () => {
  await using forge = await startForge()
  const { create, history } = await stage(forge)
  const answers = await several(8, () => create('same'))
  expect(inOrder(answers)).toEqual([201, ...Array(7).fill(400)])
  const refused = answers.filter(({ status }) => status === 400).map(({ body }) => body.message)
  expect(new Set(refused)).toEqual(new Set(['A file with this name already exists']))
  expect(await history()).toHaveLength(2)
})

/** Moves the branch while `write` waits for it, like a push by another process. */
async function overtake({ dir, git }: Awaited<ReturnType<typeof stage>>, write: () => Promise<Reply>): Promise<Reply> {
  const tip = await git('rev-parse', 'master')
  const as = ['-c', 'user.name=Out', '-c', 'user.email=out@example.com']
  const next = await git(...as, 'commit-tree', '-p', tip, '-m', 'outside', `${tip}^{tree}`)
  const lock = join(dir, 'refs/heads/master.lock')
  await writeFile(lock, `${next}\n`, { flag: 'wx' })
  const answer = write()
  while (!(await readdir(dir)).some((name) => name.startsWith('tmp_ref_'))) await sleep(5)
  await rename(lock, join(dir, 'refs/heads/master'))
  return answer
}

test('a branch that moves under a commit takes it all the same', async () => {
  await using forge = await startForge()
  const at = await stage(forge)
  const answer = await overtake(at, () => at.create('n'))
  expect(answer.status).toBe(201)
  expect((await at.history()).slice(2)).toEqual([answer.body.id])
  expect(await at.git('log', '-1', '--format=%s', 'master~1')).toBe('outside')
})

test('who has named a commit is refused when the branch moves under theirs', async () => {
  await using forge = await startForge()
  const at = await stage(forge)
  const last_commit_id = await at.git('rev-parse', 'master')
  const update = { action: 'update', file_path: 'a.txt', content: 'x', last_commit_id }
  const { status, body } = await overtake(at, () => at.commit(update))
  expect([status, body.message]).toEqual([400, 'Could not update branch master. Please refresh and try again.'])
  expect(await at.history()).toHaveLength(2)
})

test('who names the commit they began with is refused when the file is another by then', async () => {
  await using forge = await startForge()
  const { git, commit, history } = await stage(forge)
  const last_commit_id = await git('rev-parse', 'master')
  const update = (n: number) => commit({ action: 'update', file_path: 'a.txt', content: `${n}\n`, last_commit_id })
  const answers = await several(8, update)
  expect(inOrder(answers)).toEqual([201, ...Array(7).fill(400)])
  expect(await history()).toHaveLength(2)
})

test('of several who make the same branch from another one does', async () => {
  await using forge = await startForge()
  const { git, commit } = await stage(forge)
  const make = (n: number) =>
    commit({ action: 'create', file_path: `n${n}`, content: 'x' }, { branch: 'topic', start_branch: 'master' })
  const answers = await several(8, make)
  expect(inOrder(answers)).toEqual([201, ...Array(7).fill(400)])
  expect(await git('rev-list', '--count', 'topic')).toBe('2')
})

test('picks and reverts at once all come onto the branch', async () => {
  await using forge = await startForge()
  const { ann, git, url, commit, history } = await stage(forge)
  const made = await several(4, (n) =>
    commit({ action: 'create', file_path: `n${n}`, content: 'x' }, { branch: `topic${n}`, start_branch: 'master' }),
  )
  const own = await several(4, (n) => commit({ action: 'create', file_path: `own${n}`, content: 'x' }))
  const answers = await Promise.all([
    ...made.map(({ body }) => ann.post(`${url}/commits/${body.id}/cherry_pick`, { branch: 'master' })),
    ...own.map(({ body }) => ann.post(`${url}/commits/${body.id}/revert`, { branch: 'master' })),
  ])
  expect(statuses(answers)).toEqual(answers.map(() => 201))
  expect(await history()).toHaveLength(1 + 4 + 8)
  const files = (await git('ls-tree', '--name-only', 'master')).split('\n')
  expect(files).toEqual(['a.txt', 'b.txt', 'n0', 'n1', 'n2', 'n3'])
})
