/** Issues that a text promises to close: `Closes #1, #2 and group/project#3`, `fixed: <URL of an issue>`. */
import { codeSpans, linesOf } from './prose.ts'
import { referenceOfAddress } from './references.ts'

export type ClosingReference =
  | { readonly kind: 'issue'; readonly project: string | null; readonly id: number }
  /** An issue of an external tracker, such as `ABC-1`. */
  | { readonly kind: 'external'; readonly name: string }

const KEYWORD = /(?<![\p{L}\p{N}_])(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)):?[ \t]+/gu
const NOUN = /issues?[ \t]+/iy
const ISSUE = /((?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_][A-Za-z0-9_.-]*)?#(\d{1,10})(?![\p{L}\p{N}_])/uy
const EXTERNAL = /[A-Z][A-Z0-9_]{0,63}-\d{1,10}(?![\p{L}\p{N}_])/uy
const ADDRESS = /<?(https?:\/\/[^\s<>"'()[\],;]{1,2000})>?/y
const AND = /(?:[ \t]*,[ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+)/iy

/** The maximum number of references; the rest of the text is not read. */
const MOST_NAMED = 10_000

/** Each reference once, in order of appearance. References in code do not count. */
export function closingReferences(text: string, base: string): ClosingReference[] {
  const found = new Map<string, ClosingReference>()
  const prose = withoutCode(text)
  let left = MOST_NAMED
  for (const keyword of prose.matchAll(KEYWORD)) {
    for (const one of listAt(prose, keyword.index + keyword[0].length, base)) {
      if (--left < 0) return [...found.values()]
      found.set(JSON.stringify(one), one)
    }
  }
  return [...found.values()]
}

function* listAt(text: string, start: number, base: string): Generator<ClosingReference> {
  let at = start
  for (;;) {
    at += lengthAt(NOUN, text, at)
    const one = referenceAt(text, at, base)
    if (!one) return
    yield one.reference
    at = one.end
    const and = lengthAt(AND, text, at)
    if (and === 0) return
    at += and
  }
}

function referenceAt(text: string, at: number, base: string): { reference: ClosingReference; end: number } | null {
  const issue = matchAt(ISSUE, text, at)
  if (issue)
    return {
      reference: { kind: 'issue', project: issue[1] ?? null, id: Number(issue[2]) },
      end: at + issue[0].length,
    }
  const external = matchAt(EXTERNAL, text, at)
  if (external) return { reference: { kind: 'external', name: external[0] }, end: at + external[0].length }
  const [whole = '', address = ''] = matchAt(ADDRESS, text, at) ?? []
  const { reference } = referenceOfAddress(address.replace(/[.:!?]$/, ''), base) ?? {}
  if (reference?.kind !== 'issue') return null
  return { reference: { kind: 'issue', project: reference.project, id: reference.id }, end: at + whole.length }
}

/** Replaces code by blanks, in blocks and in lines. */
function withoutCode(text: string): string {
  if (!text.includes('`') && !text.includes('~~~')) return text
  return linesOf(text)
    .map((line) => (line.block === 'code' ? '' : line.text.includes('`') ? withoutSpans(line.text) : line.text))
    .join('\n')
}

function withoutSpans(line: string): string {
  let text = ''
  let from = 0
  for (const [start, end] of codeSpans(line)) {
    text += `${line.slice(from, start)} `
    from = end
  }
  return text + line.slice(from)
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const lengthAt = (pattern: RegExp, text: string, at: number) => matchAt(pattern, text, at)?.[0].length ?? 0
