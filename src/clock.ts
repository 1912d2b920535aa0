/** The source of time, so that a test can stop or move it. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** `2026-11-15T09:30:00.000Z`: the form of timestamps in the API and the store; as text it also sorts by time. */
export const timestamp = (clock: Clock): string => clock.now().toISOString()

let day = NaN
let dayText = ''

/** `2026-11-15`, in UTC. Used by every request, so the text is cached for the day. */
export function today(clock: Clock): string {
  const now = clock.now()
  const number = Math.floor(now.getTime() / DAY)
  if (number !== day) {
    day = number
    dayText = now.toISOString().slice(0, 10)
  }
  return dayText
}

export const after = (clock: Clock, ms: number): string => new Date(clock.now().getTime() + ms).toISOString()

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
