import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backupStage, refsIn } from '../../test/backups.ts'
import { blobColumns } from '../features/v4.ts'
import { startForge } from '../forge.ts'
import { openArchive } from './archive.ts'
import { leaseArchive, openCapturer } from './open.ts'

test('one process at a time writes to a destination', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { config } = forge.app
  const { archive, folder } = stage
  const before = await archive.manifestNames()
  {
    await using capturer = await openCapturer(config, archive, { blobColumns })
    await capturer.prepare()
    const refusal = `another process is writing to ${archive.label}, such as the continuous backup of the server`
    await expect(stage.backUp()).rejects.toThrow(refusal)
    await expect(leaseArchive(config, archive)).rejects.toThrow(refusal)
    await symlink(join(folder, 'backup'), join(folder, 'alias'))
    await using same = await openCapturer(config, await openArchive(join(folder, 'alias'), config), { blobColumns })
    await expect(same.prepare()).rejects.toThrow(refusal)
    expect(await archive.manifestNames()).toEqual(before)
    // Another destination is free.
    const other = await openArchive(join(folder, 'other'), config, { create: true })
    await using second = await openCapturer(config, other, { blobColumns })
    await second.prepare()
    await second.capture()
    await capturer.capture()
  }
  await stage.backUp()
  expect(await archive.manifestNames()).toHaveLength(2)
})

test('the backup of another instance is not continued', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  await stage.backUp()
  const names = await stage.archive.manifestNames()
  // Test forges are copies of one instance.
  await forge.app.db.updateTable('instance_key').set({ check_value: 'another' }).execute()
  await expect(stage.backUp()).rejects.toThrow(
    `${stage.archive.label} holds the backup of another instance: choose another destination`,
  )
  expect(await stage.archive.manifestNames()).toEqual(names)
})

test('a copy of the instance does not add to its backup unnoticed', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const project = await forge.project()
  await forge.seed(project, { 'a.txt': 'one' })
  await forge.settle()
  await stage.backUp()
  const { config } = await stage.restore()
  await using capturer = await openCapturer(forge.app.config, stage.archive, { blobColumns })
  await capturer.prepare()
  await capturer.capture()
  {
    await using copy = await openCapturer(config, stage.archive, { blobColumns })
    await copy.prepare()
    await copy.capture()
  }
  const names = await stage.archive.manifestNames()
  await forge.seed(project, { 'a.txt': 'two' })
  await forge.settle()
  await expect(capturer.capture()).rejects.toThrow(`another server writes to ${stage.archive.label}, too`)
  expect(await stage.archive.manifestNames()).toEqual(names)
  expect((await stage.restore()).faults).toEqual([])
})

test('a destination that has lost its content is filled anew', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const project = await forge.project()
  await forge.seed(project, { 'a.txt': 'one' })
  await forge.settle()
  {
    await using capturer = await openCapturer(forge.app.config, stage.archive, { blobColumns })
    await capturer.prepare()
    const { manifest } = (await capturer.capture())!
    await rm(join(stage.folder, 'backup'), { recursive: true })
    await openArchive(join(stage.folder, 'backup'), forge.app.config, { create: true })
    await forge.user()
    await expect(capturer.capture()).rejects.toThrow(`has lost ${manifest}`)
    expect(await stage.archive.manifestNames()).toEqual([])
  }
  await forge.settle()
  await stage.backUp()
  const { config, faults } = await stage.restore()
  expect(faults).toEqual([])
  expect(await refsIn(config.storages['default']!)).toEqual(await refsIn(forge.app.config.storages['default']!))
})
