/** When a line of cron is due, in a time zone. */
import { Cron } from 'croner'

const LONGEST = 255

/** Five fields: minute, hour, day, month, weekday. Null where it is no such line, or never due. */
export function nextTime(line: string, zone: string, after: Date): Date | null {
  if (line.length > LONGEST || line.trim().split(/\s+/).length !== 5) return null
  try {
    return new Cron(line.trim(), { timezone: zone, mode: '5-part', sloppyRanges: true, paused: true }).nextRun(after)
  } catch {
    return null
  }
}

/** By its IANA name; an offset is none. */
export function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z][\w/+-]{1,63}$/.test(zone)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
