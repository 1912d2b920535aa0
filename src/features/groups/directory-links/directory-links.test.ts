import { expect, test } from 'vitest'
import { CALLERS, castOf } from '../../../../test/cast.ts'
import { costOf, openSource } from '../../../../test/sources.ts'
import { HOUR } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const headers: unknown = expect.anything()
const LINK = { cn: 'developers', group_access: 30, provider: 'ldapmain', filter: null }

const linksOf = ({ app }: TestForge) => app.db.selectFrom('ldap_group_links').selectAll().orderBy('id').execute()

const waiting = ({ app }: TestForge) =>
  app.db.selectFrom('jobs').select('payload').where('name', '=', 'groups.directory_sync').execute()

const at = (...segments: string[]) => segments.map((segment) => `/${encodeURIComponent(segment)}`).join('')

test('links are made, listed and deleted', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'groups')
  const links = `${url}/ldap_group_links`
  const events = await forge.events()

  expect(await owner.post(links, { ...LINK, group_access: '30' })).toEqual({ status: 201, body: LINK, headers })
  const [second, third] = [
    { ...LINK, provider: 'ldapother' },
    { ...LINK, cn: 'owners', group_access: 50 },
  ]
  for (const link of [second, third]) expect(await owner.post(links, link)).toMatchObject({ status: 201, body: link })
  expect((await owner.get(links)).body).toEqual([LINK, second, third])

  expect(await owner.delete(links + at('ldapother', 'developers'))).toMatchObject({ status: 204, body: '' })
  expect((await owner.get(links)).body).toEqual([LINK, third])
  expect((await owner.delete(`${links}?cn=owners&provider=ldapmain`)).status).toBe(204)
  expect((await owner.get(links)).body).toEqual([LINK])
  expect(await forge.events()).toEqual(events)
})

test('without a provider every link of that name goes, and no other', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'groups')
  const other = await openSource(forge, 'groups')
  const links = `${url}/ldap_group_links`
  const kept = { ...LINK, cn: 'Developers' }
  for (const link of [LINK, { ...LINK, provider: 'ldapother' }, kept]) await owner.post(links, link)
  await other.owner.post(`${other.url}/ldap_group_links`, LINK)

  expect((await owner.delete(links + at('developers'))).status).toBe(204)
  expect((await owner.get(links)).body).toEqual([kept])
  expect((await other.owner.get(`${other.url}/ldap_group_links`)).body).toEqual([LINK])

  // A provider selects the links of that directory only.
  for (const provider of ['ldapmain', 'ldapother']) await owner.post(links, { ...LINK, provider })
  expect((await owner.delete(`${links}/developers?provider=ldapother`)).status).toBe(204)
  expect((await owner.get(links)).body).toEqual([kept, LINK])
})

test('a filter stands in the place of a name', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'groups')
  const links = `${url}/ldap_group_links`
  const { cn: _, ...rest } = LINK
  const [first, second] = ['(title=Smith)', '(&(title=Smith)(ou=east))'].map((filter) => ({ ...rest, filter }))
  for (const link of [LINK, first, second]) {
    expect(await owner.post(links, link)).toMatchObject({ status: 201, body: { cn: null, ...link } })
  }
  const presented = [LINK, { cn: null, ...first }, { cn: null, ...second }]
  expect((await owner.get(links)).body).toEqual(presented)

  const refusals: [object, number, unknown][] = [
    [first!, 409, { message: 'Filter has already been taken' }],
    [{ ...rest, filter: '(title=' }, 400, { message: { filter: ['must have valid syntax'] } }],
    [
      { ...rest, filter: `(a=${'x'.repeat(255)})` },
      400,
      { message: { filter: [expect.stringContaining('too long')] } },
    ],
    [{ ...first, cn: 'both' }, 400, { error: 'cn, filter are mutually exclusive' }],
    [rest, 400, { message: '400 (Bad request) cn not given' }],
  ]
  for (const [given, status, body] of refusals)
    expect(await owner.post(links, given as {})).toMatchObject({ status, body })
  expect((await owner.delete(`${links}?provider=ldapmain`)).status).toBe(400)
  const gone = new URLSearchParams({ filter: '(title=Smith)', provider: 'ldapmain' })
  expect([(await owner.delete(`${links}?${gone}`)).status, (await owner.delete(`${links}?${gone}`)).status]).toEqual([
    204, 404,
  ])
  expect((await owner.get(links)).body).toEqual([presented[0], presented[2]])
})

