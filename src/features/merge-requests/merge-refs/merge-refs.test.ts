import { expect, test } from 'vitest'
import { openReview } from '../../../../test/reviews.ts'
import { startForge } from '../../../forge.ts'

test('what merging would make is fetched like any commit', async () => {
  await using forge = await startForge()
  const { jane, project, git, commit, propose } = await openReview(forge, { a: 'a\n' })
  await git('checkout', '-q', '-b', 'feature')
  const head = await commit('b', 'b\n')
  await git('push', '-q', 'origin', 'feature')
  await git('checkout', '-q', 'master')
  const target = await commit('c', 'c\n')
  await git('push', '-q', 'origin', 'master')
  const { url } = await propose('feature')
  const refs = async () => (await git('ls-remote', 'origin', 'refs/merge-requests/*', 'refs/keep-around/*')).split('\n')
  // The ref exists from the beginning.
  const [, offered] = await refs()
  const { body } = await jane.get(`${url}/merge_ref`)
  expect(offered).toBe(`${body.commit_id}\trefs/merge-requests/1/merge`)
  expect((await jane.get(`${url}/merge_ref`)).body).toEqual(body)
  await git('fetch', '-q', 'origin', 'refs/merge-requests/1/merge:trial', 'refs/merge-requests/1/head:head')
  expect(await git('rev-parse', 'trial', 'trial^1', 'trial^2', 'head')).toBe(
    [body.commit_id, target, head, head].join('\n'),
  )
  expect(await git('ls-tree', '--name-only', 'trial')).toBe('a\nb\nc')
  expect(await git('ls-remote', 'origin', 'refs/heads/master')).toContain(target)

  // A moved target gives a new commit, a conflict none.
  const moved = await commit('d', 'd\n')
  await git('push', '-q', 'origin', 'master')
  const again = (await jane.get(`${url}/merge_ref`)).body.commit_id
  await git('fetch', '-q', 'origin', 'refs/merge-requests/1/merge')
  expect(await git('rev-parse', 'FETCH_HEAD', 'FETCH_HEAD^1')).toBe([again, moved].join('\n'))

  // Forks do not get these refs.
  const joe = await forge.user()
  const fork = (await joe.post(`/projects/${project.id}/fork`)).body
  await forge.settle()
  const listing = await forge.git(['ls-remote', `${forge.url}/${fork.path_with_namespace}.git`], { as: joe })
  expect(listing).toContain('refs/heads/feature')
  expect(listing).not.toContain('merge-requests')

  await commit('b', 'other\n')
  await git('push', '-q', 'origin', 'master')
  expect(await jane.get(`${url}/merge_ref`)).toMatchObject({
    status: 400,
    body: { message: 'Merge request is not mergeable' },
  })
  expect(await refs()).toEqual([`${head}\trefs/merge-requests/1/head`])
})

test('the head is that of the newest version, and stays when the source is gone', async () => {
  await using forge = await startForge()
  const { jane, git, commit, propose } = await openReview(forge, { a: 'a\n' })
  const head = () => git('ls-remote', 'origin', 'refs/merge-requests/1/head')
  await git('checkout', '-q', '-b', 'feature')
  await commit('b', 'b\n')
  await git('push', '-q', 'origin', 'feature')
  const { url } = await propose('feature')
  const second = await commit('b', 'b2\n')
  await git('push', '-q', 'origin', 'feature')
  expect(await head()).toContain(second)
  await jane.put(url, { state_event: 'close' })
  const third = await commit('b', 'b3\n')
  await git('push', '-q', 'origin', 'feature')
  expect(await head()).toContain(second)
  expect((await jane.put(url, { state_event: 'reopen' })).body.sha).toBe(third)
  expect(await head()).toContain(third)
  await git('push', '-q', 'origin', ':feature')
  expect(await head()).toContain(third)
  expect((await jane.get(`${url}/merge_ref`)).status).toBe(400)
})
