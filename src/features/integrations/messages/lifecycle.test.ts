import { afterAll, beforeAll, expect, test } from 'vitest'
import { comparable } from '../../../../test/goldens.ts'
import { ALL_SWITCHES, hookReceiver, type HookReceiver, type Received } from '../../../../test/listening-hooks.ts'
import { startForge, type Person, type Reply, type TestForge } from '../../../forge.ts'
import { GROUP_SWITCHES, type AnySwitch } from '../hooks/model.ts'
import { groupExamples } from './examples/groups.ts'
import { lifecycleExamples } from './examples/lifecycle.ts'

let forge: TestForge
let receiver: HookReceiver
let ada: Person
let ben: Person
let group: { id: number }
let subgroup: { id: number }
let rocket: { id: number }
beforeAll(async () => {
  forge = await startForge()
  receiver = await hookReceiver(forge)
  ada = await forge.user({ name: 'Ada Owner', username: 'ada' })
  ben = await forge.user({ name: 'Ben Other', username: 'ben' })
  // System hooks receive lifecycle events without any switch.
  await receiver.hook('system', { on: [] })
})
afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
  await forge[Symbol.asyncDispose]()
})

const isGroupSwitch = (name: AnySwitch) => (GROUP_SWITCHES as readonly AnySwitch[]).includes(name)

/** One hook of a group per group switch, and one with all other switches on. */
async function hookGroup(group_id: number): Promise<void> {
  for (const name of GROUP_SWITCHES) await receiver.hook(name, { group_id, on: [name] })
  await receiver.hook('deaf', { group_id, on: ALL_SWITCHES.filter((name) => !isGroupSwitch(name)) })
}

interface Subscribed {
  readonly system?: readonly string[]
  /** Messages that group hooks receive. */
  readonly group?: readonly string[]
}

const all: Received[] = []

async function taken(): Promise<Received[]> {
  const got = await receiver.take()
  all.push(...got)
  return got
}

/** Asserts the messages that the hooks receive, once each. */
async function received(work: Promise<Reply>, { system = [], group = [] }: Subscribed) {
  const { status, body } = await work
  expect(status, JSON.stringify(body)).toBeLessThan(402)
  const got = await taken()
  const names = (of: readonly Received[]) => of.map((one) => one.body.event_name)
  expect(names(got.filter(({ path }) => path === 'system'))).toEqual(system)
  const ofGroup = got.filter(({ path }) => path !== 'system').map(({ path, body }) => `${path} ${body.event_name}`)
  expect(ofGroup.toSorted()).toEqual([...group].toSorted())
  return body
}

test('groups and projects come', async () => {
  expect.hasAssertions()
  group = await received(ada.post('/groups', { name: 'Acme', path: 'acme' }), {
    system: ['group_create', 'user_add_to_group'],
  })
  await hookGroup(group.id)
  subgroup = await received(ada.post('/groups', { name: 'Tools', path: 'tools', parent_id: group.id }), {
    system: ['group_create', 'user_add_to_group'],
    group: ['subgroup_events subgroup_create', 'member_events user_add_to_group'],
  })
  const made = ada.post('/projects', { name: 'Rocket', namespace_id: subgroup.id })
  rocket = await received(made, { system: ['project_create'], group: ['project_events project_create'] })
  await received(ada.post('/projects', { name: 'Diary' }), { system: ['project_create', 'user_add_to_team'] })
  await received(ada.post(`/projects/${rocket.id}/fork`), { system: ['project_create', 'user_add_to_team'] })
})

test('projects change their settings, their path and their place', async () => {
  expect.hasAssertions()
  const { body: project } = await ada.post('/projects', { name: 'Journal' })
  await taken()
  const at = `/projects/${project.id}`
  await received(ada.put(at, { description: 'Mine' }), { system: ['project_update'] })
  await received(ada.put(at, { path: 'logbook' }), { system: ['project_rename'] })
  const moved = forge.administrator.post(`/groups/${group.id}/projects/${project.id}`)
  await received(moved, { system: ['project_transfer'] })
  await received(ada.post(`${at}/archive`), { system: ['project_update'] })
  await received(ada.delete(at), { system: ['project_destroy'], group: ['project_events project_destroy'] })
})

test('members come, change and go', async () => {
  expect.hasAssertions()
  const input = { user_id: ben.id, access_level: 40 }
  const change = { access_level: 30, expires_at: '2030-01-01' }
  const inProject = `/projects/${rocket.id}/members`
  await received(ada.post(inProject, input), { system: ['user_add_to_team'] })
  await received(ada.put(`${inProject}/${ben.id}`, change), { system: ['user_update_for_team'] })
  await received(ada.delete(`${inProject}/${ben.id}`), { system: ['user_remove_from_team'] })
  const inGroup = `/groups/${subgroup.id}/members`
  const expected = (name: string) => ({ system: [name], group: [`member_events ${name}`] })
  await received(ada.post(inGroup, input), expected('user_add_to_group'))
  await received(ada.put(`${inGroup}/${ben.id}`, { access_level: 30 }), expected('user_update_for_group'))
  await received(ada.delete(`${inGroup}/${ben.id}`), expected('user_remove_from_group'))
})

