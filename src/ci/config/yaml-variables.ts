import type { Spot } from './faults.ts'
import { isMapping, type Mapping, type Value } from './tree.ts'
import { flagAt, isScalar, textAt } from './values.ts'

export interface YamlVariable {
  readonly key: string
  readonly value: string
  /** False: the value is used without expansion. */
  readonly expand: boolean
  readonly description?: string
  readonly options?: readonly string[]
}

/** Variables of the whole file may have a description, for users who start a pipeline by hand. */
export function readVariables(value: Value, spot: Spot, isOfFile = false): YamlVariable[] {
  if (value === null) return []
  if (!isMapping(value)) return spot.config('should be a hash') ?? []
  return Object.entries(value).flatMap(([key, one]) => readVariable(key, one, spot.at(value, key), isOfFile) ?? [])
}

function readVariable(key: string, value: Value, spot: Spot, isOfFile: boolean): YamlVariable | null {
  if (value === null) return { key, value: '', expand: true }
  if (isScalar(value)) return { key, value: String(value), expand: true }
  if (isMapping(value)) return readDescribed(key, value, spot, isOfFile)
  spot.faults.add('variable definition must be either a string or a hash', spot.mark)
  return null
}

function readDescribed(key: string, entry: Mapping, spot: Spot, isOfFile: boolean): YamlVariable | null {
  const known = isOfFile ? ['value', 'description', 'options', 'expand'] : ['value', 'expand']
  const unknown = Object.keys(entry).filter((name) => !known.includes(name))
  if (unknown.length > 0) return spot.config(`uses invalid data keys: ${unknown.slice(0, 10).join(', ')}`) ?? null
  const { value = null, options = null } = entry
  if (value !== null && !isScalar(value)) return spot.attribute(entry, 'value', 'should be a string') ?? null
  const expand = flagAt(spot, entry, 'expand') ?? true
  const description = textAt(spot, entry, 'description')
  const words = Array.isArray(options) && options.every(isScalar) ? options.map(String) : null
  if (options !== null && !words) spot.attribute(entry, 'options', 'should be an array of strings')
  if (words && (value === null || !words.includes(String(value)))) spot.config('value must be present in options')
  return {
    key,
    value: value === null ? '' : String(value),
    expand,
    ...(description !== null && { description }),
    ...(words && { options: words }),
  }
}
