import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backupStage } from '../../test/backups.ts'
import { faultsOf } from '../git/storage/integrity.ts'
import { startForge } from '../forge.ts'
import { repositoryDir } from '../features/projects/repositories/repository.ts'
import { findProjectById } from '../features/projects/projects/queries.ts'
import type { Refs } from './refs.ts'
import { refsOf, storeRepository, writeRepository } from './repositories.ts'

test('objects that two moments need are one pack', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const project = await forge.project()
  await forge.seed(project, { 'a.txt': 'one' })
  const dir = repositoryDir(forge.app, (await findProjectById(forge.app.db, project.id))!)
  const store = (refs: Refs, before: Parameters<typeof storeRepository>[3]) =>
    storeRepository(stage.archive, dir, { refs, now: refs, head: 'master', state: '' }, before)
  const first = await store(await refsOf(dir), null)
  await forge.seed(project, { 'a.txt': 'two' })
  const refs = await refsOf(dir)
  const second = await store(refs, first)
  expect(second.packs).toHaveLength(first.packs.length + 1)
  // As if the refs of the second moment had been put back.
  const third = await store(refs, { ...second, refs: first.refs })
  expect(third.packs).toEqual(second.packs)
  const target = join(stage.folder, 'a/b/c/copy.git')
  await writeRepository(stage.archive, target, third)
  expect(await refsOf(target)).toEqual(refs)
  expect(await faultsOf(target)).toEqual([])
})
