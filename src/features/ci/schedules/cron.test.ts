import { expect, test } from 'vitest'
import { isTimeZone, nextTime } from './cron.ts'

const from = new Date('2026-03-28T12:00:00Z')
const next = (line: string, zone = 'UTC') => nextTime(line, zone, from)?.toISOString() ?? null

test.each([
  ['30 1 * * *', 'UTC', '2026-03-29T01:30:00.000Z'],
  // Daylight saving time starts that night, so 2:30 does not exist.
  ['30 3 * * *', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
  ['0 4 * * *', 'America/New_York', '2026-03-29T08:00:00.000Z'],
  ['*/15 * * * *', 'Asia/Kolkata', '2026-03-28T12:15:00.000Z'],
  ['0 0 1 jan *', 'UTC', '2027-01-01T00:00:00.000Z'],
  ['0 9 * * mon-fri', 'UTC', '2026-03-30T09:00:00.000Z'],
  ['0 0 29 2 *', 'UTC', '2028-02-29T00:00:00.000Z'],
])('%s in %s', (line, zone, at) => expect(next(line, zone)).toBe(at))

test.each([
  '',
  '* * * *',
  '* * * * * *',
  '61 * * * *',
  '@daily',
  'a b c d e',
  '0 0 30 2 *',
  `${'1,'.repeat(200)}1 * * * *`,
])('%s is no line', (line) => expect(next(line)).toBeNull())

test('time zones have names', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'US/Pacific', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'])
    expect(isTimeZone(zone), zone).toBe(true)
  for (const zone of ['', '+01:00', 'Mars/Base', 'Berlin', 'x'.repeat(100)]) expect(isTimeZone(zone), zone).toBe(false)
})
