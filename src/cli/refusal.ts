import { CannotStart } from '../config.ts'
import { Refusal, type FieldErrors, type RefusalMessage } from '../errors.ts'
import { StoreUnavailable } from '../store/database.ts'
import { damageOf } from '../store/engine-errors.ts'
import { Misuse } from './verb.ts'

/** The one-line message for an expected error; null for a bug, which is shown with its stack. */
export function lineOf(error: unknown): string | null {
  if (error instanceof Refusal) return textOf(error.reason ?? error.kind)
  if (error instanceof StoreUnavailable) return `the database is not reachable: ${(error.cause as Error).message}`
  const damage = damageOf(error)
  if (damage !== null) return `the database is damaged: ${damage}`
  return error instanceof Misuse || error instanceof CannotStart ? error.message : null
}

function textOf(message: RefusalMessage): string {
  if (typeof message === 'string') return message
  return Array.isArray(message) ? message.join(', ') : faults(message).join(', ')
}

const faults = (fields: FieldErrors): string[] =>
  Object.entries(fields).flatMap(([name, inner]) =>
    (Array.isArray(inner) ? inner : faults(inner)).map((fault) => `${name} ${fault}`),
  )
