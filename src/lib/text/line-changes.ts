/**
 * Counts the added and removed lines of a small change as git does, without git. Git computes the shortest diff, except
 * for lines that it ignores beforehand because they are too frequent among new lines; this is done here as in git's
 * xdiff/xprepare.c.
 */

export interface LineChanges {
  readonly additions: number
  readonly deletions: number
}

/** Applies to both texts without their common start and end. Beyond it git itself uses heuristics. */
const MOST_LINES = 500
/** A zero in these first bytes makes the file binary. */
const LOOKED_AT = 8000

/** Null if the texts are too large to compare. */
export function lineChanges(before: Buffer, after: Buffer): LineChanges | null {
  if ([before, after].some((bytes) => bytes.subarray(0, LOOKED_AT).includes(0))) return { additions: 0, deletions: 0 }
  const [a, b] = [linesOf(before), linesOf(after)]
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  let end = 0
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const [removed, added] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  const isPlain = removed.length === 0 || added.length === 0
  if (!isPlain && removed.length + added.length > MOST_LINES) return null
  const same = isPlain ? 0 : longestCommon(compared(removed, a, b), compared(added, b, a))
  return { additions: added.length - same, deletions: removed.length - same }
}

/** Each line with its line break: without one, the last line is a different line. */
const linesOf = (bytes: Buffer) => bytes.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? []

const [NOWHERE, SELDOM, OFTEN] = [0, 1, 2]

/** The lines of a text that are compared with the other text. */
function compared(lines: readonly string[], own: readonly string[], other: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const line of other) counts.set(line, (counts.get(line) ?? 0) + 1)
  const frequent = roughRoot(own.length)
  const kinds = lines.map((line) => {
    const count = counts.get(line) ?? 0
    return count === 0 ? NOWHERE : count >= frequent ? OFTEN : SELDOM
  })
  return lines.filter((_, at) => kinds[at] === SELDOM || (kinds[at] === OFTEN && !isAmongNew(kinds, at)))
}

const LARGEST_ROOT = 1024

function roughRoot(number: number): number {
  let root = 1
  for (let rest = number; rest > 0; rest >>= 2) root <<= 1
  return Math.min(root, LARGEST_ROOT)
}

const WINDOW = 100
const NEW_TO_FREQUENT = 4

/** Whether, on both sides up to the next rare line, there are lines that the other text does not have. */
function isAmongNew(kinds: readonly number[], at: number): boolean {
  let [fresh, frequent] = [0, 0]
  for (const step of [-1, 1]) {
    const before = fresh
    frequent++
    for (let next = at + step; Math.abs(next - at) <= WINDOW; next += step) {
      if (kinds[next] === NOWHERE) fresh++
      else if (kinds[next] === OFTEN) frequent++
      else break
    }
    if (fresh === before) return false
  }
  return frequent * NEW_TO_FREQUENT < frequent + fresh
}

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Uint16Array(b.length + 1)
  for (const line of a) {
    const next = new Uint16Array(b.length + 1)
    for (let n = 0; n < b.length; n++) next[n + 1] = line === b[n] ? row[n]! + 1 : Math.max(next[n]!, row[n + 1]!)
    row = next
  }
  return row[b.length]!
}
