import { SCOPES, type Scope } from '../../../api/credentials.ts'
import { oauthRefusal } from './errors.ts'

const isScope = (word: string): word is Scope => (SCOPES as readonly string[]).includes(word)

const words = (text: string): string[] => [...new Set(text.split(/\s+/).filter(Boolean))]

export const unknownScopes = (text: string): string[] => words(text).filter((word) => !isScope(word))

export const toScopes = (text: string): Scope[] => words(text).filter(isScope)

/**
 * The requested scopes, all of which must be allowed. Without a request: `api`, or all scopes of a client that has no
 * `api`.
 */
export function chosenScopes(requested: string | null, allowed: readonly Scope[]): readonly Scope[] {
  const names = words(requested ?? '')
  if (names.length === 0) return allowed.includes('api') ? ['api'] : allowed
  const chosen = names.filter((word): word is Scope => (allowed as readonly string[]).includes(word))
  if (chosen.length < names.length) throw oauthRefusal('invalid_scope')
  return chosen
}
