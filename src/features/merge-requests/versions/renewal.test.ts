import { expect, test } from 'vitest'
import { processesOf } from '../../../../test/git-builder.ts'
import { openReview, type Review } from '../../../../test/reviews.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const versionsOf = async ({ jane }: Review, url: string) =>
  (await jane.get(`${url}/versions`)).body as {
    head_commit_sha: string
    base_commit_sha: string
    start_commit_sha: string
  }[]

async function withFeature(forge: TestForge) {
  const review = await openReview(forge, { a: 'a\n' })
  const { git, commit, propose } = review
  const root = await git('rev-parse', 'HEAD')
  await git('checkout', '-q', '-b', 'feature')
  const [first, second] = [await commit('b', 'b\n'), await commit('c', 'c\n')]
  await git('push', '-q', 'origin', 'feature')
  const { url } = await propose('feature')
  return { ...review, review, root, first, second, one: url }
}

test('a push to the target makes a version only where it brings some of the commits', async () => {
  await using forge = await startForge()
  const { jane, git, commit, review, root, first, second, one } = await withFeature(forge)
  await git('checkout', '-q', 'master')
  await commit('x', 'x\n')
  await git('push', '-q', 'origin', 'master')
  expect(await versionsOf(review, one)).toHaveLength(1)

  await git('merge', '-q', '-m', 'Part', first)
  const tip = await git('rev-parse', 'HEAD')
  await git('push', '-q', 'origin', 'master')
  // The version exists when the push returns.
  expect(await versionsOf(review, one)).toMatchObject([
    { head_commit_sha: second, base_commit_sha: first, start_commit_sha: tip },
    { head_commit_sha: second, base_commit_sha: root, start_commit_sha: root },
  ])
  expect((await jane.get(one)).body).toMatchObject({ changes_count: '1', merge_status: 'can_be_merged' })
  expect((await jane.get(`${one}/commits`)).body).toMatchObject([{ id: second }])
  await forge.settle()
  expect(await versionsOf(review, one)).toHaveLength(2)

  await git('merge', '-q', '-m', 'All', second)
  await git('push', '-q', 'origin', 'master')
  expect((await jane.get(one)).body.state).toBe('merged')
  expect(await versionsOf(review, one)).toHaveLength(2)
})

test('a forced push to the target makes one, a deleted target none', async () => {
  await using forge = await startForge()
  const { jane, project, git, commit, review, root, second, one } = await withFeature(forge)
  await jane.delete(`/projects/${project.id}/protected_branches/master`)
  await git('checkout', '-q', '--orphan', 'other')
  await git('rm', '-rfq', '.')
  const island = await commit('z', 'z\n')
  await git('push', '-q', '-f', 'origin', 'other:master')
  await forge.settle()
  expect(await versionsOf(review, one)).toMatchObject([
    { head_commit_sha: second, base_commit_sha: null, start_commit_sha: island, state: 'empty' },
    {},
  ])
  expect((await jane.get(one)).body).toMatchObject({ merge_status: 'cannot_be_merged', has_conflicts: true })
  await git('push', '-q', '-f', 'origin', `${root}:master`)
  await forge.settle()
  expect((await versionsOf(review, one))[0]).toMatchObject({ base_commit_sha: root, start_commit_sha: root })
  expect((await jane.get(one)).body.merge_status).toBe('can_be_merged')

  const closed = (await jane.put(one, { state_event: 'close' })).body
  await git('push', '-q', '-f', 'origin', `${island}:master`)
  await forge.settle()
  expect(await versionsOf(review, one)).toHaveLength(3)
  expect(closed.state).toBe('closed')
  await jane.put(one, { state_event: 'reopen' })
  expect(await versionsOf(review, one)).toHaveLength(4)
  await git('push', '-q', 'origin', `${root}:refs/heads/stable`)
  await jane.put(one, { target_branch: 'stable' })
  expect((await versionsOf(review, one))[0]).toMatchObject({ base_commit_sha: root, start_commit_sha: root })
  await git('push', '-q', 'origin', ':stable')
  await forge.settle()
  expect(await versionsOf(review, one)).toHaveLength(5)
  expect((await jane.get(one)).body.detailed_merge_status).toBe('commits_status')
})

test('all that go to a branch are checked by a few processes', async () => {
  await using forge = await startForge()
  const { jane, project, url, git, commit, propose } = await openReview(forge, { a: 'a\n' })
  const names = Array.from({ length: 30 }, (_, n) => `branch${n}`)
  for (const [n, name] of names.entries()) {
    await git('checkout', '-q', '-b', name, 'master')
    await commit(n % 3 === 0 ? 'same' : name, `${name}\n`)
  }
  // A branch without a common history would end the git process.
  await git('checkout', '-q', '--orphan', 'island')
  await commit('island', 'x\n')
  await git('push', '-q', 'origin', ...names, 'island')
  for (const name of ['island', ...names]) await propose(name)
  await git('checkout', '-q', 'master')
  await commit('same', 'taken\n')
  await forge.settle()
  const started = await processesOf(async () => {
    await git('push', '-q', 'origin', 'master')
    await forge.settle()
  })
  expect(started.filter((words) => words.includes('merge-tree')).length).toBeLessThanOrEqual(2)
  const rows = await forge.app.db
    .selectFrom('merge_requests')
    .select(['source_branch', 'check_result', 'check_conflicts', 'check_target'])
    .where('project_id', '=', project.id)
    .orderBy('id')
    .execute()
  const tip = await git('rev-parse', 'master')
  expect(rows.map(({ check_target }) => check_target)).toEqual(rows.map(() => tip))
  expect(rows.map(({ source_branch, check_result }) => [source_branch, check_result])).toEqual([
    ['island', 'conflict'],
    ...names.map((name, n) => [name, n % 3 === 0 ? 'conflict' : 'mergeable']),
  ])
  expect(rows[1]!.check_conflicts).toBe('["same"]')
  expect((await jane.get(`${url}/2`)).body).toMatchObject({ has_conflicts: true, detailed_merge_status: 'conflict' })
})
