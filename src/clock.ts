/** Time comes from one place, so a test can hold it still or move it. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** `2026-11-15T09:30:00.000Z`: the wire's and the store's form of a moment; as text it also sorts by time. */
export const timestamp = (clock: Clock): string => clock.now().toISOString()

/** `2026-11-15`, in UTC. */
export const today = (clock: Clock): string => clock.now().toISOString().slice(0, 10)

export const after = (clock: Clock, ms: number): string => new Date(clock.now().getTime() + ms).toISOString()

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
