/** Suggestions in a text: fenced blocks whose info is `suggestion`, or `suggestion:-1+2`, propose replacement lines. */

export interface Suggested {
  /** Lines above and below the commented line. */
  readonly above: number
  readonly below: number
  /** Each line with its line break; empty: the lines are deleted. */
  readonly content: string
}

const MOST_AROUND = 100
const MOST = 50

export function suggestionsIn(text: string): Suggested[] {
  const found: Suggested[] = []
  let block: { readonly fence: string; readonly range: readonly [number, number] | null; lines: string[] } | null = null
  for (const line of text.split('\n')) {
    const bare = line.endsWith('\r') ? line.slice(0, -1) : line
    if (!block) {
      const [, fence, info] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(bare) ?? []
      if (fence) block = { fence, range: rangeOf(info!.trim()), lines: [] }
      continue
    }
    if (!closes(bare, block.fence)) {
      block.lines.push(`${bare}\n`)
      continue
    }
    if (block.range && found.length < MOST) {
      const [above, below] = block.range
      found.push({ above, below, content: block.lines.join('') })
    }
    block = null
  }
  return found
}

function rangeOf(info: string): readonly [number, number] | null {
  if (info === 'suggestion') return [0, 0]
  const [, above, below] = /^suggestion:-(\d{1,3})\+(\d{1,3})$/.exec(info) ?? []
  if (above === undefined || below === undefined) return null
  return [Math.min(Number(above), MOST_AROUND), Math.min(Number(below), MOST_AROUND)]
}

/** At least as many marks of the same kind, and nothing else. */
function closes(line: string, fence: string): boolean {
  const marks = line.trim()
  return marks.length >= fence.length && marks === fence[0]!.repeat(marks.length)
}
