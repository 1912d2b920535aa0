import { expect, test } from 'vitest'
import { Lane, LaneFull } from './lanes.ts'

const limits = { perCaller: 2, inAll: 3, waitingPerCaller: 2, waitingInAll: 3, patience: 60_000 }
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('so many of a caller and so many in all; the others in the order they came', async () => {
  const lane = new Lane(limits)
  const entered: string[] = []
  const leaves: (() => void)[] = []
  const enter = async (key: string) => {
    const leave = await lane.enter(key)
    entered.push(key)
    leaves.push(leave)
  }
  await enter('a')
  await enter('a')
  void enter('a')
  void enter('b')
  await settle()
  expect(entered).toEqual(['a', 'a', 'b'])
  void enter('c')
  await settle()
  expect(entered).toHaveLength(3)
  leaves[2]!()
  await settle()
  // The third of a's waits for one of their own.
  expect(entered).toEqual(['a', 'a', 'b', 'c'])
  leaves[0]!()
  await settle()
  expect(entered).toEqual(['a', 'a', 'b', 'c', 'a'])
})

test('who would wait for too long, or behind too many, is told when to come again', async () => {
  const lane = new Lane({ ...limits, patience: 20 })
  await lane.enter('a')
  await lane.enter('a')
  const late = lane.enter('a')
  const second = lane.enter('a')
  await expect(lane.enter('a')).rejects.toMatchObject({ name: 'LaneFull', isOwn: true, retryAfter: 1 })
  await lane.enter('b')
  const other = lane.enter('c')
  await expect(lane.enter('d')).rejects.toMatchObject({ isOwn: false })
  for (const waiting of [late, second, other]) await expect(waiting).rejects.toBeInstanceOf(LaneFull)
})

test('who has gone takes no turn', async () => {
  const lane = new Lane({ ...limits, inAll: 1 })
  const leave = await lane.enter('a')
  const gone = new AbortController()
  const waiting = lane.enter('b', () => gone.signal)
  gone.abort()
  await expect(waiting).rejects.toBeInstanceOf(LaneFull)
  leave()
  expect(await lane.enter('c')).toBeTypeOf('function')
})
