import { describe, expect, test } from 'vitest'
import { mailsOf } from '../../../../test/mailbox.ts'
import { KINDS, callersOf, costOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

const NOT_FOUND = { message: '404 Not found' }
const FORBIDDEN = { message: '403 Forbidden' }
const OPEN = { visibility: 'public', request_access_enabled: true }

describe.each(KINDS)('requests for %s', (kind) => {
  test('are made, listed, approved and denied', async () => {
    await using forge = await startForge()
    const { url, id, owner, title } = await openSource(forge, kind, OPEN)
    const requests = `${url}/access_requests`
    const ann = await forge.user({ username: 'ann', name: 'Ann' })
    const bob = await forge.user({ name: 'Bob' })
    const before = await forge.events()

    const made = await ann.post(requests)
    const requester = {
      id: ann.id,
      username: 'ann',
      name: 'Ann',
      state: 'active',
      avatar_url: null,
      web_url: `${forge.url}/ann`,
      requested_at: made.body.requested_at,
    }
    expect([made.status, made.body]).toEqual([201, requester])
    expect(made.body.requested_at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
    await bob.post(requests)
    const list = await owner.get(requests)
    expect(list.body).toEqual([requester, expect.objectContaining({ id: bob.id })])
    expect(list.headers.get('X-Total')).toBe('2')
    expect(await ann.post(requests)).toMatchObject({
      status: 400,
      body: { message: { user_id: ['already exists in source'] } },
    })
    // A request gives no access.
    expect((await owner.get(`${url}/members/${ann.id}`)).body).toEqual(NOT_FOUND)
    expect((await owner.get(`${url}/members/all/${ann.id}`)).body).toEqual(NOT_FOUND)
    expect((await owner.put(`${url}/members/${ann.id}`, { access_level: 40 })).body).toEqual(NOT_FOUND)

    // A request that was already answered sends no mail.
    await forge.settle()
    const approved = await owner.put(`${requests}/${ann.id}/approve`)
    expect(approved).toMatchObject({ status: 201, body: { id: ann.id, access_level: 30, expires_at: null } })
    expect((await owner.get(`${url}/members/${ann.id}`)).body).toEqual(approved.body)
    expect(await owner.put(`${requests}/${ann.id}/approve`)).toMatchObject({ status: 404, body: NOT_FOUND })
    expect((await owner.delete(`${requests}/${bob.id}`)).status).toBe(204)
    expect(await owner.delete(`${requests}/${bob.id}`)).toMatchObject({ status: 404, body: NOT_FOUND })
    expect((await owner.get(requests)).body).toEqual([])
    const event = (await forge.events()).slice(before.length)
    expect(event).toEqual(['access_request.made', 'access_request.made', 'member.added', 'access_request.denied'])
    const { payload } = await forge.app.db
      .selectFrom('events')
      .select('payload')
      .where('name', '=', 'access_request.denied')
      .executeTakeFirstOrThrow()
    const at = kind === 'groups' ? { group_id: id, project_id: null } : { group_id: null, project_id: id }
    expect(JSON.parse(payload)).toEqual({ ...at, user_id: bob.id, requested_at: expect.any(String), by: owner.id })

    const mails = (await mailsOf(forge)).map(({ to, subject }) => `${to}: ${subject}`).toSorted()
    expect(mails).toEqual(
      [
        `${ann.email}: You were added to ${title}`,
        `${bob.email}: Access request for ${title} denied`,
        `${owner.email}: Access request for ${title}`,
        `${owner.email}: Access request for ${title}`,
      ].toSorted(),
    )
  })

  test('are withdrawn without a word, or settled by adding the person', async () => {
    await using forge = await startForge()
    const { url, owner } = await openSource(forge, kind, OPEN)
    const requests = `${url}/access_requests`
    const [ann, bob] = [await forge.user(), await forge.user()]
    for (const person of [ann, bob]) await person.post(requests)
    await forge.settle()
    const before = await forge.events()
    expect((await ann.delete(`${requests}/${ann.id}`)).status).toBe(204)
    expect(await forge.events()).toEqual([...before, 'access_request.withdrawn'])

    const added = await owner.post(`${url}/members`, { user_id: bob.id, access_level: 20 })
    expect(added).toMatchObject({ status: 201, body: { access_level: 20 } })
    expect((await owner.get(requests)).body).toEqual([])
    expect((await ann.post(requests)).status).toBe(201)
    const [level, since] = [{ access_level: 40 }, { 'If-Unmodified-Since': new Date(0).toUTCString() }]
    expect((await owner.delete(`${requests}/${ann.id}`, undefined, since)).status).toBe(412)
    expect((await owner.put(`${requests}/${ann.id}/approve`, level)).body.access_level).toBe(40)
  })

  test('refusals change nothing', async () => {
    await using forge = await startForge()
    const { url, owner } = await openSource(forge, kind, OPEN)
    const elsewhere = await openSource(forge, kind, OPEN)
    const shut = await openSource(forge, kind, { visibility: 'public' })
    const [asking, foreign, member] = [await forge.user(), await forge.user(), await forge.user()]
    await owner.post(`${url}/members`, { user_id: member.id, access_level: 10 })
    await asking.post(`${url}/access_requests`)
    await foreign.post(`${elsewhere.url}/access_requests`)
    const before = await forge.events()
    expect(await asking.post(`${shut.url}/access_requests`)).toMatchObject({ status: 403, body: FORBIDDEN })
    const approve = (user: number | string, input = {}) => owner.put(`${url}/access_requests/${user}/approve`, input)
    expect(await approve(foreign.id)).toMatchObject({ status: 404, body: NOT_FOUND })
    expect(await approve(member.id)).toMatchObject({ status: 404, body: NOT_FOUND })
    expect(await approve('ann')).toMatchObject({ status: 400, body: { error: 'user_id is invalid' } })
    expect(await approve(asking.id, { access_level: 'x' })).toMatchObject({ status: 400 })
    expect(await approve(asking.id, { access_level: kind === 'groups' ? 60 : 50 })).toMatchObject({
      status: 400,
      body: { message: { access_level: ['is not included in the list'] } },
    })
    for (const user of [foreign, member]) {
      const { status, body } = await owner.delete(`${url}/access_requests/${user.id}`)
      expect([status, body]).toEqual([404, NOT_FOUND])
    }
    // A requester cannot decide about their own request.
    expect(await asking.put(`${url}/access_requests/${asking.id}/approve`)).toMatchObject({ status: 403 })
    // Nobody else learns who asked.
    for (const user of [asking, member]) {
      const at = `${url}/access_requests/${user.id}`
      expect(await foreign.delete(at)).toMatchObject({ status: 403, body: FORBIDDEN })
      expect(await foreign.put(`${at}/approve`)).toMatchObject({ status: 403, body: FORBIDDEN })
    }
    expect(await member.delete(`${url}/access_requests/${member.id}`)).toMatchObject({ status: 404, body: NOT_FOUND })
    expect(await forge.events()).toEqual(before)
    expect((await owner.get(`${url}/access_requests`)).body).toMatchObject([{ id: asking.id }])
    expect((await elsewhere.owner.get(`${elsewhere.url}/access_requests`)).body).toMatchObject([{ id: foreign.id }])
  })

  test.each(['private', 'public'])('who reaches what of a %s one', async (visibility) => {
    await using forge = await startForge()
    const source = await openSource(forge, kind, { ...OPEN, visibility })
    const callers = await callersOf(forge, source)
    const requests = `${source.url}/access_requests`
    const asking = async () => {
      const { id } = await forge.user()
      const at =
        kind === 'groups' ? { group_id: source.id, project_id: null } : { group_id: null, project_id: source.id }
      const requested_at = new Date().toISOString()
      await forge.app.db
        .insertInto('access_requests')
        .values({ ...at, user_id: id, requested_at })
        .execute()
      return id
    }
    const no = visibility === 'public' ? 403 : 404
    const managed = (done: number) => [401, no, no, 403, 403, 403, kind === 'groups' ? 403 : done, done, done, 401]
    expect(await statusesOf(callers, (caller) => caller.get(requests))).toEqual(managed(200))
    expect(await statusesOf(callers, async (caller) => caller.put(`${requests}/${await asking()}/approve`))).toEqual(
      managed(201),
    )
    expect(await statusesOf(callers, async (caller) => caller.delete(`${requests}/${await asking()}`))).toEqual(
      managed(204),
    )
    const ask = visibility === 'public' ? 201 : 404
    const statuses = [401, ask, ask, 403, 403, 403, 403, 403, 403, 401]
    expect(await statusesOf(callers, (caller) => caller.post(requests))).toEqual(statuses)
  })

  test('the list is in pages and costs the same whatever its length', async () => {
    await using forge = await startForge()
    const { url, owner } = await openSource(forge, kind, OPEN)
    const requests = `${url}/access_requests`
    const people: number[] = []
    const ask = async (times: number) => {
      for (let n = 0; n < times; n++) {
        const person = await forge.user()
        people.push(person.id)
        await person.post(requests)
      }
    }
    await ask(2)
    const few = await costOf(forge, () => owner.get(requests))
    await ask(10)
    expect(await costOf(forge, () => owner.get(requests))).toBe(few)
    const page = await owner.get(requests, { per_page: 5, page: 3 })
    expect(page.body.map(({ id }: { id: number }) => id)).toEqual(people.slice(10))
    expect(page.headers.get('X-Total')).toBe('12')
  })
})

test('members through a group, and people around a private one, have nothing to ask for', async () => {
  await using forge = await startForge()
  const project = await openSource(forge, 'projects', { ...OPEN, visibility: 'public' })
  const inherited = await forge.user()
  await project.owner.post(`${project.group.url}/members`, { user_id: inherited.id, access_level: 10 })
  expect(await inherited.post(`${project.url}/access_requests`)).toMatchObject({ status: 403, body: FORBIDDEN })

  // A private group is visible to members of a project in it.
  const group = await openSource(forge, 'groups', { visibility: 'private', request_access_enabled: true })
  const { id } = (await group.owner.post('/projects', { name: 'inner', namespace_id: group.id })).body
  const inside = await forge.user()
  await group.owner.post(`/projects/${id}/members`, { user_id: inside.id, access_level: 30 })
  expect((await inside.get(group.url)).status).toBe(200)
  expect(await inside.post(`${group.url}/access_requests`)).toMatchObject({ status: 403, body: FORBIDDEN })
})

test('of an approval and a withdrawal at the same moment one wins', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'groups', OPEN)
  const ann = await forge.user()
  const request = `${url}/access_requests/${ann.id}`
  await ann.post(`${url}/access_requests`)
  const [approval, withdrawal] = await Promise.all([owner.put(`${request}/approve`), ann.delete(request)])
  expect([
    [201, 404],
    [404, 204],
  ]).toContainEqual([approval!.status, withdrawal!.status])
  const isMember = (await owner.get(`${url}/members/${ann.id}`)).status === 200
  expect(isMember).toBe(approval!.status === 201)
})
