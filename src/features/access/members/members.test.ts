import { describe, expect, test } from 'vitest'
import { KINDS, callersOf, costOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { startForge, type Person } from '../../../forge.ts'

const NOT_FOUND = { message: '404 Not found' }
const FORBIDDEN = { message: '403 Forbidden' }
const NO_LEVEL = { message: { access_level: ['is not included in the list'] } }
const ids = (body: { id: number }[]) => body.map(({ id }) => id)

const summaryOf = ({ id, username, url }: Person, name: string) => ({
  id,
  username,
  name,
  state: 'active',
  avatar_url: null,
  web_url: `${url}/${username}`,
})

describe.each(KINDS)('members of %s', (kind) => {
  const named = kind === 'groups' ? '404 Group Not Found' : '404 Project Not Found'
  const highest = kind === 'groups' ? 50 : 40

  test('are added, shown, changed and removed', async () => {
    await using forge = await startForge()
    const { url, id, owner, path } = await openSource(forge, kind)
    const jane = await forge.user({ username: 'jane', name: 'Jane' })
    expect((await jane.get(url)).status).toBe(404)
    const before = await forge.events()

    const input = { user_id: jane.id, access_level: 30, expires_at: '2040-1-2T10:00:00Z' }
    const added = await owner.post(`${url}/members`, input)
    const member = {
      ...summaryOf(jane, 'Jane'),
      access_level: 30,
      expires_at: '2040-01-02',
      created_at: added.body.created_at,
      created_by: summaryOf(owner, added.body.created_by.name),
      locked: false,
      membership_state: 'active',
    }
    expect(added).toMatchObject({ status: 201, body: member })
    expect(added.body).toEqual(member)
    expect(added.body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const byPath = `/${kind}/${encodeURIComponent(path.replace(/^\/(groups\/)?/, ''))}`
    for (const door of [url, byPath]) {
      expect((await jane.get(`${door}/members/${jane.id}`)).body).toEqual(member)
      expect((await jane.get(`${door}/members`)).body.at(-1)).toEqual(member)
    }
    for (const list of [`${url}/members`, `${url}/members/all`]) {
      expect((await jane.get(list, { state: 'active' })).body).toContainEqual(expect.objectContaining({ id: jane.id }))
      expect((await jane.get(list, { state: 'awaiting' })).status).toBe(400)
    }
    expect((await jane.get(url)).status).toBe(200)

    const promoted = await owner.put(`${url}/members/${jane.id}`, { access_level: '40' })
    expect(promoted).toMatchObject({ status: 200, body: { ...member, access_level: 40 } })
    const endless = await owner.put(`${url}/members/${jane.id}`, { access_level: 40, expires_at: '' })
    expect(endless.body).toEqual({ ...member, access_level: 40, expires_at: null })
    // A change to the same value emits no event.
    expect((await owner.put(`${url}/members/${jane.id}`, { access_level: 40 })).body).toEqual(endless.body)

    expect(await owner.delete(`${url}/members/${jane.id}`)).toMatchObject({ status: 204, body: '' })
    expect(await owner.get(`${url}/members/${jane.id}`)).toMatchObject({ status: 404, body: NOT_FOUND })
    expect((await jane.get(url)).status).toBe(404)
    const event = (await forge.events()).slice(before.length)
    expect(event).toEqual(['member.added', 'member.changed', 'member.changed', 'member.removed'])
    const { payload } = await forge.app.db
      .selectFrom('events')
      .selectAll()
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    const at = kind === 'groups' ? { group_id: id, project_id: null } : { group_id: null, project_id: id }
    const row = { expires_at: null, created_at: expect.any(String), updated_at: expect.any(String) }
    const expected = {
      ...at,
      ...row,
      user_id: jane.id,
      access_level: 40,
      by: owner.id,
      expired: false,
      removal: expect.any(Number),
    }
    expect(JSON.parse(payload)).toEqual(expected)
  })

  test('are added by username, and several at once', async () => {
    await using forge = await startForge()
    const { url, owner } = await openSource(forge, kind)
    const people = [await forge.user({ username: 'ann' }), await forge.user(), await forge.user(), await forge.user()]
    const add = (input: Record<string, unknown>) => owner.post(`${url}/members`, { access_level: 20, ...input })
    expect(await add({ username: 'ANN' })).toMatchObject({ status: 201, body: { id: people[0]!.id, access_level: 20 } })

    const list = people.slice(0, 2).map(({ id }) => id)
    expect(await add({ user_id: [...list, 9999].join(', ') })).toMatchObject({
      status: 201,
      body: { status: 'error', message: { [list[0]!]: 'User already exists in source', 9999: 'User not found' } },
    })
    const rest = people.slice(2).map(({ username }) => username)
    const several = await add({ username: rest })
    expect([several.status, several.body]).toEqual([201, { status: 'success' }])
    expect(ids((await owner.get(`${url}/members`)).body).slice(-4)).toEqual(people.map(({ id }) => id))

    const wrong = await add({ username: 'root,user1', access_level: 7 })
    expect(wrong.body.message.root).toBe('Access level is not included in the list')
  })

  test('refusals change nothing', async () => {
    await using forge = await startForge()
    const { url, owner } = await openSource(forge, kind)
    const elsewhere = await openSource(forge, kind)
    const member = await forge.user()
    const foreign = await forge.user()
    const free = await forge.user()
    await owner.post(`${url}/members`, { user_id: member.id, access_level: 30 })
    await elsewhere.owner.post(`${elsewhere.url}/members`, { user_id: foreign.id, access_level: 30 })
    const members = async () => [(await owner.get(`${url}/members`)).body, await forge.events()]
    const before = await members()
    const missing = (name: string) => ({
      message: `400 (Bad request) ${name} not given`,
      error: `${name} is missing`,
    })
    const bad = (text: string) => ({ message: text, error: text })
    const one = { user_id: free.id, access_level: 30 }
    const refusals: [method: 'POST' | 'PUT' | 'DELETE', path: string, input: object, status: number, body: object][] = [
      ['POST', '', { user_id: free.id }, 400, missing('access_level')],
      ['POST', '', { access_level: 30 }, 400, missing('user_id')],
      ['POST', '', { ...one, username: 'x' }, 400, bad('user_id, username are mutually exclusive')],
      ['POST', '', { ...one, user_id: 'jane' }, 400, bad('user_id is invalid')],
      ['POST', '', { ...one, user_id: '' }, 400, bad('user_id is invalid')],
      ['POST', '', { ...one, user_id: Array.from({ length: 101 }, (_, n) => n + 1) }, 400, bad('user_id is invalid')],
      ['POST', '', { ...one, access_level: 'high' }, 400, bad('access_level is invalid')],
      ['POST', '', { ...one, expires_at: 'never' }, 400, bad('expires_at is invalid')],
      ['POST', '', { ...one, access_level: 0 }, 400, NO_LEVEL],
      ['POST', '', { ...one, access_level: 25 }, 400, NO_LEVEL],
      ['POST', '', { ...one, access_level: highest + 10 }, 400, NO_LEVEL],
      ['POST', '', { ...one, access_level: -10 }, 400, NO_LEVEL],
      ['POST', '', { ...one, user_id: 9999 }, 404, { message: '404 User Not Found' }],
      ['POST', '', { ...one, user_id: member.id }, 409, { message: 'Member already exists' }],
      ['PUT', `/${member.id}`, {}, 400, missing('access_level')],
      ['PUT', `/${member.id}`, { access_level: highest + 10 }, 400, NO_LEVEL],
      ['PUT', `/${foreign.id}`, { access_level: 40 }, 404, NOT_FOUND],
      ['PUT', '/jane', { access_level: 40 }, 400, bad('user_id is invalid')],
      ['DELETE', `/${foreign.id}`, {}, 404, NOT_FOUND],
      ['DELETE', '/9999', {}, 404, NOT_FOUND],
    ]
    for (const [method, path, input, status, body] of refusals) {
      const answer = await owner.request(method, `${url}/members${path}`, input as Record<string, unknown>)
      expect([method, input, answer.status, answer.body]).toEqual([method, input, status, body])
    }
    expect(await members()).toEqual(before)
    expect((await foreign.get(`${elsewhere.url}/members/${foreign.id}`)).body.access_level).toBe(30)

    // Parameters are checked before the group or project, and these before the rights.
    const hidden = `/${kind}/9999/members`
    expect((await free.post(hidden, {})).status).toBe(400)
    expect(await free.post(hidden, one)).toMatchObject({ status: 404, body: { message: named } })
    expect(await free.post(`${url}/members`, one)).toMatchObject({ status: 404, body: { message: named } })
    expect(await member.post(`${url}/members`, one)).toMatchObject({ status: 403, body: FORBIDDEN })
    expect(await member.put(`${url}/members/${foreign.id}`, one)).toMatchObject({ status: 404, body: NOT_FOUND })
  })

  test.each(['private', 'public'])('who reaches what of a %s one', async (visibility) => {
    await using forge = await startForge()
    const source = await openSource(forge, kind, { visibility })
    const callers = await callersOf(forge, source)
    const members = `${source.url}/members`
    const fresh = async (access_level?: number) => {
      const { id } = await forge.user()
      if (access_level) await source.owner.post(members, { user_id: id, access_level })
      return id
    }
    const seen = visibility === 'public' ? 200 : 404
    const reads = [401, seen, seen, 200, 200, 200, 200, 200, 200, 401]
    const known = await fresh(30)
    for (const path of ['', '/all', `/${known}`, `/all/${known}`]) {
      expect([path, await statusesOf(callers, (caller) => caller.get(members + path))]).toEqual([path, reads])
    }
    const no = visibility === 'public' ? 403 : 404
    const writes = (done: number) => [401, no, no, 403, 403, 403, kind === 'groups' ? 403 : done, done, done, 401]
    expect(
      await statusesOf(callers, async (caller) => caller.post(members, { user_id: await fresh(), access_level: 10 })),
    ).toEqual(writes(201))
    expect(await statusesOf(callers, (caller) => caller.put(`${members}/${known}`, { access_level: 20 }))).toEqual(
      writes(200),
    )
    expect(await statusesOf(callers, async (caller) => caller.delete(`${members}/${await fresh(10)}`))).toEqual(
      writes(204),
    )
    // Leaving: the last owner of a group cannot leave, and a user who is only an inherited member has no membership
    // to delete.
    const owner = kind === 'groups' ? 403 : 404
    expect(
      await statusesOf(callers, (caller) => caller.delete(`${members}/${'id' in caller ? String(caller.id) : 1}`)),
    ).toEqual([401, 404, 404, 204, 204, 204, 204, owner, 404, 401])
  })

  test('the list is in pages, searchable, and costs the same whatever its length', async () => {
    await using forge = await startForge()
    const { url, owner } = await openSource(forge, kind)
    const members = `${url}/members`
    const add = async (request: Parameters<typeof forge.user>[0] = {}) => {
      const person = await forge.user(request)
      await owner.post(members, { user_id: person.id, access_level: 10 })
      return person.id
    }
    const own = kind === 'groups' ? [owner.id] : []
    const ann = await add({ username: 'zann', name: 'Ann Ångström', email: 'carpenter@example.com' })
    const bob = await add({ username: 'bob', name: 'B_b' })
    const lists = [members, `${members}/all`, ...(kind === 'projects' ? [`${url}/users`] : [])]
    const costs = async () => {
      const all: number[] = []
      for (const list of lists) all.push(await costOf(forge, () => owner.get(list)))
      return all
    }
    const few = await costs()
    const rest: number[] = []
    for (let n = 0; n < 10; n++) rest.push(await add())
    expect(await costs()).toEqual(few)

    const all = [...own, ann, bob, ...rest]
    expect(ids((await owner.get(members)).body)).toEqual(all)
    const page = await owner.get(members, { per_page: 5, page: 2 })
    expect(ids(page.body)).toEqual(all.slice(5, 10))
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'x-total': String(all.length),
      'x-page': '2',
      'x-prev-page': '1',
      'x-next-page': '3',
    })
    const found = async (query: string) => ids((await owner.get(members, { query })).body)
    expect(await found('zAN')).toEqual([ann])
    expect(await found('ÅNGS')).toEqual([ann])
    expect(await found('Ån')).toEqual([ann])
    expect(await found('penter@')).toEqual([])
    expect(ids((await forge.administrator.get(members, { query: 'penter@' })).body)).toEqual([ann])
    expect(await found('bo')).toEqual([bob])
    expect(await found('_')).toEqual([bob])
    expect(await found('%')).toEqual([])
    expect(await found('nobody at all')).toEqual([])
    expect(await found('')).toEqual(all)
    expect((await owner.get(members, { query: 'zan' })).headers.get('X-Total')).toBe('1')
    expect(ids((await owner.get(members, { user_ids: [ann, rest[0]!, 9999] })).body)).toEqual([ann, rest[0]])
    expect(ids((await owner.get(members, { skip_users: rest })).body)).toEqual([...own, ann, bob])
  })

  test('a deletion heeds If-Unmodified-Since', async () => {
    await using forge = await startForge()
    const { url, owner } = await openSource(forge, kind)
    const { id } = await forge.user()
    await owner.post(`${url}/members`, { user_id: id, access_level: 10 })
    const since = (ms: number) => ({ 'If-Unmodified-Since': new Date(Date.now() + ms).toUTCString() })
    const stale = await owner.delete(`${url}/members/${id}`, undefined, since(-60_000))
    expect(stale).toMatchObject({ status: 412, body: { message: '412 Precondition Failed' } })
    expect((await owner.delete(`${url}/members/${id}`, undefined, since(60_000))).status).toBe(204)
  })

  test('the same person, added twice at the same moment, comes in once', async () => {
    await using forge = await startForge()
    const { url, owner } = await openSource(forge, kind)
    const { id } = await forge.user()
    const before = await forge.events()
    const answers = await Promise.all(
      [10, 20, 30, 40].map((access_level) => owner.post(`${url}/members`, { user_id: id, access_level })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409])
    const added = answers.find(({ status }) => status === 201)!
    expect((await owner.get(`${url}/members/${id}`)).body).toEqual(added.body)
    expect((await forge.events()).slice(before.length)).toEqual(['member.added'])

    const removals = await Promise.all([1, 2, 3].map(() => owner.delete(`${url}/members/${id}`)))
    expect(removals.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404, 404])
  })
})
