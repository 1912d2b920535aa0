import { z } from 'zod'
import {
  assertRules,
  faultsBy,
  faultsOf,
  filled,
  limited,
  rule,
  rulesOf,
  upTo,
  type Faults,
} from '../../../api/rules.ts'
import { PATH_FORMAT_TEXT, isPath, isReservedAtTop } from '../../../lib/files/paths.ts'
import { isWebAddress } from '../../../lib/net/web-address.ts'
import { passwordFaults } from '../passwords.ts'

/** Attributes of a user for create and update; absent attributes are not checked. */
export interface UserAttributes {
  email?: string
  username?: string
  name?: string
  password?: string | null
  bio?: string | null
  location?: string | null
  organization?: string | null
  job_title?: string | null
  pronouns?: string | null
  public_email?: string | null
  note?: string | null
  messenger?: string | null
  professional_network?: string | null
  microblog?: string | null
  website_url?: string | null
  projects_limit?: number | null
  shared_runners_minutes_limit?: number | null
  provider?: string | null
  extern_uid?: string | null
}

/** No dot at the end, which would be another name for the same host. */
const EMAIL = /^[^@\s<>,;]+@[^@\s<>,;]*[^@\s<>,;.]$/
const LARGEST_INTEGER = 2_147_483_647

export const isEmail = (text: string): boolean => text.length <= 254 && EMAIL.test(text)

// Shown as a link on the profile. A host is enough; a port may follow if the host cannot be mistaken for a scheme.
const isLink = (value: string) =>
  isWebAddress(value) || (/^[\p{L}\p{N}.-]+(?:[/?#]|$|(?<=\..*):\d)/u.test(value) && isWebAddress(`http://${value}`))

const short = limited(z.string(), 255)

const userRules = rulesOf({
  email: filled(z.string()).check(rule(isEmail, 'is invalid')),
  username: filled(z.string(), 255).check(
    rule(isPath, PATH_FORMAT_TEXT),
    rule(
      (value) => !isReservedAtTop(value),
      (value) => `${value} is a reserved name`,
    ),
  ),
  name: filled(z.string(), 255),
  password: z.string().check(faultsBy(passwordFaults)),
  bio: short,
  location: short,
  organization: short,
  job_title: limited(z.string(), 200),
  pronouns: limited(z.string(), 50),
  public_email: z.string().check(rule((value) => value === '' || isEmail(value), 'is invalid')),
  note: limited(z.string(), 10_000),
  messenger: short,
  professional_network: short,
  microblog: short,
  website_url: limited(z.string(), 255, { last: true }).check(
    rule((value) => value === '' || isLink(value), 'must be a valid URL'),
  ),
  projects_limit: upTo(LARGEST_INTEGER),
  shared_runners_minutes_limit: upTo(LARGEST_INTEGER),
  provider: short,
  extern_uid: short,
})

/** All errors of all given attributes. */
export const userFaults = (attributes: UserAttributes): Faults => faultsOf(userRules, attributes)

export const assertValidUser = (attributes: UserAttributes): void => assertRules(userRules, attributes)

/** Handles on other networks are shown as plain text, so markup is removed. */
export function withoutMarkup(value: string): string {
  // Only text up to the last closing bracket can be markup. Without this limit the pattern would scan the rest from
  // each opening bracket.
  const end = value.lastIndexOf('>') + 1
  return value.slice(0, end).replace(/<[^>]*>/g, '') + value.slice(end)
}
