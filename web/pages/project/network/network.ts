/** The layout of a commit graph, newest on top, with lines to the parents. Nothing here renders. */
interface Linked {
  readonly id: string
  readonly parent_ids: readonly string[]
}

export interface Dot {
  readonly id: string
  readonly column: number
  readonly row: number
}

export interface Line {
  readonly from: Dot
  /** The column that the line runs down in. */
  readonly column: number
  /** The row of the parent; for a parent outside the page, the row below the last. */
  readonly to: number
}

export interface Network {
  readonly dots: readonly Dot[]
  readonly lines: readonly Line[]
  readonly columns: number
}

/** Commits with more parents are drawn with the first ones only. */
const MOST_PARENTS = 100

/**
 * Each column waits for one commit. A commit takes the column that waits for it and passes the column on to its first parent.
 * The last of `most` columns is shared by all commits that find no other, with one line per commit. So the work grows
 * with the number of commits.
 */
export function layOut(commits: readonly Linked[], most = 24): Network {
  const rows = new Map(commits.map(({ id }, row) => [id, row]))
  const waiting = new Waiting(most)
  const dots: Dot[] = []
  const lines: Line[] = []
  for (const [row, { id, parent_ids }] of commits.entries()) {
    const column = waiting.columnFor(id)
    const dot = { id, column, row }
    dots.push(dot)
    waiting.release(id, column)
    let lowest = -1
    for (const parent of parent_ids.slice(0, MOST_PARENTS)) {
      const to = rows.get(parent) ?? commits.length
      const into = waiting.columnFor(parent, column)
      if (into < most - 1) lines.push({ from: dot, column: into, to })
      else lowest = Math.max(lowest, to)
    }
    if (lowest >= 0) lines.push({ from: dot, column: most - 1, to: lowest })
  }
  return { dots, lines, columns: Math.max(1, waiting.columns) }
}

/** Which column waits for which commit. */
class Waiting {
  /** How many columns were used at once. */
  columns = 0
  readonly #last: number
  readonly #byCommit = new Map<string, number>()
  readonly #taken: boolean[]

  constructor(most: number) {
    this.#last = most - 1
    this.#taken = Array.from({ length: this.#last }, () => false)
  }

  /** The column that waits for the commit, else `preferred` if that is free, else the first free one. */
  columnFor(id: string, preferred = this.#last): number {
    const known = this.#byCommit.get(id)
    if (known !== undefined) return known
    const free = this.#taken[preferred] === false ? preferred : this.#taken.indexOf(false)
    const column = free < 0 ? this.#last : free
    this.#byCommit.set(id, column)
    if (column < this.#last) this.#taken[column] = true
    this.columns = Math.max(this.columns, column + 1)
    return column
  }

  release(id: string, column: number): void {
    this.#byCommit.delete(id)
    if (column < this.#last) this.#taken[column] = false
  }
}
