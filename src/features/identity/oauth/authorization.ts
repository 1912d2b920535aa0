/** Reads and checks the request of a client to `/oauth/authorize`, and builds the answer. */
import type { Scope } from '../../../api/credentials.ts'
import type { Raw } from '../../../api/input.ts'
import { MINUTE, after, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import type { Refusal } from '../../../errors.ts'
import { digestOf, randomHex } from '../../../lib/crypto/secrets.ts'
import type { Row } from '../../../store/database.ts'
import { textOf } from '../sessions/forms.ts'
import { DESCRIPTIONS, oauthRefusal, type OAuthError } from './errors.ts'
import { findApplication, hasGranted, type Application } from './queries.ts'
import { chosenScopes, toScopes } from './scopes.ts'
import { issueToken } from './tokens.ts'
import { linesOf } from './validation.ts'

/** The parameters of the standard, which are passed along while a user signs in and consents. */
export const QUESTION = [
  'client_id',
  'redirect_uri',
  'response_type',
  'state',
  'scope',
  'nonce',
  'code_challenge',
  'code_challenge_method',
]

const CODE_LIFETIME = 10 * MINUTE
const LONGEST_NONCE = 1000
const CHALLENGE_FORM = /^[A-Za-z0-9._~-]{43,128}$/

/** The client, and the registered redirect address that gets the answer. */
export interface Target {
  readonly application: Application
  readonly redirectUri: string
  readonly responseType: string | null
  readonly state: string | null
}

/** Null if the client or the address is wrong. Then nothing is sent to the address; the user sees an error page. */
export async function findTarget(app: App, given: Raw): Promise<Target | null> {
  const application = await findApplication(app.db, textOf(given, 'client_id') ?? '')
  const redirectUri = textOf(given, 'redirect_uri')
  if (!application || !redirectUri || !linesOf(application.redirect_uri).includes(redirectUri)) return null
  return {
    application,
    redirectUri,
    responseType: textOf(given, 'response_type'),
    state: textOf(given, 'state'),
  }
}

export interface AuthorizationRequest {
  readonly responseType: 'code' | 'token'
  readonly scopes: readonly Scope[]
  readonly challenge: Pick<Row<'oauth_grants'>, 'code_challenge' | 'code_challenge_method'>
  readonly nonce: string | null
}

/** Throws an error that is sent back to the client. */
export function readAuthorization({ application, responseType }: Target, given: Raw): AuthorizationRequest {
  if (!responseType) throw oauthRefusal('invalid_request')
  if (responseType !== 'code' && responseType !== 'token') throw oauthRefusal('unsupported_response_type')
  const scopes = chosenScopes(textOf(given, 'scope'), toScopes(application.scopes))
  const challenge = readChallenge(given)
  // A client without a secret needs PKCE, so that only the client that requested the code can use it.
  if (responseType === 'code' && !application.confidential && challenge.code_challenge === null) {
    throw oauthRefusal('invalid_request', 'Code challenge is required.')
  }
  const nonce = textOf(given, 'nonce')
  if (nonce && nonce.length > LONGEST_NONCE) throw oauthRefusal('invalid_request', 'The nonce is too long.')
  return { responseType, scopes, challenge, nonce }
}

function readChallenge(given: Raw): AuthorizationRequest['challenge'] {
  const code_challenge = textOf(given, 'code_challenge') || null
  const method = textOf(given, 'code_challenge_method') || 'plain'
  if (code_challenge === null) return { code_challenge, code_challenge_method: null }
  if (!CHALLENGE_FORM.test(code_challenge) || (method !== 'plain' && method !== 'S256')) {
    throw oauthRefusal('invalid_request', 'The code challenge or its method is invalid.')
  }
  return { code_challenge, code_challenge_method: method }
}

/** Any program can claim to be a public client, so users are asked for consent each time. */
export async function hasConsent(app: App, user: User, { application }: Target, { scopes }: AuthorizationRequest) {
  if (application.trusted) return true
  return application.confidential && (await hasGranted(app, user, application, scopes))
}

/** The redirect address that contains the code or the token for the client. */
export async function grant(app: App, user: User, target: Target, input: AuthorizationRequest): Promise<string> {
  const { application } = target
  if (input.responseType === 'token') {
    const token = await issueToken(app, { application, user, scopes: input.scopes, refreshable: false })
    const { access_token, token_type, expires_in } = token
    return answerAddress(target, { access_token, token_type, ...(expires_in && { expires_in: String(expires_in) }) })
  }
  const code = randomHex()
  await app.db
    .insertInto('oauth_grants')
    .values({
      application_id: application.id,
      user_id: user.id,
      digest: digestOf(code),
      redirect_uri: target.redirectUri,
      scopes: input.scopes.join(' '),
      ...input.challenge,
      nonce: input.nonce,
      used_at: null,
      expires_at: after(app.clock, CODE_LIFETIME),
      created_at: timestamp(app.clock),
    })
    .execute()
  return answerAddress(target, { code })
}

export const refusalAddress = (target: Target, refusal: Refusal): string =>
  answerAddress(target, refusal.facts.body as Record<string, string>)

export const denialAddress = (target: Target): string => {
  const error: OAuthError = 'access_denied'
  return answerAddress(target, { error, error_description: DESCRIPTIONS[error] })
}

/** A token goes into the URL fragment, which browsers do not send to servers; everything else goes into the query. */
function answerAddress({ redirectUri, responseType, state }: Target, answer: Record<string, string>): string {
  const address = new URL(redirectUri)
  const given = { ...answer, ...(state !== null && { state }) }
  if (responseType === 'token') address.hash = String(new URLSearchParams(given))
  else for (const [name, value] of Object.entries(given)) address.searchParams.set(name, value)
  return address.href
}
