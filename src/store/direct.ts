/** A short way to an engine: a read runs without the query builder in between. */
import type { MaybePromise } from '../lib/maybe-promise.ts'

export interface Direct {
  read<R>(sql: string, parameters: readonly unknown[]): MaybePromise<R[]>
}

const ways = new WeakMap<object, Direct>()

/** `adapter` is what a database and its transactions have in common. */
export const openDirect = (adapter: object, direct: Direct): void => void ways.set(adapter, direct)

export const directOf = (adapter: object): Direct | undefined => ways.get(adapter)
