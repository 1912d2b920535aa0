/**
 * Footnotes: `text[^name]`, and anywhere a block `[^name]: what it says`. Only referenced footnotes are shown, at the
 * end of the text, in the order of first use. Names are short, so that searching for one is fast.
 */
import type { Env, MarkdownIt, StateBlock, StateCore, StateInline, Token } from 'markdown-it'

const LONGEST_NAME = 64
const NAME = new RegExp(String.raw`\[\^([^\s\[\]^]{1,${LONGEST_NAME}})\]`, 'y')

interface Notes {
  /** Numbers in the order of first use; zero: not used yet. */
  readonly numbers: Map<string, number>
  readonly uses: Map<string, number>
}

const notesOf = (env: Env): Notes => ((env as { notes?: Notes }).notes ??= { numbers: new Map(), uses: new Map() })

function nameAt(text: string, at: number): { name: string; end: number } | null {
  NAME.lastIndex = at
  const match = NAME.exec(text)
  return match && { name: match[1]!.toLowerCase(), end: NAME.lastIndex }
}

/** The first line follows the colon, further ones are indented. */
function definition(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const start = state.bMarks[startLine]! + state.tShift[startLine]!
  const label = nameAt(state.src, start)
  if (!label || state.src[label.end] !== ':' || label.end >= state.eMarks[startLine]!) return false
  const { numbers } = notesOf(state.env)
  if (numbers.has(label.name)) return false
  // Inside another footnote it ends that one's paragraph, and starts after it.
  if (silent || state.level > 0) return silent
  numbers.set(label.name, 0)
  state.push('footnote_open', '', 1).meta = { name: label.name }
  const kept = [state.bMarks[startLine]!, state.tShift[startLine]!, state.sCount[startLine]!] as const
  const { parentType, blkIndent } = state
  state.bMarks[startLine] = label.end + 1
  state.tShift[startLine] = /^[ \t]*/.exec(state.src.slice(label.end + 1, label.end + 100))![0].length
  state.sCount[startLine] = state.blkIndent = blkIndent + 4
  state.parentType = 'reference'
  state.md.block.tokenize(state, startLine, endLine)
  ;[state.bMarks[startLine], state.tShift[startLine], state.sCount[startLine]] = kept
  state.parentType = parentType
  state.blkIndent = blkIndent
  state.push('footnote_close', '', -1).meta = { name: label.name }
  return true
}

function use(state: StateInline, silent: boolean): boolean {
  if (state.src[state.pos] !== '[') return false
  const { numbers, uses } = notesOf(state.env)
  const label = numbers.size > 0 ? nameAt(state.src, state.pos) : null
  const number = label ? numbers.get(label.name) : undefined
  if (!label || number === undefined) return false
  if (!silent) {
    const count = (uses.get(label.name) ?? 0) + 1
    uses.set(label.name, count)
    // Maps keep the insertion order.
    if (number === 0) numbers.set(label.name, uses.size)
    state.push('footnote_use', '', 0).meta = { number: numbers.get(label.name)!, count }
  }
  state.pos = label.end
  return true
}

/** Moves the blocks of referenced footnotes to the end. */
function gather(state: StateCore): void {
  const { numbers } = notesOf(state.env)
  if (numbers.size === 0) return
  const blocks = new Map<string, Token[]>()
  let current: Token[] | null = null
  const rest = state.tokens.filter((token) => {
    if (token.type === 'footnote_open') blocks.set(String(token.meta!['name']), (current = []))
    else if (token.type === 'footnote_close') current = null
    else current?.push(token)
    return current === null && token.type !== 'footnote_close'
  })
  const used = [...numbers].filter(([, number]) => number > 0).toSorted(([, a], [, b]) => a - b)
  const notes = used.flatMap(([name, number]) => noteTokens(state, number, blocks.get(name) ?? []))
  const wrapped =
    notes.length > 0 ? [bare(state, 'footnotes_open', 1), ...notes, bare(state, 'footnotes_close', -1)] : []
  state.tokens = rest.concat(wrapped)
}

function bare(state: StateCore, type: string, nesting: 1 | 0 | -1, meta: Record<string, unknown> | null = null): Token {
  const token = new state.Token(type, '', nesting)
  token.block = true
  token.meta = meta
  return token
}

/** The link back is in the last paragraph, if the footnote ends with one. */
function noteTokens(state: StateCore, number: number, block: readonly Token[]): Token[] {
  const back = bare(state, 'footnote_back', 0, { number })
  const at = block.at(-1)?.type === 'paragraph_close' ? block.length - 1 : block.length
  const open = bare(state, 'note_open', 1, { number })
  return [open, ...block.slice(0, at), back, ...block.slice(at), bare(state, 'note_close', -1)]
}

export function footnotes(md: MarkdownIt): void {
  md.block.ruler.before('reference', 'footnote_definition', definition, { alt: ['paragraph', 'reference'] })
  md.inline.ruler.before('link', 'footnote_use', use)
  md.core.ruler.after('inline', 'footnotes', gather)
  const { rules } = md.renderer
  const meta = (tokens: Token[], at: number) => tokens[at]!.meta as { number: number; count: number }
  rules['footnote_use'] = (tokens, at) => {
    const { number, count } = meta(tokens, at)
    const id = `user-content-fnref-${number}${count === 1 ? '' : `-${count}`}`
    return `<sup class="footnote-ref"><a href="#user-content-fn-${number}" id="${id}">${number}</a></sup>`
  }
  rules['footnotes_open'] = () => '<section class="footnotes">\n<ol>\n'
  rules['footnotes_close'] = () => '</ol>\n</section>\n'
  rules['note_open'] = (tokens, at) => `<li id="user-content-fn-${meta(tokens, at).number}">\n`
  rules['note_close'] = () => '</li>\n'
  rules['footnote_back'] = (tokens, at) =>
    ` <a href="#user-content-fnref-${meta(tokens, at).number}" class="footnote-backref">↩</a>`
}
