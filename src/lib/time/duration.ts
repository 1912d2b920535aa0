/** Working time as users write it: `1w 2d 3h 30m`, where a day has 8 hours, a week 5 days and a month 4 weeks. */

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 8 * HOUR
const WEEK = 5 * DAY
const MONTH = 4 * WEEK
const YEAR = 12 * MONTH

/** Largest first, as in the output; years are only parsed. */
const UNITS = [
  { short: 'mo', seconds: MONTH, names: /^mo(?:s|n|ns|nth|nths)?$/ },
  { short: 'w', seconds: WEEK, names: /^w(?:k|ks|eek|eeks)?$/ },
  { short: 'd', seconds: DAY, names: /^d(?:ay|ays)?$/ },
  { short: 'h', seconds: HOUR, names: /^h(?:r|rs|our|ours)?$/ },
  { short: 'm', seconds: MINUTE, names: /^m(?:in|ins|inute|inutes)?$/ },
  { short: 's', seconds: 1, names: /^s(?:ec|ecs|econd|econds)?$/ },
] as const

const YEARS = /^y(?:r|rs|ear|ears)?$/

const LONGEST_TEXT = 255
const PART = /(\d{1,9}(?:\.\d{1,9})?)[ \t]*([a-z]*)(?:[ \t]*,[ \t]*|[ \t]+(?:and|with|plus)[ \t]+|[ \t]*)/y
/** `1:30` and `1:00:30`. */
const CLOCK = /^(?:(\d{1,6}):)?(\d{1,6}):(\d{2})$/

/** In seconds, negative with a leading `-`. A number without a unit is hours. Null if the text is no duration. */
export function parseDuration(text: string): number | null {
  if (text.length > LONGEST_TEXT) return null
  const [, sign, written = ''] = /^\s*([+-]?)\s*(.*?)\s*$/s.exec(text.toLowerCase()) ?? []
  if (written === '') return null
  const seconds = clockSeconds(written) ?? workSeconds(written)
  return seconds === null ? null : Math.round(sign === '-' ? -seconds : seconds)
}

function clockSeconds(written: string): number | null {
  const [found, hours = '0', minutes, seconds] = CLOCK.exec(written) ?? []
  return found === undefined ? null : Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds)
}

function workSeconds(written: string): number | null {
  let seconds = 0
  for (let at = 0; at < written.length; at = PART.lastIndex) {
    PART.lastIndex = at
    const [, amount, name] = PART.exec(written) ?? []
    if (amount === undefined) return null
    const unit = name ? unitNamed(name) : HOUR
    if (unit === undefined) return null
    seconds += Number(amount) * unit
  }
  return seconds
}

const unitNamed = (name: string): number | undefined =>
  YEARS.test(name) ? YEAR : UNITS.find(({ names }) => names.test(name))?.seconds

/** `3d 5h`; null for zero. */
export function formatDuration(seconds: number): string | null {
  let rest = Math.abs(seconds)
  const parts = UNITS.flatMap((unit) => {
    const amount = Math.floor(rest / unit.seconds)
    rest -= amount * unit.seconds
    return amount > 0 ? [`${amount}${unit.short}`] : []
  })
  if (parts.length === 0) return null
  return (seconds < 0 ? '-' : '') + parts.join(' ')
}
