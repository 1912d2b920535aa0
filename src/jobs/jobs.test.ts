import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, type Clock } from '../clock.ts'
import { job, on, type App } from '../context.ts'
import { startForge, type TestForge } from '../forge.ts'
import { StoreUnavailable } from '../store/database.ts'
import { transact } from '../store/transact.ts'
import { emit } from '../store/outbox.ts'
import { LEASE_MS, MAX_ATTEMPTS } from './bookkeeping.ts'
import { enqueue, type Job } from './queue.ts'
import { startWorker, type Subscription } from './worker.ts'

/** A worker over the forge's store. The forge's own worker does not know these jobs and is stopped. */
async function workerOver(
  forge: TestForge,
  jobs: Job<App, never>[],
  { subscriptions = [], clock = forge.app.clock }: { subscriptions?: Subscription<App>[]; clock?: Clock } = {},
) {
  await forge.stopWorker()
  const worker = startWorker({ ...forge.app, clock }, { jobs, subscriptions })
  return { ...worker, [Symbol.asyncDispose]: worker.stop }
}

const rows = (forge: TestForge) =>
  forge.app.db.selectFrom('jobs').selectAll().where('key', 'is', null).orderBy('id').execute()

test('a job runs once its transaction has committed, and not at all when it was rolled back', async () => {
  await using forge = await startForge()
  const done: number[] = []
  const count = job<{ n: number }>('test.count', async (_app, { n }) => void done.push(n))
  await using worker = await workerOver(forge, [count as Job<App, never>])
  await transact(forge.app, (app) => enqueue(app, count, { n: 1 }))
  await transact(forge.app, async (app) => {
    await enqueue(app, count, { n: 2 })
    throw new Error('no')
  }).catch(() => {})
  await worker.settle()
  expect(done).toEqual([1])
  expect(await rows(forge)).toEqual([])
})

test('a job of a newer version waits for a process that knows it, and fails after a day', async () => {
  await using forge = await startForge()
  const done: number[] = []
  const count = job<{ n: number }>('test.newer', async (_app, { n }) => void done.push(n))
  {
    await using older = await workerOver(forge, [])
    await enqueue(forge.app, count, { n: 1 })
    for (let i = 0; i < MAX_ATTEMPTS + 1; i++) {
      forge.clock.advance(MINUTE)
      await older.settle()
    }
    expect(await rows(forge)).toMatchObject([{ state: 'ready', attempts: 0, last_error: null, lease_until: null }])
  }
  forge.clock.advance(MINUTE)
  {
    await using newer = await workerOver(forge, [count as Job<App, never>])
    await newer.settle()
    expect([done, await rows(forge)]).toEqual([[1], []])
  }
  await using older = await workerOver(forge, [])
  await enqueue(forge.app, count, { n: 2 })
  forge.clock.advance(DAY)
  await older.settle()
  expect(await rows(forge)).toMatchObject([{ attempts: 1, last_error: 'no job is named test.newer' }])
})

test('a failing job backs off, tries again and ends as a dead letter that tells why', async () => {
  await using forge = await startForge()
  let tries = 0
  const fail = job('test.fail', async () => {
    tries++
    throw new Error(`try ${tries}`)
  })
  await using worker = await workerOver(forge, [fail])
  await enqueue(forge.app, fail, {} as never)
  await worker.settle()
  expect(tries).toBe(1)
  expect(await rows(forge)).toMatchObject([{ state: 'ready', attempts: 1, last_error: 'try 1', lease_until: null }])
  await worker.settle()
  expect(tries).toBe(1)
  for (let i = 2; i <= MAX_ATTEMPTS + 3; i++) {
    forge.clock.advance(2 * HOUR)
    await worker.settle()
  }
  expect(tries).toBe(MAX_ATTEMPTS)
  expect(await rows(forge)).toMatchObject([
    { state: 'dead', attempts: MAX_ATTEMPTS, last_error: `try ${MAX_ATTEMPTS}` },
  ])
})

