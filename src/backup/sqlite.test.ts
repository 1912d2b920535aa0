import { stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { backupStage, refsIn, rowsOf, undisturbed } from '../../test/backups.ts'
import { blobColumns } from '../features/v4.ts'
import { startForge } from '../forge.ts'
import { openCapturer } from './open.ts'

test('moments in between hold only the changes', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { id } = await forge.project()
  await using capturer = await openCapturer(forge.app.config, stage.archive, { blobColumns })
  await capturer.prepare()
  const first = await undisturbed(forge, async () => {
    const captured = (await capturer.capture())!
    expect(await capturer.capture()).toBeNull()
    return captured
  })
  await forge.administrator.post(`/projects/${id}/issues`, { title: 'An issue' })
  await forge.settle()
  const second = (await capturer.capture())!
  expect(second.manifest).toBe(first.manifest)
  expect((await stage.restore()).counts.rows.issues).toBe(1)
  expect((await stage.restore({ at: first.time })).counts.rows.issues).toBe(0)
})

test('after a failed moment, the next one holds everything', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const project = await forge.project()
  await forge.seed(project, { 'a.txt': 'one' })
  await forge.settle()
  const { archive } = stage
  await using capturer = await openCapturer(forge.app.config, archive, { blobColumns })
  await capturer.prepare()
  await capturer.capture()
  await forge.seed(project, { 'a.txt': 'two' })
  await forge.settle()
  const write = archive.writeManifest
  archive.writeManifest = () => Promise.reject(new Error('cable pulled'))
  await expect(capturer.capture()).rejects.toThrow('cable pulled')
  archive.writeManifest = write
  await forge.administrator.post(`/projects/${project.id}/issues`, { title: 'An issue' })
  const rows = await undisturbed(forge, async () => {
    await capturer.capture()
    return rowsOf(forge.app.config)
  })
  const { config, faults } = await stage.restore()
  expect(faults).toEqual([])
  expect(await rowsOf(config)).toEqual(rows)
  expect(await refsIn(config.storages['default']!)).toEqual(await refsIn(forge.app.config.storages['default']!))
})

test('a long log of the database is captured without gaps', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { id } = await forge.project()
  await using capturer = await openCapturer(forge.app.config, stage.archive, { blobColumns })
  await capturer.prepare()
  await capturer.capture()
  const log: { time: string; rows: object }[] = []
  for (let round = 0; round < 5; round++) {
    for (let n = 0; n < 6; n++)
      await forge.administrator.post(`/projects/${id}/issues`, { title: `${n}`, description: `${n}`.repeat(900_000) })
    await undisturbed(forge, async () => {
      const { time } = (await capturer.capture())!
      log.push({ time, rows: await rowsOf(forge.app.config) })
    })
  }
  for (const { time, rows } of [log[1]!, log[4]!]) {
    const { config } = await stage.restore({ at: time })
    expect(await rowsOf(config)).toEqual(rows)
  }
  // The log was started again in between.
  expect((await stat(`${forge.app.config.databaseUrl!.replace('sqlite:', '')}-wal`)).size).toBeLessThan(
    40 * 1024 * 1024,
  )
})
