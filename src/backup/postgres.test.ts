import { expect, test } from 'vitest'
import { backupStage, rowsOf, undisturbed } from '../../test/backups.ts'
import { testDatabaseUrl } from '../config.ts'
import { blobColumns } from '../features/v4.ts'
import { startForge } from '../forge.ts'
import { momentContent, type RowsPart } from './manifest.ts'
import { newestManifest } from './history.ts'
import { openCapturer } from './open.ts'

const isSqlite = testDatabaseUrl() === undefined

test.skipIf(isSqlite)('a moment of PostgreSQL holds only tables with changed rows', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { id } = await forge.project()
  await using capturer = await openCapturer(forge.app.config, stage.archive, { blobColumns })
  await capturer.prepare()
  const first = await undisturbed(forge, async () => {
    const captured = (await capturer.capture())!
    expect(await capturer.capture()).toBeNull()
    return { ...captured, rows: await rowsOf(forge.app.config) }
  })
  await forge.administrator.post(`/projects/${id}/issues`, { title: 'An issue' })
  const form = new FormData()
  form.append('file', new File(['content'], 'notes.txt'))
  await forge.administrator.post(`/projects/${id}/uploads`, form)
  const second = await undisturbed(forge, async () => ({
    ...(await capturer.capture())!,
    rows: await rowsOf(forge.app.config),
  }))
  expect(second.manifest).toBe(first.manifest)
  const { moments } = (await newestManifest(stage.archive))!
  const { database } = await stage.archive.readJson(moments[1]!.content, momentContent)
  const changed = Object.keys((database as RowsPart).tables)
  expect(changed).toEqual(expect.arrayContaining(['issues', 'uploads']))
  expect(changed).not.toContain('namespaces')
  expect(changed).not.toContain('kysely_migration')
  for (const { time, rows, counts } of [first, second]) {
    const { config, faults, counts: restored } = await stage.restore({ at: time })
    expect(faults).toEqual([])
    expect(restored.blobs).toBe(counts.blobs)
    expect(await rowsOf(config)).toEqual(rows)
  }
})

test.skipIf(isSqlite)('an updated, a deleted and an exchanged row are changes', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { db } = forge.app
  await using capturer = await openCapturer(forge.app.config, stage.archive, { blobColumns })
  await capturer.prepare()
  const insert = (title: string) => db.insertInto('settings').values({ name: title, value: '1' }).execute()
  await insert('one')
  await undisturbed(forge, async () => {
    await capturer.capture()
    for (const change of [
      () => db.updateTable('settings').set({ value: '2' }).where('name', '=', 'one').execute(),
      () => db.deleteFrom('settings').where('name', '=', 'one').execute(),
      () => insert('one'),
      // The same number of rows, with the same content.
      async () => {
        await db.deleteFrom('settings').where('name', '=', 'one').execute()
        await insert('one')
      },
    ]) {
      expect(await capturer.capture()).toBeNull()
      await change()
      expect(await capturer.capture()).not.toBeNull()
    }
  })
})
