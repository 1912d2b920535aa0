import { expect, test } from 'vitest'
import { CacheBudget } from './cache-budget.ts'
import { CachePressure, type Usage } from './cache-pressure.ts'
import { Lru } from './lru.ts'

const MB = 1024 * 1024
const CALM: Usage = { resident: 200 * MB, heap: 100 * MB, heapLimit: 4000 * MB }

test.each([
  ['much of the process is in memory', { resident: 353 * MB }],
  ['the heap is near its limit', { heap: 2900 * MB }],
])('caches shrink while %s, and grow again afterwards', (_when, usage) => {
  const budget = new CacheBudget(64 * MB)
  const cache = new Lru<number>('numbers', (value) => value, budget)
  const pressure = new CachePressure(budget)
  for (let n = 0; n < 64; n++) cache.set(`${n}`, MB)
  const look = (usage: Partial<Usage>) => {
    pressure.look({ ...CALM, ...usage })
    return [budget.limit / MB, budget.weights.get('numbers')! / MB]
  }
  expect(look({})).toEqual([64, 64])
  expect(look(usage)).toEqual([32, 32])
  expect([look(usage), look(usage), look(usage)].at(-1)).toEqual([8, 8])
  expect(look({ resident: 340 * MB })).toEqual([8, 8])
  expect(look({})).toEqual([16, 8])
  expect([look({}), look({}), look({})].at(-1)).toEqual([64, 8])
})
