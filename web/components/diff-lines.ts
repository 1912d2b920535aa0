/** The lines of an API diff, with their numbers on both sides. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'hunk' | 'note'
  /** In the old file; null for added lines. */
  readonly old: number | null
  /** In the new file. */
  readonly new: number | null
  readonly text: string
  /** The changed range within the line, if the other side has a counterpart: from, to. */
  readonly changed?: readonly [number, number]
  /** The highlighted text from the API. */
  readonly html?: string
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/
const KINDS: Readonly<Record<string, DiffLine['kind']>> = { ' ': 'same', '+': 'added', '-': 'removed', '\\': 'note' }

/** `html` has the lines from the first hunk on. */
export function linesOf(diff: string, html: readonly string[] | null = null): DiffLine[] {
  const lines: DiffLine[] = []
  let [before, after] = [0, 0]
  let isInside = false
  for (const text of diff.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(text)
    if (hunk) {
      isInside = true
      ;[before, after] = [Number(hunk[1]), Number(hunk[2])]
      lines.push({ kind: 'hunk', old: null, new: null, text })
    } else if (isInside) {
      const kind = KINDS[text[0] ?? ' '] ?? 'same'
      const isBefore = kind === 'same' || kind === 'removed'
      const isAfter = kind === 'same' || kind === 'added'
      const marked = html?.[lines.length]
      lines.push({
        kind,
        old: isBefore ? before++ : null,
        new: isAfter ? after++ : null,
        text: text.slice(1),
        ...(marked !== undefined && { html: marked }),
      })
    }
  }
  return withChanges(lines)
}

/** If as many lines were removed as added, each is paired with its counterpart. */
function withChanges(lines: DiffLine[]): DiffLine[] {
  for (let at = 0; at < lines.length;) {
    const removed = countFrom(lines, at, 'removed')
    const added = countFrom(lines, at + removed, 'added')
    for (let n = 0; removed === added && n < removed; n++) {
      const [one, other] = [lines[at + n]!, lines[at + removed + n]!]
      const [start, end] = commonEnds(one.text, other.text)
      if (start + end < Math.max(one.text.length, other.text.length) / 4) continue
      lines[at + n] = { ...one, changed: [start, one.text.length - end] }
      lines[at + removed + n] = { ...other, changed: [start, other.text.length - end] }
    }
    at += Math.max(1, removed + added)
  }
  return lines
}

function countFrom(lines: readonly DiffLine[], at: number, kind: DiffLine['kind']): number {
  let count = 0
  while (lines[at + count]?.kind === kind) count++
  return count
}

function commonEnds(one: string, other: string): [start: number, end: number] {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  return [start, end]
}

const PIECE = /<[^>]*>|&[^;]*;|[^<&]/gsu

/** Marks a range of the text within its HTML: tags that are open at either end are closed and reopened there. */
export function markWithin(html: string, from: number, to: number): string {
  let [written, at, isMarked] = ['', 0, false]
  const open: string[] = []
  const turn = (mark: string) => {
    written += '</span>'.repeat(open.length) + mark + open.join('')
    isMarked = !isMarked
  }
  for (const [piece] of html.matchAll(PIECE)) {
    if (piece.startsWith('<')) {
      if (piece.startsWith('</')) open.pop()
      else open.push(piece)
    } else {
      if (isMarked ? at >= to : at >= from && at < to) turn(isMarked ? '</mark>' : '<mark>')
      at += piece.startsWith('&') ? 1 : piece.length
    }
    written += piece
  }
  if (isMarked) turn('</mark>')
  return written
}

/** Split view: removed lines next to their replacements. */
export interface DiffPair {
  readonly left: DiffLine | null
  readonly right: DiffLine | null
}

export function pairsOf(lines: readonly DiffLine[]): DiffPair[] {
  const pairs: DiffPair[] = []
  for (let at = 0; at < lines.length;) {
    const removed = countFrom(lines, at, 'removed')
    const added = countFrom(lines, at + removed, 'added')
    for (let n = 0; n < Math.max(removed, added); n++) {
      const left = n < removed ? lines[at + n]! : null
      pairs.push({ left, right: n < added ? lines[at + removed + n]! : null })
    }
    const line = lines[at]!
    if (removed + added === 0) pairs.push({ left: line, right: line })
    at += Math.max(1, removed + added)
  }
  return pairs
}

const MOST_LINES = 3000

/** The first files unchanged; files beyond the page limit without their lines. */
export function cutDiffs<F extends { diff: string; collapsed: boolean; lines_html?: string[] | null }>(
  files: readonly F[],
): F[] {
  let left = MOST_LINES
  return files.map((file) => {
    left -= file.diff.split('\n').length
    return left >= 0 || file === files[0] ? file : { ...file, diff: '', lines_html: null, collapsed: true }
  })
}
