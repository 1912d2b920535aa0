/** Parses dates in words (`tomorrow`, `in 2 days`, `this Friday`, `December 31st`), relative to a day. */

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]
const NUMBERS = ['a', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']

const DAY = 86_400_000
const LONGEST_TEXT = 100

type Words = readonly string[]
type Reading = (words: Words, today: Date) => Date | null

/** As `YYYY-MM-DD`, like `today`. Null if the text is no date. */
export function parseNaturalDate(text: string, today: string): string | null {
  if (text.length > LONGEST_TEXT) return null
  const words = text
    .toLowerCase()
    .replaceAll(',', ' ')
    .split(/\s+/)
    .filter((word) => word !== '' && !['on', 'the', 'of', 'at'].includes(word))
  if (words.length === 0) return null
  const start = new Date(`${today}T00:00:00Z`)
  for (const read of READINGS) {
    const date = read(words, start)
    const year = date?.getUTCFullYear() ?? 0
    if (date && year >= 1000 && year <= 9999) return date.toISOString().slice(0, 10)
  }
  return null
}

const READINGS: readonly Reading[] = [numeric, byName, byDistance, byUnit, byWeekday, byMonth]

/** `2026-12-31`, `2026/12/31`, and as in the United States `12/31/2026`. */
function numeric([word = '', ...more]: Words): Date | null {
  if (more.length > 0) return null
  const [, year, month, day] = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(word) ?? []
  if (year) return dateOf(Number(year), Number(month), Number(day))
  const [, americanMonth, americanDay, americanYear] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(word) ?? []
  return americanYear ? dateOf(Number(americanYear), Number(americanMonth), Number(americanDay)) : null
}

function byName(words: Words, today: Date): Date | null {
  const days = { today: 0, now: 0, tomorrow: 1, yesterday: -1, 'day after tomorrow': 2, 'day before yesterday': -2 }
  const away = days[words.join(' ') as keyof typeof days]
  return away === undefined ? null : plusDays(today, away)
}

/** `in 2 days`, `2 weeks from now`, `3 days ago`. */
function byDistance(words: Words, today: Date): Date | null {
  const [, amount = '', unit = '', direction = ''] =
    /^(?:in )?(\w+) (day|week|fortnight|month|year)s?( from now| from today| hence| ago)?$/.exec(words.join(' ')) ?? []
  if (words[0] !== 'in' && direction === '') return null
  const count = amountOf(amount)
  return count === null ? null : plusUnits(today, direction === ' ago' ? -count : count, unit)
}

/** `next week`, `next month`. */
function byUnit(words: Words, today: Date): Date | null {
  const [, which, unit = ''] = /^(this|next|last) (week|month|year)$/.exec(words.join(' ')) ?? []
  return which ? plusUnits(today, { this: 0, next: 1, last: -1 }[which as 'this']!, unit) : null
}

/** `Friday` and `this Friday` are the next one to come, `next Friday` is the one of next week. */
function byWeekday(words: Words, today: Date): Date | null {
  const [which, name] = words.length === 2 ? words : ['this', words[0]]
  const weekday = words.length > 2 ? -1 : indexOf(WEEKDAYS, name)
  if (weekday < 0) return null
  const ahead = (weekday - today.getUTCDay() + 7) % 7
  if (which === 'this') return plusDays(today, ahead || 7)
  if (which === 'last') return plusDays(today, ahead - 7)
  // Weeks start on Monday.
  const untilMonday = (8 - today.getUTCDay()) % 7 || 7
  return which === 'next' ? plusDays(today, untilMonday + ((weekday + 6) % 7)) : null
}

/** `December 31st`, `31 Dec 2027`; without a year, the next such day. */
function byMonth(words: Words, today: Date): Date | null {
  if (words.length < 2 || words.length > 3) return null
  const isFirst = indexOf(MONTHS, words[0]) >= 0
  const month = indexOf(MONTHS, words[isFirst ? 0 : 1]) + 1
  const day = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(words[isFirst ? 1 : 0] ?? '')?.[1]
  if (month === 0 || day === undefined) return null
  if (words[2] !== undefined) return /^\d{4}$/.test(words[2]) ? dateOf(Number(words[2]), month, Number(day)) : null
  const year = today.getUTCFullYear()
  const date = dateOf(year, month, Number(day))
  // The next 29th of February may be years away.
  if (date && date >= today) return date
  for (let ahead = 1; ahead <= 8; ahead++) {
    const later = dateOf(year + ahead, month, Number(day))
    if (later) return later
  }
  return null
}

function amountOf(word: string): number | null {
  if (/^\d{1,5}$/.test(word)) return Number(word)
  const spelt = NUMBERS.indexOf(word === 'an' ? 'a' : word)
  return spelt < 0 ? null : Math.max(spelt, 1)
}

/** By the full name or its first three letters. */
const indexOf = (names: readonly string[], word = ''): number =>
  word.length < 3
    ? -1
    : names.findIndex((name) => name === word || (isShort(word) && name.startsWith(word.replace('.', ''))))
const isShort = (word: string) => /^(?:[a-z]{3}|sept|tues|thur|thurs|wednes)\.?$/.test(word)

/** Null if there is no such day. */
function dateOf(year: number, month: number, day: number): Date | null {
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date : null
}

const plusDays = (date: Date, days: number) => new Date(date.getTime() + days * DAY)

function plusUnits(date: Date, count: number, unit: string): Date {
  if (unit === 'day') return plusDays(date, count)
  if (unit === 'week') return plusDays(date, count * 7)
  if (unit === 'fortnight') return plusDays(date, count * 14)
  const months = date.getUTCMonth() + (unit === 'year' ? count * 12 : count)
  const last = new Date(Date.UTC(date.getUTCFullYear(), months + 1, 0))
  // A month after January 31st is the last day of February.
  return new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), Math.min(date.getUTCDate(), last.getUTCDate())))
}
