/** Task boxes of a Markdown text, counted in order. */
const ITEM = /^([ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[)[ xX](\][ \t]+\S)/
const FENCE = /^[ \t>]*(```|~~~)/

/** The text with one box checked or unchecked. Null if there is no such box. */
export function tick(text: string, index: number, isDone: boolean): string | null {
  const lines = text.split('\n')
  let isCode = false
  let at = -1
  for (const [n, line] of lines.entries()) {
    if (FENCE.test(line)) isCode = !isCode
    if (isCode || !ITEM.test(line) || ++at !== index) continue
    lines[n] = line.replace(ITEM, `$1${isDone ? 'x' : ' '}$2`)
    return lines.join('\n')
  }
  return null
}
