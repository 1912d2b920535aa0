import type { Refusal } from '../errors.ts'
import { uniqueViolation } from './dialect.ts'

/**
 * The result of a change. If it violates a unique constraint whose name starts with `constraint`, the refusal is thrown
 * instead.
 */
export async function unlessTaken<T>(change: Promise<T>, constraint: string, refusal: () => Refusal): Promise<T> {
  try {
    return await change
  } catch (error) {
    throw uniqueViolation(error)?.startsWith(constraint) ? refusal() : error
  }
}
