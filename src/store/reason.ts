/** Why something could not be opened, in words. */
import { StoreUnavailable } from './database.ts'

export function reasonOf(error: unknown): string {
  // For a name with several addresses Node reports every error, and none of them in the message.
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  if (error instanceof StoreUnavailable) return reasonOf(error.cause)
  const text = error instanceof Error ? error.message : String(error)
  return /previously executed migration \S+ is missing/.test(text) ? 'a newer version of Mortise has changed it' : text
}
