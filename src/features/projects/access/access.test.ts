import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { castFor, groupOf, projectIn, statuses } from '../../../../test/groups.ts'
import { projectBy } from '../../../../test/projects.ts'
import { startForge, type Client, type Person } from '../../../forge.ts'

const visibility = (counts: boolean, reason?: string) => ({
  rule: 'visibility',
  access_level: 0,
  counts,
  ...(reason && { reason }),
})
const PRIVATE = visibility(false, 'the project is private')

test('the whole answer: who, on what, how much, and every rule there is', async () => {
  await using forge = await startForge()
  const { administrator: root, url } = forge
  const person = await forge.user({ username: 'jane', name: 'Jane' })
  const top = await groupOf(forge, 'top')
  const home = await groupOf(forge, 'home', { parent_id: top.id })
  const friends = await groupOf(forge, 'friends')
  const close = await groupOf(forge, 'close', { parent_id: friends.id })
  const { id } = await projectIn(forge, home, 'p')
  await addMember(forge, { group_id: top.id }, person.id, 10)
  await addMember(forge, { group_id: home.id }, person.id, 20)
  await addMember(forge, { group_id: friends.id }, person.id, 50)
  await root.post(`/projects/${id}/members`, { user_id: person.id, access_level: 20, expires_at: '2999-12-31' })
  await root.post(`/projects/${id}/share`, { group_id: close.id, group_access: 30, expires_at: '2999-01-02' })

  const place = ({ id, full_path }: { id: number; full_path: string }) => ({ id, full_path })
  const rules = [
    { rule: 'direct_membership', access_level: 20, expires_at: '2999-12-31', counts: true },
    { rule: 'inherited_membership', access_level: 20, expires_at: null, group: place(home), counts: true },
    { rule: 'inherited_membership', access_level: 10, expires_at: null, group: place(top), counts: true },
    {
      rule: 'group_share',
      access_level: 30,
      group: place(friends),
      shared_with: place(close),
      group_access: 30,
      member_access_level: 50,
      expires_at: '2999-01-02',
      counts: true,
    },
    PRIVATE,
  ]
  const { body: user } = await root.get(`/users/${person.id}`)
  const answer = {
    user: {
      id: person.id,
      name: 'Jane',
      username: 'jane',
      state: 'active',
      avatar_url: user.avatar_url,
      web_url: `${url}/jane`,
    },
    project: { id, path_with_namespace: 'top/home/p', visibility: 'private' },
    access_level: 30,
    readable: true,
    rules,
  }
  expect((await root.get(`/projects/${id}/access`, { user_id: person.id })).body).toEqual(answer)
  expect((await person.get('/projects/TOP%2Fhome%2Fp/access')).body).toEqual(answer)
  expect((await person.get(`/projects/${id}/access`, { user_id: '' })).body).toEqual(answer)

  await root.put(`/groups/${home.id}`, { share_with_group_lock: true })
  const locked = { ...rules[3], counts: false, reason: "the project's group forbids sharing" }
  expect((await person.get(`/projects/${id}/access`)).body).toMatchObject({
    access_level: 20,
    rules: [rules[0], rules[1], rules[2], locked, PRIVATE],
  })
})

test('blocked, external, administrator, owner, stranger: each reason on its own', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const owner = await forge.user()
  const external = await forge.user({ external: true })
  const stranger = await forge.user()
  const blocked = await forge.user()
  const { id } = await projectBy(owner, 'p')
  await root.post(`/projects/${id}/members`, { user_id: blocked.id, access_level: 30 })
  await root.post(`/users/${blocked.id}/block`)
  const explain = async ({ id: user_id }: Person) => {
    const { body } = await root.get(`/projects/${id}/access`, { user_id })
    return [body.access_level, body.readable, body.rules]
  }
  const mine = { rule: 'personal_namespace', access_level: 50, counts: true }
  const direct = { rule: 'direct_membership', access_level: 40, expires_at: null, counts: true }
  expect(await explain(owner)).toEqual([50, true, [mine, direct, PRIVATE]])
  expect(await explain(stranger)).toEqual([0, false, [PRIVATE]])
  const office = { rule: 'administrator', access_level: 50, counts: true }
  expect(await explain(root)).toEqual([50, true, [office, PRIVATE]])
  const held = {
    rule: 'direct_membership',
    access_level: 30,
    expires_at: null,
    counts: false,
    reason: 'the user is blocked',
  }
  expect(await explain(blocked)).toEqual([0, false, [held, visibility(false, 'the user is blocked')]])

  await owner.put(`/projects/${id}`, { visibility: 'internal' })
  expect(await explain(stranger)).toEqual([0, true, [visibility(true)]])
  const closed = visibility(false, 'internal projects are closed to external users')
  expect(await explain(external)).toEqual([0, false, [closed]])
  await owner.put(`/projects/${id}`, { visibility: 'public' })
  expect(await explain(external)).toEqual([0, true, [visibility(true)]])
  expect(await explain(blocked)).toEqual([0, true, [held, visibility(true)]])
})

test('everybody may ask about themselves, owners about anybody', async () => {
  await using forge = await startForge()
  const tools = await groupOf(forge, 'tools', { visibility: 'public' })
  const cast = await castFor(forge, tools.id)
  const { id } = await projectIn(forge, tools, 'p', { visibility: 'public' })
  const ask =
    (query = '', project = id) =>
    (caller: Client) =>
      caller.get(`/projects/${project}/access${query}`)
  //                                            anonymous stranger external guest reporter developer master owner administrator blocked
  expect(await statuses(cast, ask())).toEqual([401, 200, 200, 200, 200, 200, 200, 200, 200, 401])
  const about = `?user_id=${cast.guest.id}`
  expect(await statuses(cast, ask(about))).toEqual([401, 403, 403, 200, 403, 403, 403, 200, 200, 401])
  // Only owners learn whether a user exists.
  expect(await statuses(cast, ask('?user_id=4711'))).toEqual([401, 403, 403, 403, 403, 403, 403, 404, 404, 401])
  expect((await cast.owner.get(`/projects/${id}/access?user_id=4711`)).body).toEqual({ message: '404 User Not Found' })
  const odd = { x: 400, '-1': 400, '1e3': 400, '1,2': 400, '0': 404, '99999999999999999999': 404 }
  for (const [user_id, status] of Object.entries(odd))
    expect((await cast.owner.get(`/projects/${id}/access`, { user_id })).status, user_id).toBe(status)
  const hidden = await projectIn(forge, await groupOf(forge, 'hidden'), 'q')
  expect(await statuses(cast, ask('', hidden.id))).toEqual([401, 404, 404, 404, 404, 404, 404, 404, 200, 401])
})

test('who holds the administrator’s office is told to administrators and themselves only', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const officer = await forge.user({ admin: true })
  const { id } = await projectBy(owner, 'p')
  const ask = async (caller: Client, { id: user_id }: Person) =>
    (await caller.get(`/projects/${id}/access`, { user_id })).body
  const stranger = await ask(owner, await forge.user())
  expect(await ask(owner, officer)).toMatchObject({ access_level: 0, readable: false, rules: stranger.rules })
  expect(await ask(officer, officer)).toMatchObject({ access_level: 50, rules: [{ rule: 'administrator' }, {}] })
  expect(await ask(forge.administrator, officer)).toMatchObject({ access_level: 50 })
})
