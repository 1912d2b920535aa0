import { isIP } from 'node:net'
import { Refusal, invalid, type FieldErrors } from '../../../errors.ts'
import { isBranchName } from '../../../git/process/arguments.ts'
import { isPublicAddress } from '../../../lib/addresses.ts'
import { patternFault } from '../../../lib/patterns.ts'
import type { BranchFilterStrategy } from './model.ts'

const LONGEST_URL = 2000
const LONGEST_FILTER = 511
const LONGEST = { name: 255, description: 2048, token: 2048 }

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROL = /[\0-\x1f\x7f]/

/** What a name leads to is asked when something is sent there; what the address itself tells is asked here. */
export function assertUsableUrl(given: string, { allowLocal }: { allowLocal: boolean }): void {
  const url = URL.parse(given)
  const isUsable =
    url !== null &&
    given.length <= LONGEST_URL &&
    // `URL` would overlook them, and other readers would not.
    !/\s/.test(given) &&
    !CONTROL.test(given) &&
    /^https?:\/\//i.test(given) &&
    /^($|[a-z0-9])/i.test(url.username) &&
    (allowLocal || !isLocal(url.hostname))
  if (!isUsable) throw new Refusal('unprocessable', 'Invalid url given', { as: 'error' })
}

/** `URL` has written every spelling of a number (octal, hexadecimal, one piece) as plain dots already. */
function isLocal(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  return isIP(host) === 0 ? /(^|[.-])local(host|domain)$/.test(host) : !isPublicAddress(host)
}

interface Texts {
  name?: string | null | undefined
  description?: string | null | undefined
  token?: string | null | undefined
}

export function assertValidTexts(texts: Texts): void {
  const errors: FieldErrors = {}
  for (const name of ['name', 'description', 'token'] as const) {
    const tooLong = (texts[name]?.length ?? 0) > LONGEST[name]
    if (tooLong) errors[name] = [`is too long (maximum is ${LONGEST[name]} characters)`]
  }
  // It travels in a header.
  if (CONTROL.test(texts.token ?? '')) errors.token = ['is invalid']
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

interface BranchFilter {
  readonly push_events_branch_filter: string
  readonly branch_filter_strategy: BranchFilterStrategy
}

export async function assertValidFilter(filter: BranchFilter): Promise<void> {
  if (!(await isFilter(filter))) throw new Refusal('unprocessable', 'Invalid branch filter given', { as: 'error' })
}

async function isFilter({ push_events_branch_filter: filter, branch_filter_strategy }: BranchFilter): Promise<boolean> {
  if (filter.length > LONGEST_FILTER) return false
  if (filter === '' || branch_filter_strategy === 'all_branches') return true
  return branch_filter_strategy === 'regex'
    ? (await patternFault(filter)) === null
    : isBranchName(filter.replaceAll('*', 'x'))
}
