import { expect, test } from 'vitest'
import { costOf } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

const PATH = '/personal_access_tokens/self/associations'

test('a token is told the groups and projects it reaches, by membership and level', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const [group, other] = [
    await forge.group({ path: 'tools' }),
    await forge.group({ path: 'other', visibility: 'public' }),
  ]
  await forge.administrator.post(`/groups/${group.id}/members`, { user_id: jane.id, access_level: 20 })
  const inGroup = await forge.project({ path: 'saw', namespace_id: group.id })
  const own = await forge.project({ path: 'mine' }, jane)
  await forge.project({ path: 'open', namespace_id: other.id, visibility: 'public' })
  const scopes = ['read_api']
  const { body: made } = await jane.post('/user/personal_access_tokens', { name: 'mine', scopes })
  const token = forge.as({ 'PRIVATE-TOKEN': made.token })

  const { status, body } = await token.get(PATH)
  expect(status).toBe(200)
  expect(body.groups).toEqual([
    {
      id: group.id,
      web_url: `${forge.url}/groups/tools`,
      name: group.name,
      parent_id: null,
      visibility: 'private',
      access_levels: 20,
    },
  ])
  expect(body.projects).toMatchObject([
    { id: own.id, path: 'mine', access_levels: { project_access_level: 40, group_access_level: null } },
    {
      id: inGroup.id,
      path_with_namespace: 'tools/saw',
      web_url: `${forge.url}/tools/saw`,
      access_levels: { project_access_level: null, group_access_level: 20 },
    },
  ])
  const of = async (input: object) => {
    const { groups, projects } = (await token.get(PATH, { ...input })).body
    return [groups.length, projects.length]
  }
  expect([await of({ min_access_level: 30 }), await of({ per_page: 1 }), await of({ page: 2, per_page: 1 })]).toEqual([
    [0, 1],
    [1, 1],
    [0, 1],
  ])
  expect((await token.get(PATH, { min_access_level: 'x' })).status).toBe(400)
  // A private token or a session is no access token.
  expect((await jane.get(PATH)).status).toBe(404)

  const few = await costOf(forge, () => token.get(PATH))
  for (let n = 0; n < 5; n++) await forge.project({ path: `more${n}`, namespace_id: group.id })
  expect(await costOf(forge, () => token.get(PATH))).toBe(few)
})
