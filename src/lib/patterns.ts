/** Regular expressions that users write: RE2, whose time grows with the text alone, however the pattern is made. */

/** Why this is no pattern, in RE2's own words; null if it is one. */
export async function patternFault(pattern: string): Promise<string | null> {
  // Loaded by whoever first writes one: at the start it would make everybody wait.
  const { RE2JS, RE2JSSyntaxException } = await import('re2js')
  try {
    RE2JS.compile(pattern)
    return null
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return error.getDescription()
    throw error
  }
}

/** Whether the pattern is found anywhere in a text; `^` and `$` stand at line breaks too if it is of several lines. */
export async function finder(
  pattern: string,
  { lines = false }: { lines?: boolean } = {},
): Promise<(text: string) => boolean> {
  const { RE2JS } = await import('re2js')
  const compiled = RE2JS.compile(pattern, lines ? RE2JS.MULTILINE : 0)
  return (text) => compiled.matcher(text).find()
}
