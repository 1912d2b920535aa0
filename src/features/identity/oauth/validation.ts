import { z } from 'zod'
import { faultsBy, filled, limited, rule } from '../../../api/rules.ts'
import { BLANK } from '../../../lib/text/faults.ts'
import { unknownScopes } from './scopes.ts'

export interface NewApplication {
  name: string
  redirect_uri: string
  scopes: string
  confidential: boolean
}

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

const isSomewhere = (text: string) => linesOf(text).length > 0

const addresses = limited(z.string().check(rule(isSomewhere, BLANK, { last: true })), 10_000, { last: true })

export const applicationRules = z.object({
  name: filled(z.string(), 255),
  redirect_uri: addresses.check(
    faultsBy((text) => [
      ...new Set(
        linesOf(text)
          .map(addressFault)
          .filter((fault) => fault !== null),
      ),
    ]),
  ),
  scopes: filled(z.string()).check(
    rule((text) => unknownScopes(text).length === 0, "doesn't match configured on the server."),
  ),
})
