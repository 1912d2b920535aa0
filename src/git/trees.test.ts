import { expect, test } from 'vitest'
import { runGit, startGitOrigin } from '../../test/git-origin.ts'
import { branch } from './arguments.ts'
import { isFile, rootEntries } from './trees.ts'

test('the root of a commit is told entry by entry, whatever the names', async () => {
  await using origin = await startGitOrigin()
  const files = { 'a b.txt': 'x', 'é\t"q".md': 'x', 'src/deep/c.ts': 'x' }
  const { dir } = await origin.addRepository('x.git', { branch: 'main', files })
  const blob = await runGit([`--git-dir=${dir}`, 'rev-parse', 'main:a b.txt'])
  const link = `120000 blob ${blob}\tlink\n160000 commit ${'1'.repeat(40)}\tmodule\n100755 blob ${blob}\trun\n`
  const tree = await runGit([`--git-dir=${dir}`, 'mktree', '--missing'], Buffer.from(link))
  const author = ['-c', 'user.name=x', '-c', 'user.email=x@example.com']
  const commit = await runGit([`--git-dir=${dir}`, ...author, 'commit-tree', '-m', 'x', tree])
  await runGit([`--git-dir=${dir}`, 'update-ref', 'refs/heads/odd', commit])

  const told = async (name: string) =>
    (await rootEntries(dir, branch(name))).map((entry) => [entry.name, entry.type, isFile(entry)])
  expect(await told('main')).toEqual([
    ['a b.txt', 'blob', true],
    ['src', 'tree', false],
    ['é\t"q".md', 'blob', true],
  ])
  expect(await told('odd')).toEqual([
    ['link', 'blob', false],
    ['module', 'commit', false],
    ['run', 'blob', true],
  ])
  await expect(rootEntries(dir, branch('missing'))).rejects.toMatchObject({ name: 'GitFailed' })
})
