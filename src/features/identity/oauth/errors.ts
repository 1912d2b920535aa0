import { Refusal } from '../../../errors.ts'

export const DESCRIPTIONS = {
  invalid_request:
    'The request is missing a required parameter, includes an unsupported parameter value, or is otherwise malformed.',
  invalid_client:
    'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
  invalid_grant:
    'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
  unauthorized_client: 'The client is not authorized to perform this request using this method.',
  unsupported_grant_type: 'The authorization grant type is not supported by the authorization server.',
  unsupported_response_type: 'The authorization server does not support this response type.',
  invalid_scope: 'The requested scope is invalid, unknown, or malformed.',
  access_denied: 'The resource owner or authorization server denied the request.',
  invalid_token: 'The access token is invalid.',
} as const

export type OAuthError = keyof typeof DESCRIPTIONS

export const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

/** Clients of this API expect 401 for every error of `/oauth`. */
export function oauthRefusal(error: OAuthError, error_description: string = DESCRIPTIONS[error]): Refusal {
  return new Refusal('unauthenticated', error_description, {
    body: { error, error_description },
    headers: {
      ...NO_STORE,
      'WWW-Authenticate': `Bearer realm="Mortise", error="${error}", error_description="${error_description}"`,
    },
  })
}
