/**
 * The errors that services throw. A Refusal is an answer, not a failure: the API turns its kind into a status and its
 * message into the body. Any other thrown error is a logged 500.
 */
import { TAKEN } from './lib/text/faults.ts'

export type RefusalKind =
  | 'not_modified'
  | 'bad_request'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'not_allowed'
  | 'not_acceptable'
  | 'conflict'
  | 'gone'
  | 'precondition_failed'
  | 'too_large'
  | 'unsupported_type'
  | 'unprocessable'
  | 'throttled'
  | 'unavailable'
  | 'no_space'
  | 'busy'

/** Property name → error texts; embedded entities nest another such object. */
export type FieldErrors = { [property: string]: string[] | FieldErrors }

/** A string, or the field errors of a failed validation, or the array shape a few endpoints answer with. */
export type RefusalMessage = string | string[] | FieldErrors

export class Refusal extends Error {
  readonly kind: RefusalKind
  readonly reason: RefusalMessage | undefined
  readonly facts: Record<string, unknown>

  /** `facts` are for the log and for the error table (`as`, `headers`); they never carry secrets. */
  constructor(kind: RefusalKind, reason?: RefusalMessage, facts: Record<string, unknown> = {}) {
    super(typeof reason === 'string' ? reason : kind)
    this.name = 'Refusal'
    this.kind = kind
    this.reason = reason
    this.facts = facts
  }
}

export const invalid = (fields: FieldErrors) => new Refusal('bad_request', fields)

/** Another record has the same value in each of these fields. */
export const taken = (...fields: string[]) => invalid(Object.fromEntries(fields.map((field) => [field, [TAKEN]])))

/** `Maximum number of pipeline triggers (150) exceeded`. A limit of 0 means no limit. */
export function assertAtMost(
  count: number,
  most: number,
  records: string,
  refusal = (text: string) => invalid({ base: [text] }),
): void {
  if (most > 0 && count > most) throw refusal(`Maximum number of ${records} (${most}) exceeded`)
}

/** The same, before one more record. */
export const assertBelowLimit = (
  count: number,
  most: number,
  records: string,
  refusal?: (text: string) => Refusal,
): void => assertAtMost(count + 1, most, records, refusal)

/** `notFound('GPG Key')` says `404 GPG Key Not Found`; unnamed records say `404 Not found`, with a small f. */
export const notFound = (name?: string) => new Refusal('not_found', name ? `404 ${name} Not Found` : '404 Not found')

export const forbidden = (reason?: string) =>
  new Refusal('forbidden', reason ? `403 Forbidden - ${reason}` : '403 Forbidden')

/** For every write while the whole instance is read-only. `fault` is shown on the sign-in page. */
export const readOnlyInstance = () =>
  new Refusal('forbidden', '403 Forbidden - the instance is read-only', {
    reason: 'read_only',
    fault: 'The instance is read-only.',
  })

export const unauthenticated = () => new Refusal('unauthenticated', '401 Unauthorized')

export const conflict = (message: string) => new Refusal('conflict', message)

/** A parameter that cannot be used as given: the text is sent under both keys, for older and newer clients. */
export const badParameter = (text: string) => new Refusal('bad_request', text, { as: 'both' })
