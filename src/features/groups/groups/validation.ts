import { invalid, type FieldErrors } from '../../../errors.ts'
import { PATH_FORMAT_TEXT, isPath, isReservedAtTop, isReservedForSubgroup } from '../../../lib/files/paths.ts'

/** Attributes of a group for create and update; absent attributes are not checked. */
export interface GroupAttributes {
  name?: string | null | undefined
  path?: string | null | undefined
  description?: string | null | undefined
  shared_runners_minutes_limit?: number | null | undefined
  two_factor_grace_period?: number | null | undefined
}

const NAME = /^[\p{L}\p{M}\p{Nd}\p{Pd}_. ]*$/u
const NAME_TEXT = "can contain only letters, digits, '_', '.', dash and space."
const LARGEST_INTEGER = 2_147_483_647

const atMost255 = (value: string) => (value.length > 255 ? ['is too long (maximum is 255 characters)'] : [])

function nameFaults(value: string): string[] {
  if (value.trim() === '') return ["can't be blank"]
  return [...atMost255(value), ...(NAME.test(value) ? [] : [NAME_TEXT])]
}

const pathFaults = (isReserved: (path: string) => boolean) => (value: string) => {
  if (value.trim() === '') return ["can't be blank"]
  const faults = [...atMost255(value), ...(isPath(value) ? [] : [PATH_FORMAT_TEXT])]
  return isReserved(value) ? [...faults, `${value} is a reserved name`] : faults
}

function limitFaults(value: number): string[] {
  if (value < 0) return ['must be greater than or equal to 0']
  return value > LARGEST_INTEGER ? [`must be less than or equal to ${LARGEST_INTEGER}`] : []
}

/** Throws with all errors of all given attributes. */
export function assertValidGroup(attributes: GroupAttributes, { isRoot }: { isRoot: boolean }): void {
  const rules: { [K in keyof GroupAttributes]-?: (value: NonNullable<GroupAttributes[K]>) => string[] } = {
    name: nameFaults,
    path: pathFaults(isRoot ? isReservedAtTop : isReservedForSubgroup),
    description: atMost255,
    shared_runners_minutes_limit: limitFaults,
    two_factor_grace_period: limitFaults,
  }
  const faults: FieldErrors = {}
  for (const [name, rule] of Object.entries(rules)) {
    const value = attributes[name as keyof GroupAttributes] ?? null
    const found = value === null ? [] : (rule as (value: unknown) => string[])(value)
    if (found.length > 0) faults[name] = found
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
}
