/** Tells lines of prose in a Markdown text from lines in code, HTML or a `>>>` quote. */

export interface Line {
  readonly text: string
  /** Null: prose. The first and last line of a block belong to it. */
  readonly block: 'code' | 'html' | 'quote' | null
}

const FENCE = /^[ \t>]{0,40}(?:[-*+] |\d{1,9}[.)] )?[ \t]{0,12}(`{3,}|~{3,})(.*)$/
const HTML_START = /^<([a-z][a-z0-9-]*)(?:[ \t][^<>]*)?>[ \t]*$/i
const HTML_END = /^<\/([a-z][a-z0-9-]*)[ \t]*>\s*$/i
const QUOTE = /^>>>\s*$/
const [COMMENT_START, COMMENT_END] = ['<!--', '-->']

/** Most lines contain no fence, and searching for three characters is cheaper than the pattern. */
const fenceOf = (line: string): readonly string[] =>
  line.includes('```') || line.includes('~~~') ? (FENCE.exec(line) ?? []) : []

/**
 * Beyond these numbers of lines, and of backtick runs in a line, everything counts as code: nothing is searched in it.
 */
const MOST_LINES = 20_000
const MOST_RUNS = 20_000

/**
 * Carriage returns at the ends of lines are kept. An unclosed fence reaches to the end of the text; HTML and quotes
 * start only if they are closed.
 */
export function linesOf(text: string): Line[] {
  const lines = text.split('\n', MOST_LINES)
  const ends = lastEnds(lines)
  const result: Line[] = []
  let end: ((line: string) => boolean) | null = null
  let block: Line['block'] = null
  for (const [at, whole] of lines.entries()) {
    const line = whole.endsWith('\r') ? whole.slice(0, -1) : whole
    if (end) {
      result.push({ text: whole, block })
      if (end(line)) end = block = null
      continue
    }
    ;[block, end] = beginning(line, (name) => (ends.get(name) ?? -1) > at)
    result.push({ text: whole, block })
    if (!end) block = null
  }
  const read = lines.reduce((sum, line) => sum + line.length + 1, 0)
  if (read <= text.length) result.push({ text: text.slice(read), block: 'code' })
  return result
}

/** The last line that closes a block of each name, so that none is searched twice. */
function lastEnds(lines: readonly string[]): Map<string, number> {
  const ends = new Map<string, number>()
  for (const [at, line] of lines.entries()) {
    if (line.startsWith('>>>') && QUOTE.test(line)) ends.set('>>>', at)
    if (line.includes(COMMENT_END)) ends.set(COMMENT_END, at)
    const name = line.startsWith('</') && HTML_END.exec(line)?.[1]?.toLowerCase()
    if (name) ends.set(name, at)
  }
  return ends
}

type Beginning = [Line['block'], ((line: string) => boolean) | null]

function beginning(line: string, endsLater: (name: string) => boolean): Beginning {
  const [, fence, info = ''] = fenceOf(line)
  // Backticks after a fence of backticks make it inline code.
  if (fence && !(fence.startsWith('`') && info.includes('`'))) return ['code', (other) => endsFence(other, fence)]
  if (line.trimStart().startsWith(COMMENT_START)) {
    if (line.includes(COMMENT_END, line.indexOf(COMMENT_START) + COMMENT_START.length)) return ['html', null]
    if (endsLater(COMMENT_END)) return ['html', (other) => other.includes(COMMENT_END)]
  }
  const name = line.startsWith('<') && HTML_START.exec(line)?.[1]?.toLowerCase()
  if (name && endsLater(name)) return ['html', (other) => HTML_END.exec(other)?.[1]?.toLowerCase() === name]
  if (QUOTE.test(line) && endsLater('>>>')) return ['quote', (other) => QUOTE.test(other)]
  return [null, null]
}

function endsFence(line: string, fence: string): boolean {
  const [, closing, rest] = fenceOf(line)
  return closing !== undefined && closing[0] === fence[0] && closing.length >= fence.length && rest!.trim() === ''
}

/** Positions of inline code: a run of backticks ends at the next run of the same length. */
export function codeSpans(line: string): (readonly [start: number, end: number])[] {
  const runs: RegExpExecArray[] = []
  for (const run of line.matchAll(/`+/g)) if (runs.push(run) === MOST_RUNS) break
  const partners = partnersOf(runs.map(([run]) => run.length))
  const spans: (readonly [number, number])[] = []
  for (let n = 0; n < runs.length; n++) {
    const partner = partners[n]!
    if (partner === null) continue
    spans.push([runs[n]!.index, runs[partner]!.index + runs[partner]![0].length])
    n = partner
  }
  if (runs.length === MOST_RUNS) spans.push([runs.at(-1)!.index, line.length])
  return spans
}

/** For each run, the next run of the same length. */
function partnersOf(lengths: readonly number[]): (number | null)[] {
  const next = new Map<number, number>()
  const partners: (number | null)[] = []
  for (let n = lengths.length - 1; n >= 0; n--) {
    partners[n] = next.get(lengths[n]!) ?? null
    next.set(lengths[n]!, n)
  }
  return partners
}
