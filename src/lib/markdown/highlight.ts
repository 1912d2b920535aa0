/**
 * Code with its words marked. Grammars are patterns whose time may grow faster than the code: only so much is marked, and
 * in the rendering threads alone.
 */
import { createRequire } from 'node:module'
import { escapeHtml } from './html.ts'

interface Highlighter {
  getLanguage(name: string): unknown
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { value: string }
}

let loaded: Highlighter | undefined

/** Loaded by the first code that is marked. Its own types bring those of browsers into the whole program. */
const highlighter = () => (loaded ??= createRequire(import.meta.url)('highlight.js/lib/common') as Highlighter)

const LONGEST_BLOCK = 16_000
const LONGEST_LINE = 2_000

/** Marked, or as it is where it is too long, or of a language nobody knows. */
export function highlight(code: string, language: string, budget: { left: number }): string {
  if (code.length > Math.min(LONGEST_BLOCK, budget.left) || language === '') return escapeHtml(code)
  if (code.split('\n').some((line) => line.length > LONGEST_LINE)) return escapeHtml(code)
  const hljs = highlighter()
  if (!hljs.getLanguage(language)) return escapeHtml(code)
  budget.left -= code.length
  return hljs.highlight(code, { language, ignoreIllegals: true }).value
}
