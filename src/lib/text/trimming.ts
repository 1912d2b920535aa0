/**
 * Trims these characters at both ends. A pattern such as `/-+$/` would restart at every dash of a text full of dashes.
 */
export function trimEnds(text: string, isTrimmed: (character: string) => boolean): string {
  let start = 0
  let end = text.length
  while (start < end && isTrimmed(text[start]!)) start++
  while (end > start && isTrimmed(text[end - 1]!)) end--
  return text.slice(start, end)
}

export const withoutSlashes = (text: string): string => trimEnds(text, (character) => character === '/')
