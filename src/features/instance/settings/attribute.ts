/** Kinds of settings: the accepted input, the output and the default. */
import { z } from 'zod'
import { rule } from '../../../api/rules.ts'
import { isListable } from '../../../lib/net/address-list.ts'
import { isWebAddress } from '../../../lib/net/web-address.ts'
import { tooLong } from '../../../lib/text/faults.ts'
import { arrayOf, bool, int, listOf, longText, oneOf, text } from '../../../api/wire.ts'

export interface Attribute<T> {
  readonly initial: T
  readonly input: z.ZodType
  readonly output: z.ZodType<T>
  /** The rules of a value. */
  readonly rules: z.ZodType
  /** Attributes that must be sent and filled when this one is enabled. */
  readonly needs: readonly string[]
  /** Stored encrypted: a credential for an external service. */
  readonly sealed: boolean
}

type Rule<T> = z.core.$ZodCheck<T>

const attribute = <T>(
  initial: T,
  input: z.ZodType,
  output: z.ZodType<T>,
  more: { rules?: Rule<NonNullable<T>>[]; needs?: readonly string[]; sealed?: boolean } = {},
): Attribute<T> => ({
  initial,
  input: input.nullish(),
  output,
  rules: z.custom<NonNullable<T>>().check(...(more.rules ?? [])),
  needs: more.needs ?? [],
  sealed: more.sealed ?? false,
})

export const flag = (initial: boolean, { needs = [] }: { needs?: readonly string[] } = {}) =>
  attribute<boolean>(initial, bool, z.boolean(), { needs })

const LARGEST_INTEGER = 2_147_483_647

export const positive = rule<number>((value) => value > 0, 'must be greater than 0')
export const notNegative = rule<number>((value) => value >= 0, 'must be greater than or equal to 0')
export const below = (limit: number) => rule<number>((value) => value < limit, `must be less than ${limit}`)
export const within = (least: number, most: number) =>
  rule<number>((value) => value >= least && value <= most, `must be between ${least} and ${most}`)
const bounded = rule<number>((value) => value <= LARGEST_INTEGER, `must be less than or equal to ${LARGEST_INTEGER}`)

export const integer = (initial: number, from: Rule<number> = notNegative) =>
  attribute<number>(initial, int, z.int(), { rules: [from, bounded] })

export const optionalInteger = (from: Rule<number> = notNegative) =>
  attribute<number | null>(null, emptyIsNull(int), z.int().nullable(), { rules: [from, bounded] })

/** One of a few numbers. */
export const level = (initial: number, ...values: number[]) =>
  attribute<number>(initial, int.pipe(z.literal(values)), z.int())

const decimalIn = z.preprocess(
  (value) => (typeof value === 'string' && /^[+-]?\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : value),
  z.number(),
)

export const decimal = (initial: number, ...rules: Rule<number>[]) =>
  attribute<number>(initial, decimalIn, z.number(), { rules: [...rules, bounded] })

const emptyIsNull = <T extends z.ZodType>(inner: T) =>
  z.preprocess((value) => (value === '' ? null : value), inner.nullable())

export const SHORT = 255
/** The maximum length of long texts, such as terms and welcome texts. */
export const LONG = 65_535

export const atMost = (most: number) => rule<string>(({ length }) => length <= most, tooLong(most))

export const matching = (pattern: RegExp, fault = 'is invalid') => rule<string>((value) => pattern.test(value), fault)

export const email = matching(/^[^@\s<>,;]+@[^@\s<>,;]+$/)
export const address = rule<string>(isWebAddress, 'must be a valid URL')

/** Text that is never null, but may be empty. */
export const words = (initial: string, ...rules: Rule<string>[]) =>
  attribute<string>(initial, longText, z.string(), { rules: [atMost(LONG), ...rules] })

export const optionalText = (...rules: Rule<string>[]) =>
  attribute<string | null>(null, emptyIsNull(longText), z.string().nullable(), { rules: [atMost(LONG), ...rules] })

export const secret = () =>
  attribute<string | null>(null, emptyIsNull(text), z.string().nullable(), { rules: [atMost(SHORT)], sealed: true })

export const choice = <const V extends readonly string[]>(initial: V[number], ...values: V) =>
  attribute<V[number]>(initial, oneOf(...values), z.enum(values))

/** Clients send several values for "no choice". */
export const optionalChoice = <const V extends readonly string[]>(...values: V) =>
  attribute<V[number] | null>(
    null,
    z.preprocess((value) => (['', 'nil', 'all'].includes(value as string) ? null : value), oneOf(...values).nullable()),
    z.enum(values).nullable(),
  )

export const choices = <const V extends readonly string[]>(initial: V[number][], ...values: V) =>
  attribute<V[number][]>(initial, listOf(oneOf(...values)), z.array(z.enum(values)))

export const list = (initial: string[], ...rules: Rule<string[]>[]) =>
  attribute<string[]>(initial, listOf(text.pipe(z.string().max(SHORT))), z.array(z.string()), { rules })

/** A list separated by commas, semicolons, spaces or lines, or an array. */
const separated = (...rules: Rule<string[]>[]) =>
  attribute<string[]>(
    [],
    arrayOf(z.string().max(SHORT), 10_000, (value) =>
      typeof value === 'string' ? value.split(/[\s,;]+/).filter(Boolean) : value,
    ),
    z.array(z.string()),
    { rules },
  )

export const domains = () => separated()

const atMostEntries = (most: number) => rule<string[]>(({ length }) => length <= most, tooLong(most, 'entries'))

/** Hosts, addresses and networks, each with an optional port. */
export const addresses = () =>
  separated(
    atMostEntries(1000),
    rule(
      (value) => value.every(isListable),
      (value) => `can't include: ${value.find((entry) => !isListable(entry))}`,
    ),
  )

/** Usernames are compared regardless of case. */
export const usernames = () => separated(atMostEntries(100))

/** Stored unchanged: a structure of newer clients. */
export const structure = (initial: Record<string, unknown>, ...rules: Rule<Record<string, unknown>>[]) => {
  const record = z.record(z.string(), z.unknown())
  const small = rule<Record<string, unknown>>((value) => JSON.stringify(value).length <= LONG, tooLong(LONG))
  return attribute<Record<string, unknown>>(initial, record, record, { rules: [small, ...rules] })
}

/** Input: the path or id of a group; output: its id. */
export const group = () => attribute<number | null>(null, emptyIsNull(text), z.int().nullable())
