import { expect, test } from 'vitest'
import { CALLERS, castOf } from '../../../test/cast.ts'
import { LfsClient, authorizationOf, lfsStateOf } from '../../../test/lfs.ts'
import { startForge, type Person, type TestForge } from '../../forge.ts'

const LOCKS = 'info/lfs/locks'

async function openLocks(forge: TestForge) {
  const cast = await castOf(forge, 'private')
  const { path_with_namespace: path } = await cast.project()
  const as = (person: Person) => new LfsClient(forge, path, authorizationOf(person))
  const { developer, master, reporter } = cast.people
  return {
    cast,
    path,
    as,
    developer: as(developer),
    master: as(master),
    reporter: as(reporter),
    name: developer.username,
  }
}

const saying = (forge: TestForge, message: string) => ({ message, documentation_url: `${forge.url}/api/docs` })

test('a lock is made, seen, verified and given back', async () => {
  await using forge = await startForge()
  const { developer, master, reporter, name } = await openLocks(forge)
  const made = await developer.post(LOCKS, { path: 'art/ü.psd', ref: { name: 'refs/heads/master' } })
  const lock = {
    id: expect.stringMatching(/^\d+$/),
    path: 'art/ü.psd',
    locked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    owner: { name },
  }
  expect([made.status, made.body]).toEqual([201, { lock }])
  const { id } = made.body.lock

  for (const who of [master, developer]) {
    const again = await who.post(LOCKS, { path: 'art/ü.psd' })
    expect([again.status, again.body]).toEqual([409, { lock, ...saying(forge, 'already locked') }])
  }
  expect((await reporter.get(LOCKS)).body).toEqual({ locks: [lock] })
  for (const [query, count] of [
    [`path=${encodeURIComponent('art/ü.psd')}`, 1],
    ['path=art', 0],
    [`id=${id}`, 1],
    ['id=4000000', 0],
    ['path=&id=&cursor=&limit=', 1],
    ['refspec=refs/heads/x', 1],
  ] as const) {
    expect((await reporter.get(`${LOCKS}?${query}`)).body.locks, query).toHaveLength(count)
  }
  expect((await developer.post(`${LOCKS}/verify`, {})).body).toEqual({ ours: [lock], theirs: [] })
  expect((await master.post(`${LOCKS}/verify`, { ref: { name: 'x' } })).body).toEqual({ ours: [], theirs: [lock] })

  const given = await developer.post(`${LOCKS}/${id}/unlock`, {})
  expect([given.status, given.body]).toEqual([200, { lock }])
  expect((await reporter.get(LOCKS)).body).toEqual({ locks: [] })
  const gone = await developer.post(`${LOCKS}/${id}/unlock`, { force: true })
  expect([gone.status, gone.body]).toEqual([404, saying(forge, 'Lock not found')])
})

test('only its owner gives a lock back, or a master by force', async () => {
  await using forge = await startForge()
  const { cast, as, developer, master, name } = await openLocks(forge)
  const { id } = (await developer.post(LOCKS, { path: 'a' })).body.lock
  const before = await lfsStateOf(forge)
  const other = await forge.user()
  await cast.people.owner.post(`/groups/${cast.group.id}/members`, { user_id: other.id, access_level: 30 })
  for (const [who, input, text] of [
    [master, {}, `'a' is locked by @${name}`],
    [as(other), { force: false }, `'a' is locked by @${name}`],
    [as(other), { force: true }, 'You must have master access to force delete a lock'],
  ] as const) {
    const { status, body } = await who.post(`${LOCKS}/${id}/unlock`, input)
    expect([status, body]).toEqual([403, saying(forge, text)])
  }
  expect(await lfsStateOf(forge)).toEqual(before)
  expect((await master.post(`${LOCKS}/${id}/unlock`, { force: true })).status).toBe(200)
})

test('a lock of another project is not found', async () => {
  await using forge = await startForge()
  const { cast, developer } = await openLocks(forge)
  const { id } = (await developer.post(LOCKS, { path: 'a' })).body.lock
  const { path_with_namespace: path } = await cast.project()
  const elsewhere = new LfsClient(forge, path, authorizationOf(cast.people.owner))
  const before = await lfsStateOf(forge)
  expect((await elsewhere.post(`${LOCKS}/${id}/unlock`, { force: true })).status).toBe(404)
  expect((await elsewhere.get(LOCKS)).body).toEqual({ locks: [] })
  expect(await lfsStateOf(forge)).toEqual(before)
  expect((await elsewhere.post(LOCKS, { path: 'a' })).status).toBe(201)
})

