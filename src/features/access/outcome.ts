/**
 * Requests that name several users: each user succeeds or fails alone, and the answer lists the error of each by name.
 */
import { z } from 'zod'
import { entity } from '../../api/wire.ts'
import { Refusal } from '../../errors.ts'

export const OutcomeEntity = entity({
  status: z.enum(['success', 'error']),
  message: z.record(z.string(), z.string()).optional(),
}).meta({ id: 'Outcome' })

type Outcome = z.infer<typeof OutcomeEntity>

/** The maximum number of users in one request. */
export const MOST_AT_ONCE = 100

export async function oneByOne<T extends string | number>(
  given: readonly T[],
  work: (one: T) => Promise<unknown>,
): Promise<Outcome> {
  const refused: [string, string][] = []
  for (const one of given) {
    try {
      await work(one)
    } catch (error) {
      // A 403 applies to the whole request, not to one user.
      if (!(error instanceof Refusal) || error.kind === 'forbidden') throw error
      refused.push([String(one), textOf(error)])
    }
  }
  return refused.length === 0 ? { status: 'success' } : { status: 'error', message: Object.fromEntries(refused) }
}

function textOf({ kind, reason }: Refusal): string {
  if (kind === 'conflict') return 'User already exists in source'
  if (kind === 'not_found') return 'User not found'
  if (kind === 'throttled') return 'Too many mails were sent. Try again later.'
  if (typeof reason !== 'object' || Array.isArray(reason)) return String(reason)
  return Object.entries(reason)
    .map(([field, faults]) => `${spelt(field)} ${Array.isArray(faults) ? faults.join(', ') : 'is invalid'}`)
    .join(', ')
}

/** `access_level` → `Access level` */
const spelt = (field: string) => (field.charAt(0).toUpperCase() + field.slice(1)).replaceAll('_', ' ')
