import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { fillProject } from '../../../../test/contents.ts'
import { groupOf, projectIn } from '../../../../test/groups.ts'
import { costOf } from '../../../../test/sources.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

async function released(
  forge: TestForge,
  group: { id: number },
  path: string,
  visibility: string,
  released_at: string,
) {
  const project = await projectIn(forge, group, path, { visibility })
  await fillProject(forge, project.id)
  const input = { tag_name: `${path}-1`, ref: 'master', released_at }
  const { status } = await forge.administrator.post(`/projects/${project.id}/releases`, input)
  expect(status).toBe(201)
  return project
}

test('the releases of a group are those of all its projects that the caller may download', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const group = await groupOf(forge, 'tools', { visibility: 'public' })
  const sub = await groupOf(forge, 'sub', { parent_id: group.id, visibility: 'public' })
  const open = await released(forge, group, 'open', 'public', '2020-01-01T00:00:00Z')
  const secret = await released(forge, sub, 'secret', 'private', '2021-01-01T00:00:00Z')
  const closed = await released(forge, sub, 'closed', 'public', '2022-01-01T00:00:00Z')
  await root.put(`/projects/${closed.id}`, { repository_access_level: 'private' })
  await released(
    forge,
    await groupOf(forge, 'other', { visibility: 'public' }),
    'far',
    'public',
    '2023-01-01T00:00:00Z',
  )
  const [guest, reporter] = [await forge.user(), await forge.user()]
  for (const project of [secret, closed]) {
    await addMember(forge, { project_id: project.id }, guest.id, 10)
    await addMember(forge, { project_id: project.id }, reporter.id, 20)
  }
  const tags = async (who: Pick<Person, 'get'>, query = {}) =>
    (await who.get(`/groups/${group.id}/releases`, query)).body.map((one: { tag_name: string }) => one.tag_name)

  expect(await tags(root)).toEqual(['closed-1', 'secret-1', 'open-1'])
  expect(await tags(root, { sort: 'asc' })).toEqual(['open-1', 'secret-1', 'closed-1'])
  expect(await tags(root, { per_page: 1, page: 2 })).toEqual(['secret-1'])
  expect(await tags(reporter)).toEqual(['closed-1', 'secret-1', 'open-1'])
  expect(await tags(guest)).toEqual(['closed-1', 'open-1'])
  expect(await tags(await forge.user())).toEqual(['open-1'])
  expect(await tags(forge.visitor)).toEqual(['open-1'])
  const [record] = (await root.get(`/projects/${open.id}/releases`)).body
  expect((await root.get(`/groups/${group.id}/releases`)).body.at(-1)).toEqual(record)
})

test('the list costs the same however many projects it is of', async () => {
  await using forge = await startForge()
  const group = await groupOf(forge, 'tools')
  await released(forge, group, 'one', 'private', '2020-01-01T00:00:00Z')
  const cost = () => costOf(forge, () => forge.administrator.get(`/groups/${group.id}/releases`))
  const one = await cost()
  for (const path of ['two', 'three']) await released(forge, group, path, 'private', '2020-01-01T00:00:00Z')
  expect(await cost()).toBe(one)
})
