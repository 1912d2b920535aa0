import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { Developer } from '../../../lib/levels.ts'

/** `master` has one commit, `feature` two more. */
async function branches(forge: TestForge) {
  const project = await forge.project()
  const dir = await fillProject(
    forge,
    project.id,
    { message: 'first', files: { 'a.txt': 'one\n' } },
    {
      branch: 'feature',
      from: 'refs/heads/master',
      message: 'add b\n',
      author: 'Ada <ada@example.com> 1348131022 +0530',
      files: { 'b.txt': 'b\n' },
    },
    { branch: 'feature', message: 'change a', files: { 'a.txt': 'two\n' } },
    { message: 'change a otherwise', files: { 'a.txt': 'three\n' } },
  )
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  const developer = await forge.user()
  await addMember(forge, { project_id: project.id }, developer.id, Developer)
  const added = await git('rev-parse', 'feature~1')
  return { project, git, developer, added, url: `/projects/${project.id}/repository/commits` }
}

test('a commit is picked: its author stays, the caller commits', async () => {
  await using forge = await startForge()
  const { url, git, developer, added } = await branches(forge)
  const before = await git('rev-parse', 'master')

  const tried = await developer.post(`${url}/${added}/cherry_pick`, { branch: 'master', dry_run: true })
  expect(tried).toMatchObject({ status: 200, body: { dry_run: 'success' } })
  expect(await git('rev-parse', 'master')).toBe(before)

  const { status, body } = await developer.post(`${url}/${added}/cherry_pick`, { branch: 'master' })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    id: await git('rev-parse', 'master'),
    parent_ids: [before],
    title: 'add b',
    message: `add b\n\n(cherry picked from commit ${added})`,
    author_name: 'Ada',
    authored_date: '2012-09-20T14:20:22.000+05:30',
    committer_email: developer.email,
  })
  expect(await git('show', 'master:b.txt')).toBe('b')
  expect(await forge.events()).toContain('repository.changed')
  await git('fsck', '--strict')
})

test('a commit is undone', async () => {
  await using forge = await startForge()
  const { url, git, developer, added } = await branches(forge)

  const { status, body } = await developer.post(`${url}/${added}/revert`, { branch: 'feature' })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    id: await git('rev-parse', 'feature'),
    message: `Revert "add b"\n\nThis reverts commit ${added}`,
    author_email: developer.email,
  })
  expect(await git('ls-tree', '--name-only', 'feature')).toBe('a.txt')
  const own = await developer.post(`${url}/feature/revert`, { branch: 'feature' })
  expect(own.body.title).toBe('Revert "Revert "add b""')
})

const sorry = (verb: string, done: string) =>
  `Sorry, we cannot ${verb} this commit automatically. This commit may already have been ${done}, ` +
  'or a more recent commit may have updated some of its content.'

test.each([
  [
    'feature/cherry_pick',
    { branch: 'master' },
    400,
    { message: sorry('cherry-pick', 'cherry-picked'), error_code: 'conflict' },
  ],
  [
    'feature/cherry_pick',
    { branch: 'feature' },
    400,
    { message: sorry('cherry-pick', 'cherry-picked'), error_code: 'empty' },
  ],
  [
    'feature/cherry_pick',
    { branch: 'master', dry_run: true },
    400,
    { message: sorry('cherry-pick', 'cherry-picked'), error_code: 'conflict', dry_run: 'error' },
  ],
  ['feature~1/revert', { branch: 'master' }, 400, { message: sorry('revert', 'reverted'), error_code: 'empty' }],
  ['nowhere/cherry_pick', { branch: 'master' }, 404, { message: '404 Commit Not Found' }],
  ['feature/cherry_pick', { branch: 'nowhere' }, 404, { message: '404 Branch Not Found' }],
  ['feature/revert', { branch: '--all' }, 404, { message: '404 Branch Not Found' }],
  ['feature/revert', {}, 400, { message: '400 (Bad request) branch not given', error: 'branch is missing' }],
] as const)('POST %s %j is refused and moves nothing', async (tail, input, status, body) => {
  await using forge = await startForge()
  const { url, git, developer } = await branches(forge)
  const before = [await git('for-each-ref'), await forge.events()]
  const answer = await developer.post(`${url}/${tail}`, input)
  expect([answer.status, answer.body]).toEqual([status, body])
  expect([await git('for-each-ref'), await forge.events()]).toEqual(before)
})

test('a protected branch takes no picks of a developer', async () => {
  await using forge = await startForge()
  const { project, url, git, developer, added } = await branches(forge)
  await forge.administrator.post(`/projects/${project.id}/protected_branches`, { name: 'master' })
  const before = await git('for-each-ref')
  for (const verb of ['cherry_pick', 'revert']) {
    const { status, body } = await developer.post(`${url}/${added}/${verb}`, { branch: 'master' })
    expect([status, body]).toEqual([400, { message: 'You are not allowed to push into this branch' }])
  }
  expect(await git('for-each-ref')).toBe(before)
})
