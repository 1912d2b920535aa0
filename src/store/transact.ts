import type { Transaction } from 'kysely'
import type { Db, Tables } from './database.ts'
import { isDeadlock } from './dialect.ts'

/** What a transaction needs of the app, and what it replaces in it. */
export interface Transactable {
  readonly db: Db
  /** Runs `react` once the surrounding transaction has committed; at once where there is none. */
  onCommit(react: () => void): void
  /** Belongs to whatever is written: the last act of each transaction. */
  beforeCommit?(app: Transactable): Promise<void>
}

const RETRIES = 3

/**
 * Runs `body` in one transaction and hands it an `app` whose `db` is that transaction; a nested call joins it. The body
 * awaits the store only: on SQLite every other writer waits meanwhile, and a write on the outer `db` would wait for
 * itself. It may be run again, so it changes nothing but the store.
 */
export async function transact<A extends Transactable, T>(app: A, body: (app: A) => Promise<T>): Promise<T> {
  if (app.db.isTransaction) return body(app)
  for (let again = RETRIES; ; again--) {
    const reactions: (() => void)[] = []
    const onCommit = (react: () => void) => void reactions.push(react)
    try {
      const result = await app.db.transaction().execute(async (db: Transaction<Tables>) => {
        const inner = { ...app, db, onCommit }
        const result = await body(inner)
        await app.beforeCommit?.(inner)
        return result
      })
      for (const react of reactions) react()
      return result
    } catch (error) {
      // Two that wait for each other: the engine ended this one, and nothing of it is left.
      if (again === 0 || !isDeadlock(error)) throw error
    }
  }
}
