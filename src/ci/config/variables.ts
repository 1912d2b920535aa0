/** CI variables, and the expansion of `$NAME`, `${NAME}` and `%NAME%`. */

export interface Variable {
  readonly key: string
  readonly value: string
  /** The value is used without expansion. */
  readonly raw?: boolean
  readonly file?: boolean
  /** Never shown, not even in messages. */
  readonly masked?: boolean
}

export type Lookup = (name: string) => string | undefined

const PLACEHOLDER = /\$\$|\$(\w+)|\$\{(\w+)\}|%(\w+)%/g
const LONGEST_RESULT = 100_000
const DEEPEST = 20

/**
 * Values may reference further variables. A reference to itself, a result that is too long, and `$$` stay as written.
 * Unknown names become empty.
 */
export function expand(text: string, lookup: Lookup): string {
  let left = LONGEST_RESULT
  const inside = (part: string, names: readonly string[]): string =>
    part.replace(PLACEHOLDER, (placeholder, ...groups: (string | undefined)[]) => {
      const name = groups[0] ?? groups[1] ?? groups[2]
      if (name === undefined) return placeholder
      if (names.includes(name) || names.length === DEEPEST || left < 0) return placeholder
      const value = lookup(name) ?? ''
      left -= value.length + 1
      return inside(value, [...names, name])
    })
  return text.includes('$') || text.includes('%') ? inside(text, []) : text
}

/** Looks a name up in several lists. The first list that has the name wins. */
export class Scope {
  readonly #lists: readonly ReadonlyMap<string, string>[]

  /** In order of precedence. */
  constructor(lists: readonly ReadonlyMap<string, string>[]) {
    this.#lists = lists
  }

  readonly get = (name: string): string | undefined => {
    for (const list of this.#lists) {
      const value = list.get(name)
      if (value !== undefined) return value
    }
    return undefined
  }

  readonly expand = (text: string): string => expand(text, this.get)

  over(list: ReadonlyMap<string, string>): Scope {
    return new Scope([list, ...this.#lists])
  }
}

export const valuesOf = (variables: readonly Variable[]): Map<string, string> =>
  new Map(variables.map(({ key, value }) => [key, value]))

/** Removes the values of masked variables from texts. */
export function masker(variables: readonly Variable[]): (text: string) => string {
  const secrets = variables.filter(({ masked, value }) => masked && value !== '').map(({ value }) => value)
  secrets.sort((a, b) => b.length - a.length)
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, '[MASKED]'), text)
}
