import { expect, test } from 'vitest'
import { startForge, type TestForge } from '../../../forge.ts'

async function open(forge: TestForge, wish: Record<string, unknown> = {}) {
  const jane = await forge.user()
  const project = await forge.project(wish, jane)
  await forge.seed(project, { 'a.txt': 'one\n' })
  const url = `/projects/${project.id}/merge_requests`
  const propose = async (branch: string, files: Record<string, string>, more: Record<string, unknown> = {}) => {
    await forge.seed(project, files, { branch, as: jane })
    const made = await jane.post(url, {
      source_branch: branch,
      target_branch: 'master',
      title: `Add ${branch}`,
      ...more,
    })
    expect(made.status).toBe(201)
    return { ...made.body, url: `${url}/${made.body.iid}` }
  }
  return { jane, project, url, propose }
}

test('merge', async () => {
  await using forge = await startForge()
  const { jane, project, propose } = await open(forge)
  const one = await propose('feature', { 'b.txt': 'two\n' })
  const two = await propose('other', { 'b.txt': 'three\n' })
  const merged = await jane.put(`${one.url}/merge`)
  expect(merged).toMatchObject({ status: 200, body: { state: 'merged', merge_status: 'can_be_merged' } })
  const tip = (await jane.get(`/projects/${project.id}/repository/commits/master`)).body
  expect(tip).toMatchObject({ id: merged.body.merge_commit_sha, title: "Merge branch 'feature' into 'master'" })
  expect((await jane.get(two.url)).body).toMatchObject({ merge_status: 'cannot_be_merged', has_conflicts: true })
  expect(await jane.put(`${two.url}/merge`)).toMatchObject({
    status: 405,
    body: { message: 'Branch cannot be merged' },
  })
  expect(await jane.put(`${one.url}/merge`)).toMatchObject({ status: 406, body: { message: 'Method Not Allowed' } })
  await forge.seed(project, { 'c.txt': 'x' }, { branch: 'other', as: jane })
  const after = (await jane.get(two.url)).body
  expect(after.sha).not.toBe(two.sha)
  await forge.settle()
})
