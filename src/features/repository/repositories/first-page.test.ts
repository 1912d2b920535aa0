import { expect, test } from 'vitest'
import { processesOf } from '../../../../test/git-builder.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { MINUTE } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'
import { lastCommits } from '../../../git/history/last-commits.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'

test('soon after a change, the first page of a repository needs no walk through its history', async () => {
  await using forge = await startForge()
  const { id } = await forge.project()
  const dir = repositoryDir(forge.app, (await findProjectById(forge.app.db, id))!)
  const commit = async (file_path: string) => {
    const input = {
      branch: 'master',
      commit_message: file_path,
      actions: [{ action: 'create', file_path, content: 'x' }],
    }
    expect((await forge.administrator.post(`/projects/${id}/repository/commits`, input)).status).toBe(201)
    forge.clock.advance(MINUTE)
    await forge.settle()
  }
  for (const files of [['a'], ['a', 'b']]) {
    await commit(files.at(-1)!)
    const expected = Object.fromEntries(files.map((name) => [name, name]))
    const walks = await processesOf(async () => {
      const found = await lastCommits(dir, 'master')
      expect(Object.fromEntries([...found!].map(([name, { title }]) => [name, title]))).toEqual(expected)
    })
    expect(walks.filter(([, verb]) => verb !== 'cat-file')).toEqual([])
  }
  expect(await runGit([`--git-dir=${dir}`, 'commit-graph', 'verify', '--no-progress'])).toBe('')
})
