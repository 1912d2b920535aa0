/** Values of entries as text, whatever case the server writes names in and however it cuts long lists. */
import type { Entry } from 'ldapts'

const asTexts = (value: Entry[string] | undefined): string[] =>
  value === undefined ? [] : [value].flat().map((one) => one.toString())

export function valuesOf(entry: Entry, attribute: string): string[] {
  const name = Object.keys(entry).find((key) => key.toLowerCase() === attribute.toLowerCase())
  return name === undefined ? [] : asTexts(entry[name])
}

interface Slice {
  readonly values: string[]
  /** Where the next one begins; null: this was the last. */
  readonly next: number | null
}

function sliceOf(entry: Entry, attribute: string): Slice | null {
  const format = new RegExp(`^${attribute};range=\\d+-(\\d+|\\*)$`, 'i')
  for (const [name, value] of Object.entries(entry)) {
    const end = format.exec(name)?.[1]
    if (end) return { values: asTexts(value), next: end === '*' ? null : Number(end) + 1 }
  }
  return null
}

/**
 * Active Directory answers a long list with its first 1500 values, as `member;range=0-1499`, and leaves `member` itself
 * empty; `read` fetches the entry again with the attribute it is given.
 */
export async function allValuesOf(
  entry: Entry,
  attribute: string,
  read: (attribute: string) => Promise<Entry>,
): Promise<string[]> {
  const values = valuesOf(entry, attribute)
  let slice = sliceOf(entry, attribute)
  while (slice) {
    values.push(...slice.values)
    if (slice.next === null) break
    slice = sliceOf(await read(`${attribute};range=${slice.next}-*`), attribute)
    // Half a list would look as if the others had left.
    if (!slice) throw new Error(`the server broke off in the middle of ${attribute}`)
  }
  return values
}
