import { z } from 'zod'
import { limited, rule, rulesOf } from '../../../api/rules.ts'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { isBranchName } from '../../../git/process/arguments.ts'
import { MASK } from '../../../lib/net/masked-url.ts'
import { patternFault } from '../../../lib/text/patterns.ts'
import type { BranchFilterStrategy } from './model.ts'

const LONGEST_URL = 2000
const LONGEST_FILTER = 511

// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const CONTROL = /[\0-\x1f\x7f]/

/** Checks the URL itself. The outgoing client checks the host, now and at every delivery. */
export function isUsableUrl(given: string): boolean {
  const url = URL.parse(given)
  return (
    url !== null &&
    given.length <= LONGEST_URL &&
    // The mask is a placeholder for a secret, never a value.
    !given.includes(MASK) &&
    // `URL` ignores white space, but other parsers do not.
    !/\s/.test(given) &&
    !CONTROL.test(given) &&
    /^https?:\/\//i.test(given) &&
    /^($|[a-z0-9])/i.test(url.username)
  )
}

export const textRules = rulesOf({
  name: limited(z.string(), 255),
  description: limited(z.string(), 2048),
  // The token is sent in a header.
  token: limited(z.string().check(rule((token) => !CONTROL.test(token), 'is invalid', { last: true })), 2048),
  custom_webhook_template: limited(z.string(), 4096),
})

interface BranchFilter {
  readonly push_events_branch_filter: string
  readonly branch_filter_strategy: BranchFilterStrategy
}

export async function assertValidFilter({ caller }: App, filter: BranchFilter): Promise<void> {
  if (!(await isFilter(filter, caller)))
    throw new Refusal('unprocessable', 'Invalid branch filter given', { as: 'error' })
}

async function isFilter(
  { push_events_branch_filter: filter, branch_filter_strategy }: BranchFilter,
  caller: App['caller'],
): Promise<boolean> {
  if (filter.length > LONGEST_FILTER) return false
  if (filter === '' || branch_filter_strategy === 'all_branches') return true
  return branch_filter_strategy === 'regex'
    ? (await patternFault(filter, caller)) === null
    : isBranchName(filter.replaceAll('*', 'x'))
}
