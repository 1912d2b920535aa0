import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { DAY, HOUR } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'

test('what a killed process left half written is removed after a day, what is being written stays', async () => {
  await using forge = await startForge()
  const folders = [join(forge.app.config.data, 'spool'), join(forge.app.config.data, 'blobs', 'drafts')]
  for (const folder of folders) {
    await mkdir(folder, { recursive: true })
    for (const [name, age] of [
      ['old', 3 * DAY],
      ['new', HOUR],
    ] as const) {
      await writeFile(join(folder, name), 'half')
      const time = new Date(forge.clock.now().getTime() - age)
      await utimes(join(folder, name), time, time)
    }
  }
  forge.clock.advance(DAY + HOUR)
  await forge.settle()
  for (const folder of folders) expect(await readdir(folder)).toEqual(['new'])
})

test('drafts of repositories go after a day, repositories stay however old', async () => {
  await using forge = await startForge()
  const folder = join(forge.app.config.storages['default']!, 'ab', 'cd')
  const draft = 'abcd.git.01234567-89ab-cdef-0123-456789abcdef'
  const long = new Date(forge.clock.now().getTime() - 3 * DAY)
  for (const name of ['abcd.git', `${draft}.new`, `${draft}.gone`]) {
    await mkdir(join(folder, name), { recursive: true })
    await utimes(join(folder, name), long, long)
  }
  forge.clock.advance(DAY + HOUR)
  await forge.settle()
  await expect.poll(() => readdir(folder)).toEqual(['abcd.git'])
})

test('what killed processes left in a repository goes too, where nobody pushes any more', async () => {
  await using forge = await startForge()
  const { id } = await forge.project()
  const dir = await fillProject(forge, id)
  const long = new Date(forge.clock.now().getTime() - 3 * DAY)
  for (const name of ['tmp_ref_old', 'tmp_ref_new', 'objects/pack/tmp_pack_old']) {
    await writeFile(join(dir, name), 'half')
    if (name.endsWith('old')) await utimes(join(dir, name), long, long)
  }
  const before = (await readdir(dir, { recursive: true })).filter((name) => !name.endsWith('old'))
  forge.clock.advance(DAY + HOUR)
  await forge.settle()
  expect(await readdir(dir, { recursive: true })).toEqual(before)
})
