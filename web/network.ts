/** Where the commits of a history stand when it is drawn, newest on top, and the lines to their parents. Nothing here draws. */
interface Linked {
  readonly id: string
  readonly parent_ids: readonly string[]
}

export interface Dot {
  readonly id: string
  readonly lane: number
  readonly row: number
}

export interface Line {
  readonly from: Dot
  /** Where it runs down. */
  readonly lane: number
  /** The row of the parent; of one that is not here, the row below the last. */
  readonly to: number
}

export interface Network {
  readonly dots: readonly Dot[]
  readonly lines: readonly Line[]
  readonly lanes: number
}

/** Each lane waits for one commit. A commit takes the first lane that waits for it and leaves it to its first parent. */
export function layOut(commits: readonly Linked[]): Network {
  const rows = new Map(commits.map(({ id }, row) => [id, row]))
  const waiting: (string | null)[] = []
  const dots: Dot[] = []
  const lines: Line[] = []
  const laneFor = (id: string, left?: number) => {
    const known = waiting.indexOf(id)
    if (known >= 0) return known
    const free = left !== undefined && waiting[left] === null ? left : waiting.indexOf(null)
    const lane = free < 0 ? waiting.length : free
    waiting[lane] = id
    return lane
  }
  for (const [row, { id, parent_ids }] of commits.entries()) {
    const lane = laneFor(id)
    const dot = { id, lane, row }
    dots.push(dot)
    waiting[lane] = null
    for (const parent of parent_ids)
      lines.push({ from: dot, lane: laneFor(parent, lane), to: rows.get(parent) ?? commits.length })
  }
  return { dots, lines, lanes: Math.max(1, waiting.length) }
}
