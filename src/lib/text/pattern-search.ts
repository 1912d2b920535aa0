import { RE2JS, RE2JSSyntaxException } from 're2js'

export interface Search {
  readonly pattern: string
  readonly lines: boolean
  readonly texts: readonly string[]
  /** Also reports the last match of the last group, or of the whole pattern. */
  readonly isReported?: boolean
}

export interface PatternMatches {
  /** Why the pattern is invalid. */
  readonly fault: string | null
  /** In the order of the texts. */
  readonly found: readonly boolean[]
  readonly matches?: readonly (string | null)[]
}

export function searchTexts({ pattern, lines, texts, isReported }: Search): PatternMatches {
  try {
    const compiled = RE2JS.compile(pattern, lines ? RE2JS.MULTILINE : 0)
    if (isReported) {
      const matches = texts.map((text) => lastOf(compiled, text))
      return { fault: null, found: matches.map((one) => one !== null), matches }
    }
    return { fault: null, found: texts.map((text) => compiled.matcher(text).find()) }
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return { fault: error.getDescription(), found: [] }
    throw error
  }
}

/** Entry point in a thread. */
export const perform = searchTexts

function lastOf(compiled: RE2JS, text: string): string | null {
  const matcher = compiled.matcher(text)
  let last: string | null = null
  while (matcher.find()) last = matcher.group(matcher.groupCount()) ?? matcher.group()
  return last
}
