import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { openSource } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'
import { settingsInEffect } from './queries.ts'

const MESSAGE = (level: string) => ({ message: `'${level}' is not a valid level` })

test('what holds everywhere is participating until one says otherwise', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ email: 'jane@example.com' })
  const path = '/notification_settings'
  expect(await jane.get(path)).toMatchObject({
    status: 200,
    body: { level: 'participating', notification_email: 'jane@example.com' },
  })
  expect((await jane.put(path, { level: 'watch', new_note: true })).body).toEqual({
    level: 'watch',
    notification_email: 'jane@example.com',
    notified_of_own_activity: false,
  })
  const custom = await jane.put(path, { level: 'custom', failed_pipeline: false, close_issue: '1' })
  expect(custom.body).toMatchObject({
    level: 'custom',
    events: { new_note: true, close_issue: true, new_issue: false, failed_pipeline: false, fixed_pipeline: true },
  })
  expect((await jane.get(path)).body).toEqual(custom.body)
  expect((await jane.put(path)).body).toEqual(custom.body)
  const own = await jane.put(path, { notified_of_own_activity: true })
  expect(own.body).toEqual({ ...custom.body, notified_of_own_activity: true })
  expect((await jane.put(path, { level: 'custom' })).body).toEqual(own.body)
})

test('of what one says at once nothing is lost, the first time neither', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const path = '/notification_settings'
  for (const [one, other] of [
    ['new_note', 'new_issue'],
    ['close_issue', 'reopen_issue'],
  ] as const) {
    const calls = [one, other].map((event) => () => jane.put(path, { level: 'custom', [event]: true }))
    expect((await atOnce(forge, ...calls)).map(({ status }) => status)).toEqual([200, 200])
    expect((await jane.get(path)).body.events).toMatchObject({ [one]: true, [other]: true })
  }
})

test('mail goes to an address that is one’s own', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ email: 'jane@example.com' })
  const path = '/notification_settings'
  const { administrator } = forge
  const { body } = await administrator.post(`/users/${jane.id}/emails`, {
    email: 'other@example.com',
    skip_confirmation: true,
  })
  await jane.post('/user/emails', { email: 'claimed@example.com' })
  for (const notification_email of ['claimed@example.com', 'nobody@example.com']) {
    expect(await jane.put(path, { level: 'watch', notification_email })).toMatchObject({
      status: 400,
      body: { message: { notification_email: ['is not an email you own'] } },
    })
  }
  expect((await jane.get(path)).body).toEqual({
    level: 'participating',
    notification_email: 'jane@example.com',
    notified_of_own_activity: false,
  })
  expect((await jane.put(path, { notification_email: 'other@example.com' })).body).toEqual({
    level: 'participating',
    notification_email: 'other@example.com',
    notified_of_own_activity: false,
  })
  await administrator.delete(`/users/${jane.id}/emails/${body.id}`)
  expect((await jane.get(path)).body.notification_email).toBe('jane@example.com')
})

test.each([
  ['/notification_settings', 'participating', 'often'],
  ['/notification_settings', 'participating', 'global'],
  ['projects', 'global', 'often'],
  ['groups', 'global', 'WATCH'],
] as const)('refuses a level that is none: %s %s %s', async (where, usual, level) => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, where === 'groups' ? 'groups' : 'projects')
  const path = where.startsWith('/') ? where : `${url}/notification_settings`
  expect(await owner.put(path, { level, new_note: true })).toMatchObject({ status: 400, body: MESSAGE(level) })
  expect((await owner.get(path)).body.level).toBe(usual)
  expect(await forge.app.db.selectFrom('notification_settings').selectAll().execute()).toEqual([])
})

test('a project shows the number of what its members said, once for members of it and of its group', async () => {
  await using forge = await startForge()
  const { url, owner, group } = await openSource(forge, 'projects')
  const jane = await forge.user()
  await owner.post(`${url}/members`, { user_id: jane.id, access_level: 30 })
  const permissions = async (who = jane) => (await who.get(url)).body.permissions
  expect(await permissions()).toEqual({
    project_access: { access_level: 30, notification_level: 3 },
    group_access: null,
  })
  expect((await jane.put(`${url}/notification_settings`, { level: 'mention' })).body).toEqual({ level: 'mention' })
  expect(await permissions()).toMatchObject({ project_access: { notification_level: 4 } })
  await owner.put(`${group.url}/notification_settings`, { level: 'disabled' })
  expect(await permissions(owner)).toMatchObject({ group_access: { access_level: 50, notification_level: 0 } })
  expect((await owner.get(`${url}/notification_settings`)).body).toEqual({ level: 'global' })

  await owner.delete(`${url}/members/${jane.id}`)
  await forge.settle()
  await owner.post(`${url}/members`, { user_id: jane.id, access_level: 30 })
  expect((await jane.get(`${url}/notification_settings`)).body).toEqual({ level: 'global' })
})

test('a project comes before its groups, the nearer group before the farther, and all before everywhere', async () => {
  await using forge = await startForge()
  const { owner, group } = await openSource(forge, 'groups').then((source) => ({ ...source, group: source }))
  const sub = (await owner.post('/groups', { name: 'Sub', path: 'sub', parent_id: group.id })).body
  const project = (await owner.post('/projects', { name: 'Saw', namespace_id: sub.id })).body
  const place = { id: project.id, namespace_id: sub.id }
  const inEffect = async () => (await settingsInEffect(forge.app.db, [owner.id], place)).get(owner.id)!
  const steps = [
    ['', 'watch'],
    [group.url, 'mention'],
    [`/groups/${sub.id}`, 'disabled'],
    [`/projects/${project.id}`, 'custom'],
  ] as const
  expect((await inEffect()).level).toBe('participating')
  for (const [path, level] of steps) {
    await owner.put(`${path}/notification_settings`, { level, new_issue: level === 'custom' })
    expect((await inEffect()).level).toBe(level)
  }
  expect((await inEffect()).events).toMatchObject({ new_issue: true, new_note: false })
  await owner.put(`/projects/${project.id}/notification_settings`, { level: 'global' })
  await owner.put(`/groups/${sub.id}/notification_settings`, { level: 'global' })
  expect((await inEffect()).level).toBe('mention')
})
