/** Durations in CI files: `1 week`, `3 mins 4 sec`, `2h20min`, `1:30:00`. A plain number means seconds. */

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export const WEEK = 7 * DAY
export const MONTH = 30 * DAY

const UNITS: readonly (readonly [names: RegExp, seconds: number])[] = [
  [/^(?:s|secs?|seconds?)$/, 1],
  [/^(?:m|mins?|minutes?)$/, MINUTE],
  [/^(?:h|hrs?|hours?)$/, HOUR],
  [/^(?:d|days?)$/, DAY],
  [/^(?:w|wks?|weeks?)$/, WEEK],
  [/^(?:mo|mos|mons?|months?)$/, MONTH],
  [/^(?:y|yrs?|years?)$/, 365.25 * DAY],
]
const PART = /(\d{1,9}(?:\.\d{1,9})?)[ \t]*([a-z]*)(?:[ \t]*,[ \t]*|[ \t]+and[ \t]+|[ \t]*)/y
const LONGEST_TEXT = 255

/** In seconds. Null if the value is not a duration. */
export function parseSpan(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? Math.round(value) : null
  if (typeof value !== 'string' || value.length > LONGEST_TEXT) return null
  const written = value.trim().toLowerCase()
  if (/^\d{1,6}(?::[0-5]?\d){1,2}$/.test(written))
    return written.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
  if (written === '') return null
  let seconds = 0
  for (let at = 0; at < written.length; at = PART.lastIndex) {
    PART.lastIndex = at
    const [, amount, name] = PART.exec(written) ?? []
    if (amount === undefined) return null
    const unit = name ? UNITS.find(([names]) => names.test(name))?.[1] : 1
    if (unit === undefined) return null
    seconds += Number(amount) * unit
  }
  return Math.round(seconds)
}
