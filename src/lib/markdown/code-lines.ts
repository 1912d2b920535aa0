/** Code as lines of HTML. Runs in the rendering threads. */
import { highlight } from './highlight.ts'

export interface CodeBlock {
  readonly language: string
  readonly lines: readonly string[]
}

/** What is marked at once. */
const LONGEST_PART = 15_000
const MOST_MARKED = 100_000
/** Of marks within each other: each line repeats those that are open. */
const DEEPEST = 40

/** Null of a block that is left as it is. */
export function codeLines(blocks: readonly CodeBlock[]): (string[] | null)[] {
  const budget = { left: MOST_MARKED }
  return blocks.map(({ language, lines }) => {
    const marked = partsOf(lines).map((part) => splitLines(highlight(part.join('\n'), language, budget)))
    return marked.every((part) => part !== null) ? marked.flat() : null
  })
}

/** Where one ends in the middle of a comment, its rest is not marked as such: nothing worse. */
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

/** Marks that go over several lines are closed and opened anew in each. Null where too many are within each other. */
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
