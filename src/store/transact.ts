import type { Transaction } from 'kysely'
import type { Db, Tables } from './database.ts'

/** What a transaction needs of the app, and what it replaces in it. */
export interface Transactable {
  readonly db: Db
  /** Runs `react` once the surrounding transaction has committed; at once where there is none. */
  onCommit(react: () => void): void
}

/**
 * Runs `body` in one transaction and hands it an `app` whose `db` is that transaction; a nested call joins it. The body
 * awaits the store only: on SQLite every other writer waits meanwhile, and a write on the outer `db` would wait for
 * itself.
 */
export async function transact<A extends Transactable, T>(app: A, body: (app: A) => Promise<T>): Promise<T> {
  if (app.db.isTransaction) return body(app)
  const reactions: (() => void)[] = []
  const onCommit = (react: () => void) => void reactions.push(react)
  const result = await app.db.transaction().execute((db: Transaction<Tables>) => body({ ...app, db, onCommit }))
  for (const react of reactions) react()
  return result
}
