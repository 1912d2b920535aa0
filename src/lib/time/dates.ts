/** Parses dates and timestamps as clients send them, similar forms included, into the stored form. */

const NEAR_DATE = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/
const MOMENT = /^(\d{4}-\d{1,2}-\d{1,2})[T ](\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i

const BASIC = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})?(Z|[+-]\d{2}:?\d{2})?)?$/i
const SPACED_ZONE = /(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) (\d{2}:?\d{2})$/i

/**
 * Adds dashes and colons to ISO's basic form, and turns a space before the zone back into the plus that a client did
 * not encode.
 */
function spelledOut(text: string): string {
  const [, year, month, day, hour, minute, second = '00', zone = ''] = BASIC.exec(text) ?? []
  if (year === undefined) return text.replace(SPACED_ZONE, '$1+$2')
  const date = `${year}-${month}-${day}`
  return hour === undefined ? date : `${date}T${hour}:${minute}:${second}${zone}`
}

/** `2000-1-1` → `2000-01-01`; null if the calendar has no such day. A timestamp gives its day in UTC. */
export function toDate(text: string): string | null {
  const match = NEAR_DATE.exec(spelledOut(text.trim()))
  if (!match) return toMoment(text)?.slice(0, 10) ?? null
  const [, year, month, day] = match
  // The calendar of PostgreSQL has no year 0.
  if (year === '0000') return null
  const date = `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`
  const time = Date.parse(`${date}T00:00:00Z`)
  // `2000-02-31` parses in some engines and rolls over: only a day that formats back the same exists.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date) ? date : null
}

export const isDate = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && toDate(text) === text

/** Any accepted form of a timestamp → `YYYY-MM-DDTHH:MM:SS.mmmZ`; a date becomes its midnight. */
export function toMoment(text: string): string | null {
  const written = spelledOut(text.trim())
  const bare = NEAR_DATE.test(written) ? toDate(written) : null
  if (bare) return `${bare}T00:00:00.000Z`
  const match = MOMENT.exec(written)
  const day = match && toDate(match[1]!)
  if (!day) return null
  const clock = match[2]!.padStart(match[2]!.indexOf(':') === 1 ? match[2]!.length + 1 : 0, '0')
  const zone = !match[3] || /^(z|utc)$/i.test(match[3]) ? 'Z' : match[3].replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')
  const time = Date.parse(`${day}T${clock}${zone}`)
  if (Number.isNaN(time)) return null
  const moment = new Date(time).toISOString()
  // An offset may lead out of the valid years.
  return /^\d{4}-/.test(moment) && !moment.startsWith('0000') ? moment : null
}
