/**
 * Rows that were read once and are shared until something is committed (see `store/hot.ts`) are also presented and
 * written out once: a list that nobody changed costs its bytes, not its making.
 */
import { hash } from 'node:crypto'

const presented = new WeakMap<object, Map<string, object>>()
const texts = new WeakMap<object, Written | null>()

interface Written {
  /** What is long goes out as bytes: as a text it would be copied once to follow its headers and once to be encoded. */
  readonly content: string | Buffer
  /** In bytes, as a header tells it. */
  readonly length: string
  readonly tag: string
}

const LONG = 32_768

/** What `make` makes of `rows` for one kind of viewer; made again only when the rows are others. */
export async function once<T extends object>(rows: object, kind: string, make: () => T | Promise<T>): Promise<T> {
  if (!Object.isFrozen(rows)) return make()
  let kinds = presented.get(rows)
  if (!kinds) presented.set(rows, (kinds = new Map()))
  const known = kinds.get(kind) as T | undefined
  if (known) return known
  const made = await make()
  kinds.set(kind, made)
  texts.set(made, null)
  return made
}

export const isPresentedOnce = (body: unknown): boolean => texts.has(body as object)

/** A body as it is sent, with its weak entity tag. */
export function written(body: unknown): Written {
  const kept = typeof body === 'object' && body !== null ? texts.get(body) : undefined
  if (kept) return kept
  const text = JSON.stringify(body)
  const length = Buffer.byteLength(text)
  const fresh = {
    content: length < LONG ? text : Buffer.from(text),
    length: String(length),
    tag: `W/"${hash('sha1', text, 'base64url')}"`,
  }
  if (kept === null) texts.set(body as object, fresh)
  return fresh
}
