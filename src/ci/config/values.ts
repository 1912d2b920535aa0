/** Validates the values of keywords. */
import type { Spot } from './faults.ts'
import { isMapping, type Mapping, type Value } from './tree.ts'

export const isText = (value: Value | undefined): value is string => typeof value === 'string'

export const isTexts = (value: Value | undefined): value is string[] => Array.isArray(value) && value.every(isText)

export const isWhole = (value: Value | undefined): value is number => Number.isInteger(value)

export const isScalar = (value: Value | undefined): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** Reports unknown keys. */
export function knowsKeys(spot: Spot, mapping: Mapping, keys: readonly string[]): boolean {
  const unknown = Object.keys(mapping).filter((key) => !keys.includes(key))
  if (unknown.length === 0) return true
  const shown = unknown.slice(0, 10).map((key) => key.slice(0, 255))
  const [first = ''] = unknown
  spot
    .at(mapping, first)
    .faults.add(`${spot.path} config contains unknown keys: ${shown.join(', ')}`, spot.at(mapping, first).mark)
  return false
}

/** The value of a key if it is one of the words. Null if the key is missing. */
export function oneOf<Word extends string>(
  spot: Spot,
  mapping: Mapping,
  key: string,
  words: readonly Word[],
  text = `should be one of: ${words.join(', ')}`,
): Word | null {
  const value = mapping[key] ?? null
  if (value === null) return null
  return words.find((word) => word === value) ?? spot.attribute(mapping, key, text) ?? null
}

export function textAt(spot: Spot, mapping: Mapping, key: string): string | null {
  const value = mapping[key] ?? null
  if (value === null || isText(value)) return value
  return spot.attribute(mapping, key, 'should be a string') ?? null
}

export function flagAt(spot: Spot, mapping: Mapping, key: string): boolean | null {
  const value = mapping[key] ?? null
  if (value === null || typeof value === 'boolean') return value
  return spot.attribute(mapping, key, 'should be a boolean value') ?? null
}

export function textsAt(spot: Spot, mapping: Mapping, key: string): string[] | null {
  const value = mapping[key] ?? null
  if (value === null || isTexts(value)) return value
  return spot.attribute(mapping, key, 'should be an array of strings') ?? null
}

/** Also accepts one text instead of a list. */
export function textOrTextsAt(spot: Spot, mapping: Mapping, key: string): string[] | null {
  const value = mapping[key] ?? null
  return isText(value) ? [value] : textsAt(spot, mapping, key)
}

export function mappingOf(spot: Spot, value: Value | undefined, text = 'should be a hash'): Mapping | null {
  if (isMapping(value)) return value
  return spot.config(text) ?? null
}

/** Flattens nested lists. Null if they contain other values or are too deep. */
export function flatten<Item extends Value>(
  value: Value,
  is: (item: Value) => item is Item,
  deepest = 10,
): Item[] | null {
  if (!Array.isArray(value)) return is(value) ? [value] : null
  if (deepest === 0) return null
  const items: Item[] = []
  for (const part of value) {
    const inner = flatten(part, is, deepest - 1)
    if (!inner) return null
    for (const item of inner) items.push(item)
  }
  return items
}
