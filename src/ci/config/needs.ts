import type { Spot } from './faults.ts'
import { isMapping, type Mapping, type Value } from './tree.ts'
import { flagAt, flatten, isScalar, isText, knowsKeys, textAt } from './values.ts'

export type Need =
  | {
      readonly kind: 'job'
      readonly job: string
      readonly artifacts: boolean
      readonly optional: boolean
      /** Which of the parallel jobs. Null for all. */
      readonly matrix: readonly Readonly<Record<string, readonly string[]>>[] | null
    }
  /** A job of another pipeline in this hierarchy. Without a job name, the pipeline whose status a bridge mirrors. */
  | { readonly kind: 'pipeline'; readonly pipeline: string; readonly job: string | null; readonly artifacts: boolean }
  | {
      readonly kind: 'project'
      readonly project: string
      readonly ref: string
      readonly job: string
      readonly artifacts: boolean
    }

const MOST_ENTRIES = 5000

export function readNeeds(value: Value, spot: Spot): Need[] | null {
  if (value === null) return null
  const list = flatten(value, (item): item is string | Mapping => isText(item) || isMapping(item))
  if (!list) return spot.config('should be a string, a hash or an array of them') ?? null
  if (list.length > MOST_ENTRIES) return spot.config(`has too many entries (maximum is ${MOST_ENTRIES})`) ?? null
  return list.flatMap((item) => readNeed(item, spot.item(item, 'need')) ?? [])
}

function readNeed(value: string | Mapping, spot: Spot): Need | null {
  if (isText(value)) return { kind: 'job', job: value, artifacts: true, optional: false, matrix: null }
  const artifacts = flagAt(spot, value, 'artifacts') ?? true
  const job = textAt(spot, value, 'job')
  if ('pipeline' in value) {
    knowsKeys(spot, value, ['pipeline', 'job', 'artifacts'])
    const pipeline = textAt(spot, value, 'pipeline')
    return pipeline === null ? null : { kind: 'pipeline', pipeline, job, artifacts }
  }
  if (job === null) return 'job' in value ? null : (spot.say("job can't be blank") ?? null)
  if ('project' in value) {
    knowsKeys(spot, value, ['project', 'ref', 'job', 'artifacts'])
    const project = textAt(spot, value, 'project')
    const ref = textAt(spot, value, 'ref')
    if (!project || !ref) return spot.say(`${project ? 'ref' : 'project'} can't be blank`) ?? null
    return { kind: 'project', project, ref, job, artifacts }
  }
  knowsKeys(spot, value, ['job', 'artifacts', 'optional', 'parallel'])
  const optional = flagAt(spot, value, 'optional') ?? false
  return {
    kind: 'job',
    job,
    artifacts,
    optional,
    matrix: 'parallel' in value ? readChoice(value['parallel']!, spot) : null,
  }
}

/** `parallel: { matrix: [{ VAR: value or list }] }`. */
function readChoice(value: Value, spot: Spot) {
  const matrix = isMapping(value) ? (value['matrix'] ?? null) : null
  if (!Array.isArray(matrix) || !matrix.every(isMapping))
    return spot.say('parallel matrix should be an array of hashes') ?? null
  return matrix.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([key, one]) => [key, (Array.isArray(one) ? one : [one]).filter(isScalar).map(String)]),
    ),
  )
}
