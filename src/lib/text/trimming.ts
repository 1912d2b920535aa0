/**
 * The text without those characters at its ends. A pattern such as `/-+$/` would begin anew at every dash of a text that
 * is full of them.
 */
export function trimEnds(text: string, isTrimmed: (character: string) => boolean): string {
  let start = 0
  let end = text.length
  while (start < end && isTrimmed(text[start]!)) start++
  while (end > start && isTrimmed(text[end - 1]!)) end--
  return text.slice(start, end)
}

export const withoutSlashes = (text: string): string => trimEnds(text, (character) => character === '/')
