/**
 * The types a request may hold, as v4 clients write them: everything arrives as text, JSON or both. A wire type turns
 * any accepted spelling into one clean value; endpoints declare their input with these and never look at text again.
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

/** Digits that name no row, 0 or more of them than a number holds, are an id to look for in vain. */
function toId(value: unknown): unknown {
  const given = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return given === 0 || (typeof given === 'number' && given > NOBODYS) ? NOBODYS : given
}

const toText = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

export const bool = z.preprocess(toBoolean, z.boolean())

/** Digits. */
export const int = z.preprocess(toInteger, z.int())

/** An id in a path or a body. */
export const id = z.preprocess(toId, z.int().min(1))

/** May be left out; null and an empty text both clear it. */
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

/** Characters a text may have: names and addresses, what people write, whole files. */
export const LONGEST = { text: 16 * 1024, longText: 1024 * 1024, document: 10 * 1024 * 1024 }

/** A line or a few: what is kept of it is mostly held to less by its family. */
export const text = textUpTo(LONGEST.text)
/** Descriptions, messages, comments. */
export const longText = textUpTo(LONGEST.longText)
/** The content of a file. Its endpoint declares a `body` that has room for it. */
export const documentText = textUpTo(LONGEST.document)

/** Text that may not be blank where it is given. */
export const filledText = filledTextUpTo(LONGEST.text)
export const filledLongText = filledTextUpTo(LONGEST.longText)

export const oneOf = <const V extends readonly string[]>(...values: V) => z.enum(values)

const LONGEST_DATE = 100
const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= LONGEST_DATE

/** `YYYY-MM-DD`, from that, from near forms (`2000-1-1`) and from whole moments. */
export const date = z.preprocess(
  (value) => (isShort(value) ? (toDate(value) ?? value) : value),
  z
    .string()
    .refine((value) => isShort(value) && isDate(value))
    .meta({ format: 'date' }),
)

/** A moment in UTC, in the store's own form; without a zone it is UTC. */
export const moment = z.preprocess(
  (value) => (isShort(value) ? (toMoment(value) ?? value) : value),
  z
    .string()
    .refine((value) => isShort(value) && toMoment(value) === value)
    .meta({ format: 'date-time' }),
)

const MOST_ITEMS = 1000

/** `a[0]=x&a[1]=y`, as some clients write an array. */
const isIndexed = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length > 0 &&
  Object.keys(value).every((name) => /^\d{1,4}$/.test(name))

/** A JSON array, or what a form has in its place. One that is too long is refused before its items are looked at. */
export const arrayOf = <T extends z.ZodType>(item: T, most = MOST_ITEMS, from = (value: unknown) => value) =>
  z.preprocess((value, context) => {
    const given = from(isIndexed(value) ? Object.values(value) : value)
    if (!Array.isArray(given) || given.length <= most) return given
    context.addIssue({ code: 'custom' })
    return z.NEVER
  }, z.array(item).max(most))

/** `a[]=1&a[]=2`, a JSON array, a comma list or one bare value; `a[]=` is an empty one. */
export const listOf = <T extends z.ZodType>(item: T) =>
  arrayOf(item, MOST_ITEMS, (value) => {
    if (typeof value === 'string') {
      return value === '' ? [] : value.split(',', MOST_ITEMS + 1).map((part) => part.trim())
    }
    if (Array.isArray(value)) return value.filter((one) => one !== '')
    return typeof value === 'number' ? [value] : value
  })

/** A file part of a multipart form, spooled to disk; it is removed once the request is answered. */
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

  /** All of it, as a file in a browser gives it. */
  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(await readFile(this.path))
    return bytes.buffer
  }
}

export const file = z
  .custom<Upload>((value) => value instanceof SpooledUpload)
  .meta({ type: 'string', format: 'binary' })

/** An output record: what is not declared here is a defect, which tests make fail. */
export const entity = z.strictObject

export const timestampOut = z.string().meta({ format: 'date-time' })
export const dateOut = z.string().meta({ format: 'date' })
