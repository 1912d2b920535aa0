import { invalid, type FieldErrors } from '../../../errors.ts'
import { unknownScopes } from './scopes.ts'

export interface NewApplication {
  name: string
  redirect_uri: string
  scopes: string
  confidential: boolean
}

const LONGEST_NAME = 255
const LONGEST_ADDRESSES = 10_000

const tooLong = (most: number) => `is too long (maximum is ${most} characters)`

/** Schemes that a browser executes or reads locally instead of navigating to a host. */
const FORBIDDEN_SCHEMES = new Set(['javascript', 'data', 'vbscript', 'file', 'blob', 'about', 'view-source'])

export const linesOf = (text: string): string[] =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter(Boolean)

function addressFault(line: string): string | null {
  const scheme = /^([a-z][a-z0-9+.-]*):\S+$/i.exec(line)?.[1]?.toLowerCase()
  // A URL parser repairs an incomplete address, but the stored text is compared literally.
  const isWhole = scheme === 'http' || scheme === 'https' ? /^https?:\/\/[^/\\]/i.test(line) : scheme !== undefined
  if (!isWhole || !URL.canParse(line)) return 'must be an absolute URI.'
  if (FORBIDDEN_SCHEMES.has(scheme!)) return 'is forbidden by the server.'
  return line.includes('#') ? 'cannot contain a fragment.' : null
}

function addressFaults(text: string): string[] {
  const lines = linesOf(text)
  if (lines.length === 0) return ["can't be blank"]
  if (text.length > LONGEST_ADDRESSES) return [tooLong(LONGEST_ADDRESSES)]
  return [...new Set(lines.map(addressFault).filter((fault) => fault !== null))]
}

function scopeFaults(text: string): string[] {
  if (text.trim() === '') return ["can't be blank"]
  return unknownScopes(text).length > 0 ? ["doesn't match configured on the server."] : []
}

function nameFaults(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"]
  return name.length > LONGEST_NAME ? [tooLong(LONGEST_NAME)] : []
}

export function assertValidApplication({ name, redirect_uri, scopes }: NewApplication): void {
  const all = { name: nameFaults(name), redirect_uri: addressFaults(redirect_uri), scopes: scopeFaults(scopes) }
  const faults: FieldErrors = Object.fromEntries(Object.entries(all).filter(([, found]) => found.length > 0))
  if (Object.keys(faults).length > 0) throw invalid(faults)
}
