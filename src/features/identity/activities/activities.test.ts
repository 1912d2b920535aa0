import { expect, test } from 'vitest'
import { DAY, today } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { findUser } from '../users/queries.ts'
import { recordActivity } from './service.ts'

const PATH = '/user/activities'

const set = ({ app }: TestForge, id: number, last_activity_on: string | null) =>
  app.db.updateTable('users').set({ last_activity_on }).where('id', '=', id).execute()

const daysAgo = ({ clock }: TestForge, days: number) =>
  new Date(clock.now().getTime() - days * DAY).toISOString().slice(0, 10)

test('lists who was active, the longest silent first, from six months ago or a given day on', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const [ann, bob, cid, dan] = [await forge.user(), await forge.user(), await forge.user(), await forge.user()]
  await forge.user() // never active
  const [recent, older, ancient] = [daysAgo(forge, 3), daysAgo(forge, 100), daysAgo(forge, 200)]
  await set(forge, ann.id, recent)
  await set(forge, dan.id, older)
  await set(forge, bob.id, older)
  await set(forge, cid.id, ancient)
  const record = ({ username }: { username: string }, day: string) => ({
    username,
    last_activity_on: day,
    last_activity_at: day,
  })

  const byDefault = await administrator.get(PATH)
  expect(byDefault.status).toBe(200)
  expect(byDefault.body).toEqual([record(bob, older), record(dan, older), record(ann, recent)])
  expect(byDefault.headers.get('X-Total')).toBe('3')
  expect((await administrator.get(PATH, { from: ancient })).body).toHaveLength(4)
  expect((await administrator.get(PATH, { from: recent })).body).toEqual([record(ann, recent)])

  const page = await administrator.get(PATH, { from: ancient, per_page: 2, page: 2 })
  expect(page.body).toEqual([record(dan, older), record(ann, recent)])
  expect(Object.fromEntries(page.headers)).toMatchObject({ 'x-total': '4', 'x-prev-page': '1', 'x-next-page': '' })
})

test('six months before the end of August is the end of February', async () => {
  await using forge = await startForge()
  const { administrator, clock } = forge
  clock.advance(Date.parse('2031-08-31T12:00:00Z') - clock.now().getTime())
  const [before, on] = [await forge.user(), await forge.user()]
  await set(forge, before.id, '2031-02-27')
  await set(forge, on.id, '2031-02-28')
  const { body } = await administrator.get(PATH)
  expect(body.map((one: { username: string }) => one.username)).toEqual([on.username])
})

test('administrators only; the parameters are looked at first', async () => {
  await using forge = await startForge()
  const anonymous = forge.visitor
  const [stranger, external] = [await forge.user(), await forge.user({ external: true })]
  const blocked = await forge.user({ blocked: true })
  const statuses = async (input: Record<string, unknown>) => {
    const callers = [anonymous, stranger, external, blocked, forge.administrator]
    return (await Promise.all(callers.map((caller) => caller.get(PATH, input)))).map((answer) => answer.status)
  }
  expect(await statuses({})).toEqual([401, 403, 403, 401, 200])
  expect(await statuses({ from: '2020-02-31' })).toEqual([401, 400, 400, 401, 400])
  expect((await stranger.get(PATH)).body).toEqual({ message: '403 Forbidden' })
  expect((await stranger.get(PATH, { from: 'x' })).body).toEqual({
    message: 'from is invalid',
    error: 'from is invalid',
  })
})

test('the first activity of a day is written, the next ones cost nothing', async () => {
  await using forge = await startForge()
  const { app, clock } = forge
  const { id } = await forge.user()
  const user = async () => (await findUser(app.db, id))!
  const stale = await user()
  await recordActivity(app, stale)
  expect((await user()).last_activity_on).toBe(today(clock))
  const fresh = await user()
  expect(await forge.queries(() => recordActivity(app, fresh))).toBe(0)

  clock.advance(2 * DAY)
  await recordActivity(app, fresh)
  expect((await user()).last_activity_on).toBe(today(clock))
  const latest = today(clock)
  // A stale user row does not set the day back.
  clock.advance(-DAY)
  await recordActivity(app, stale)
  expect((await user()).last_activity_on).toBe(latest)
})

/** The least of three runs: the idle worker and the short-lived settings cache sometimes add queries. */
async function costOf(forge: TestForge, work: () => Promise<unknown>): Promise<number> {
  await forge.settle()
  const costs = [await forge.queries(work), await forge.queries(work), await forge.queries(work)]
  return Math.min(...costs)
}

test('the list costs the same whatever its length', async () => {
  await using forge = await startForge()
  const add = async (count: number) => {
    for (let n = 0; n < count; n++) await set(forge, (await forge.user()).id, daysAgo(forge, n))
  }
  await add(2)
  const few = await costOf(forge, () => forge.administrator.get(PATH))
  await add(10)
  expect(await costOf(forge, () => forge.administrator.get(PATH))).toBe(few)
})
