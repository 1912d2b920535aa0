export interface Row {
  readonly what: string
  readonly ours: string
  readonly floor: string
  readonly ratio: number | null
  readonly target: string
  /** Null if there is no target. */
  readonly met: boolean | null
}

const HEADINGS = ['what', 'ours', 'floor', 'ratio', 'target', 'met']

export function table(rows: readonly Row[]): string {
  const lines = [
    HEADINGS,
    ...rows.map((row) => [
      row.what,
      row.ours,
      row.floor,
      row.ratio === null ? '' : row.ratio.toFixed(2),
      row.target,
      row.met === null ? '' : row.met ? 'yes' : 'no',
    ]),
  ]
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  // The first column is left-aligned, numbers are right-aligned.
  const draw = (line: string[]) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')
  return [draw(lines[0]!), widths.map((width) => '-'.repeat(width)).join('  '), ...lines.slice(1).map(draw)].join('\n')
}

export const ms = (value: number): string => `${value < 10 ? value.toFixed(3) : value.toFixed(1)} ms`
export const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`
