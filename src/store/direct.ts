/** Fast path for a database inside this process (SQLite): a statement bypasses the query builder. */
import type { MaybePromise } from '../lib/async/maybe-promise.ts'
import type { Db } from './database.ts'

export interface Direct {
  read<R>(sql: string, parameters: readonly unknown[]): R[]
  /** The transaction that has begun last, if it is open. */
  readonly transaction: DirectTransaction | null
}

export interface DirectTransaction {
  /** Throws if the transaction has ended. */
  run<R>(sql: string, parameters: readonly unknown[]): R[]
}

/** A column of a result. `read` converts a JSON value to its form in rows, if that is another. */
export interface Column {
  readonly name: string
  readonly read?: ((json: unknown) => unknown) | undefined
}

/** The columns of a statement, without running it. */
export type Describe = (sql: string, parameters: readonly unknown[]) => MaybePromise<readonly Column[]>

const ways = new WeakMap<object, Direct>()
const transactions = new WeakMap<object, DirectTransaction>()
const describers = new WeakMap<object, Describe>()

/** `adapter` is the object that a database and its transactions share. */
export const openDirect = (adapter: object, direct: Direct): void => void ways.set(adapter, direct)

export const directOf = (adapter: object): Direct | undefined => ways.get(adapter)

/** Call with a transaction that has just begun: no other one can be open. */
export function joinDirect(db: Db): void {
  const executor = db.getExecutor()
  const open = directOf(executor.adapter)?.transaction
  if (open) transactions.set(executor, open)
}

export const directTransactionOf = (db: Db): DirectTransaction | undefined => transactions.get(db.getExecutor())

export const openDescribe = (adapter: object, describe: Describe): void => void describers.set(adapter, describe)

export const describeOf = (adapter: object): Describe => describers.get(adapter)!
