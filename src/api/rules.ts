/**
 * Rules of records, as refinements of a schema: `name: filled(text, 255)`. An endpoint whose input declares them answers
 * with all broken rules by field, `{ message: { name: ["can't be blank"] } }`. Unlike the errors of wire types, they are
 * answered only to callers whom the endpoint allows. A service that has other callers uses `assertRules()` with the same
 * schema.
 */
import { z } from 'zod'
import { invalid } from '../errors.ts'
import { BLANK, tooLong } from '../lib/text/faults.ts'

export type Faults = Record<string, string[]>

const isRule = (issue: z.core.$ZodRawIssue | z.core.$ZodIssue): boolean =>
  issue.code === 'custom' && issue.params?.isRule === true

/**
 * `last`: a value that breaks this rule is not checked further. `field`: a rule of several fields, and the one it is
 * answered for.
 */
export const rule = <T>(
  holds: (value: T) => boolean,
  fault: string | ((value: T) => string),
  { last = false, field }: { last?: boolean; field?: string } = {},
) =>
  z.refine<T>(holds, {
    error: typeof fault === 'string' ? fault : ({ input }) => fault(input as T),
    abort: last,
    params: { isRule: true },
    ...(field !== undefined && { path: [field], when: ({ issues }) => issues.every(isRule) }),
  })

/** Several errors of one value. */
export const faultsBy = <T>(find: (value: T) => readonly string[]) =>
  z.superRefine<T>((value, { addIssue }) => {
    for (const message of find(value)) addIssue({ code: 'custom', message, params: { isRule: true }, continue: true })
  })

interface Limit {
  last?: boolean
  /** Characters outside the basic plane count once, not twice. */
  codePoints?: boolean
}

/** Text of at most so many characters. */
export const limited = <T extends z.ZodType<string>>(schema: T, most: number, limit: Limit = {}): T => {
  const isWithin = (value: string) =>
    value.length <= most || (limit.codePoints === true && value.length <= 2 * most && Array.from(value).length <= most)
  return schema.check(rule<string>(isWithin, tooLong(most), limit)).meta({ maxLength: most })
}

/** Text that is not blank. */
export const filled = <T extends z.ZodType<string>>(schema: T, most?: number, limit?: Limit): T => {
  const given = schema.check(rule<string>((value) => value.trim() !== '', BLANK, { last: true }))
  return most === undefined ? given : limited(given, most, limit)
}

/** A list with at least one item. */
export const notEmpty = <T extends z.ZodType<readonly unknown[]>>(schema: T): T =>
  schema.check(rule<readonly unknown[]>((value) => value.length > 0, BLANK, { last: true }))

/** A number from 0. */
export const upTo = (most: number) =>
  z.number().check(
    rule((value) => value >= 0, 'must be greater than or equal to 0'),
    rule((value) => value <= most, `must be less than or equal to ${most}`),
  )

/** Rules of a record whose absent attributes are not checked. */
export const rulesOf = (shape: Readonly<Record<string, z.ZodType>>) =>
  z.object(Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, schema.nullish()])))

/** Splits the errors of a schema into the broken rules, by field, and all others. */
export function brokenRules(issues: readonly z.core.$ZodIssue[]): { faults: Faults; others: z.core.$ZodIssue[] } {
  const faults: Faults = {}
  const others = issues.filter((issue) => {
    if (!isRule(issue)) return true
    ;(faults[String(issue.path[0])] ??= []).push(issue.message)
    return false
  })
  return { faults, others }
}

export const hasFaults = (faults: Faults): boolean => Object.keys(faults).length > 0

/** The broken rules of values that already have the right types. */
export function faultsOf(schema: z.ZodType, values: unknown): Faults {
  const { error } = schema.safeParse(values)
  const { faults, others } = brokenRules(error?.issues ?? [])
  if (others.length > 0) throw error!
  return faults
}

/** The broken rules of one value. */
export const faultsIn = (schema: z.ZodType, value: unknown): string[] =>
  faultsOf(z.object({ value: schema }), { value }).value ?? []

/** Throws with all broken rules. */
export function assertRules(schema: z.ZodType, values: unknown): void {
  const faults = faultsOf(schema, values)
  if (hasFaults(faults)) throw invalid(faults)
}
