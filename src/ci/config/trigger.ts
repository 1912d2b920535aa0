import type { Spot } from './faults.ts'
import { isMapping, type Mapping, type Value } from './tree.ts'
import { flagAt, isScalar, isText, knowsKeys, oneOf, textAt } from './values.ts'

export interface Trigger {
  /** The project of a downstream pipeline. Null for a child pipeline. */
  readonly project: string | null
  readonly branch: string | null
  /** For a child pipeline: its configuration as `include` entries. */
  readonly include: readonly Readonly<Record<string, unknown>>[] | null
  /** `depend` and `mirror` show the status of the triggered pipeline. */
  readonly strategy: 'depend' | 'mirror' | null
  readonly forward: { readonly yaml_variables: boolean; readonly pipeline_variables: boolean }
  readonly inputs: Readonly<Record<string, unknown>>
}

const MOST_INCLUDES = 3
const USUAL = { yaml_variables: true, pipeline_variables: false }

export function readTrigger(value: Value, spot: Spot): Trigger | null {
  if (isText(value) && value !== '')
    return { project: value, branch: null, include: null, strategy: null, forward: USUAL, inputs: {} }
  if (!isMapping(value)) return spot.say('has to be either a string or a hash') ?? null
  const isChild = 'include' in value
  if (isChild && 'project' in value) return spot.config('these keys cannot be used together: include, project') ?? null
  knowsKeys(spot, value, [...(isChild ? ['include'] : ['project', 'branch']), 'strategy', 'forward', 'inputs'])
  const project = textAt(spot, value, 'project')
  if (!isChild && !project)
    return 'project' in value && project === null ? null : (spot.say("project can't be blank") ?? null)
  const include = isChild ? readIncludes(value, spot) : null
  if (isChild && !include) return null
  const inputs = value['inputs'] ?? {}
  if (!isMapping(inputs)) return spot.attribute(value, 'inputs', 'should be a hash') ?? null
  return {
    project,
    branch: textAt(spot, value, 'branch'),
    include,
    strategy: oneOf(spot, value, 'strategy', ['depend', 'mirror']),
    forward: 'forward' in value ? readForward(value['forward']!, spot.at(value, 'forward')) : USUAL,
    inputs: { ...inputs },
  }
}

const KEYS = [
  'local',
  'template',
  'artifact',
  'job',
  'project',
  'file',
  'ref',
  'component',
  'remote',
  'inputs',
  'rules',
]

function readIncludes(entry: Mapping, spot: Spot): Trigger['include'] {
  const written = entry['include'] ?? null
  const at = spot.at(entry, 'include')
  const list = (Array.isArray(written) ? written.flat(10) : [written]) as Value[]
  if (written === null || list.length === 0) return spot.attribute(entry, 'include', "can't be blank") ?? null
  if (list.length > MOST_INCLUDES) return at.config(`is too long (maximum is ${MOST_INCLUDES})`) ?? null
  return list.flatMap((item) => {
    if (isText(item)) return [{ local: item }]
    if (!isMapping(item)) return at.config('should be a string or a hash') ?? []
    knowsKeys(at, item, KEYS)
    if ('artifact' in item && !isText(item['job']))
      return at.config('must specify the job where to fetch the artifact from') ?? []
    if ('project' in item && !isScalar(item['file']) && !Array.isArray(item['file']))
      return at.config('must specify the file where to fetch the config from') ?? []
    return [{ ...item }]
  })
}

function readForward(value: Value, spot: Spot): Trigger['forward'] {
  if (!isMapping(value)) return spot.config('should be a hash') ?? USUAL
  knowsKeys(spot, value, ['yaml_variables', 'pipeline_variables'])
  return {
    yaml_variables: flagAt(spot, value, 'yaml_variables') ?? USUAL.yaml_variables,
    pipeline_variables: flagAt(spot, value, 'pipeline_variables') ?? USUAL.pipeline_variables,
  }
}
