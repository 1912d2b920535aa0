import type { Refusal } from '../errors.ts'
import type { Tables } from './database.ts'
import { violates } from './dialect.ts'

/** The result of a change. If it violates the unique index on one of these lists of columns, the refusal is thrown instead. */
export async function unlessTaken<T, N extends keyof Tables>(
  change: Promise<T>,
  table: N,
  indexes: (keyof Tables[N] & string)[][],
  refusal: () => Refusal,
): Promise<T> {
  try {
    return await change
  } catch (error) {
    throw indexes.some((columns) => violates(error, table, ...columns)) ? refusal() : error
  }
}
