/** Durations in variables that configure an agent: `1h30m`, `90s`, `500ms`. */

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** In milliseconds. Null if the text is not a duration. */
export function durationOf(text: string): number | null {
  if (!/^(\d{1,9}(\.\d{1,3})?(ms|s|m|h)){1,4}$/.test(text)) return null
  return [...text.matchAll(/([\d.]+)(ms|s|m|h)/g)].reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit!]!, 0)
}

/** In the format of the reference runner: `1h0m0s`, `2m5s`, `1.5s`. */
export function durationText(ms: number): string {
  const [hours, minutes, seconds] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, (ms % 60_000) / 1000]
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`
}
