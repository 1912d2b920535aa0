/** Timestamps with the time zone they were made in. */

export interface LocalMoment {
  readonly date: Date
  /** Minutes east of Greenwich. */
  readonly offset: number
}

/** `2012-09-20T11:50:22.000+03:00`. */
export function localTime({ date, offset }: LocalMoment): string {
  const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1)
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  const two = (n: number) => String(n).padStart(2, '0')
  return `${local}${offset < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`
}
