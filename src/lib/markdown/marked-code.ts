/**
 * Lines of code with their words marked. Code in Markdown is marked, off this thread where it is long, and remembered: so
 * all of it is written as one such text.
 */
import { languageOf } from '../languages.ts'
import { renderMarkdown } from './markdown.ts'

export interface CodeBlock {
  readonly language: string
  readonly lines: readonly string[]
}

/** What Markdown marks at once. */
const LONGEST_PART = 15_000
const BLOCK = /<pre><code(?: class="[^"]*")?>([^]*?)\n?<\/code><\/pre>/g

/** Each line as HTML. Null of a block that is left as it is. */
export async function markLines(blocks: readonly CodeBlock[]): Promise<(string[] | null)[]> {
  const parts = blocks.flatMap(({ language, lines }, block) =>
    lines.some((line) => line.includes('```')) ? [] : partsOf(lines).map((lines) => ({ block, language, lines })),
  )
  const text = parts.map(({ language, lines }) => `\`\`\`${language}\n${lines.join('\n')}\n\`\`\`\n`).join('\n')
  const found = parts.length === 0 ? [] : [...(await renderMarkdown(text)).matchAll(BLOCK)]
  const marked = blocks.map((): string[] | null => null)
  if (found.length !== parts.length) return marked
  for (const [n, { block, lines }] of parts.entries()) {
    const split = splitLines(found[n]![1] ?? '')
    if (split.length === lines.length) (marked[block] ??= []).push(...split)
  }
  return marked.map((lines, n) => (lines?.length === blocks[n]!.lines.length ? lines : null))
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

/** Marks that go over several lines are closed and opened anew in each. */
function splitLines(html: string): string[] {
  let open: string[] = []
  return html.split('\n').map((line) => {
    const before = open.join('')
    for (const [tag] of line.matchAll(TAG)) open = tag.startsWith('</') ? open.slice(0, -1) : [...open, tag]
    return before + line + '</span>'.repeat(open.length)
  })
}

/** By the name of a file; null where nobody knows. */
export function markedLanguage(path: string): string | null {
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase()
  if (ending && KNOWN_ENDINGS.has(ending)) return ending
  return languageOf(path)?.toLowerCase().replace('c++', 'cpp').replace('c#', 'cs') ?? null
}

/** Of data and prose, which count for no language. */
const KNOWN_ENDINGS = new Set('json yml yaml toml ini xml md markdown svg diff patch sql graphql'.split(' '))