test('a job whose worker died runs again once its lease ends, on one worker only', async () => {
  await using forge = await startForge()
  let runs = 0
  const slow = job('test.slow', async () => {
    runs++
    await sleep(20)
  })
  await forge.stopWorker()
  await enqueue(forge.app, slow, {} as never)
  const lease_until = new Date(forge.clock.now().getTime() + 60_000).toISOString()
  await forge.app.db.updateTable('jobs').set({ lease_until, attempts: 1 }).where('name', '=', 'test.slow').execute()

  await using one = await workerOver(forge, [slow])
  await using two = await workerOver(forge, [slow])
  await Promise.all([one.settle(), two.settle()])
  expect(runs).toBe(0)
  forge.clock.advance(61_000)
  await Promise.all([one.settle(), two.settle()])
  expect(runs).toBe(1)
  expect(await rows(forge)).toEqual([])
})

test('many jobs over two workers run once each', async () => {
  await using forge = await startForge()
  const seen: number[] = []
  const note = job<{ n: number }>('test.note', async (_app, { n }) => void seen.push(n))
  await using one = await workerOver(forge, [note as Job<App, never>])
  await using two = await workerOver(forge, [note as Job<App, never>])
  await transact(forge.app, async (app) => {
    for (let n = 0; n < 50; n++) await enqueue(app, note, { n })
  })
  await Promise.all([one.settle(), two.settle()])
  expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => n))
})

test('a key stands once in the queue', async () => {
  await using forge = await startForge()
  let runs = 0
  const keyed = job('test.keyed', async () => void runs++)
  await using worker = await workerOver(forge, [keyed])
  await transact(forge.app, async (app) => {
    await enqueue(app, keyed, {} as never, { key: 'once' })
    await enqueue(app, keyed, {} as never, { key: 'once' })
  })
  await worker.settle()
  expect(runs).toBe(1)
})

test('a recurring job runs again after its time, not before', async () => {
  await using forge = await startForge()
  let runs = 0
  const daily = job('test.daily', async () => void runs++, { every: DAY })
  await using worker = await workerOver(forge, [daily as Job<App, never>])
  await worker.settle()
  expect(runs).toBe(0)
  for (const expected of [1, 2]) {
    forge.clock.advance(DAY + HOUR)
    await worker.settle()
    await worker.settle()
    expect(runs).toBe(expected)
  }
})

test('a recurring job is never given up, and runs as before once it succeeds again', async () => {
  await using forge = await startForge()
  let [runs, isBroken] = [0, true]
  const daily = job(
    'test.daily',
    async () => {
      runs++
      if (isBroken) throw new Error('not today')
    },
    { every: DAY },
  )
  await using worker = await workerOver(forge, [daily as Job<App, never>])
  const row = () => forge.app.db.selectFrom('jobs').selectAll().where('key', '=', 'test.daily').executeTakeFirst()
  await worker.settle()
  forge.clock.advance(DAY + HOUR)
  await worker.settle()
  for (let i = 0; i < MAX_ATTEMPTS + 3; i++) {
    forge.clock.advance(2 * HOUR)
    await worker.settle()
  }
  expect(runs).toBe(MAX_ATTEMPTS + 4)
  expect(await row()).toMatchObject({ state: 'ready', attempts: MAX_ATTEMPTS + 4, last_error: 'not today' })
  isBroken = false
  forge.clock.advance(2 * HOUR)
  await worker.settle()
  expect(await row()).toMatchObject({ state: 'ready', attempts: 0, last_error: null })
})

test('a recurring job that was given up by an earlier version is taken up again', async () => {
  await using forge = await startForge()
  let runs = 0
  const daily = job('test.daily', async () => void runs++, { every: DAY })
  await enqueue(forge.app, daily, {} as never, { key: 'test.daily' })
  await forge.stopWorker()
  await forge.app.db.updateTable('jobs').set({ state: 'dead', attempts: 12 }).where('key', '=', 'test.daily').execute()
  forge.clock.advance(HOUR)
  await using worker = await workerOver(forge, [daily as Job<App, never>])
  await worker.settle()
  expect(runs).toBe(1)
})

