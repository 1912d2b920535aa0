import { expect, test } from 'vitest'
import { formatDuration, parseDuration } from './duration.ts'

const H = 3600

test.each([
  ['1w 2d 3h 30m', 40 * H + 16 * H + 3 * H + 1800],
  ['3h30m', 3 * H + 1800],
  ['3', 3 * H],
  ['1.5h', 1.5 * H],
  ['1mo', 160 * H],
  ['2 weeks', 80 * H],
  ['1 day, 2 hours and 5 minutes', 10 * H + 300],
  [' 1H ', H],
  ['-1h', -H],
  ['- 1h 30m', -1.5 * H],
  ['+1h', H],
  ['90s', 90],
  ['0', 0],
  ['1d 1', 9 * H],
  ['1y', 12 * 160 * H],
  ['1:30', 90],
  ['-1:30', -90],
  ['1:02:03', H + 123],
  ['1h plus 30m', 1.5 * H],
  ['1h with 30m', 1.5 * H],
])('%j lasts %d seconds', (text, seconds) => expect(parseDuration(text)).toBe(seconds))

test.each(['', ' ', 'soon', '1 fortnight', '1h soon', 'h', '1h -30m', '1..5h', 'and', '1:3', ':30', '9'.repeat(300)])(
  '%j is no duration',
  (text) => expect(parseDuration(text)).toBeNull(),
)

test.each([
  [0, null],
  [1800, '30m'],
  [29 * H, '3d 5h'],
  [40 * H, '1w'],
  [161 * H, '1mo 1h'],
  [-H, '-1h'],
  [61, '1m 1s'],
])('%d seconds are written %j', (seconds, text) => expect(formatDuration(seconds)).toBe(text))

test('what is written out is read as the same', () => {
  for (let seconds = 1; seconds < 2_000_000; seconds += 7919)
    expect(parseDuration(formatDuration(seconds)!)).toBe(seconds)
})
