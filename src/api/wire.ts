/**
 * The input types of requests, as v4 clients send them: values arrive as text, as JSON or as both. A wire type turns
 * every accepted form into one clean value. Endpoints declare their input with these types and never parse text.
 */
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { isDate, toDate, toMoment } from '../lib/time/dates.ts'

const TRUE = new Set(['true', '1', 't', 'y', 'yes', 'on'])
const FALSE = new Set(['false', '0', 'f', 'n', 'no', 'off'])
const NOBODYS = Number.MAX_SAFE_INTEGER

function toBoolean(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value
  const word = String(value).toLowerCase()
  return TRUE.has(word) ? true : FALSE.has(word) ? false : value
}

function toInteger(value: unknown): unknown {
  return typeof value === 'string' && /^[+-]?\d{1,15}$/.test(value) ? Number(value) : value
}

/** Digits that cannot be an id (0, or more digits than a safe integer) still parse: the lookup finds nothing. */
function toId(value: unknown): unknown {
  const given = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return given === 0 || (typeof given === 'number' && given > NOBODYS) ? NOBODYS : given
}

const toText = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

export const bool = z.preprocess(toBoolean, z.boolean())

/** An integer. */
export const int = z.preprocess(toInteger, z.int())

/** An id in a path or a body. */
export const id = z.preprocess(toId, z.int().min(1))

/** Optional; null and an empty text both clear the value. */
export const blankable = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullable()).optional()

const textUpTo = (most: number) => z.preprocess(toText, z.string().max(most))
const filledTextUpTo = (most: number) =>
  z.preprocess(
    toText,
    z
      .string()
      .max(most, { abort: true })
      .refine((value) => value.trim() !== '', { params: { empty: true } }),
  )

/** Maximum lengths in characters: names and addresses, texts of users, whole files. */
export const LONGEST = { text: 16 * 1024, longText: 1024 * 1024, document: 10 * 1024 * 1024 }

/** A line or a few; most families set a lower limit for stored values. */
export const text = textUpTo(LONGEST.text)
/** Descriptions, messages, comments. */
export const longText = textUpTo(LONGEST.longText)
/** The content of a file. Its endpoint must declare a `body` large enough for it. */
export const documentText = textUpTo(LONGEST.document)

/** Text that must not be blank if it is given. */
export const filledText = filledTextUpTo(LONGEST.text)
export const filledLongText = filledTextUpTo(LONGEST.longText)

export const oneOf = <const V extends readonly string[]>(...values: V) => z.enum(values)

const LONGEST_DATE = 100
const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= LONGEST_DATE

/** `YYYY-MM-DD`, also from similar forms (`2000-1-1`) and from timestamps. */
export const date = z.preprocess(
  (value) => (isShort(value) ? (toDate(value) ?? value) : value),
  z
    .string()
    .refine((value) => isShort(value) && isDate(value))
    .meta({ format: 'date' }),
)

/** A timestamp in UTC, in the form of the store; without a time zone it is read as UTC. */
export const moment = z.preprocess(
  (value) => (isShort(value) ? (toMoment(value) ?? value) : value),
  z
    .string()
    .refine((value) => isShort(value) && toMoment(value) === value)
    .meta({ format: 'date-time' }),
)

const MOST_ITEMS = 1000

/** `a[0]=x&a[1]=y`: an array as some clients send it. */
const isIndexed = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length > 0 &&
  Object.keys(value).every((name) => /^\d{1,4}$/.test(name))

/** A JSON array, or its form-encoded equivalent. A too long array is rejected before its items are checked. */
export const arrayOf = <T extends z.ZodType>(item: T, most = MOST_ITEMS, from = (value: unknown) => value) =>
  z.preprocess((value, context) => {
    const given = from(isIndexed(value) ? Object.values(value) : value)
    if (!Array.isArray(given) || given.length <= most) return given
    context.addIssue({ code: 'custom' })
    return z.NEVER
  }, z.array(item).max(most))

/** `a[]=1&a[]=2`, a JSON array, a comma-separated list or a single value; `a[]=` is an empty list. */
export const listOf = <T extends z.ZodType>(item: T) =>
  arrayOf(item, MOST_ITEMS, (value) => {
    if (typeof value === 'string') {
      return value === '' ? [] : value.split(',', MOST_ITEMS + 1).map((part) => part.trim())
    }
    if (Array.isArray(value)) return value.filter((one) => one !== '')
    return typeof value === 'number' ? [value] : value
  })

/** A file part of a multipart form, in a temporary file that is deleted once the request is answered. */
export interface Upload {
  readonly filename: string
  readonly type: string
  readonly size: number
  readonly path: string
}

export class SpooledUpload implements Upload {
  readonly filename: string
  readonly type: string
  readonly size: number
  readonly path: string
  constructor(upload: Upload) {
    this.filename = upload.filename
    this.type = upload.type
    this.size = upload.size
    this.path = upload.path
  }

  /** The whole content, as the `File` of a browser returns it. */
  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(await readFile(this.path))
    return bytes.buffer
  }
}

export const file = z
  .custom<Upload>((value) => value instanceof SpooledUpload)
  .meta({ type: 'string', format: 'binary' })

/** An output record. An undeclared field is a defect, and fails the tests. */
export const entity = z.strictObject

export const timestampOut = z.string().meta({ format: 'date-time' })
export const dateOut = z.string().meta({ format: 'date' })
