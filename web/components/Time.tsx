/** A timestamp, with the exact time for machines and in the tooltip. In a browser it becomes a relative time. */
import { useEffect, useState } from 'preact/hooks'
import * as t from '../texts/common.ts'

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

export function ago(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000
  const [unit, length] = STEPS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return unit === 'second' ? t.justNow : relative.format(Math.trunc(seconds / length), unit)
}

/** The same in every time zone, because the server does not know the viewer's. */
const plainly = (at: string) => `${at.slice(0, 10)} ${at.slice(11, 16)}`

export function Time({ at }: { at: string }) {
  const [now, setNow] = useState<number | null>(null)
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 60_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={at} title={t.utc(plainly(at))}>
      {now === null ? plainly(at) : ago(at, now)}
    </time>
  )
}

/** A duration in seconds. */
export function Duration({ seconds }: { seconds: number }) {
  const whole = Math.round(seconds)
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const text =
    hours > 0 ? t.hoursAndMinutes(hours, minutes) : minutes > 0 ? t.minutesAndSeconds(minutes, rest) : `${rest} s`
  return <span class="duration">{text}</span>
}
