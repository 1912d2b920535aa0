import { invalid, type FieldErrors } from '../../../errors.ts'

const LONGEST = 255
const LONGEST_VALUE = 10_000
const KEY = /^\w+$/
const SCOPE = /^[\w/${}. *-]+$/
const MASKABLE = /^[a-zA-Z0-9_+=/@:.~-]{8,}$/
/** A raw value is not expanded. It may contain any non-space characters, if it is long enough to recognize in a log. */
const MASKABLE_RAW = /^\S{8,}$/

const tooLong = (most: number) => `is too long (maximum is ${most} characters)`

export const keyFaults = (key: string): string[] => {
  if (key === '') return ["can't be blank"]
  if (key.length > LONGEST) return [tooLong(LONGEST)]
  return KEY.test(key) ? [] : ["can contain only letters, digits and '_'."]
}

export const valueFaults = (value: string): string[] =>
  value.length > LONGEST_VALUE ? [tooLong(LONGEST_VALUE)] : value.includes('\0') ? ['is invalid'] : []

interface Proposed {
  readonly key: string
  readonly value: string
  readonly masked: boolean
  readonly raw: boolean
  readonly environment_scope: string
  readonly description: string | null
}

export function assertValidVariable({
  key,
  value,
  masked,
  raw,
  environment_scope: scope,
  description,
}: Proposed): void {
  const canBeMasked = (raw ? MASKABLE_RAW : MASKABLE).test(value)
  const faults: FieldErrors = {
    key: keyFaults(key),
    value: [...valueFaults(value), ...(masked && !canBeMasked ? ['is invalid'] : [])],
    environment_scope:
      scope.length > LONGEST
        ? [tooLong(LONGEST)]
        : SCOPE.test(scope)
          ? []
          : ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"],
    description: description && description.length > LONGEST ? [tooLong(LONGEST)] : [],
  }
  const found = Object.entries(faults).filter(([, messages]) => (messages as string[]).length > 0)
  if (found.length > 0) throw invalid(Object.fromEntries(found))
}
