import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'
import { castFor, groupOf, statuses } from '../../../../test/groups.ts'
import { mailsOf } from '../../../../test/mailbox.ts'

const WRITTEN = {
  lfs_enabled: false,
  project_creation_level: 'developer',
  subgroup_creation_level: 'maintainer',
  require_two_factor_authentication: true,
  two_factor_grace_period: 7,
  emails_disabled: true,
  auto_devops_enabled: true,
}

test('what a client writes on create and update is read back by every read', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const made = (await jane.post('/groups', { name: 'made', path: 'made', ...WRITTEN })).body
  const { id } = await forge.group({ path: 'changed' }, jane)
  const PRESENTED = { ...WRITTEN, emails_enabled: false }
  expect(made).toMatchObject(PRESENTED)
  expect((await jane.put(`/groups/${id}`, WRITTEN)).body).toMatchObject(PRESENTED)
  expect((await jane.get(`/groups/${id}`)).body).toMatchObject(PRESENTED)
  expect((await jane.get('/groups')).body).toMatchObject([PRESENTED, PRESENTED])

  const cleared = { emails_enabled: true, auto_devops_enabled: '', two_factor_grace_period: '' }
  expect((await jane.put(`/groups/${id}`, cleared)).body).toMatchObject({
    ...WRITTEN,
    emails_disabled: false,
    auto_devops_enabled: null,
  })
})

test.each([
  [{ project_creation_level: 'all' }, { error: 'project_creation_level does not have a valid value' }],
  [{ subgroup_creation_level: 'developer' }, { error: 'subgroup_creation_level does not have a valid value' }],
  [{ two_factor_grace_period: -1 }, { message: { two_factor_grace_period: ['must be greater than or equal to 0'] } }],
])('%o is refused on create and on update', async (given, message) => {
  await using forge = await startForge()
  const { administrator } = forge
  const group = await groupOf(forge, 'tools')
  const before = (await administrator.get(`/groups/${group.id}`)).body
  const fresh = await administrator.post('/groups', { name: 'n', path: 'n', ...given })
  expect(fresh).toMatchObject({ status: 400, body: message })
  expect(await administrator.put(`/groups/${group.id}`, given)).toMatchObject({ status: 400, body: message })
  expect((await administrator.get(`/groups/${group.id}`)).body).toEqual(before)
})

test('new groups let those create projects whom the instance names', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const LEVELS = ['noone', 'maintainer', 'developer', 'administrator', 'owner']
  for (const [number, level] of LEVELS.entries()) {
    await administrator.put('/application/settings', { default_project_creation: number })
    const { id } = await groupOf(forge, level)
    expect((await administrator.get(`/groups/${id}`)).body.project_creation_level).toBe(level)
  }
})

test('maintainers make groups in a group that lets them', async () => {
  await using forge = await startForge()
  const group = await groupOf(forge, 'tools', { visibility: 'public' })
  const cast = await castFor(forge, group.id)
  let n = 0
  const create = () =>
    statuses(cast, (caller) => caller.post('/groups', { name: `g${++n}`, path: `g${n}`, parent_id: group.id }))
  //                             anon strg extn guest rept devl mast ownr admn blkd
  expect(await create()).toEqual([401, 403, 403, 403, 403, 403, 403, 201, 201, 401])
  await forge.administrator.put('/groups/tools', { subgroup_creation_level: 'maintainer' })
  expect(await create()).toEqual([401, 403, 403, 403, 403, 403, 201, 201, 201, 401])
})

test('no mail about memberships is sent where it is switched off, here or above', async () => {
  await using forge = await startForge()
  const [jane, ben] = [await forge.user(), await forge.user()]
  const top = await forge.group({ path: 'top' }, jane)
  const below = await forge.group({ path: 'below', parent_id: top.id }, jane)
  const own = await forge.project({ path: 'own' }, jane)
  const inside = await forge.project({ path: 'inside', namespace_id: below.id }, jane)
  const recordOf = async (path: string) => {
    await jane.post(`${path}/members`, { user_id: ben.id, access_level: 30 })
    const mails = await mailsOf(forge)
    await jane.delete(`${path}/members/${ben.id}`)
    return mails.length
  }
  const sent = await recordOf(`/groups/${top.id}`)
  expect(sent).toBeGreaterThan(0)
  await jane.put(`/groups/${top.id}`, { emails_disabled: true })
  await jane.put(`/projects/${own.id}`, { emails_disabled: true })
  for (const path of [`/groups/${top.id}`, `/groups/${below.id}`, `/projects/${own.id}`, `/projects/${inside.id}`]) {
    expect([path, await recordOf(path)]).toEqual([path, sent])
  }
})
