import { expect, test } from 'vitest'
import { IdSet } from './id-set.ts'

test('it holds what a plain set holds, however often ids come and go', () => {
  const first = Array.from({ length: 500 }, (_, n) => (n * 7919) % 5003)
  const [ids, plain] = [new IdSet(first), new Set(first)]
  for (let n = 0; n < 20_000; n++) {
    const id = (n * 104_729) % 6007
    const isIn = (n * 31) % 5 < 3
    ids.put(id, isIn)
    if (isIn) plain.add(id)
    else plain.delete(id)
  }
  const held = Array.from({ length: 6100 }, (_, id) => id).filter((id) => ids.has(id))
  expect(held).toEqual([...plain].sort((a, b) => a - b))
  expect(ids.size).toBe(plain.size)
})
