import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openReview } from '../../../../test/reviews.ts'
import { HOUR } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'

/** As if all objects had come two hours ago, and two hours later. */
async function hoursLater(forge: TestForge, dir: string): Promise<void> {
  await forge.settle()
  const before = new Date(Date.now() - 2 * HOUR)
  const objects = join(dir, 'objects')
  for (const name of await readdir(objects, { recursive: true })) await utimes(join(objects, name), before, before)
  forge.clock.advance(2 * HOUR)
  await forge.settle()
}

test('commits of a fork go with the last merge request that needs them', async () => {
  await using forge = await startForge()
  const { jane, project, dir, git } = await openReview(forge, { a: 'a\n' })
  const root = await git('rev-parse', 'HEAD')
  await git('push', '-q', 'origin', 'HEAD:dev')
  const joe = await forge.user()
  const fork = (await joe.post(`/projects/${project.id}/fork`)).body
  await forge.settle()
  expect((await joe.put(`/projects/${fork.id}`, { visibility: 'private' })).status).toBe(200)
  await forge.seed(fork, { c: 'secret\n' }, { branch: 'theirs', as: joe })
  const propose = async (target_branch: string) => {
    const input = { source_branch: 'theirs', target_branch, title: 'Theirs', target_project_id: project.id }
    return (await joe.post(`/projects/${fork.id}/merge_requests`, input)).body as { iid: number; sha: string }
  }
  const [one, other] = [await propose('master'), await propose('dev')]
  // Pushed over, and a version of both.
  await forge.seed(fork, { d: 'more\n' }, { branch: 'theirs', as: joe })
  await forge.settle()
  const at = `/projects/${project.id}`
  const { body: now } = await jane.get(`${at}/merge_requests/${one.iid}`)
  let clones = 0
  const reads = async (sha: string) => {
    const paths = ['', '/diff', '/refs', '/comments'].map((part) => `/repository/commits/${sha}${part}`)
    paths.push(`/repository/files/c/raw?ref=${sha}`, `/repository/compare?from=${root}&to=${sha}`)
    const answers = await Promise.all(paths.map((path) => jane.get(`${at}${path}`)))
    // One that has none of it.
    const clone = `fetched${++clones}`
    await forge.git(['init', '-q', clone], { as: jane })
    const web = `${forge.url}/${project.path_with_namespace}.git`
    const fetched = await forge.git(['-C', clone, 'fetch', '-q', web, sha], { as: jane }).then(
      () => 200,
      () => 404,
    )
    return [...new Set([...answers.map(({ status }) => status), fetched])]
  }
  const kept = () => forge.git(['--git-dir', dir, 'for-each-ref', '--format=%(refname)'], { as: jane })
  expect(now.sha).not.toBe(one.sha)

  expect((await jane.delete(`${at}/merge_requests/${one.iid}`)).status).toBe(204)
  await hoursLater(forge, dir)
  for (const sha of [one.sha, now.sha]) expect(await reads(sha)).toEqual([200])

  expect((await jane.delete(`${at}/merge_requests/${other.iid}`)).status).toBe(204)
  await hoursLater(forge, dir)
  for (const sha of [one.sha, now.sha]) expect(await reads(sha)).toEqual([404])
  expect((await kept()).trim().split('\n')).toEqual(['refs/heads/dev', 'refs/heads/master'])
  expect((await jane.get(`${at}/repository/commits/${root}`)).status).toBe(200)
  // Whoever has them may propose them again.
  expect(await propose('master')).toMatchObject({ sha: now.sha })
  await forge.settle()
  expect(await reads(now.sha)).toEqual([200])
})
