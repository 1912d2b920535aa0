import { expect, test } from 'vitest'
import { OutOfTime, PoolFull } from './errors.ts'
import { ThreadPool, type PoolLimits, type TaskOptions } from './pool.ts'

const LIMITS: PoolLimits = {
  threads: 2,
  perCaller: 1,
  waitingPerCaller: 40,
  waitingInAll: 60,
  patience: 60_000,
  idle: 1_000,
}

/** Runs for so many milliseconds, for ever, or fails. */
const WORK = new URL(
  `data:text/javascript,${encodeURIComponent(`
    export async function perform({ name, ms = 0, fault, asks = [] }, ask) {
      if (asks.length > 0) return Promise.allSettled(asks.map(ask)).then((all) => all.map((one) => one.value ?? one.reason.message))
      if (fault) throw new TypeError(fault)
      for (const end = performance.now() + ms; performance.now() < end;);
      return name
    }`)}`,
)
const FOR_EVER = 1e9
const user = (id: number) => ({ key: id, isAnonymous: false })
const visitor = (address: string) => ({ key: address, isAnonymous: true })
const options = { caller: user(1), deadline: 20_000 }

test('a task that passes its deadline ends, and the next one has a thread', async () => {
  const pool = new ThreadPool(LIMITS)
  await expect(pool.run(WORK, { ms: FOR_EVER }, { caller: user(1), deadline: 50 })).rejects.toThrow(OutOfTime)
  expect(await pool.run(WORK, { name: 'next' }, options)).toBe('next')
})

test('a task that fails leaves its thread alive', async () => {
  const pool = new ThreadPool(LIMITS)
  await expect(pool.run(WORK, { fault: 'bad input' }, options)).rejects.toThrow('bad input')
  expect(await pool.run(WORK, { name: 'next' }, options)).toBe('next')
})

test('a task asks its owner, who may fail to answer', async () => {
  const pool = new ThreadPool(LIMITS)
  const answer = async (question: unknown) => {
    if (question === 'bad') throw new TypeError('no answer')
    return `${question as string}!`
  }
  expect(await pool.run(WORK, { asks: ['one', 'bad', 'two'] }, { ...options, answer })).toEqual([
    'one!',
    'TypeError: no answer',
    'two!',
  ])
})

test('callers take turns, however many tasks one of them has', async () => {
  const pool = new ThreadPool({ ...LIMITS, threads: 1 })
  const order: unknown[] = []
  const run = async (caller: TaskOptions['caller'], name: string) => {
    order.push(await pool.run(WORK, { name, ms: 5 }, { caller, deadline: 20_000 }))
  }
  const flood = Array.from({ length: 10 }, (_, n) => run(user(1), `flood ${n}`))
  await Promise.all([
    ...flood,
    run(user(2), 'user'),
    run(visitor('192.0.2.1'), 'address'),
    run(undefined, 'background'),
  ])
  expect(order.slice(0, 5)).toEqual(['flood 0', 'flood 1', 'user', 'address', 'background'])
})

test.each([
  ['a caller', [user(1), user(1)]],
  ['callers known by their address alone', [visitor('192.0.2.1'), visitor('192.0.2.2')]],
])('%s cannot take all threads', async (_who, callers) => {
  const pool = new ThreadPool(LIMITS)
  const endless = callers.map((caller) => pool.run(WORK, { ms: FOR_EVER }, { caller, deadline: 700 }))
  const settled = Promise.allSettled(endless)
  expect(await Promise.race([pool.run(WORK, { name: 'other' }, { caller: user(2), deadline: 20_000 }), settled])).toBe(
    'other',
  )
  await settled
})

test('more tasks than may wait are refused, and so are those that wait for too long', async () => {
  const pool = new ThreadPool({ ...LIMITS, waitingPerCaller: 1, patience: 20 })
  const endless = pool.run(WORK, { ms: FOR_EVER }, { caller: user(1), deadline: 500 })
  const waiting = pool.run(WORK, { name: 'waiting' }, options)
  await expect(pool.run(WORK, { name: 'too many' }, options)).rejects.toThrow(PoolFull)
  await expect(waiting).rejects.toThrow(PoolFull)
  await expect(endless).rejects.toThrow(OutOfTime)
})
