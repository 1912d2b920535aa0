import { RE2JS, RE2JSSyntaxException } from 're2js'

export interface Search {
  readonly pattern: string
  readonly lines: boolean
  readonly texts: readonly string[]
}

export interface Found {
  /** Why the pattern is none. */
  readonly fault: string | null
  /** In the order of the texts. */
  readonly found: readonly boolean[]
}

export function searchTexts({ pattern, lines, texts }: Search): Found {
  try {
    const compiled = RE2JS.compile(pattern, lines ? RE2JS.MULTILINE : 0)
    return { fault: null, found: texts.map((text) => compiled.matcher(text).find()) }
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return { fault: error.getDescription(), found: [] }
    throw error
  }
}
