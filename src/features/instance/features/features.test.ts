import { expect, test } from 'vitest'
import { startForge, type TestForge } from '../../../forge.ts'

const off = { key: 'boolean', value: false }

test('a switch is made on demand, turned, listed and forgotten', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const jane = await forge.user({ username: 'jane' })
  const john = await forge.user({ username: 'john' })
  const set = async (name: string, input: Record<string, unknown>) => {
    const answer = await administrator.post(`/features/${name}`, input)
    expect(answer.status).toBe(201)
    return answer.body
  }

  expect(await set('plain', { value: 'true' })).toEqual({
    name: 'plain',
    state: 'on',
    gates: [{ key: 'boolean', value: true }],
  })
  expect(await set('plain', { value: false })).toEqual({ name: 'plain', state: 'off', gates: [off] })

  expect(await set('time', { value: 25 })).toEqual({
    name: 'time',
    state: 'conditional',
    gates: [off, { key: 'percentage_of_time', value: 25 }],
  })
  expect(await set('time', { value: '30', key: 'percentage_of_actors' })).toEqual({
    name: 'time',
    state: 'conditional',
    gates: [off, { key: 'percentage_of_actors', value: 30 }, { key: 'percentage_of_time', value: 25 }],
  })
  expect(await set('time', { value: '0' })).toEqual({ name: 'time', state: 'off', gates: [off] })
  expect(await set('time', { value: '100' })).toMatchObject({ state: 'on' })

  expect(await set('people', { value: 'true', user: 'Jane', feature_group: 'testers' })).toEqual({
    name: 'people',
    state: 'conditional',
    gates: [off, { key: 'groups', value: ['testers'] }, { key: 'actors', value: [`User:${jane.id}`] }],
  })
  expect((await set('people', { value: 'true', user: 'john,jane', force: true })).gates).toContainEqual({
    key: 'actors',
    value: [`User:${jane.id}`, `User:${john.id}`],
  })
  expect((await set('people', { value: 'false', user: 'jane' })).gates).toContainEqual({
    key: 'actors',
    value: [`User:${john.id}`],
  })

  const list = await administrator.get('/features/')
  expect(list.body.map((one: { name: string }) => one.name)).toEqual(['people', 'plain', 'time'])
  expect(list.headers.get('X-Total')).toBe(null)
  expect(await administrator.delete('/features/people')).toMatchObject({ status: 204, body: '' })
  expect(await administrator.delete('/features/people')).toMatchObject({ status: 204, body: '' })
  expect((await administrator.get('/features')).body).toHaveLength(2)
})

const both = (text: string) => ({ message: text, error: text })

test('refuses values it cannot mean and targets that do not exist', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  await forge.user({ username: 'jane' })
  const refusals: [input: Record<string, unknown>, body: unknown][] = [
    [{}, { message: '400 (Bad request) value not given', error: 'value is missing' }],
    [{ value: 'perhaps' }, both('value is invalid')],
    [{ value: '101' }, both('value is invalid')],
    [{ value: '-1' }, both('value is invalid')],
    [{ value: 'constructor' }, both('value is invalid')],
    [{ value: '5', key: 'percentage_of_luck' }, both('key does not have a valid value')],
    [{ value: '5', key: 'percentage_of_time', user: 'jane' }, both('key, user are mutually exclusive')],
    [{ value: 'true', user: 'jane,nobody' }, { message: '400 Bad request - nobody is not found!' }],
    [{ value: 'true', project: 'no/such' }, { message: '400 Bad request - no/such is not found!' }],
    [
      { value: 'true', feature_group: ['x'.repeat(256), 'y'.repeat(256)] },
      { message: { feature_group: ['is too long (maximum is 255 characters)'] } },
    ],
  ]
  const before = await forge.events()
  for (const [input, body] of refusals) {
    const answer = await administrator.post('/features/x', input)
    expect([input, answer.status, answer.body]).toEqual([input, 400, body])
  }
  expect(await administrator.post(`/features/${'x'.repeat(256)}`, { value: true })).toMatchObject({
    status: 400,
    body: { message: { name: ['is too long (maximum is 255 characters)'] } },
  })
  expect((await administrator.get('/features')).body).toEqual([])
  expect(await forge.events()).toEqual(before)
})

test('calls at the same time all count', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const groups = ['a', 'b', 'c', 'd', 'e']
  const answers = await Promise.all(
    groups.map((feature_group) => administrator.post('/features/new', { value: 'true', feature_group })),
  )
  expect(answers.map((answer) => answer.status)).toEqual(groups.map(() => 201))
  const [{ gates }] = (await administrator.get('/features')).body
  expect(gates[1].value.toSorted()).toEqual(groups)
})

/** The least of three runs: the idle worker and the short-lived settings cache sometimes add queries. */
async function costOf(forge: TestForge, work: () => Promise<unknown>): Promise<number> {
  await forge.settle()
  const costs = [await forge.queries(work), await forge.queries(work), await forge.queries(work)]
  return Math.min(...costs)
}

test('the list costs the same whatever its length', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const add = (from: number, to: number) =>
    Promise.all(
      Array.from({ length: to - from }, (_, n) => administrator.post(`/features/f${from + n}`, { value: 'true' })),
    )
  await add(0, 2)
  const few = await costOf(forge, () => administrator.get('/features'))
  await add(2, 12)
  expect(await costOf(forge, () => administrator.get('/features'))).toBe(few)
})
