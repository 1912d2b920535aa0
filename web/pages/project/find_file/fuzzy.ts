/** Fuzzy search: finds names by some of their letters in order, for example `web/components/Files.tsx` by `wcf`. */
export interface Hit {
  readonly path: string
  /** The positions of the letters. */
  readonly at: readonly number[]
}

interface Scored extends Hit {
  readonly score: number
}

/** The maximum length of the search text; the rest is ignored. */
const MOST_LETTERS = 255

export function findPaths(paths: readonly string[], typed: string, most: number): Hit[] {
  const letters = typed.slice(0, MOST_LETTERS).toLowerCase().replaceAll(/\s/g, '')
  if (letters === '') return paths.slice(0, most).map((path) => ({ path, at: [] }))
  const found = paths.map((path) => match(path, letters)).filter((hit) => hit !== null)
  return found.toSorted((a, b) => b.score - a.score || a.path.length - b.path.length).slice(0, most)
}

/** Searches from the end, so that the file name counts before the folders. */
function match(path: string, letters: string): Scored | null {
  const lower = path.toLowerCase()
  const whole = lower.lastIndexOf(letters)
  if (whole >= 0) {
    const at = Array.from({ length: letters.length }, (_, n) => whole + n)
    return { path, at, score: scoreOf(path, whole, letters) }
  }
  const at: number[] = []
  let from = lower.length
  for (let n = letters.length - 1; n >= 0; n--) {
    from = from > 0 ? lower.lastIndexOf(letters[n]!, from - 1) : -1
    if (from < 0) return null
    at.unshift(from)
  }
  const runs = at.filter((position, n) => n > 0 && position === at[n - 1]! + 1).length
  const starts = at.filter((position) => isStart(path, position)).length
  return { path, at, score: runs + 2 * starts }
}

const isStart = (path: string, position: number) => position === 0 || /[^a-z0-9]/i.test(path[position - 1]!)

/**
 * Adjacent letters score higher than separate ones, matches in the name higher than in a folder, and at its start
 * highest.
 */
function scoreOf(path: string, start: number, letters: string): number {
  const name = path.lastIndexOf('/') + 1
  return 4 * letters.length + (start >= name ? 20 : 0) + (start === name ? 20 : isStart(path, start) ? 10 : 0)
}
