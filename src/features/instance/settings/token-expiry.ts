import { DAY, type Clock } from '../../../clock.ts'
import type { Settings } from './model.ts'

const LAST_DAY = Date.parse('9999-12-31')

/** The latest expiry date of a token created today; null if administrators set none. */
export function latestTokenExpiry({ max_personal_access_token_lifetime: days }: Settings, clock: Clock): string | null {
  if (days === null) return null
  return new Date(Math.min(clock.now().getTime() + days * DAY, LAST_DAY)).toISOString().slice(0, 10)
}
