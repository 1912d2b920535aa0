import { expect, test } from 'vitest'
import { startForge } from '../forge.ts'
import { transact } from '../store/transact.ts'
import { cachedRecords } from './cached-records.ts'
import { Json } from './json.ts'

test('a fragment is made once for its stamp, and anew for another', async () => {
  await using forge = await startForge()
  const made: string[] = []
  const ask = async (...versionKeys: string[]) => {
    const keys = versionKeys.map((timestamp, i) => ({ cacheKey: `record ${i}`, versionKey: timestamp }))
    const present = (missing: number[]) =>
      missing.map((i) => (made.push(versionKeys[i]!), { versionKey: versionKeys[i] }))
    return (await cachedRecords(forge.app, keys, present)).map(({ value }) => value.versionKey)
  }
  expect(await ask('a1', 'b1')).toEqual(['a1', 'b1'])
  expect(await ask('a1', 'b2')).toEqual(['a1', 'b2'])
  expect(await ask('a1', 'b2')).toEqual(['a1', 'b2'])
  expect(made).toEqual(['a1', 'b1', 'b2'])
})

test('what a transaction makes is not kept, nor is it given what was', async () => {
  await using forge = await startForge()
  const { app } = forge
  let made = 0
  const ask = async (inside = app) => {
    const [json] = await cachedRecords(inside, [{ cacheKey: 'record', versionKey: 'same' }], () => [++made])
    return json!.value
  }
  expect(await transact(app, ask)).toBe(1)
  expect([await ask(), await ask()]).toEqual([2, 2])
  expect(await transact(app, ask)).toBe(3)
  expect(await ask()).toBe(2)
})

test('what is gone meanwhile is left out, and looked for again', async () => {
  await using forge = await startForge()
  const keys = ['a', 'b', 'c'].map((cacheKey) => ({ cacheKey, versionKey: '1' }))
  const ask = async (records: (string | undefined)[]) =>
    (await cachedRecords(forge.app, keys, (missing) => missing.map((i) => records[i]))).map(({ value }) => value)
  expect(await ask(['a', undefined, 'c'])).toEqual(['a', 'c'])
  expect(await ask(['x', 'b', 'x'])).toEqual(['a', 'b', 'c'])
})

test('what is written is what JSON would be, with another digest for other bytes', () => {
  const values = [{ name: 'ünï “code”', none: null, list: [1] }, 'text', 7, false, []]
  const written = values.map((value) => Json.of(value))
  for (const [i, json] of written.entries()) expect(json.bytes.toString()).toBe(JSON.stringify(values[i]))
  for (let length = 0; length <= values.length; length++) {
    expect(Json.list(written.slice(0, length)).bytes.toString()).toBe(JSON.stringify(values.slice(0, length)))
  }
  const object = { a: 1, list: Json.list(written), none: undefined, last: 'x' }
  const plain = { a: 1, list: values, none: undefined, last: 'x' }
  expect(Json.object<Record<string, unknown>>(object).bytes.toString()).toBe(JSON.stringify(plain))
  expect(Json.object({}).bytes.toString()).toBe('{}')

  const digests = [Json.list(written), Json.list(written.toReversed()), Json.list([]), ...written].map((j) => j.digest)
  expect(new Set(digests).size).toBe(digests.length)
  expect(Json.list(values.map((value) => Json.of(value))).digest).toBe(Json.list(written).digest)
})
