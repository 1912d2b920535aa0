import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addressFor, workplace } from '../../../../test/workplace.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { findProject } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import { checkRepositories } from './service.ts'

async function findings({ app }: TestForge): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {}
  for await (const { path, faults } of checkRepositories(app)) found[path] = faults
  return found
}

test('each fault of a repository and of what the store says of it is told, of sound ones none', async () => {
  await using forge = await startForge()
  await using work = await workplace()
  const ann = await forge.user({ username: 'ann' })
  for (const path of ['sound', 'empty', 'broken', 'gone', 'headless', 'misjudged']) await forge.project({ path }, ann)
  const { git } = work
  await git('init', '-q', '-b', 'master', 'src')
  await git('-C', 'src', 'commit', '-qm', 'First', '--allow-empty')
  for (const path of ['sound', 'broken', 'headless', 'misjudged']) {
    await git('-C', 'src', 'push', '-q', addressFor(forge, `ann/${path}`, ann), 'master')
  }
  await forge.settle()
  const none = {
    'ann/empty': [],
    'ann/gone': [],
    'ann/headless': [],
    'ann/misjudged': [],
    'ann/sound': [],
    'ann/broken': [],
  }
  expect(await findings(forge)).toEqual(none)

  const folder = async (path: string) => repositoryDir(forge.app, (await findProject(forge.app.db, `ann/${path}`))!)
  await rm(join(await folder('broken'), 'objects'), { recursive: true })
  await git('-C', await folder('headless'), 'symbolic-ref', 'HEAD', 'refs/heads/other')
  await rm(await folder('gone'), { recursive: true })
  await forge.app.db.updateTable('projects').set({ empty_repo: true }).where('path', '=', 'misjudged').execute()
  const found = await findings(forge)
  expect(found).toMatchObject({
    'ann/sound': [],
    'ann/empty': [],
    'ann/gone': ['there is no repository'],
    'ann/headless': ['HEAD names other, the store master'],
    'ann/misjudged': ['the store calls it empty'],
  })
  expect(found['ann/broken']).not.toEqual([])
})
