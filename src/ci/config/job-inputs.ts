/**
 * Reads `inputs` of a job and fills `${{ job.inputs.name }}`. Each input has a default, so that the job can run without
 * a user.
 */
import type { Spot } from './faults.ts'
import type { Artifacts, Cache } from './files.ts'
import type { Image, Service } from './images.ts'
import type { Patterns } from './patterns.ts'
import { ConfigFault, isMapping, type Mark, type Value } from './tree.ts'
import { isScalar, isText, knowsKeys, oneOf } from './values.ts'

export interface JobInput {
  readonly name: string
  readonly value: Value
  readonly regex: string | null
}

const TYPES = ['string', 'number', 'boolean', 'array'] as const
const MOST_INPUTS = 50
const MOST_OPTIONS = 50
/** The limit of all values filled into one job. */
const LONGEST_RESULT = 1024 * 1024

export function readJobInputs(value: Value, spot: Spot): JobInput[] {
  if (value === null) return []
  if (!isMapping(value)) return spot.config('should be a hash') ?? []
  const entries = Object.entries(value)
  if (entries.length > MOST_INPUTS) return spot.config(`has too many entries (maximum is ${MOST_INPUTS})`) ?? []
  return entries.flatMap(([name, one]) => readJobInput(name, one, spot.at(value, name)) ?? [])
}

function readJobInput(name: string, spec: Value, spot: Spot): JobInput | null {
  if (!isMapping(spec)) return spot.config('should be a hash') ?? null
  knowsKeys(spot, spec, ['type', 'default', 'options', 'regex', 'description'])
  const type = oneOf(spot, spec, 'type', TYPES) ?? 'string'
  const { default: value = null, options = null, regex = null } = spec
  if (value === null) return spot.attribute(spec, 'default', "can't be blank") ?? null
  if (type === 'array' ? !Array.isArray(value) : typeof value !== type)
    return spot.attribute(spec, 'default', `should be ${type === 'array' ? 'an' : 'a'} ${type}`) ?? null
  if (options !== null && (!Array.isArray(options) || options.length > MOST_OPTIONS || !options.every(isScalar)))
    return spot.attribute(spec, 'options', `should be an array of at most ${MOST_OPTIONS} strings or numbers`) ?? null
  if (Array.isArray(options) && !options.some((option) => option === value))
    return spot.attribute(spec, 'default', 'is not in the list of allowed options') ?? null
  const refuse = () => spot.attribute(spec, 'regex', 'must be a regular expression with re2 syntax')
  if (regex === null) return { name, value, regex }
  if (!isText(regex) || type !== 'string') return refuse() ?? null
  spot.faults.claims.push({ pattern: regex, refuse })
  return { name, value, regex }
}

/** The fields that may contain inputs. */
interface Filled {
  readonly name: string
  readonly inputs: readonly JobInput[]
  readonly before_script: readonly string[]
  readonly script: readonly string[]
  readonly after_script: readonly string[]
  readonly image: Image | null
  readonly services: readonly Service[]
  readonly artifacts: Artifacts | null
  readonly cache: readonly Cache[]
}

/** The job with its inputs filled in. */
export async function withInputs<Job extends Filled>(
  job: Job,
  patterns: Patterns,
  mark: Mark | undefined,
): Promise<Job> {
  const { name, inputs } = job
  const values = new Map<string, string>()
  for (const { name: key, value, regex } of inputs) {
    const text = isText(value) ? value : JSON.stringify(value)
    if (regex !== null && !(await patterns.isFound(regex, text)))
      throw new ConfigFault(`jobs:${name}:inputs:${key} default does not match required RegEx pattern`, mark)
    values.set(key, text)
  }
  // A script may contain the same characters with another meaning.
  if (inputs.length === 0) return job
  let left = LONGEST_RESULT
  const fill = (text: string) =>
    text.replace(/\$\{\{\s*job\.inputs\.([\w-]+)\s*\}\}/g, (_, key: string) => {
      const value = values.get(key)
      if (value === undefined) throw new ConfigFault(`jobs:${name} unknown job input: ${key.slice(0, 255)}`, mark)
      left -= value.length
      if (left < 0) throw new ConfigFault(`jobs:${name} too much is interpolated`, mark)
      return value
    })
  const all = (texts: readonly string[]) => texts.map(fill)
  const { image, artifacts } = job
  return {
    ...job,
    before_script: all(job.before_script),
    script: all(job.script),
    after_script: all(job.after_script),
    image: image && { ...image, name: fill(image.name) },
    services: job.services.map((service) => ({ ...service, name: fill(service.name) })),
    artifacts: artifacts && {
      ...artifacts,
      name: artifacts.name && fill(artifacts.name),
      paths: all(artifacts.paths),
      exclude: all(artifacts.exclude),
    },
    cache: job.cache.map((cache) => ({
      ...cache,
      key: typeof cache.key === 'string' ? fill(cache.key) : cache.key,
      paths: all(cache.paths),
      policy: fill(cache.policy),
    })),
  }
}