/** A job that two workers run: the first was frozen until its lease expired. */
async function overtaken(forge: TestForge) {
  const runs: { signal: AbortSignal; end: () => void; fail: (error: Error) => void }[] = []
  const slow = job('test.slow', async (_app, _payload, signal) => {
    const { promise, resolve: end, reject: fail } = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => fail(signal.reason as Error))
    runs.push({ signal, end, fail })
    await promise
  })
  await forge.stopWorker()
  await enqueue(forge.app, slow, {} as never)
  const stoodAt = forge.clock.now()
  let clock: Clock = { now: () => stoodAt }
  const first = await workerOver(forge, [slow], { clock: { now: () => clock.now() } })
  while (runs.length < 1) await sleep(5)
  forge.clock.advance(LEASE_MS + 1)
  const second = await workerOver(forge, [slow])
  while (runs.length < 2) await sleep(5)
  return { first, second, runs, goOn: () => (clock = forge.clock) }
}

test.each([
  ['is done', ({ end }) => end()],
  ['fails', ({ fail }) => fail(new Error('too late'))],
  ['is stopped', () => {}],
] as const satisfies [string, (run: { end(): void; fail(error: Error): void }) => void][])(
  "a worker that %s after its lease changes nothing of its successor's job",
  async (_how, finish) => {
    await using forge = await startForge()
    const { first, second, runs } = await overtaken(forge)
    const held = await rows(forge)
    expect(held).toMatchObject([{ attempts: 2, state: 'ready', last_error: null }])
    finish(runs[0]!)
    await first.stop()
    expect(await rows(forge)).toEqual(held)
    runs[1]!.end()
    await second.settle()
    expect(await rows(forge)).toEqual([])
    expect(runs.length).toBe(2)
    await second.stop()
  },
)

test('a worker hears that its job is now another worker’s; the other keeps its lease', async () => {
  await using forge = await startForge()
  const { first, second, runs, goOn } = await overtaken(forge)
  const [before] = await rows(forge)
  forge.clock.advance(10_000)
  goOn()
  first.wake()
  second.wake()
  while (!runs[0]!.signal.aborted || (await rows(forge))[0]!.lease_until === before!.lease_until) await sleep(5)
  expect(runs[1]!.signal.aborted).toBe(false)
  runs[1]!.end()
  await first.stop()
  await second.settle()
  expect(await rows(forge)).toEqual([])
  await second.stop()
})

