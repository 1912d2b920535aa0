/**
 * Syntax highlighting. Grammars are regular expressions whose time may grow faster than the code, so the amount of code
 * is limited, and highlighting runs only in the rendering threads.
 */
import { createRequire } from 'node:module'
import { escapeHtml } from './html.ts'

interface Highlighter {
  getLanguage(name: string): unknown
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { value: string }
}

let loaded: Highlighter | undefined

/** Loaded on first use. Its own types would add those of browsers to the whole program. */
const highlighter = () => (loaded ??= createRequire(import.meta.url)('highlight.js/lib/common') as Highlighter)

const LONGEST_BLOCK = 16_000
const LONGEST_LINE = 2_000

/** Highlighted HTML, or only escaped if the code is too long or its language unknown. */
export function highlight(code: string, language: string, budget: { left: number }): string {
  if (code.length > Math.min(LONGEST_BLOCK, budget.left) || language === '') return escapeHtml(code)
  if (code.split('\n').some((line) => line.length > LONGEST_LINE)) return escapeHtml(code)
  const hljs = highlighter()
  if (!hljs.getLanguage(language)) return escapeHtml(code)
  budget.left -= code.length
  return hljs.highlight(code, { language, ignoreIllegals: true }).value
}
