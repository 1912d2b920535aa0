/** The layout of a commit graph, newest on top, with lines to the parents. Nothing here renders. */
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
  /** The column that the line runs down in. */
  readonly lane: number
  /** The row of the parent; for a parent outside the page, the row below the last. */
  readonly to: number
}

export interface Network {
  readonly dots: readonly Dot[]
  readonly lines: readonly Line[]
  readonly lanes: number
}

/** Commits with more parents are drawn with the first ones only. */
const MOST_PARENTS = 100

/**
 * Each lane waits for one commit. A commit takes the lane that waits for it and passes the lane on to its first parent.
 * The last of `most` lanes is shared by all commits that find no other, with one line per commit. So the work grows
 * with the number of commits.
 */
export function layOut(commits: readonly Linked[], most = 24): Network {
  const rows = new Map(commits.map(({ id }, row) => [id, row]))
  const waiting = new Waiting(most)
  const dots: Dot[] = []
  const lines: Line[] = []
  for (const [row, { id, parent_ids }] of commits.entries()) {
    const lane = waiting.limiterFor(id)
    const dot = { id, lane, row }
    dots.push(dot)
    waiting.leave(id, lane)
    let lowest = -1
    for (const parent of parent_ids.slice(0, MOST_PARENTS)) {
      const to = rows.get(parent) ?? commits.length
      const into = waiting.limiterFor(parent, lane)
      if (into < most - 1) lines.push({ from: dot, lane: into, to })
      else lowest = Math.max(lowest, to)
    }
    if (lowest >= 0) lines.push({ from: dot, lane: most - 1, to: lowest })
  }
  return { dots, lines, lanes: Math.max(1, waiting.lanes) }
}

/** Which lane waits for which commit. */
class Waiting {
  /** How many lanes were used at once. */
  lanes = 0
  readonly #last: number
  readonly #lanes = new Map<string, number>()
  readonly #taken: boolean[]

  constructor(most: number) {
    this.#last = most - 1
    this.#taken = Array.from({ length: this.#last }, () => false)
  }

  /** The lane that waits for the commit, else `preferred` if that is free, else the first free one. */
  limiterFor(id: string, preferred = this.#last): number {
    const known = this.#lanes.get(id)
    if (known !== undefined) return known
    const free = this.#taken[preferred] === false ? preferred : this.#taken.indexOf(false)
    const lane = free < 0 ? this.#last : free
    this.#lanes.set(id, lane)
    if (lane < this.#last) this.#taken[lane] = true
    this.lanes = Math.max(this.lanes, lane + 1)
    return lane
  }

  leave(id: string, lane: number): void {
    this.#lanes.delete(id)
    if (lane < this.#last) this.#taken[lane] = false
  }
}
