/**
 * Replaces `!reference [job, key]` by its target, and merges `extends`. Both run after includes and before all checks.
 */
import { ConfigFault, Reference, checkSize, isMapping, markOf, merge, newMapping, put } from './tree.ts'
import type { Budget, Mapping, Value } from './tree.ts'

const DEEPEST_REFERENCE = 10
/** Includes the job itself. */
const DEEPEST_EXTENDS = 11

interface Resolved {
  readonly value: Value
  /** The number of references followed so far. */
  readonly levels: number
}

export function resolveReferences(root: Mapping): Mapping {
  const known = new Map<object, Resolved>()
  const open = new Set<object>()
  let following = 0

  function resolve(value: Value): Resolved {
    if (typeof value !== 'object' || value === null) return { value, levels: 0 }
    const before = known.get(value)
    if (before) return before
    if (open.has(value)) throw new Circle()
    open.add(value)
    const resolved = value instanceof Reference ? follow(value) : inside(value)
    open.delete(value)
    known.set(value, resolved)
    return resolved
  }

  function inside(value: Value[] | Mapping): Resolved {
    const items = Array.isArray(value) ? value : Object.values(value)
    const resolved = items.map(resolve)
    const levels = resolved.reduce((most, item) => Math.max(most, item.levels), 0)
    if (resolved.every((item, n) => item.value === items[n])) return { value, levels }
    if (Array.isArray(value)) return { value: resolved.map((item) => item.value), levels }
    const copy = newMapping()
    Object.keys(value).forEach((key, n) => put(copy, key, resolved[n]!.value, markOf(value, key)))
    return { value: copy, levels }
  }

  function follow(reference: Reference): Resolved {
    const names = reference.path
      .slice(0, 20)
      .map((name) => (typeof name === 'object' ? '…' : String(name).slice(0, 255)))
    const shown = `!reference ${JSON.stringify(names).replaceAll('","', '", "')}`
    const tooDeep = () => new ConfigFault(`${shown} is nested too deep`, reference.mark)
    let target: Value | undefined = reference.path.length > 0 ? root : undefined
    if (++following > DEEPEST_REFERENCE) throw tooDeep()
    try {
      let levels = 0
      for (const name of reference.path) {
        if (target instanceof Reference) ({ value: target, levels } = resolve(target))
        target = isMapping(target) && typeof name !== 'object' ? target[String(name)] : undefined
      }
      if (target === undefined) throw new ConfigFault(`${shown} could not be found`, reference.mark)
      const resolved = resolve(target)
      levels = Math.max(levels, resolved.levels) + 1
      if (levels > DEEPEST_REFERENCE) throw tooDeep()
      following--
      return { value: resolved.value, levels }
    } catch (error) {
      if (error instanceof Circle) throw new ConfigFault(`${shown} is part of a circular chain`, reference.mark)
      throw error
    }
  }

  const { value } = resolve(root)
  checkSize(value)
  return value as Mapping
}

class Circle extends Error {}

const tooDeep = (name: string, entry: Mapping) =>
  new ConfigFault(`${name}: nesting too deep in \`extends\``, markOf(entry, 'extends'))

export function resolveExtends(root: Mapping, budget: Budget): Mapping {
  const known = new Map<string, { value: Mapping; levels: number }>()
  const open = new Set<string>()

  function resolve(name: string, entry: Mapping): { value: Mapping; levels: number } {
    const before = known.get(name)
    if (before) return before
    const mark = markOf(entry, 'extends')
    if (open.has(name)) throw new ConfigFault(`${name}: circular dependency detected in \`extends\``, mark)
    open.add(name)
    if (open.size > DEEPEST_EXTENDS) throw tooDeep([...open][0]!, entry)
    const written = entry['extends'] ?? null
    const names = written === null ? [] : Array.isArray(written) ? written : [written]
    if (!names.every((base) => typeof base === 'string'))
      throw new ConfigFault(`jobs:${name}:extends config should be an array of strings or a string`, mark)
    const strangers = names.filter((base) => !(base in root))
    if (strangers.length > 0)
      throw new ConfigFault(`${name}: unknown keys in \`extends\` (${strangers.join(', ')})`, mark)
    let levels = 1
    let merged: Mapping | undefined
    for (const base of names) {
      const found = root[base]
      if (!isMapping(found)) throw new ConfigFault(`${name}: invalid base hashes in \`extends\` (${base})`, mark)
      const resolved = resolve(base, found)
      levels = Math.max(levels, resolved.levels + 1)
      if (levels > DEEPEST_EXTENDS) throw tooDeep(name, entry)
      merged = merged ? merge(merged, resolved.value, budget) : resolved.value
    }
    open.delete(name)
    const result = { value: merged ? merge(merged, entry, budget) : entry, levels }
    known.set(name, result)
    return result
  }

  const extended = newMapping()
  for (const [key, value] of Object.entries(root)) {
    const isEntry = isMapping(value) && 'extends' in value
    put(extended, key, isEntry ? resolve(key, value).value : value, markOf(root, key))
  }
  checkSize(extended)
  return extended
}