test('people ask to be let in, and are denied or think better of it', async () => {
  expect.hasAssertions()
  const { body: open } = await ada.post('/groups', { name: 'Open', path: 'open', visibility: 'public' })
  const input = { name: 'Wide', namespace_id: open.id, visibility: 'public', request_access_enabled: true }
  const { body: project } = await ada.post('/projects', input)
  await ada.put(`/groups/${open.id}`, { request_access_enabled: true })
  await receiver.hook('member_events', { group_id: open.id, on: ['member_events'] })
  await taken()
  const expected = (name: string) => ({ system: [name], group: [`member_events ${name}`] })
  const ofGroup = `/groups/${open.id}/access_requests`
  await received(ben.post(ofGroup), expected('user_access_request_to_group'))
  await received(ada.delete(`${ofGroup}/${ben.id}`), expected('user_access_request_revoked_for_group'))
  const ofProject = `/projects/${project.id}/access_requests`
  await received(ben.post(ofProject), { system: ['user_access_request_to_project'] })
  const withdrawn = ben.delete(`${ofProject}/${ben.id}`)
  await received(withdrawn, { system: ['user_access_request_revoked_for_project'] })
})

test('people come, are renamed, are not let in, and go', async () => {
  expect.hasAssertions()
  const { administrator: admin } = forge
  const password = 'correct horse battery'
  const input = { name: 'Cleo', username: 'cleo', email: 'cleo@example.com', password, skip_confirmation: true }
  const cleo = await received(admin.post('/users', input), { system: ['user_create'] })
  await received(admin.put(`/users/${cleo.id}`, { name: 'Cleo' }), {})
  await received(admin.put(`/users/${cleo.id}`, { username: 'cleopatra' }), { system: ['user_rename'] })
  await received(admin.post(`/users/${cleo.id}/block`), {})
  await received(forge.visitor.post('/session', { login: 'cleopatra', password: 'a guess of it' }), {})
  await received(forge.visitor.post('/session', { login: 'cleopatra', password }), { system: ['user_failed_login'] })
  await received(admin.delete(`/users/${cleo.id}`, { hard_delete: true }), { system: ['user_destroy'] })
})

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJNKrSQqX2pEqCTQTF7PWIlcdXVIO9e3yb8NlN0tDZUO'
const OTHER_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBQ2RZn4vXVdTDG6hGUSNsKbTfV9D5eTlBLxVHAkWoEB'

test('keys of people and of projects come and go', async () => {
  expect.hasAssertions()
  const key = await received(ada.post('/user/keys', { title: 'Laptop', key: KEY }), { system: ['key_create'] })
  await received(ada.delete(`/user/keys/${key.id}`), { system: ['key_destroy'] })
  const at = `/projects/${rocket.id}/deploy_keys`
  const ofProject = await received(ada.post(at, { title: 'Server', key: OTHER_KEY }), { system: ['key_create'] })
  await received(ada.delete(`${at}/${ofProject.id}`), { system: ['key_destroy'] })
})

test('a bot is a member from its first token on', async () => {
  expect.hasAssertions()
  const made = ada.post(`/projects/${rocket.id}/access_tokens`, { name: 'Robot', scopes: ['api'], access_level: 30 })
  const token = await received(made, { system: ['user_create', 'user_add_to_team'] })
  await received(ada.post(`/projects/${rocket.id}/access_tokens/${token.id}/rotate`), {})
})

test('a group is renamed, moved, and goes with all that is in it', async () => {
  expect.hasAssertions()
  await received(ada.put(`/groups/${subgroup.id}`, { path: 'toys' }), { system: ['group_rename'] })
  const { body: elsewhere } = await ada.post('/groups', { name: 'Else', path: 'else', parent_id: group.id })
  await taken()
  await received(ada.post(`/groups/${subgroup.id}/transfer`, { group_id: elsewhere.id }), { system: ['group_rename'] })
  const { status } = await ada.delete(`/groups/${elsewhere.id}`)
  expect(status).toBe(204)
  const names = (await taken()).map(({ path, body }) => `${path} ${body.event_name} ${body.full_path ?? ''}`)
  // The parent group remains, and receives a message for each.
  expect(names.filter((name) => name.includes('group_')).toSorted()).toEqual([
    'subgroup_events subgroup_destroy acme/else',
    'subgroup_events subgroup_destroy acme/else/toys',
    'system group_destroy acme/else',
    'system group_destroy acme/else/toys',
  ])
  const ofProject = names.filter((name) => name.includes('project_destroy'))
  expect(ofProject.toSorted()).toEqual(['project_events project_destroy ', 'system project_destroy '])
})

test('each is as its example shows', () => {
  const got = all.map(({ header, body }) => comparable({ header, body }))
  const examples = [...Object.entries(lifecycleExamples), ...Object.entries(groupExamples)]
  for (const [name, { header, body }] of examples) expect(got, name).toContainEqual(comparable({ header, body }))
  const known = new Set(examples.map(([, { header, body }]) => `${header} ${body.event_name}`))
  for (const { header, body } of all) expect(known).toContain(`${header} ${body.event_name}`)
})