test('a name may hold whatever directories hold', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'groups')
  const links = `${url}/ldap_group_links`
  for (const cn of [
    'a.b',
    'Domain Users',
    'Größe/東京',
    'R&D, East',
    '100%',
    '...',
    'a?b#c',
    '42',
    "o'",
    'x'.repeat(255),
  ]) {
    expect(await owner.post(links, { ...LINK, cn })).toMatchObject({ status: 201, body: { ...LINK, cn } })
    expect([cn, (await owner.delete(links + at('ldapmain', cn))).status]).toEqual([cn, 204])
    await owner.post(links, { ...LINK, cn })
    expect([cn, (await owner.delete(links + at(cn))).status]).toEqual([cn, 204])
  }
  expect(await linksOf(forge)).toEqual([])
})

test('refusals change nothing', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'groups')
  const links = `${url}/ldap_group_links`
  await owner.post(links, LINK)
  await forge.settle()
  await forge.stopWorker()
  const before = { links: await linksOf(forge), events: await forge.events() }
  const invalid = 'group_access does not have a valid value'
  const tooLong = ['is too long (maximum is 255 characters)']

  for (const [method, path, input, status, message] of [
    ['POST', links, {}, 400, '400 (Bad request) group_access, provider, cn not given'],
    ['POST', links, { ...LINK, cn: ' ' }, 400, 'cn is empty'],
    ['POST', links, { ...LINK, provider: '' }, 400, 'provider is empty'],
    ['POST', links, { ...LINK, cn: ['x'] }, 400, 'cn is invalid'],
    ['POST', links, { ...LINK, group_access: 'high' }, 400, 'group_access is invalid'],
    ['POST', links, { ...LINK, group_access: 0 }, 400, invalid],
    ['POST', links, { ...LINK, group_access: 15 }, 400, invalid],
    ['POST', links, { ...LINK, group_access: 60 }, 400, invalid],
    ['POST', links, { ...LINK, cn: 'x'.repeat(256) }, 400, { cn: tooLong }],
    ['POST', links, { ...LINK, provider: 'x'.repeat(256) }, 400, { provider: tooLong }],
    ['POST', links, { ...LINK, group_access: 50 }, 409, 'Cn has already been taken'],
    ['DELETE', `${links}/others`, undefined, 404, '404 Not found'],
    ['DELETE', `${links}/ldapother/developers`, undefined, 404, '404 Not found'],
    ['DELETE', `${links}?cn=others&provider=ldapmain`, undefined, 404, '404 Not found'],
    ['DELETE', `${links}?cn=developers`, undefined, 400, '400 (Bad request) provider not given'],
    ['POST', '/groups/0/ldap_group_links', LINK, 404, '404 Group Not Found'],
    ['POST', '/groups/0/ldap_sync', undefined, 404, '404 Group Not Found'],
  ] as const) {
    const answer = await owner.request(method, path, input)
    expect([path, answer.status, answer.body.message]).toEqual([path, status, message])
  }
  expect({ links: await linksOf(forge), events: await forge.events() }).toEqual(before)
  expect(await waiting(forge)).toEqual([])
})

test('the same link made many times at once is made once', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'groups')
  const tries = Array.from({ length: 8 }, () => owner.post(`${url}/ldap_group_links`, LINK))
  const statuses = (await Promise.all(tries)).map(({ status }) => status)
  expect(statuses.toSorted((a, b) => a - b)).toEqual([201, ...Array(7).fill(409)])
  expect(await linksOf(forge)).toHaveLength(1)
})

test('the list comes in pages, at the same cost however long it is', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'groups')
  const links = `${url}/ldap_group_links`
  const add = async (from: number, to: number) => {
    for (let n = from; n < to; n++) await owner.post(links, { ...LINK, cn: `team ${n}` })
  }
  await add(0, 2)
  const few = await costOf(forge, () => owner.get(links))
  await add(2, 12)
  expect(await costOf(forge, () => owner.get(links))).toBe(few)
  const page = await owner.get(links, { page: 2, per_page: 5 })
  expect(page.body.map(({ cn }: { cn: string }) => cn)).toEqual(['team 5', 'team 6', 'team 7', 'team 8', 'team 9'])
  const pages = ['x-total', 'x-total-pages', 'x-next-page'].map((name) => page.headers.get(name))
  expect(pages).toEqual(['12', '3', '3'])
})

// Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked.
test.each([
  ['private', [401, 404, 404, 403, 403, 403, 403]],
  ['public', [401, 403, 403, 403, 403, 403, 403]],
] as const)('owners and administrators of a %s group', async (visibility, refusals) => {
  await using forge = await startForge()
  const { callers, people, group } = await castOf(forge, visibility)
  const links = `/groups/${group.id}/ldap_group_links`
  const name = (caller: string) => `of ${caller}`
  for (const caller of CALLERS) await people.owner.post(links, { ...LINK, cn: name(caller) })
  const table: Record<string, [number, (caller: (typeof CALLERS)[number]) => Promise<{ status: number }>]> = {
    list: [200, (caller) => callers[caller].get(links)],
    create: [201, (caller) => callers[caller].post(links, { ...LINK, cn: `by ${caller}` })],
    destroy: [204, (caller) => callers[caller].delete(links + at('ldapmain', name(caller)))],
    sync: [202, (caller) => callers[caller].post(`/groups/${group.id}/ldap_sync`)],
  }
  for (const [what, [done, call]] of Object.entries(table)) {
    const statuses: number[] = []
    for (const caller of CALLERS) statuses.push((await call(caller)).status)
    expect([what, ...statuses]).toEqual([what, ...refusals, done, done, 401])
  }
  const left = (await linksOf(forge)).map(({ cn }) => cn)
  const refused = CALLERS.filter((caller) => caller !== 'owner' && caller !== 'administrator')
  expect(left).toEqual([...refused.map(name), 'by owner', 'by administrator'])
})

test('a sync is accepted at once, and two requests make one', async () => {
  await using forge = await startForge()
  const { id, url, owner } = await openSource(forge, 'groups')
  await forge.settle()
  await forge.stopWorker()
  for (let n = 0; n < 2; n++) {
    const accepted = { status: 202, body: { message: '202 Accepted' }, headers }
    expect(await owner.post(`${url}/ldap_sync`)).toEqual(accepted)
  }
  expect(await waiting(forge)).toEqual([{ payload: JSON.stringify({ group_id: id }) }])
})

test('without a directory links are kept and nobody comes or goes, until the last link is gone', async () => {
  await using forge = await startForge()
  const { id, url, owner } = await openSource(forge, 'groups')
  const someone = { provider: 'ldapmain', extern_uid: 'uid=jane,dc=example,dc=org' }
  const [member, visitor] = [await forge.user(someone), await forge.user({ external: true })]
  await owner.post(`${url}/members`, { user_id: member.id, access_level: 40 })
  await owner.post(`${url}/members`, { user_id: visitor.id, access_level: 10 })
  const ofMember = forge.app.db.updateTable('members').where('user_id', '=', member.id)
  await ofMember.set({ from_directory: true }).execute()
  await owner.post(`${url}/ldap_group_links`, LINK)
  await forge.settle()
  const events = await forge.events()

  await owner.post(`${url}/ldap_sync`)
  await forge.settle()
  forge.clock.advance(HOUR + 1)
  await forge.settle()
  const levels = async () => {
    const { body } = await owner.get(`${url}/members`)
    return body.map(({ id, access_level }: { id: number; access_level: number }) => [id, access_level])
  }
  expect(await levels()).toEqual([
    [owner.id, 50],
    [member.id, 40],
    [visitor.id, 10],
  ])
  expect(await forge.events()).toEqual(events)
  const synced = () =>
    forge.app.db.selectFrom('namespaces').select('ldap_synced_at').where('id', '=', id).executeTakeFirst()
  expect(await synced()).toEqual({ ldap_synced_at: null })
  expect((await member.get('/user')).status).toBe(200)

  await owner.delete(`${url}/ldap_group_links/developers`)
  await forge.settle()
  expect(await levels()).toEqual([
    [owner.id, 50],
    [visitor.id, 10],
  ])
  expect(await forge.events()).toEqual([...events, 'member.removed'])
})
