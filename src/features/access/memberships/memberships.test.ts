import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { groupOf, projectIn } from '../../../../test/groups.ts'
import { costOf } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

test('administrators see what somebody is a member of', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const jane = await forge.user()
  const group = await groupOf(forge, 'tools')
  const project = await projectIn(forge, group, 'saw')
  await addMember(forge, { group_id: group.id }, jane.id, 20)
  await addMember(forge, { project_id: project.id }, jane.id, 40)
  const url = `/users/${jane.id}/memberships`
  const ofGroup = { source_id: group.id, source_name: 'tools', source_type: 'Namespace', access_level: 20 }
  const ofProject = { source_id: project.id, source_name: 'saw', source_type: 'Project', access_level: 40 }
  expect((await root.get(url)).body).toEqual([ofGroup, ofProject])
  expect((await root.get(url, { type: 'Project' })).body).toEqual([ofProject])
  expect((await root.get(url, { type: 'Namespace' })).body).toEqual([ofGroup])
  expect((await root.get(url, { type: 'Team' })).status).toBe(400)
  expect((await jane.get(url)).status).toBe(403)

  const before = await costOf(forge, () => root.get(url))
  await addMember(forge, { group_id: (await groupOf(forge, 'more')).id }, jane.id, 20)
  expect(await costOf(forge, () => root.get(url))).toBe(before)
  await root.delete(`/groups/${group.id}`)
  expect((await root.get(url)).body).toMatchObject([{ source_name: 'more' }])
})