/** The forge's app, with a count of the worker's transactions. The store is locked for the first `locked` of them. */
function counting({ app }: TestForge, { locked = 0 } = {}) {
  const { relaxed } = app.store
  const counted = { transactions: 0 }
  const db = new Proxy(relaxed, {
    get(target, name) {
      if (name === 'transaction' && ++counted.transactions <= locked) throw new StoreUnavailable('it is locked')
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { counted, app: { ...app, store: { ...app.store, relaxed: db } } }
}

test('recurring work that could not be set at the start is set as soon as the store is there', async () => {
  await using forge = await startForge()
  await forge.stopWorker()
  const { app } = counting(forge, { locked: 2 })
  const daily = job('test.daily', async () => {}, { every: 24 * HOUR })
  const worker = startWorker(app, { jobs: [daily], subscriptions: [] })
  for (let turns = 0; turns < 3; turns++) await worker.settle()
  const set = await forge.app.db.selectFrom('jobs').select('name').where('name', '=', daily.name).execute()
  expect(set).toEqual([{ name: daily.name }])
  await worker.stop()
})

test('an event with two reactions takes two transactions: one begins them, one ends them', async () => {
  await using forge = await startForge()
  await forge.stopWorker()
  const { app, counted } = counting(forge)
  const received: string[] = []
  const reactions = ['one', 'two'].map((name) => on('user.blocked', name, async () => void received.push(name)))
  const worker = startWorker(app, { jobs: [], subscriptions: reactions })
  await worker.settle()
  counted.transactions = 0
  await transact(forge.app, (app) => emit(app, 'user.blocked', { id: 7 }))
  await worker.settle()
  expect(received).toEqual(['one', 'two'])
  expect(counted.transactions).toBe(2)
  await worker.stop()
})

test('four reactions to an event cost as many statements as two', async () => {
  await using forge = await startForge()
  await forge.stopWorker()
  const costOf = async (event: 'user.blocked' | 'user.unblocked', count: number) => {
    const heard: number[] = []
    const reactions = Array.from({ length: count }, (_, n) => on(event, `${n}`, async () => void heard.push(n)))
    const worker = startWorker(forge.app, { jobs: [], subscriptions: reactions })
    await worker.settle()
    const before = forge.app.store.queries
    await transact(forge.app, (app) => emit(app, event, { id: 7 }))
    await worker.settle()
    await worker.stop()
    expect(heard).toHaveLength(count)
    return forge.app.store.queries - before
  }
  expect(await costOf('user.blocked', 4)).toBe(await costOf('user.unblocked', 2))
})

test('events that nobody wants are marked together, and no job is made of them', async () => {
  await using forge = await startForge()
  await forge.stopWorker()
  const { app, counted } = counting(forge)
  const received: number[] = []
  const odd = on('user.blocked', 'odd', async (_app, { id }) => void received.push(id), {
    when: ({ id }) => id % 2 === 1,
  })
  const worker = startWorker(app, { jobs: [], subscriptions: [odd] })
  await worker.settle()
  const unmarked = () => forge.app.db.selectFrom('events').select('id').where('dispatched_at', 'is', null).execute()
  expect(await unmarked()).toEqual([])
  counted.transactions = 0
  for (let n = 1; n <= 19; n++) await transact(forge.app, (app) => emit(app, 'user.blocked', { id: 2 * n }))
  await worker.settle()
  expect([counted.transactions, (await unmarked()).length]).toEqual([0, 19])
  await transact(forge.app, (app) => emit(app, 'user.unblocked', { id: 1 }))
  await worker.settle()
  expect([counted.transactions, await unmarked()]).toEqual([1, []])
  await transact(forge.app, (app) => emit(app, 'user.blocked', { id: 2 }))
  await transact(forge.app, (app) => emit(app, 'user.blocked', { id: 3 }))
  await worker.settle()
  expect([received, await unmarked()]).toEqual([[3], []])
  await worker.stop()
})

test('an event reaches each of its subscribers; one that fails is tried again without bothering the others', async () => {
  await using forge = await startForge()
  const received: string[] = []
  let broken = true
  const calm = on('user.blocked', 'calm', async (_app, { id }) => void received.push(`calm ${id}`))
  const shaky = on('user.blocked', 'shaky', async (_app, { id }) => {
    if (broken) throw new Error('not yet')
    received.push(`shaky ${id}`)
  })
  await using worker = await workerOver(forge, [], { subscriptions: [calm, shaky] })
  await transact(forge.app, (app) => emit(app, 'user.blocked', { id: 7 }))
  await worker.settle()
  expect(received).toEqual(['calm 7'])
  broken = false
  forge.clock.advance(HOUR)
  await worker.settle()
  expect(received).toEqual(['calm 7', 'shaky 7'])
})

test('long work leaves hands free for short work', async () => {
  await using forge = await startForge()
  const gate = Promise.withResolvers<void>()
  const begun: string[] = []
  const long = job<{ n: number }>(
    'test.long',
    async (_app, { n }) => {
      begun.push(`long ${n}`)
      await gate.promise
    },
    { long: true },
  )
  const short = job('test.short', async () => void begun.push('short'))
  await using worker = await workerOver(forge, [long as Job<App, never>, short])
  for (let n = 1; n <= 4; n++) await enqueue(forge.app, long, { n })
  await enqueue(forge.app, short, {} as never)
  worker.wake()
  while (!begun.includes('short')) await sleep(5)
  expect(begun).toEqual(['long 1', 'long 2', 'short'])
  gate.resolve()
  await worker.settle()
  expect(begun).toEqual(['long 1', 'long 2', 'short', 'long 3', 'long 4'])
})

test('work that heeds the end of its process is left as if it had not been begun', async () => {
  await using forge = await startForge()
  const started = Promise.withResolvers<void>()
  const long = job('test.long', async (_app, _payload, signal) => {
    started.resolve()
    await sleep(60_000, undefined, { signal })
  })
  const worker = await workerOver(forge, [long])
  await enqueue(forge.app, long, {} as never)
  worker.wake()
  await started.promise
  await worker.stop()
  expect(await rows(forge)).toMatchObject([{ state: 'ready', attempts: 0, lease_until: null, last_error: null }])
})
