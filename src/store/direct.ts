/**
 * A short way to an engine that lives in this process: a read runs without the query builder in between, and the engine
 * tells cheaply whether anything at all was committed since the last look. Engines across a network have neither.
 */
export interface Direct {
  /** Differs after every commit, of this process or another. */
  version(): number
  read<R>(sql: string, parameters: readonly unknown[]): R[]
}

const ways = new WeakMap<object, Direct>()

/** `adapter` is what a database and its transactions have in common. */
export const openDirect = (adapter: object, direct: Direct): void => void ways.set(adapter, direct)

export const directOf = (adapter: object): Direct | undefined => ways.get(adapter)
