/** `image` and `services`. */
import type { Spot } from './faults.ts'
import { isMapping, type Mapping, type Value } from './tree.ts'
import { isText, isTexts, knowsKeys, textAt, textOrTextsAt } from './values.ts'
import { readVariables, type YamlVariable } from './yaml-variables.ts'

export interface Image {
  readonly name: string
  readonly entrypoint: readonly string[] | null
  readonly pull_policy: readonly string[] | null
  /** As written: `docker` and `kubernetes`. */
  readonly executor_opts: Readonly<Record<string, Readonly<Record<string, unknown>>>> | null
}

export interface Service extends Image {
  readonly alias: string | null
  readonly command: readonly string[] | null
  readonly variables: readonly YamlVariable[]
}

const PULL_POLICIES = ['always', 'if-not-present', 'never']
const IMAGE_KEYS = ['name', 'entrypoint', 'ports', 'pull_policy', 'docker', 'kubernetes']
const MOST_SERVICES = 100

const bare = (name: string): Image => ({ name, entrypoint: null, pull_policy: null, executor_opts: null })

export function readImage(value: Value, spot: Spot): Image | null {
  if (value === null) return null
  if (isText(value)) return value === '' ? (spot.config("name can't be blank") ?? null) : bare(value)
  if (!isMapping(value)) return spot.config('should be a hash or a string') ?? null
  knowsKeys(spot, value, IMAGE_KEYS)
  return readBody(value, spot)
}

function readBody(entry: Mapping, spot: Spot): Image | null {
  const name = textAt(spot, entry, 'name')
  if (name === null || name === '')
    return 'name' in entry && name === null ? null : (spot.say("name can't be blank") ?? null)
  const entrypoint = entry['entrypoint'] ?? null
  if (entrypoint !== null && !isTexts(entrypoint) && !isText(entrypoint))
    return spot.attribute(entry, 'entrypoint', 'should be an array of strings') ?? null
  const policies = textOrTextsAt(spot, entry, 'pull_policy')
  if (policies?.some((policy) => !PULL_POLICIES.includes(policy)))
    spot.attribute(entry, 'pull_policy', `should be one of: ${PULL_POLICIES.join(', ')}`)
  return {
    name,
    entrypoint: isText(entrypoint) ? [entrypoint] : entrypoint,
    pull_policy: policies,
    executor_opts: readExecutorOptions(entry, spot),
  }
}

function readExecutorOptions(entry: Mapping, spot: Spot): Image['executor_opts'] {
  const options: Record<string, Readonly<Record<string, unknown>>> = {}
  for (const executor of ['docker', 'kubernetes'] as const) {
    const value = entry[executor] ?? null
    if (value === null) continue
    if (!isMapping(value)) return spot.attribute(entry, executor, 'should be a hash') ?? null
    const at = spot.at(entry, executor)
    knowsKeys(at, value, ['platform', 'user', 'entrypoint'])
    for (const key of ['platform', 'user']) if (typeof value[key] === 'object') textAt(at, value, key)
    options[executor] = { ...value }
  }
  return Object.keys(options).length > 0 ? options : null
}

export function readServices(value: Value, spot: Spot): Service[] | null {
  if (value === null) return null
  if (!Array.isArray(value)) return spot.config('should be a array') ?? null
  if (value.length > MOST_SERVICES) return spot.config(`has too many entries (maximum is ${MOST_SERVICES})`) ?? null
  return value.flat(10).flatMap((item) => readService(item as Value, spot.item(item, 'service')) ?? [])
}

function readService(value: Value, spot: Spot): Service | null {
  if (isText(value)) return { ...bare(value), alias: null, command: null, variables: [] }
  if (!isMapping(value)) return spot.config('should be a hash or a string') ?? null
  knowsKeys(spot, value, [...IMAGE_KEYS, 'alias', 'command', 'variables'])
  const image = readBody(value, spot)
  const variables = 'variables' in value ? readVariables(value['variables']!, spot.at(value, 'variables')) : []
  const command = textOrTextsAt(spot, value, 'command')
  return image && { ...image, alias: textAt(spot, value, 'alias'), command, variables }
}
