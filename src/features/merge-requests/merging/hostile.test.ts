import { expect, test } from 'vitest'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge } from '../../../forge.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'

const ODD = [
  '--upload-pack=x',
  '-b',
  '..',
  'a..b',
  '../../config',
  'a\nb',
  "it's",
  'say "x"',
  'a b',
  'x'.repeat(250),
  'x'.repeat(1000),
  'refs/heads/master',
  'master^{tree}',
  '@',
  'a.lock',
  '',
]

test('odd names of branches are refused, or are names', async () => {
  await using forge = await startForge()
  const project = await forge.project()
  await forge.seed(project, { 'a.txt': 'one\n' })
  await forge.seed(project, { 'b.txt': 'two\n' }, { branch: 'feature' })
  const { administrator: root } = forge
  const url = `/projects/${project.id}/merge_requests`
  const one = await root.post(url, { source_branch: 'feature', target_branch: 'master', title: 'One' })
  const found = []
  for (const name of ODD) {
    const from = await root.post(url, { source_branch: name, target_branch: 'master', title: 'x' })
    const to = await root.post(url, { source_branch: 'feature', target_branch: name, title: 'x' })
    const moved = await root.put(`${url}/${one.body.iid}`, { target_branch: name })
    const verdict = to.status === 201 ? (await root.get(`${url}/${to.body.iid}/mergeability`)).status : 200
    const codes = [from.status, to.status, moved.status, verdict]
    if (codes.some((code) => code >= 500) || from.status < 400 || verdict !== 200)
      found.push([name.slice(0, 20), ...codes])
    await root.put(`${url}/${one.body.iid}`, { target_branch: 'master' })
  }
  expect(found).toEqual([])
})

test('messages say what they were given to say, and no object is broken by them', async () => {
  await using forge = await startForge()
  const project = await forge.project()
  const { administrator: root } = forge
  const at = `/projects/${project.id}`
  await forge.seed(project, { 'a.txt': 'one\n' })
  const dir = repositoryDir(forge.app, (await findProjectById(forge.app.db, project.id))!)
  for (const text of ['a\0b', 'tree 0\nparent 1\n\nx', '\n\n', `Fine\n\nCo-authored-by: x <x@y>\r\n`]) {
    const { iid } = await forge.mergeRequest(project)
    const merge = await root.put(`${at}/merge_requests/${iid}/merge`, { merge_commit_message: text })
    expect([text, merge.status < 500]).toEqual([text, true])
  }
  const two = await root.post(`${at}/merge_requests`, {
    source_branch: 'change1',
    target_branch: 'master',
    title: 'Nothing\0here',
  })
  expect(two.status).toBeLessThan(500)
  await runGit([`--git-dir=${dir}`, 'fsck', '--strict', '--no-dangling'])
})

test('a fork is left its branch by those who may not push there', async () => {
  await using forge = await startForge()
  const [jane, john] = [await forge.user(), await forge.user()]
  const project = await forge.project({ visibility: 'public' }, jane)
  await forge.seed(project, { 'a.txt': 'one\n' }, { as: jane })
  const fork = (await john.post(`/projects/${project.id}/fork`)).body
  await forge.settle()
  await forge.seed(fork, { 'b.txt': 'two\n' }, { as: john, branch: 'feature' })
  const input = { source_branch: 'feature', target_branch: 'master', title: 'x', target_project_id: project.id }
  const made = await john.post(`/projects/${fork.id}/merge_requests`, input)
  expect(made.status).toBe(201)
  const url = `/projects/${project.id}/merge_requests/1`
  // A user with rights on the source only can neither merge nor rebase a merge request of others.
  expect((await john.put(`${url}/merge`)).status).toBe(401)
  expect((await jane.put(`${url}/rebase`)).status).toBe(403)
  const merged = await jane.put(`${url}/merge`, { should_remove_source_branch: true })
  expect(merged.body).toMatchObject({ state: 'merged' })
  await forge.settle()
  expect((await john.get(`/projects/${fork.id}/repository/branches/feature`)).status).toBe(200)
})
