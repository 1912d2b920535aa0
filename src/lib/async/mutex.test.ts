import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { withMutex } from './mutex.ts'

test('work under one key runs one at a time, in order, also after failures', async () => {
  const seen: string[] = []
  const work = (name: string, ms: number) =>
    withMutex('a', async (hasWaited) => {
      seen.push(`${name} begins${hasWaited ? ' late' : ''}`)
      await sleep(ms)
      seen.push(`${name} ends`)
      if (name === 'one') throw new Error('no')
      return name
    })
  const ends = await Promise.allSettled([work('one', 10), work('two', 1), work('three', 0)])
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect(seen).toEqual(['one begins', 'one ends', 'two begins late', 'two ends', 'three begins late', 'three ends'])
  expect(await work('four', 0)).toBe('four')
  expect(seen.at(-2)).toBe('four begins')
})

test('work under other keys does not wait', async () => {
  const gate = Promise.withResolvers<void>()
  const slow = withMutex('a', () => gate.promise)
  expect(await withMutex('b', async (hasWaited) => hasWaited)).toBe(false)
  gate.resolve()
  await slow
})
