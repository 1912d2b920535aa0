/**
 * The values of a file as plain data, with a side table of the position of each key. Merged and extended values keep
 * the positions.
 */

export type Value = string | number | boolean | null | Value[] | Mapping | Reference

export interface Mapping {
  [key: string]: Value
}

/** `!reference [a, b]` before it is resolved. */
export class Reference {
  readonly path: readonly Value[]
  readonly mark: Mark

  constructor(path: readonly Value[], mark: Mark) {
    this.path = path
    this.mark = mark
  }
}

/** Line and column start at one. */
export interface Mark {
  readonly file: string
  readonly line: number
  readonly column: number
  /** The key is not a text, but a number, a boolean or null. */
  readonly odd?: boolean
}

/** The file cannot be read any further. All other errors are collected instead. */
export class ConfigFault extends Error {
  override name = 'ConfigFault'
  readonly mark: Mark | undefined

  constructor(message: string, mark?: Mark) {
    super(message)
    this.mark = mark
  }
}

export const tooBig = (mark?: Mark) => new ConfigFault('The parsed YAML is too big', mark)

const marks = new WeakMap<Mapping, Map<string, Mark>>()

/** Without a prototype, so that no key has a special meaning. */
export const newMapping = (): Mapping => Object.create(null) as Mapping

export const isMapping = (value: Value | undefined): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Reference)

export const markOf = (mapping: Mapping, key: string): Mark | undefined => marks.get(mapping)?.get(key)

/** The position of the first key. */
export const startOf = (mapping: Mapping): Mark | undefined => marks.get(mapping)?.values().next().value

export function put(mapping: Mapping, key: string, value: Value, mark: Mark | undefined): void {
  mapping[key] = value
  if (!mark) return
  const known = marks.get(mapping)
  if (known) known.set(key, mark)
  else marks.set(mapping, new Map([[key, mark]]))
}

/** The remaining budget for copies in one configuration. Shared parts are not copied. */
export class Budget {
  #left = 1_000_000

  spend(amount: number): void {
    this.#left -= amount
    if (this.#left < 0) throw tooBig()
  }
}

/** Merges mappings and replaces all other values. */
export function merge(base: Mapping, over: Mapping, budget: Budget): Mapping {
  const merged = newMapping()
  const keys = Object.keys(base)
  const others = Object.keys(over)
  budget.spend(keys.length + others.length)
  for (const key of keys) put(merged, key, base[key]!, markOf(base, key))
  for (const key of others) {
    const [before, after] = [merged[key], over[key]!]
    const value = isMapping(before) && isMapping(after) ? merge(before, after, budget) : after
    put(merged, key, value, markOf(over, key))
  }
  return merged
}

const MOST_NODES = 1_000_000
const DEEPEST = 1000
const TEXT_OF_A_NODE = 20

/** Limits the size of the value, counting shared parts at each occurrence, without visiting them twice. */
export function checkSize(root: Value): void {
  const known = new Map<object, { nodes: number; depth: number }>()
  const measure = (value: Value): { nodes: number; depth: number } => {
    // A long text that is used many times counts many times.
    if (typeof value === 'string') return { nodes: 1 + value.length / TEXT_OF_A_NODE, depth: 0 }
    if (typeof value !== 'object' || value === null || value instanceof Reference) return { nodes: 1, depth: 0 }
    const before = known.get(value)
    if (before) return before
    const size = { nodes: 1, depth: 0 }
    for (const item of Array.isArray(value) ? value : Object.values(value)) {
      const { nodes, depth } = measure(item)
      size.nodes += nodes
      size.depth = Math.max(size.depth, depth + 1)
    }
    if (size.nodes > MOST_NODES || size.depth > DEEPEST) throw tooBig()
    known.set(value, size)
    return size
  }
  measure(root)
}
