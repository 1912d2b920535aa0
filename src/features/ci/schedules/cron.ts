/** Computes when a cron expression is due in a time zone. */
import { Cron } from 'croner'

const LONGEST = 255

/** Five fields: minute, hour, day, month, weekday. Null if the expression is invalid or never due. */
export function nextTime(line: string, zone: string, after: Date): Date | null {
  if (line.length > LONGEST || line.trim().split(/\s+/).length !== 5) return null
  try {
    return new Cron(line.trim(), { timezone: zone, mode: '5-part', sloppyRanges: true, paused: true }).nextRun(after)
  } catch {
    return null
  }
}

/** An IANA name; offsets are rejected. */
export function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z][\w/+-]{1,63}$/.test(zone)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
