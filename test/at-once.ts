import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { vi } from 'vitest'
import type { TransactionApp } from '../src/context.ts'
import type { Reply, TestForge } from '../src/forge.ts'
import type { Db } from '../src/store/database.ts'
import { locksRows } from '../src/store/dialect.ts'
import { transact } from '../src/store/transact.ts'

/**
 * Runs calls in parallel. Each is held where its first transaction begins until all have got there, or one has ended: all
 * have read by then, and none has written. On both stores what they do next rests on their guards alone. Answers come by
 * their status.
 */
export async function atOnce({ app: { db } }: TestForge, ...calls: (() => Promise<Reply>)[]): Promise<Reply[]> {
  const barrier = Promise.withResolvers<void>()
  let waiting = 0
  using _watch = onTransaction(db, async () => {
    if (++waiting === calls.length) barrier.resolve()
    await barrier.promise
  })
  const answers = await Promise.all(calls.map((call) => call().finally(barrier.resolve)))
  return answers.toSorted((one, other) => one.status - other.status)
}

/**
 * Starts the second call when the first begins its transaction number `step`, or has ended; with 0 both start together.
 * Resolves to both statuses.
 */
export async function atStep(
  { app: { db } }: TestForge,
  step: number,
  first: () => Promise<Reply>,
  second: () => Promise<Reply>,
): Promise<readonly [number, number]> {
  const reached = Promise.withResolvers<void>()
  let begun = 0
  if (step === 0) reached.resolve()
  using _watch = onTransaction(db, async () => {
    if (++begun === step) reached.resolve()
  })
  const answers = await Promise.all([first().finally(reached.resolve), reached.promise.then(second)])
  return [answers[0].status, answers[1].status]
}

/**
 * Runs `call` while a transaction has what `hold` locked or changed. The transaction commits when the call waits for
 * that transaction, or has ended.
 */
export async function whileLocked<T>(
  { app }: TestForge,
  hold: (app: TransactionApp) => Promise<unknown>,
  call: () => Promise<T>,
): Promise<T> {
  let isWaiting = false
  // Wrapped in an object, since the call ends only after this transaction.
  const { called } = await transact(app, async (inside) => {
    await hold(inside)
    // SQLite has one writer: every other transaction waits.
    using _watch = onTransaction(app.db, async () => void (isWaiting = !locksRows(app.db)))
    const called = call()
    const end = () => (isWaiting = true)
    called.then(end, end)
    while (!isWaiting && !(locksRows(app.db) && (await hasBlockedLock(app.db)))) await sleep(5)
    return { called }
  })
  return called
}

/**
 * Runs `work` while the store rejects rows, as `'insert on events'`, `"new.name = 'user.deleted'"` names them. Whatever
 * is stored by then was not in one transaction with such a row.
 */
export async function whileRejected<T>(
  { app: { db } }: TestForge,
  change: `${'insert' | 'update'} on ${string}`,
  condition: string,
  work: () => Promise<T>,
): Promise<T> {
  const trigger = sql.raw(`trigger rejected before ${change}`)
  const table = sql.raw(change.slice(change.indexOf(' on ')))
  if (locksRows(db)) {
    await sql`create or replace function reject() returns trigger language plpgsql as
      $$ begin raise exception 'rejected by the test'; end $$`.execute(db)
    await sql`create ${trigger} for each row when (${sql.raw(condition)}) execute function reject()`.execute(db)
  } else {
    await sql`create ${trigger} when ${sql.raw(condition)}
      begin select raise(abort, 'rejected by the test'); end`.execute(db)
  }
  try {
    return await work()
  } finally {
    await sql`drop trigger rejected ${locksRows(db) ? table : sql``}`.execute(db)
  }
}

async function hasBlockedLock(db: Db): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and a.datname = current_database()`.execute(db)
  return rows.length > 0
}

/** Calls `react` before each transaction of this database begins. */
function onTransaction(db: Db, react: () => Promise<void>): Disposable {
  const transaction = db.transaction.bind(db)
  const spy = vi.spyOn(db, 'transaction').mockImplementation(() => {
    const builder = transaction()
    const execute = builder.execute.bind(builder)
    builder.execute = async (body) => {
      await react()
      return execute(body)
    }
    return builder
  })
  return { [Symbol.dispose]: () => spy.mockRestore() }
}
