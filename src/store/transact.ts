import { limiterOf, pauseAfter, TRIES } from './contention.ts'
import { StoreUnavailable, type Db, type TransactionDb } from './database.ts'
import { isConflict } from './dialect.ts'
import { joinDirect } from './direct.ts'

/** What a transaction needs from the app, and what it replaces in it. */
export interface Transactable {
  readonly db: Db
  /** Runs `react` once the surrounding transaction has committed; at once if there is none. */
  onCommit(react: () => void): void
  /** Runs at the end of each transaction, before the commit. */
  beforeCommit?(app: InTransaction<Transactable>): Promise<void>
}

/** An app that `transact` handed out. Whatever must happen in the transaction of a change requires it. */
export type InTransaction<A extends Transactable> = A & { readonly db: TransactionDb }

const isInTransaction = <A extends Transactable>(app: A): app is InTransaction<A> => app.db.isTransaction

/**
 * Runs `body` in one transaction and passes it an `app` whose `db` is that transaction; a nested call joins it. The
 * body may await only the store: on SQLite every other writer waits for it, and a write on the outer `db` would wait
 * for itself. The body may be retried, so it must change nothing but the store.
 */
export async function transact<A extends Transactable, T>(
  app: A,
  body: (app: InTransaction<A>) => Promise<T>,
): Promise<T> {
  if (isInTransaction(app)) return body(app)
  const limiter = limiterOf(app.db.getExecutor().adapter)
  for (let tries = 1; ; tries++) {
    try {
      return await (limiter ? limiter.run(() => runOnce(app, body)) : runOnce(app, body))
    } catch (error) {
      if (!isConflict(error)) throw error
      if (tries === TRIES) throw new StoreUnavailable(error)
    }
    await pauseAfter(tries)
  }
}

async function runOnce<A extends Transactable, T>(app: A, body: (app: InTransaction<A>) => Promise<T>): Promise<T> {
  const reactions: (() => void)[] = []
  const onCommit = (react: () => void) => void reactions.push(react)
  const result = await app.db.transaction().execute(async (db: TransactionDb) => {
    joinDirect(db)
    const inner = { ...app, db, onCommit }
    const result = await body(inner)
    await app.beforeCommit?.(inner)
    return result
  })
  for (const react of reactions) react()
  return result
}
