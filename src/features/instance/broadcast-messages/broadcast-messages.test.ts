import { expect, test } from 'vitest'
import { HOUR } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const PATH = '/broadcast_messages'

test('an administrator tells everybody, changes the words and takes them back', async () => {
  await using forge = await startForge()
  const { administrator, visitor } = forge
  const created = await administrator.post(PATH, { message: 'Back at noon' })
  expect(created.status).toBe(201)
  const { id, starts_at, ends_at } = created.body
  expect(created.body).toEqual({
    id,
    message: 'Back at noon',
    starts_at,
    ends_at,
    color: '#E75E40',
    font: '#FFFFFF',
    active: true,
    target_access_levels: [],
    target_path: null,
    broadcast_type: 'banner',
    theme: 'indigo',
    dismissable: true,
  })
  expect(Date.parse(ends_at) - Date.parse(starts_at)).toBeCloseTo(HOUR, -2)
  expect(await visitor.get(`${PATH}/${id}`)).toMatchObject({ status: 200, body: created.body })
  expect(await visitor.get(PATH)).toMatchObject({ status: 200, body: [created.body] })

  const change = {
    message: 'Back at one',
    starts_at: '2030-01-01T00:00:00.000Z',
    ends_at: '2030-01-02T00:00:00.000Z',
    color: '#abc',
    font: '#000000',
    target_access_levels: [10, 30],
    target_path: '*/welcome',
    broadcast_type: 'notification',
    theme: 'light-red',
    dismissable: false,
  }
  const changed = await administrator.put(`${PATH}/${id}`, change)
  expect(changed).toMatchObject({ status: 200, body: { id, ...change, active: false } })
  const cleared = await administrator.put(`${PATH}/${id}`, { target_path: '', target_access_levels: [] })
  expect(cleared.body).toEqual({ ...changed.body, target_path: null, target_access_levels: [] })

  expect(await administrator.delete(`${PATH}/${id}`)).toMatchObject({ status: 204, body: '' })
  expect(await visitor.get(`${PATH}/${id}`)).toMatchObject({ status: 404, body: { message: '404 Not found' } })
})

test('a message is active while now is inside its interval', async () => {
  await using forge = await startForge()
  const { body } = await forge.administrator.post(PATH, {
    message: 'soon',
    starts_at: '2001-01-01',
    ends_at: '2001-1-2',
  })
  expect(body).toMatchObject({ starts_at: '2001-01-01T00:00:00.000Z', active: false })
  const { id } = (await forge.administrator.post(PATH, { message: 'now' })).body
  forge.clock.advance(HOUR - 60_000)
  expect((await forge.visitor.get(`${PATH}/${id}`)).body.active).toBe(true)
  forge.clock.advance(120_000)
  expect((await forge.visitor.get(`${PATH}/${id}`)).body.active).toBe(false)
})

const both = (text: string) => ({ message: text, error: text })
const badColor = ['must be a valid color code']

test('refuses what breaks a rule, and keeps everything as it was', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const { id } = (await administrator.post(PATH, { message: 'hello' })).body
  const before = (await administrator.get(PATH)).body
  const refusals: [input: Record<string, unknown>, body: unknown][] = [
    [{ message: ' ' }, { message: { message: ["can't be blank"] } }],
    [{ message: 'x'.repeat(10_001) }, { message: { message: ['is too long (maximum is 10000 characters)'] } }],
    [
      { message: 'm', target_path: 'x'.repeat(256) },
      { message: { target_path: ['is too long (maximum is 255 characters)'] } },
    ],
    [{ message: 'm', color: 'red' }, { message: { color: badColor } }],
    [{ message: 'm', color: '#12345', font: '#ggg' }, { message: { color: badColor, font: badColor } }],
    [{ message: 'm', starts_at: 'tomorrow' }, both('starts_at is invalid')],
    [{ message: 'm', broadcast_type: 'shout' }, both('broadcast_type does not have a valid value')],
    [{ message: 'm', theme: 'pink' }, both('theme does not have a valid value')],
    [{ message: 'm', target_access_levels: [11] }, both('target_access_levels does not have a valid value')],
  ]
  for (const [input, body] of refusals) {
    for (const answer of [await administrator.post(PATH, input), await administrator.put(`${PATH}/${id}`, input)]) {
      expect([input, answer.status, answer.body]).toEqual([input, 400, body])
    }
  }
  expect(await administrator.post(PATH, {})).toMatchObject({
    status: 400,
    body: { message: '400 (Bad request) message not given', error: 'message is missing' },
  })
  expect(await administrator.get(`${PATH}/x`)).toMatchObject({ status: 400, body: both('id is invalid') })
  expect((await administrator.get(PATH)).body).toEqual(before)
  expect(await forge.events()).toEqual([])
})

test('a message changed meanwhile is not deleted', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const { id } = (await administrator.post(PATH, { message: 'hello' })).body
  const since = (ms: number) => ({ 'If-Unmodified-Since': new Date(Date.now() + ms).toUTCString() })
  expect(await administrator.delete(`${PATH}/${id}`, undefined, since(-HOUR))).toMatchObject({
    status: 412,
    body: { message: '412 Precondition Failed' },
  })
  expect((await administrator.get(`${PATH}/${id}`)).status).toBe(200)
  expect((await administrator.delete(`${PATH}/${id}`, undefined, since(HOUR))).status).toBe(204)
})

/** The least of three runs: the idle worker and the short-lived settings cache sometimes add queries. */
async function costOf(forge: TestForge, work: () => Promise<unknown>): Promise<number> {
  await forge.settle()
  const costs = [await forge.queries(work), await forge.queries(work), await forge.queries(work)]
  return Math.min(...costs)
}

test('the list is in pages, newest first, and costs the same whatever its length', async () => {
  await using forge = await startForge()
  const { administrator, visitor } = forge
  const ids: number[] = []
  const add = async (count: number) => {
    for (let n = 0; n < count; n++) ids.unshift((await administrator.post(PATH, { message: `${n}` })).body.id)
  }
  await add(2)
  const few = await costOf(forge, () => visitor.get(PATH))
  await add(10)
  expect(await costOf(forge, () => visitor.get(PATH))).toBe(few)

  const page = await visitor.get(PATH, { per_page: 5, page: 2 })
  expect(page.body.map((one: { id: number }) => one.id)).toEqual(ids.slice(5, 10))
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'x-total': '12',
    'x-total-pages': '3',
    'x-page': '2',
    'x-next-page': '3',
    'x-prev-page': '1',
  })
})
