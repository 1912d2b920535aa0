/** Alerts: quotes that begin with `[!NOTE]`, `[!WARNING]` …, optionally followed by a title. */
import type { MarkdownIt as Parser, StateCore, Token } from 'markdown-it'

const TITLES: Readonly<Record<string, string>> = {
  note: 'Note',
  tip: 'Tip',
  important: 'Important',
  warning: 'Warning',
  caution: 'Caution',
}
const FIRST_LINE = /^\[!(note|tip|important|warning|caution)\](?: +([^\n]*))?(?:\n|$)/i

export function alerts(parser: Parser): void {
  parser.core.ruler.after('block', 'alerts', markAlerts)
}

function markAlerts(state: StateCore): void {
  const { tokens } = state
  const result: Token[] = []
  /** For each open quote, whether it is an alert. */
  const open: boolean[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    if (token.type === 'blockquote_close' && open.pop()) token.tag = 'div'
    result.push(token)
    if (token.type !== 'blockquote_open') continue
    const text = tokens[at + 1]?.type === 'paragraph_open' ? tokens[at + 2]! : null
    const [line, kind = '', title] = (text && FIRST_LINE.exec(text.content)) ?? []
    open.push(line !== undefined)
    if (line === undefined) continue
    token.tag = 'div'
    token.attrSet('class', `alert alert-${kind.toLowerCase()}`)
    result.push(...titleOf(state, token, title?.trim() || TITLES[kind.toLowerCase()]!))
    text!.content = text!.content.slice(line.length)
    // The line of the title is all of this paragraph.
    if (text!.content === '') at += 3
    else if (text!.map) text!.map = [text!.map[0] + 1, text!.map[1]]
  }
  state.tokens = result
}

function titleOf(state: StateCore, { level, map }: Token, words: string): Token[] {
  const start = new state.Token('paragraph_open', 'p', 1)
  const title = new state.Token('inline', '', 0)
  const end = new state.Token('paragraph_close', 'p', -1)
  Object.assign(start, { level: level + 1, block: true, map })
  Object.assign(title, { level: level + 2, block: true, map, content: words, children: [] })
  Object.assign(end, { level: level + 1, block: true })
  start.attrSet('class', 'alert-title')
  return [start, title, end]
}
