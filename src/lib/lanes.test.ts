import { expect, test } from 'vitest'
import { Lane, LaneFull, limitedCaller, type LimitedCaller } from './lanes.ts'

const limits = { perCaller: 2, inAll: 3, waitingPerCaller: 2, waitingInAll: 3, patience: 60_000 }
const person = (key: string): LimitedCaller => ({ key, isAnonymous: false })
const visitor = (key: string): LimitedCaller => ({ key, isAnonymous: true })
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('so many of a caller and so many in all; the others in the order they came', async () => {
  const lane = new Lane(limits)
  const entered: string[] = []
  const leaves: (() => void)[] = []
  const enter = async (key: string) => {
    const leave = await lane.enter(person(key))
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
  await lane.enter(person('a'))
  await lane.enter(person('a'))
  const late = lane.enter(person('a'))
  const second = lane.enter(person('a'))
  await expect(lane.enter(person('a'))).rejects.toMatchObject({ name: 'LaneFull', isOwn: true, retryAfter: 1 })
  await lane.enter(person('b'))
  const other = lane.enter(person('c'))
  await expect(lane.enter(person('d'))).rejects.toMatchObject({ isOwn: false })
  for (const waiting of [late, second, other]) await expect(waiting).rejects.toBeInstanceOf(LaneFull)
})

test('who has gone takes no turn', async () => {
  const lane = new Lane({ ...limits, inAll: 1 })
  const leave = await lane.enter(person('a'))
  const gone = new AbortController()
  const waiting = lane.enter(person('b'), () => gone.signal)
  gone.abort()
  await expect(waiting).rejects.toBeInstanceOf(LaneFull)
  leave()
  expect(await lane.enter(person('c'))).toBeTypeOf('function')
})

test('anonymous callers together take half of the slots and half of the queue; the rest is for those who signed in', async () => {
  const lane = new Lane({ perCaller: 2, inAll: 4, waitingPerCaller: 2, waitingInAll: 4, patience: 60_000 })
  const leave = await lane.enter(visitor('a'))
  await lane.enter(visitor('b'))
  const entered: string[] = []
  // Some of them wait in vain, beyond the end of the test.
  const enter = (caller: LimitedCaller) =>
    void lane.enter(caller).then(
      () => entered.push(String(caller.key)),
      () => {},
    )
  for (const name of ['c', 'd']) enter(visitor(name))
  await expect(lane.enter(visitor('e'))).rejects.toMatchObject({ isOwn: false })
  await lane.enter(person('f'))
  await lane.enter(person('g'))
  for (const name of ['h', 'i']) enter(person(name))
  await settle()
  expect(entered).toEqual([])
  leave()
  await settle()
  expect(entered).toEqual(['c'])
})

test('callers without an account are counted by their network', () => {
  expect(limitedCaller(7, '2001:db8::1')).toEqual({ key: 7, isAnonymous: false })
  expect(limitedCaller(undefined, '2001:db8::1')).toEqual(limitedCaller(undefined, '2001:db8::2'))
})
