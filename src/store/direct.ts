/** Fast path for a database inside this process (SQLite): a read bypasses the query builder. */
export interface Direct {
  read<R>(sql: string, parameters: readonly unknown[]): R[]
}

const ways = new WeakMap<object, Direct>()

/** `adapter` is the object that a database and its transactions share. */
export const openDirect = (adapter: object, direct: Direct): void => void ways.set(adapter, direct)

export const directOf = (adapter: object): Direct | undefined => ways.get(adapter)
