/** Headings with their anchors, and the table of contents: `[[_TOC_]]` or `[TOC]` as a paragraph of its own. */
import type { Env, MarkdownIt as Parser, StateCore } from 'markdown-it'
import { ID_PREFIX, escapeHtml } from './html.ts'
import { slugOf } from './slugs.ts'
import { wordsOf } from './words.ts'

interface Heading {
  readonly level: number
  readonly slug: string
  readonly words: string
}

interface OutlineEnv extends Env {
  headings?: readonly Heading[]
}

const CONTENTS = /^\[(?:TOC|\[_TOC_\])\]$/

export function outline(parser: Parser): void {
  parser.core.ruler.after('block', 'contents', markContents)
  parser.core.ruler.push('headings', collectHeadings)
  const { rules } = parser.renderer
  rules['heading_open'] = (tokens, at, options, _, self) => {
    const slug = escapeHtml(String(tokens[at]!.meta!['slug']))
    const anchor = `<a class="anchor" href="#${ID_PREFIX}${slug}" title="Link to this heading"></a>`
    return self.renderToken(tokens, at, options) + anchor
  }
  rules['contents'] = (_tokens, _at, _options, env) => writeContents((env as OutlineEnv).headings ?? [])
}

/** Only the first one: a text of many would be much longer than its source. */
function markContents(state: StateCore): void {
  const at = state.tokens.findIndex(
    ({ type, content, level }) => type === 'inline' && level === 1 && CONTENTS.test(content),
  )
  if (state.tokens[at - 1]?.type !== 'paragraph_open') return
  state.tokens.splice(at - 1, 3, new state.Token('contents', '', 0))
}

function collectHeadings(state: StateCore): void {
  const slugs = new Map<string, number>()
  const headings: Heading[] = []
  for (const [at, token] of state.tokens.entries()) {
    if (token.type !== 'heading_open') continue
    const words = wordsOf(state.tokens[at + 1]?.children ?? [])
    const slug = slugOf(words, slugs)
    token.attrSet('id', ID_PREFIX + slug)
    token.meta = { slug }
    headings.push({ level: Number(token.tag.slice(1)), slug, words })
  }
  ;(state.env as OutlineEnv).headings = headings
}

const MOST_HEADINGS = 1000

/** Lists within lists. A heading that skips a level is one level below the heading before. */
function writeContents(headings: readonly Heading[]): string {
  const open: number[] = []
  let html = ''
  for (const { level, slug, words } of headings.slice(0, MOST_HEADINGS)) {
    while (open.length > 1 && level < open.at(-1)!) {
      open.pop()
      html += '</li></ul>'
    }
    if (open.length === 0 || level > open.at(-1)!) {
      open.push(level)
      html += '<ul>'
    } else html += '</li>'
    html += `<li><a href="#${ID_PREFIX}${escapeHtml(slug)}">${escapeHtml(words)}</a>`
  }
  return open.length === 0 ? '' : `<section class="contents">${html}${'</li></ul>'.repeat(open.length)}</section>\n`
}
