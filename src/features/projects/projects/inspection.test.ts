import { expect, test } from 'vitest'
import { runGit, startGitOrigin } from '../../../../test/git-origin.ts'
import { inspectRepository } from './inspection.ts'

test.each([
  [['README.txt', 'readme.MD', 'README', 'README.rst'], 'readme.MD'],
  [['README', 'Readme.rst', 'README.txt'], 'Readme.rst'],
  [['README.html', 'README', 'doc/README.md'], 'README'],
  [['READMEnot.md', 'README.md/x', 'a'], null],
])('of %j it is %s', async (names, readme_path) => {
  await using origin = await startGitOrigin()
  const files = Object.fromEntries(names.map((name) => [name, 'x']))
  const { dir } = await origin.addRepository('x.git', { branch: 'main', files })
  expect(await inspectRepository(dir, 'master')).toEqual({
    empty_repo: false,
    default_branch: 'main',
    commit_count: 1,
    repository_size: expect.any(Number),
    readme_path,
  })
})

test('without branches there is nothing to count; without HEAD the usual branch is named', async () => {
  await using origin = await startGitOrigin()
  const { dir } = await origin.addRepository('x.git')
  const blank = { commit_count: 0, readme_path: null }
  expect(await inspectRepository(dir, 'trunk')).toMatchObject({ ...blank, empty_repo: true, default_branch: 'master' })
  const { dir: odd } = await origin.addRepository('y.git', { branch: 'main' })
  await runGit([`--git-dir=${odd}`, 'update-ref', '--no-deref', 'HEAD', 'main'])
  expect(await inspectRepository(odd, 'trunk')).toMatchObject({ ...blank, empty_repo: false, default_branch: 'trunk' })
})
