/** Search in the documentation: every word must occur in a section, its heading or the title of its page. */
import type { Documentation, DocumentationPage, Section } from './documentation.ts'

const MOST_WORDS = 8
const MOST_FOUND = 20
const MOST_OF_A_PAGE = 3
const BEFORE = 60
const LONGEST_EXCERPT = 200

export interface SectionMatch {
  readonly page: DocumentationPage
  readonly section: Section
  readonly excerpt: string
}

const WEIGHTS = { title: 20, heading: 10, text: 1 }
/** Further occurrences do not raise the score. */
const MOST_COUNTED = 5

export function searchDocumentation({ pages }: Documentation, search: string): SectionMatch[] {
  const words = [...new Set(search.toLowerCase().split(/\s+/).filter(Boolean))].slice(0, MOST_WORDS)
  if (words.length === 0) return []
  const found = [...pages.values()].flatMap((page) =>
    page.sections
      .map((section) => ({ page, section, score: scoreOf(page, section, words) }))
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score)
      .slice(0, MOST_OF_A_PAGE),
  )
  return found
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MOST_FOUND)
    .map(({ page, section }) => ({ page, section, excerpt: excerptOf(section.text, words) }))
}

/**
 * 0 if a word is missing. The title of a page counts only for its first section; otherwise all its sections would
 * match.
 */
function scoreOf(page: DocumentationPage, section: Section, words: readonly string[]): number {
  const title = page.title.toLowerCase()
  const heading = section.heading.toLowerCase()
  const text = section.text.toLowerCase()
  let score = 0
  for (const word of words) {
    const found =
      (section.anchor === null && title.includes(word) ? WEIGHTS.title : 0) +
      (heading.includes(word) ? WEIGHTS.heading : 0) +
      Math.min(text.split(word).length - 1, MOST_COUNTED) * WEIGHTS.text
    if (found === 0 && !title.includes(word)) return 0
    score += found
  }
  return score
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase()
  const first = Math.min(...words.map((word) => lower.indexOf(word)).filter((at) => at >= 0), text.length)
  const from = first === text.length ? 0 : Math.max(0, lower.lastIndexOf(' ', Math.max(0, first - BEFORE)) + 1)
  const excerpt = text.slice(from, from + LONGEST_EXCERPT)
  return `${from > 0 ? '…' : ''}${excerpt}${from + LONGEST_EXCERPT < text.length ? '…' : ''}`
}
