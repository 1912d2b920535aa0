import { expect, test } from 'vitest'
import { runGit, startGitOrigin } from '../../../../test/git-origin.ts'
import { PIXEL } from '../../../../test/samples.ts'
import { inspectRepository } from './inspection.ts'

test.each([
  [['README.txt', 'readme.MD', 'README', 'README.rst'], 'readme.MD', null],
  [['README', 'Readme.rst', 'README.txt', 'logo.gif', 'logo.jpg'], 'Readme.rst', 'logo.jpg'],
  [['README.html', 'README', 'doc/README.md', 'logo.gif', 'logo.png', 'logo.jpg'], 'README', 'logo.png'],
  [['READMEnot.md', 'README.md/x', 'logo.png/x', 'doc/logo.gif', 'LOGO.png', 'logo.svg'], null, null],
])('of %j the readme is %s and the logo %s', async (names, readme_path, logo_path) => {
  await using origin = await startGitOrigin()
  const files = Object.fromEntries(names.map((name) => [name, name.includes('logo') ? PIXEL : 'x']))
  const { dir } = await origin.addRepository('x.git', { branch: 'main', files })
  expect(await inspectRepository(dir, 'master')).toEqual({
    empty_repo: false,
    default_branch: 'main',
    commit_count: 1,
    repository_size: expect.any(Number),
    readme_path,
    logo_path,
  })
})

test('a logo is a picture of moderate size, not a name', async () => {
  await using origin = await startGitOrigin()
  const files = { 'logo.png': '<svg onload="alert(1)"/>', 'logo.jpg': Buffer.alloc(2 ** 21, PIXEL), 'logo.gif': PIXEL }
  const { dir } = await origin.addRepository('x.git', { files })
  expect(await inspectRepository(dir, 'master')).toMatchObject({ logo_path: 'logo.gif' })
})

test('without branches there is nothing to count; without HEAD the usual branch is named', async () => {
  await using origin = await startGitOrigin()
  const { dir } = await origin.addRepository('x.git')
  const blank = { commit_count: 0, readme_path: null, logo_path: null }
  expect(await inspectRepository(dir, 'trunk')).toMatchObject({ ...blank, empty_repo: true, default_branch: 'master' })
  const { dir: odd } = await origin.addRepository('y.git', { branch: 'main' })
  await runGit([`--git-dir=${odd}`, 'update-ref', '--no-deref', 'HEAD', 'main'])
  expect(await inspectRepository(odd, 'trunk')).toMatchObject({ ...blank, empty_repo: false, default_branch: 'trunk' })
})
