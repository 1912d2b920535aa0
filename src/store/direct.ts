/** A short way to an engine that lives in this process: a read runs without the query builder in between. */
export interface Direct {
  read<R>(sql: string, parameters: readonly unknown[]): R[]
}

const ways = new WeakMap<object, Direct>()

/** `adapter` is what a database and its transactions have in common. */
export const openDirect = (adapter: object, direct: Direct): void => void ways.set(adapter, direct)

export const directOf = (adapter: object): Direct | undefined => ways.get(adapter)
