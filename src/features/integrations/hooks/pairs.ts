/** Key-value pairs of a webhook: variables of the URL, and custom headers. */
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { isSendableHeader } from '../../../outbound/headers.ts'
import type { Hook } from './model.ts'

export const PAIRS = ['url_variables', 'custom_headers'] as const

export type PairKind = (typeof PAIRS)[number]

export interface Pair {
  readonly key: string
  readonly value: string
}

const MOST_PAIRS = 20
const LONGEST_KEY = 255
const LONGEST_VALUE = 2048

/** Headers that the server sets itself: receivers rely on them. */
const RESERVED = /^(content-type|user-agent|idempotency-key|x-gitlab-.*|webhook-(id|timestamp|signature))$/i

const NAME = /^[A-Za-z][0-9A-Za-z._-]*$/

function isLegal(kind: PairKind, { key, value }: Pair): boolean {
  if (!NAME.test(key) || key.length > LONGEST_KEY || value.length === 0 || value.length > LONGEST_VALUE) return false
  // oxlint-disable-next-line no-control-regex -- the pattern matches control characters
  if (kind === 'url_variables') return !/[\s\0-\x1f\x7f]/.test(value)
  return !RESERVED.test(key) && isSendableHeader(key, value)
}

/** Header names are case-insensitive. */
const nameOf = (kind: PairKind, key: string) => (kind === 'custom_headers' ? key.toLowerCase() : key)

/** Of several pairs with one name the last wins. */
export function withPairs(kind: PairKind, known: readonly Pair[], given: readonly Pair[]): Pair[] {
  const all = new Map([...known, ...given].map((pair) => [nameOf(kind, pair.key), pair]))
  if (all.size > MOST_PAIRS || given.some((pair) => !isLegal(kind, pair)))
    throw new Refusal('unprocessable', 'Illegal key or value', { as: 'error' })
  return [...all.values()]
}

export const withoutPair = (kind: PairKind, known: readonly Pair[], key: string): Pair[] =>
  known.filter((pair) => nameOf(kind, pair.key) !== nameOf(kind, key))

export const sealPairs = (app: App, pairs: readonly Pair[]): string | null =>
  pairs.length === 0 ? null : app.vault.seal(JSON.stringify(pairs))

export function openPairs(app: App, hook: Pick<Hook, `${PairKind}_sealed`>, kind: PairKind): Pair[] {
  const sealed = hook[`${kind}_sealed`]
  return sealed === null ? [] : (JSON.parse(app.vault.open(sealed)) as Pair[])
}

const PLACEHOLDER = /\{([A-Za-z][0-9A-Za-z._-]*)\}/g

/** Fills the URL with its variables. Null if a variable is missing. */
export function filledUrl(url: string, variables: readonly Pair[]): string | null {
  const values = new Map(variables.map(({ key, value }) => [key, value]))
  const isWhole = Array.from(url.matchAll(PLACEHOLDER), ([, name]) => name!).every((name) => values.has(name))
  return isWhole ? url.replace(PLACEHOLDER, (_, name: string) => values.get(name)!) : null
}
