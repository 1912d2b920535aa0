/** Cleans the names of uploaded files for use in URLs, headers and Markdown. */

const LONGEST = 255

export function cleanName(given: string): string {
  const base = given.normalize('NFC').split(/[/\\]/).at(-1)!
  const plain = base.replace(/[^\p{L}\p{M}\p{N}_.+-]/gu, '_')
  return shortened(/^\.*$/.test(plain) ? `_${plain}` : plain)
}

/** Shortens the name before its extension, which tells the type. */
function shortened(name: string): string {
  const letters = Array.from(name)
  if (letters.length <= LONGEST) return name
  const extension = Array.from(/\.[^.]{1,20}$/.exec(name)?.[0] ?? '')
  return [...letters.slice(0, LONGEST - extension.length), ...extension].join('')
}

export const withoutExtension = (name: string): string => name.replace(/(?<=.)\.[^.]+$/, '')
