/** Highlights code as lines of HTML. Runs in the rendering threads. */
import { highlight } from './highlight.ts'

export interface CodeBlock {
  readonly language: string
  readonly lines: readonly string[]
}

/** The length that is highlighted at once. */
const LONGEST_PART = 15_000
const MOST_MARKED = 100_000
/** Maximum nesting of marks: each line repeats the open ones. */
const DEEPEST = 40

/** Null for a block that stays unchanged. */
export function codeLines(blocks: readonly CodeBlock[]): (string[] | null)[] {
  const budget = { left: MOST_MARKED }
  return blocks.map(({ language, lines }) => {
    const marked = partsOf(lines).map((part) => splitLines(highlight(part.join('\n'), language, budget)))
    return marked.every((part) => part !== null) ? marked.flat() : null
  })
}

/** If a part ends inside a comment, the rest of the comment is not highlighted as such: a minor flaw. */
function partsOf(lines: readonly string[]): string[][] {
  const parts: string[][] = [[]]
  let length = 0
  for (const line of lines) {
    length += line.length + 1
    if (length > LONGEST_PART && parts.at(-1)!.length > 0) {
      parts.push([])
      length = line.length + 1
    }
    parts.at(-1)!.push(line)
  }
  return parts
}

const TAG = /<\/?span[^>]*>/g

/** Marks over several lines are closed and reopened in each line. Null if they are nested too deeply. */
function splitLines(html: string): string[] | null {
  const open: string[] = []
  const lines: string[] = []
  for (const line of html.split('\n')) {
    const before = open.join('')
    for (const [tag] of line.matchAll(TAG)) {
      if (tag.startsWith('</')) open.pop()
      else if (open.push(tag) > DEEPEST) return null
    }
    lines.push(before + line + '</span>'.repeat(open.length))
  }
  return lines
}
