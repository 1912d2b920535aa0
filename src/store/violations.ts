/** Violated constraints of a change, as answers. */
import type { Refusal } from '../errors.ts'
import type { Tables } from './database.ts'
import { isOrphan, violates } from './dialect.ts'

/** The result of a change. If it violates one of the unique indexes on these columns, the refusal is thrown instead. */
export async function unlessTaken<T, N extends keyof Tables, const Index extends readonly (keyof Tables[N] & string)[]>(
  change: Promise<T>,
  table: N,
  indexes: readonly Index[],
  refusal: (violated: Index) => Refusal | Promise<Refusal>,
): Promise<T> {
  try {
    return await change
  } catch (error) {
    const violated = indexes.find((columns) => violates(error, table, ...columns))
    throw violated ? await refusal(violated) : error
  }
}

/** The result of a change. If a row that it refers to was deleted meanwhile, the refusal is thrown instead. */
export async function unlessOrphan<T>(change: Promise<T>, refusal: () => Refusal): Promise<T> {
  try {
    return await change
  } catch (error) {
    throw isOrphan(error) ? refusal() : error
  }
}
