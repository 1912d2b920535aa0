import type { Token } from 'markdown-it'

/** The readable text of tokens. */
export function wordsOf(tokens: readonly Token[]): string {
  return tokens
    .map(({ content, children, type }) => (type === 'html_inline' ? '' : children ? wordsOf(children) : content))
    .join('')
}
