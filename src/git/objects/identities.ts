/** Parses a person and a time in git: `Ada <ada@example.com> 1700000000 +0100`, even if the line is broken. */
import type { LocalMoment } from '../../lib/time/local-time.ts'

export interface Person extends LocalMoment {
  readonly name: string
  readonly email: string
}

/** The last day of 9999 in any zone. Clocks of other machines may say anything. */
export const LAST_SECOND = 253_402_214_400
/** No real name or address is longer. */
const LONGEST_NAME = 1000
/** Longer than any date, and short enough to search. */
const DATE_LENGTH = 64

export function parsePerson(line: string): Person {
  const opening = line.indexOf('<')
  const closing = line.indexOf('>', opening)
  const isWhole = opening >= 0 && closing >= 0
  const when = /(-?\d+)(?: ([+-]\d+))?\s*$/.exec(isWhole ? line.slice(closing + 1).slice(-DATE_LENGTH) : '')
  const seconds = Math.min(Math.max(Number(when?.[1] ?? 0), 0), LAST_SECOND)
  return {
    name: (isWhole ? line.slice(0, opening) : line).trim().slice(0, LONGEST_NAME),
    email: isWhole
      ? line
          .slice(opening + 1, closing)
          .trim()
          .slice(0, LONGEST_NAME)
      : '',
    date: new Date(seconds * 1000),
    offset: offsetOf(when?.[2] ?? '+0000'),
  }
}

/** `+0530`. An offset of more than a day is not a time zone. */
function offsetOf(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d)(\d\d)$/.exec(zone) ?? []
  const offset = Number(hours ?? 0) * 60 + Number(minutes ?? 0)
  return offset < 24 * 60 ? (sign === '-' ? -offset : offset) || 0 : 0
}
