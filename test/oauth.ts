import { createHash, randomBytes } from 'node:crypto'
import type { TestForge } from '../src/forge.ts'
import type { Browser } from './browser.ts'

export const CALLBACK = 'https://app.example/callback'

export interface Registered {
  id: number
  client_id: string
  client_secret: string
  name: string
}

/** An OAuth application that an administrator registered. */
export async function registerApplication(forge: TestForge, input: Record<string, unknown> = {}): Promise<Registered> {
  const { body } = await forge.administrator.post('/applications', {
    name: 'App',
    redirect_uri: CALLBACK,
    scopes: 'api read_user openid',
    ...input,
  })
  return { id: body.id, client_id: body.application_id, client_secret: body.secret, name: body.application_name }
}

export function pkcePair() {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return { verifier, challenge: { code_challenge: challenge, code_challenge_method: 'S256' } }
}

export const authorizePath = ({ client_id }: Registered, input: Record<string, string> = {}): string =>
  `/oauth/authorize?${new URLSearchParams({ client_id, redirect_uri: CALLBACK, response_type: 'code', ...input })}`

/** The authorization code from a signed-in user's consent. */
export async function codeFor(browser: Browser, application: Registered, input: Record<string, string> = {}) {
  const page = await browser.get(authorizePath(application, input))
  const answer = page.status === 200 ? await browser.submit(page) : page
  return new URL(answer.location!).searchParams.get('code')!
}

// oxlint-disable-next-line no-explicit-any -- a test reads the answer's body as it expects it
export type OAuthReply = { status: number; headers: Headers; body: any }

export async function oauthPost(
  forge: TestForge,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<OAuthReply> {
  const answer = await fetch(`${forge.url}/oauth/${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers,
  })
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}

export const exchangeCode = (forge: TestForge, { client_id, client_secret }: Registered, code: string, more = {}) =>
  oauthPost(forge, 'token', {
    grant_type: 'authorization_code',
    client_id,
    client_secret,
    code,
    redirect_uri: CALLBACK,
    ...more,
  })
