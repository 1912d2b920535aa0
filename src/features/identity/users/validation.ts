import { invalid } from '../../../errors.ts'
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

const blank = (value: string) => (value.trim() === '' ? ["can't be blank"] : [])
const atMost = (length: number) => (value: string) =>
  value.length > length ? [`is too long (maximum is ${length} characters)`] : []

function emailFaults(value: string): string[] {
  const missing = blank(value)
  return missing.length > 0 || isEmail(value) ? missing : ['is invalid']
}

function usernameFaults(value: string): string[] {
  if (value.trim() === '') return ["can't be blank"]
  const faults = atMost(255)(value)
  if (!isPath(value)) faults.push(PATH_FORMAT_TEXT)
  if (isReservedAtTop(value)) faults.push(`${value} is a reserved name`)
  return faults
}

function limitFaults(value: number): string[] {
  if (value < 0) return ['must be greater than or equal to 0']
  return value > LARGEST_INTEGER ? [`must be less than or equal to ${LARGEST_INTEGER}`] : []
}

function addressFaults(value: string): string[] {
  if (value === '') return []
  const faults = atMost(255)(value)
  // A text that is too long is not checked further.
  if (faults.length > 0) return faults
  // Shown as a link on the profile. A host is enough; a port may follow if the host cannot be mistaken for a scheme.
  const isHost = /^[\p{L}\p{N}.-]+(?:[/?#]|$|(?<=\..*):\d)/u.test(value) && isWebAddress(`http://${value}`)
  return isHost || isWebAddress(value) ? [] : ['must be a valid URL']
}

const rules: { [K in keyof UserAttributes]-?: (value: NonNullable<UserAttributes[K]>) => string[] } = {
  email: emailFaults,
  username: usernameFaults,
  name: (value) => [...blank(value), ...atMost(255)(value)],
  password: passwordFaults,
  bio: atMost(255),
  location: atMost(255),
  organization: atMost(255),
  job_title: atMost(200),
  pronouns: atMost(50),
  public_email: (value) => (value === '' || isEmail(value) ? [] : ['is invalid']),
  note: atMost(10_000),
  messenger: atMost(255),
  professional_network: atMost(255),
  microblog: atMost(255),
  website_url: addressFaults,
  projects_limit: limitFaults,
  shared_runners_minutes_limit: limitFaults,
  provider: atMost(255),
  extern_uid: atMost(255),
}

/** All errors of all given attributes. */
export function userFaults(attributes: UserAttributes): Record<string, string[]> {
  const faults: Record<string, string[]> = {}
  for (const [name, rule] of Object.entries(rules)) {
    const value = attributes[name as keyof UserAttributes]
    if (value === undefined || value === null) continue
    const found = (rule as (value: unknown) => string[])(value)
    if (found.length > 0) faults[name] = found
  }
  return faults
}

export function assertValidUser(attributes: UserAttributes): void {
  const faults = userFaults(attributes)
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

/** Handles on other networks are shown as plain text, so markup is removed. */
export function withoutMarkup(value: string): string {
  // Only text up to the last closing bracket can be markup. Without this limit the pattern would scan the rest from
  // each opening bracket.
  const end = value.lastIndexOf('>') + 1
  return value.slice(0, end).replace(/<[^>]*>/g, '') + value.slice(end)
}
