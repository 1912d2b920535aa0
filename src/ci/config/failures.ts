/** `allow_failure` and `retry`. */
import type { Spot } from './faults.ts'
import { isMapping, type Mapping, type Value } from './tree.ts'
import { isText, isTexts, isWhole, knowsKeys } from './values.ts'

/** A list: these exit codes are allowed. */
export type AllowFailure = boolean | { readonly exit_codes: readonly number[] }

export function readAllowFailure(mapping: Mapping, spot: Spot): AllowFailure | null {
  const value = mapping['allow_failure'] ?? null
  if (value === null || typeof value === 'boolean') return value
  if (!isMapping(value)) return spot.attribute(mapping, 'allow_failure', 'should be a hash or a boolean value') ?? null
  const at = spot.at(mapping, 'allow_failure')
  knowsKeys(at, value, ['exit_codes'])
  const exit_codes = readExitCodes(value, at)
  return exit_codes && { exit_codes }
}

function readExitCodes(mapping: Mapping, spot: Spot): number[] | null {
  const codes = mapping['exit_codes'] ?? null
  if (isWhole(codes)) return [codes]
  if (Array.isArray(codes) && codes.every(isWhole)) return codes
  return spot.attribute(mapping, 'exit_codes', 'should be an array of integers or an integer') ?? null
}

export interface Retry {
  readonly max: number
  /** Failure reasons, or `always`. */
  readonly when: readonly string[]
  readonly exit_codes: readonly number[] | null
}

const MOST_RETRIES = 2

const REASONS = [
  'always',
  'unknown_failure',
  'script_failure',
  'api_failure',
  'stuck_or_timeout_failure',
  'runner_system_failure',
  'runner_unsupported',
  'runner_configuration_error',
  'runner_external_dependency_failure',
  'runner_interrupted',
  'image_pull_failure',
  'missing_dependency_failure',
  'stale_schedule',
  'job_execution_timeout',
  'archived_failure',
  'unmet_prerequisites',
  'scheduler_failure',
  'data_integrity_failure',
]

export function readRetry(value: Value, spot: Spot): Retry | null {
  if (value === null) return null
  if (isMapping(value)) {
    knowsKeys(spot, value, ['max', 'when', 'exit_codes'])
    const max = readMax(value['max'] ?? MOST_RETRIES, spot)
    const when = value['when'] ?? 'always'
    const reasons = isText(when) ? [when] : isTexts(when) ? when : null
    if (!reasons) return spot.attribute(value, 'when', 'should be an array of strings or a string') ?? null
    const unknown = reasons.filter((reason) => !REASONS.includes(reason))
    if (unknown.length > 0) {
      const only = isText(when)
        ? 'is not in the list of allowed values'
        : `contains unknown values: ${unknown.slice(0, 10).join(', ')}`
      return spot.attribute(value, 'when', only) ?? null
    }
    const exit_codes = 'exit_codes' in value ? readExitCodes(value, spot) : null
    return max === null ? null : { max, when: 'exit_codes' in value && !('when' in value) ? [] : reasons, exit_codes }
  }
  if (typeof value !== 'number' && !isText(value)) return spot.config('has to be either an integer or a hash') ?? null
  const max = readMax(value, spot)
  return max === null ? null : { max, when: ['always'], exit_codes: null }
}

function readMax(value: Value, spot: Spot): number | null {
  if (typeof value !== 'number') return spot.say('max is not a number') ?? null
  if (!isWhole(value)) return spot.say('max must be an integer') ?? null
  if (value < 0) return spot.say('max must be greater than or equal to 0') ?? null
  if (value > MOST_RETRIES) return spot.say(`max must be less than or equal to ${MOST_RETRIES}`) ?? null
  return value
}
