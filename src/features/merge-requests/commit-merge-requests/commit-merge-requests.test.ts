import { expect, test } from 'vitest'
import { openReview } from '../../../../test/reviews.ts'
import { startForge } from '../../../forge.ts'

test('a commit tells which merge requests bring it', async () => {
  await using forge = await startForge()
  const { jane, project, git, commit, propose } = await openReview(forge, { a: 'a\n' })
  const root = await git('rev-parse', 'HEAD')
  await git('checkout', '-q', '-b', 'low')
  const [first, second] = [await commit('b', 'b\n'), await commit('c', 'c\n')]
  await git('checkout', '-q', '-b', 'high')
  const third = await commit('d', 'd\n')
  await git('push', '-q', 'origin', 'low', 'high')
  const [low, high] = [await propose('low'), await propose('high', { squash: true })]
  const bringing = async (sha: string, who = jane) => {
    const { status, body } = await who.get(`/projects/${project.id}/repository/commits/${sha}/merge_requests`)
    return status === 200 ? body.map(({ iid }: { iid: number }) => iid) : status
  }
  expect(await bringing(root)).toEqual([])
  expect(await bringing(first)).toEqual([high.iid, low.iid])
  expect(await bringing(third)).toEqual([high.iid])
  expect(await bringing('high')).toEqual([high.iid])
  expect(await bringing('0'.repeat(40))).toBe(404)

  // A commit that was overwritten by a force push no longer counts.
  await git('checkout', '-q', 'low')
  await git('reset', '-q', '--hard', first)
  await git('push', '-q', '-f', 'origin', 'low')
  expect(await bringing(second)).toEqual([high.iid])

  const merged = (await jane.put(`${high.url}/merge`)).body
  expect(merged.squash_commit_sha).not.toBeNull()
  for (const sha of [merged.merge_commit_sha, merged.squash_commit_sha, third])
    expect(await bringing(sha)).toEqual([high.iid])

  await jane.put(low.url, { state_event: 'close' })
  const inState = async (state: string) => {
    const at = `/projects/${project.id}/repository/commits/${first}/merge_requests`
    return (await jane.get(at, { state })).body.map(({ iid }: { iid: number }) => iid)
  }
  expect(await Promise.all(['opened', 'closed', 'merged', 'all'].map(inState))).toEqual([
    [],
    [low.iid],
    [high.iid],
    [high.iid, low.iid],
  ])

  // Strangers get only merge requests they may see.
  const joe = await forge.user()
  expect(await bringing(third, joe)).toEqual([high.iid])
  await jane.put(`/projects/${project.id}`, { merge_requests_access_level: 'private' })
  expect(await bringing(third, joe)).toEqual([])
  const { body } = await forge.visitor.get(`/projects/${project.id}/repository/commits/${third}/merge_requests`)
  expect(body).toEqual([])
})

test('a list costs the same however many there are', async () => {
  await using forge = await startForge()
  const { jane, project, git, commit, propose } = await openReview(forge, { a: 'a\n' })
  await git('checkout', '-q', '-b', 'one')
  const sha = await commit('b', 'b\n')
  for (const name of ['one', 'two', 'three', 'four']) await git('push', '-q', 'origin', `HEAD:refs/heads/${name}`)
  await propose('one')
  const ask = () => jane.get(`/projects/${project.id}/repository/commits/${sha}/merge_requests`)
  await ask()
  const one = await forge.queries(ask)
  for (const name of ['two', 'three', 'four']) await propose(name)
  expect((await ask()).body).toHaveLength(4)
  expect(await forge.queries(ask)).toBe(one)
})
