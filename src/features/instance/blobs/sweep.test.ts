import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DAY, HOUR } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'

test('blobs that no row names go after a week, those that a row names never', async () => {
  await using forge = await startForge()
  const { app, administrator } = forge
  const project = await forge.project()
  const form = new FormData()
  form.set('file', new Blob(['kept']), 'kept.txt')
  expect((await administrator.post(`/projects/${project.id}/uploads`, form)).status).toBe(201)
  const { digest: kept } = await app.db.selectFrom('uploads').select('digest').executeTakeFirstOrThrow()
  const [old, young] = [await app.blobs.put(Buffer.from('old')), await app.blobs.put(Buffer.from('young'))]
  for (const [digest, days] of [
    [kept, 30],
    [old.digest, 8],
    [young.digest, 6],
  ] as const) {
    const time = new Date(Date.now() - days * DAY)
    await utimes(join(app.config.data, 'blobs', digest.slice(0, 2), digest.slice(2)), time, time)
  }
  forge.clock.advance(DAY + HOUR)
  await forge.settle()
  const there = await Promise.all([kept, old.digest, young.digest].map((digest) => app.blobs.has(digest)))
  expect(there).toEqual([true, false, true])
})
