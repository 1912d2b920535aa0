/**
 * Inline additions of the Markdown flavour: references, emoji, task boxes. Works on parsed tokens, so that code, link
 * texts and escaped text are not searched.
 */
import type { Env, StateCore, Token } from 'markdown-it'
import type { FindEmoji } from '../text/emoji.ts'
import { referenceOfAddress, scanReferences, type Reference } from '../text/references.ts'
import { addressOfKey, trackerKeysIn, type Tracker } from '../text/tracker-keys.ts'

/** A reference in a text. */
export type TextReference = Reference & {
  /** The line in the text, from zero. */
  readonly line: number
  /** A mention at the start of a paragraph: the text is directed at this user. */
  readonly addressed: boolean
  /** The note that a URL leads to. */
  readonly note: number | null
}

export interface InlineEnv extends Env {
  /** The URL of the instance, to recognise its own URLs. */
  readonly base: string | null
  readonly findEmoji: FindEmoji
  /** Its issues become links too. */
  readonly tracker: Tracker | null
  readonly found: TextReference[]
}

/** Replaces the rule that joins pieces of text: joins them, and then splits them at references. */
export function nameThings(state: StateCore): void {
  const env = state.env as InlineEnv
  let line = 0
  for (const [at, token] of state.tokens.entries()) {
    // Table cells only know their row.
    line = token.map?.[0] ?? line
    if (token.type !== 'inline' || !token.children) continue
    const opener = state.tokens[at - 1]
    const opensParagraph = opener?.type === 'paragraph_open' && opener.level === 0
    token.children = new LineReader(state, env, line, opensParagraph).read(token.children)
    markTask(state, at)
  }
}

const SIGN = /:([a-z0-9_+-]{1,64}):/gi
/** Maximum references in one text: no writer needs more, and each is looked up. */
const MOST_FOUND = 2000
/** The text between mentions that open a paragraph. */
const BETWEEN = /^(?:[\s,;:&]|and\b)*$/

class LineReader {
  readonly #state: StateCore
  readonly #env: InlineEnv
  #line: number
  #opens: boolean
  #linkDepth = 0

  constructor(state: StateCore, env: InlineEnv, line: number, opens: boolean) {
    this.#state = state
    this.#env = env
    this.#line = line
    this.#opens = opens
  }

  read(tokens: readonly Token[]): Token[] {
    const result: Token[] = []
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at]!
      if (isText(token)) {
        let end = at + 1
        while (end < tokens.length && isText(tokens[end]!)) end++
        for (const piece of this.#split(tokens.slice(at, end))) result.push(piece)
        at = end - 1
        continue
      }
      const address = this.#addressAt(tokens, at)
      if (address) at += 2
      result.push(address ?? token)
      this.#pass(address ?? token)
    }
    return result
  }

  #pass(token: Token): void {
    if (token.type === 'softbreak' || token.type === 'hardbreak') this.#line++
    else this.#opens = false
    if (token.type === 'link_open') this.#linkDepth++
    if (token.type === 'link_close') this.#linkDepth--
    // The text of an image stays plain text.
    if (token.children) for (const child of token.children) if (child.type === 'text_special') child.type = 'text'
  }

  /** A bare URL of a record of this instance: a link of three tokens. */
  #addressAt(tokens: readonly Token[], at: number): Token | null {
    const [open, , close] = tokens.slice(at, at + 3)
    if (open?.type !== 'link_open' || open.info !== 'auto' || close?.type !== 'link_close' || !this.#env.base)
      return null
    const href = String(open.attrGet('href'))
    const found = referenceOfAddress(href, this.#env.base)
    return found && this.#reference(found.reference, found.note)
  }

  #split(run: readonly Token[]): Token[] {
    let text = ''
    const escaped = new Set<number>()
    for (const token of run) {
      if (token.type === 'text_special') escaped.add(text.length)
      text += token.content
    }
    const result: Token[] = []
    let from = 0
    const plain = (to: number) => {
      if (to > from) this.#plain(text.slice(from, to), result)
    }
    for (const { start, end, ...reference } of this.#linkDepth > 0 ? [] : scanReferences(text)) {
      if (escaped.size > 0 && isEscaped(escaped, start, end)) continue
      plain(start)
      result.push(this.#reference(reference as Reference, null))
      from = end
    }
    plain(text.length)
    return result
  }

  #reference(reference: Reference, note: number | null): Token {
    const isUser = reference.kind === 'user'
    const found: TextReference = { ...reference, line: this.#line, addressed: isUser && this.#opens, note }
    if (!isUser) this.#opens = false
    if (this.#env.found.length < MOST_FOUND) this.#env.found.push(found)
    return this.#token('reference', reference.text, { reference: found })
  }

  #plain(text: string, result: Token[]): void {
    if (!BETWEEN.test(text)) this.#opens = false
    const { tracker } = this.#env
    let from = 0
    for (const { start, end, text: written, key } of tracker && this.#linkDepth === 0
      ? trackerKeysIn(text, tracker.slug)
      : []) {
      if (start > from) this.#signs(text.slice(from, start), result)
      result.push(this.#token('tracker_key', written, { href: addressOfKey(tracker!, key) }))
      from = end
    }
    if (from < text.length) this.#signs(text.slice(from), result)
  }

  #signs(text: string, result: Token[]): void {
    let from = 0
    for (const match of text.matchAll(SIGN)) {
      const emoji = match.index >= from ? this.#env.findEmoji(match[1]!) : null
      if (!emoji) continue
      if (match.index > from) result.push(this.#token('text', text.slice(from, match.index)))
      result.push(this.#token('emoji', emoji.text, { name: emoji.name }))
      from = match.index + match[0].length
    }
    if (from < text.length) result.push(this.#token('text', text.slice(from)))
  }

  #token(type: string, content: string, meta: Record<string, unknown> | null = null): Token {
    const token = new this.#state.Token(type, '', 0)
    token.content = content
    token.meta = meta
    return token
  }
}

const isText = ({ type }: Token) => type === 'text' || type === 'text_special'

function isEscaped(escaped: ReadonlySet<number>, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (escaped.has(at)) return true
  return false
}

const BOX = /^\[([ xX])\][ \t]+(?=\S)/

function markTask(state: StateCore, at: number): void {
  const [item, paragraph, inline] = state.tokens.slice(Math.max(at - 2, 0), at + 1)
  const first = inline?.children?.[0]
  if (item?.type !== 'list_item_open' || paragraph?.type !== 'paragraph_open' || first?.type !== 'text') return
  const box = BOX.exec(first.content + (inline!.children!.length > 1 ? '.' : ''))
  if (!box) return
  first.content = first.content.slice(box[0].length)
  const checkbox = new state.Token('task_box', 'input', 0)
  checkbox.meta = { checked: box[1] !== ' ' }
  inline!.children!.unshift(checkbox)
  item.attrJoin('class', 'task-list-item')
}
