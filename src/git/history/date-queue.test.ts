import { expect, test } from 'vitest'
import { DateQueue } from './date-queue.ts'

test('comes out as a list would that is sorted by date and keeps the order of equals', () => {
  let seed = 7
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  for (let round = 0; round < 50; round++) {
    const queue = new DateQueue()
    const list: { item: number; date: number }[] = []
    const taken: (number | undefined)[] = []
    const expected: (number | undefined)[] = []
    for (let item = 0; item < 200; item++) {
      if (random(3) > 0) {
        const date = random(20)
        queue.add(item, date)
        const place = list.findIndex((other) => other.date < date)
        list.splice(place < 0 ? list.length : place, 0, { item, date })
      } else {
        taken.push(queue.take())
        expected.push(list.shift()?.item)
      }
    }
    while (list.length > 0) {
      taken.push(queue.take())
      expected.push(list.shift()!.item)
    }
    expect(taken).toEqual(expected)
    expect(queue.take()).toBeUndefined()
  }
})
