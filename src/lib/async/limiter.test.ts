import { expect, test } from 'vitest'
import { Limiter, LimiterFull, limitedCaller, type LimitedCaller } from './limiter.ts'

const limits = { perCaller: 2, inAll: 3, waitingPerCaller: 2, waitingInAll: 3, patience: 60_000 }
const person = (key: string): LimitedCaller => ({ key, isAnonymous: false })
const visitor = (key: string): LimitedCaller => ({ key, isAnonymous: true })
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('so many of a caller and so many in all; the others in the order they came', async () => {
  const limiter = new Limiter(limits)
  const entered: string[] = []
  const leaves: (() => void)[] = []
  const enter = async (key: string) => {
    const leave = await limiter.enter(person(key))
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
  // The third task of `a` waits for one of their own.
  expect(entered).toEqual(['a', 'a', 'b', 'c'])
  leaves[0]!()
  await settle()
  expect(entered).toEqual(['a', 'a', 'b', 'c', 'a'])
})

test('who would wait for too long, or behind too many, is told when to come again', async () => {
  const limiter = new Limiter({ ...limits, patience: 20 })
  await limiter.enter(person('a'))
  await limiter.enter(person('a'))
  const late = limiter.enter(person('a'))
  const second = limiter.enter(person('a'))
  await expect(limiter.enter(person('a'))).rejects.toMatchObject({ name: 'LimiterFull', isOwn: true, retryAfter: 1 })
  await limiter.enter(person('b'))
  const other = limiter.enter(person('c'))
  await expect(limiter.enter(person('d'))).rejects.toMatchObject({ isOwn: false })
  for (const waiting of [late, second, other]) await expect(waiting).rejects.toBeInstanceOf(LimiterFull)
})

test('who has gone takes no turn', async () => {
  const limiter = new Limiter({ ...limits, inAll: 1 })
  const leave = await limiter.enter(person('a'))
  const gone = new AbortController()
  const waiting = limiter.enter(person('b'), () => gone.signal)
  gone.abort()
  await expect(waiting).rejects.toBeInstanceOf(LimiterFull)
  leave()
  expect(await limiter.enter(person('c'))).toBeTypeOf('function')
})

test('anonymous callers together take half of the slots and half of the queue; the rest is for those who signed in', async () => {
  const limiter = new Limiter({ perCaller: 2, inAll: 4, waitingPerCaller: 2, waitingInAll: 4, patience: 60_000 })
  const leave = await limiter.enter(visitor('a'))
  await limiter.enter(visitor('b'))
  const entered: string[] = []
  // Some of them wait in vain, beyond the end of the test.
  const enter = (caller: LimitedCaller) =>
    void limiter.enter(caller).then(
      () => entered.push(String(caller.key)),
      () => {},
    )
  for (const name of ['c', 'd']) enter(visitor(name))
  await expect(limiter.enter(visitor('e'))).rejects.toMatchObject({ isOwn: false })
  await limiter.enter(person('f'))
  await limiter.enter(person('g'))
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
