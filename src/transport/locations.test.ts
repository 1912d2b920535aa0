import { expect, test } from 'vitest'
import { startForge } from '../forge.ts'
import { findRepository } from './locations.ts'

test('which repository a path means', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  const group = await forge.group({ name: 'Tools', path: 'tools' }, jane)
  const inner = await forge.group({ name: 'Inner', path: 'inner', parent_id: group.id }, jane)
  const saw = await forge.project({ path: 'saw', namespace_id: inner.id }, jane)
  const notes = await forge.project({ path: 'notes.wiki', namespace_id: group.id }, jane)
  const found = async (path: string) => {
    const location = await findRepository(forge.app, path)
    return location && [location.project.id, location.wiki, location.movedFrom ?? null]
  }
  for (const path of ['tools/inner/saw.git', '/tools/inner/saw', 'TOOLS/Inner/SAW.GIT', 'tools/inner/saw/'])
    expect(await found(path), path).toEqual([saw.id, false, null])
  for (const path of ['tools/inner/saw.wiki.git', '/Tools/inner/saw.WIKI'])
    expect(await found(path), path).toEqual([saw.id, true, null])
  expect(await found('tools/notes.wiki.git')).toEqual([notes.id, false, null])
  expect(await found('tools/notes.wiki.wiki.git')).toEqual([notes.id, true, null])

  const nowhere = [`${saw.id}`, `/${saw.id}.git`, 'saw.git', 'tools/inner.git', 'tools/inner/../inner/saw.git', '']
  for (const path of [...nowhere, 'tools//saw.git', 'tools/inner/saw\0.git', 'tools\\inner\\saw', 'tools/.wiki.git'])
    expect(await found(path), path).toBeNull()

  await jane.put(`/projects/${saw.id}`, { name: 'axe', path: 'axe' })
  await jane.put(`/groups/${group.id}`, { name: 'Shed', path: 'shed' })
  expect(await found('shed/inner/axe.git')).toEqual([saw.id, false, null])
  expect(await found('tools/inner/saw.git')).toEqual([saw.id, false, 'tools/inner/saw'])
  expect(await found('Tools/inner/axe.wiki.git')).toEqual([saw.id, true, 'Tools/inner/axe'])
  expect(await found('tools/inner/saw/blade.git')).toBeNull()
  expect(await found('tools/inner.git')).toBeNull()

  await forge.group({ name: 'Tools', path: 'tools' }, jane)
  expect(await found('tools/inner/axe.git')).toBeNull()
})
