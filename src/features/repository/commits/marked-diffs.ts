/** Diffs with syntax highlighting for pages, as far as the time limit allows. */
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../../context.ts'
import { escapeHtml } from '../../../lib/markdown/html.ts'
import { markLines, markedLanguage, type CodeBlock } from '../../../lib/markdown/marked-code.ts'

/** The sum over both sides. */
const MOST_CHARACTERS = 100_000
/** Highlighting that takes longer is ready for the next request. */
const LONGEST_WAIT = 2_000

interface Diff {
  readonly new_path: string
  readonly diff: string
}

export async function markDiffs<D extends Diff>(
  { caller }: App,
  diffs: readonly D[],
): Promise<(D & { lines_html: string[] | null })[]> {
  let left = MOST_CHARACTERS
  const plans = diffs.map(({ new_path, diff }) => {
    const language = markedLanguage(new_path)
    if (language === null || diff.length > left) return null
    const plan = planOf(diff, language)
    left -= plan.length
    return left < 0 ? null : plan
  })
  const blocks = plans.flatMap((plan) => plan?.blocks ?? [])
  const marked = await Promise.race([markLines(blocks, caller), pause(LONGEST_WAIT, null, { ref: false })])
  const found = new Map(marked && blocks.map((block, n) => [block, marked[n] ?? null]))
  return diffs.map((diff, n) => ({ ...diff, lines_html: marked && plans[n] ? written(plans[n], found) : null }))
}

/** One side of a hunk. */
interface Side extends CodeBlock {
  readonly lines: string[]
  /** The positions of these lines in the patch. */
  readonly at: number[]
}

interface Plan {
  readonly patch: readonly string[]
  readonly blocks: readonly Side[]
  readonly length: number
}

/** Highlights both sides separately, because the same word can have another meaning before and after the change. */
function planOf(diff: string, language: string): Plan {
  const all = diff.replace(/\n$/, '').split('\n')
  const start = all.findIndex((line) => line.startsWith('@@ '))
  const patch = start < 0 ? [] : all.slice(start)
  const sides: { before: Side; after: Side }[] = []
  for (const [n, line] of patch.entries()) {
    if (line.startsWith('@@ ')) {
      sides.push({ before: { language, lines: [], at: [] }, after: { language, lines: [], at: [] } })
      continue
    }
    const { before, after } = sides.at(-1)!
    for (const [side, signs] of [[before, ' -'] as const, [after, ' +'] as const]) {
      if (!signs.includes(line[0] ?? ' ')) continue
      side.lines.push(line.slice(1).replace(/\r$/, ''))
      side.at.push(n)
    }
  }
  // A side without a change is the same as the other side.
  const blocks = sides.flatMap(({ before, after }) => {
    const isChanged = (side: Side, sign: string) => side.at.some((n) => patch[n]![0] === sign)
    const changed = [...(isChanged(before, '-') ? [before] : []), ...(isChanged(after, '+') ? [after] : [])]
    return changed.length > 0 ? changed : [after]
  })
  const length = blocks.reduce((sum, { lines }) => sum + lines.reduce((all, line) => all + line.length + 1, 0), 0)
  return { patch, blocks, length }
}

/** Unchanged lines use the highlighting of the file after the change. */
function written({ patch, blocks }: Plan, found: ReadonlyMap<CodeBlock, readonly string[] | null>): string[] {
  const lines = patch.map((line) => escapeHtml(line.startsWith('@@ ') ? line : line.slice(1)))
  for (const block of blocks) {
    const marked = found.get(block)
    if (marked) for (const [n, at] of block.at.entries()) lines[at] = marked[n]!
  }
  return lines
}
