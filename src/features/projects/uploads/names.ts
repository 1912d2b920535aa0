/** Names of uploaded files: as their senders call them, as far as that can stand in an address, a header and markup. */

const LONGEST = 255

export function cleanName(given: string): string {
  const base = given.normalize('NFC').split(/[/\\]/).at(-1)!
  const plain = base.replace(/[^\p{L}\p{M}\p{N}_.+-]/gu, '_')
  return shortened(/^\.*$/.test(plain) ? `_${plain}` : plain)
}

/** Cut before its extension, which says what it is. */
function shortened(name: string): string {
  const letters = Array.from(name)
  if (letters.length <= LONGEST) return name
  const extension = Array.from(/\.[^.]{1,20}$/.exec(name)?.[0] ?? '')
  return [...letters.slice(0, LONGEST - extension.length), ...extension].join('')
}

export const withoutExtension = (name: string): string => name.replace(/(?<=.)\.[^.]+$/, '')