test('wishes that make no sense', async () => {
  await using forge = await startForge()
  const { developer } = await openLocks(forge)
  const before = await lfsStateOf(forge)
  const inputs = [{}, { path: '' }, { path: 7 }, { path: null }, { path: ['a'] }, { path: 'ü'.repeat(1001) }]
  for (const input of inputs) expect((await developer.post(LOCKS, input)).status, JSON.stringify(input)).toBe(422)
  expect((await developer.post(LOCKS, { path: 'a\0b' })).status).toBe(400)
  expect((await developer.get(`${LOCKS}?limit=x`)).status).toBe(422)
  expect((await developer.get(`${LOCKS}?path=a%00`)).status).toBe(400)
  expect((await developer.post(`${LOCKS}/1/unlock`, { force: 'perhaps' })).status).toBe(422)
  expect((await developer.post(`${LOCKS}/x/unlock`, {})).status).toBe(404)
  expect(await lfsStateOf(forge)).toEqual(before)
})

test('of many who lock at once one has it', async () => {
  await using forge = await startForge()
  const { developer, master } = await openLocks(forge)
  const tries = await Promise.all([1, 2, 3, 4].map((n) => (n % 2 ? developer : master).post(LOCKS, { path: 'a' })))
  expect(tries.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409])
  expect(new Set(tries.map(({ body }) => body.lock.owner.name)).size).toBe(1)
})

test('long lists come in pages, each at the same cost', async () => {
  await using forge = await startForge()
  const { developer } = await openLocks(forge)
  const cost = () => forge.queries(() => developer.get(LOCKS))
  for (let n = 0; n < 2; n++) await developer.post(LOCKS, { path: `f${n}` })
  const few = await cost()
  for (let n = 2; n < 12; n++) await developer.post(LOCKS, { path: `f${n}` })
  expect(await cost()).toBe(few)

  const seen: string[] = []
  let cursor = ''
  for (let pages = 0; pages < 3; pages++) {
    const { body } = await developer.get(`${LOCKS}?limit=5&cursor=${cursor}`)
    seen.push(...body.locks.map(({ path }: { path: string }) => path))
    cursor = body.next_cursor
  }
  expect(cursor).toBeUndefined()
  expect(seen).toEqual(Array.from({ length: 12 }, (_, n) => `f${n}`))
  const { body } = await developer.post(`${LOCKS}/verify`, { limit: 10 })
  const rest = await developer.post(`${LOCKS}/verify`, { limit: 10, cursor: body.next_cursor })
  expect([body.ours.length, rest.body.ours.length, rest.body.next_cursor]).toEqual([10, 2, undefined])
})

const ROLES = {
  private: [401, 404, 404, 403, 403, 201, 201, 201, 201, 403],
  public: [401, 403, 403, 403, 403, 201, 201, 201, 201, 403],
} as const

const MESSAGES: Record<number, string> = {
  401: 'HTTP Basic: Access denied',
  403: 'You have no permissions',
  404: 'Not found.',
}

test.each(['private', 'public'] as const)('who may lock on a %s project', async (visibility) => {
  await using forge = await startForge()
  const cast = await castOf(forge, visibility)
  const { path_with_namespace: path } = await cast.project()
  for (const [n, who] of CALLERS.entries()) {
    const client = new LfsClient(forge, path, authorizationOf(cast.callers[who]))
    const before = await lfsStateOf(forge)
    const { status, body } = await client.post(LOCKS, { path: who })
    const message = who === 'blocked' ? 'Your account has been blocked.' : MESSAGES[status]
    expect([status, body.message], who).toEqual([ROLES[visibility][n], message])
    const isSame = JSON.stringify(await lfsStateOf(forge)) === JSON.stringify(before)
    expect(isSame, who).toBe(status !== 201)
    const { status: unlocked } = await client.post(`${LOCKS}/${body.lock?.id ?? 1}/unlock`, {})
    expect(unlocked, who).toBe(status === 201 ? 200 : status)
  }
})
