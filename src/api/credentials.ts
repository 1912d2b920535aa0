/** Which credential a request shows, and what the caller behind it may reach. */
import type { IncomingHttpHeaders } from 'node:http'
import type { User } from '../context.ts'

export const SCOPES = [
  'api',
  'read_user',
  'read_api',
  'read_repository',
  'write_repository',
  'read_registry',
  'sudo',
  'openid',
  'profile',
  'email',
] as const
export type Scope = (typeof SCOPES)[number]

export type CredentialKind = 'private' | 'personal' | 'impersonation' | 'oauth' | 'session' | 'job'

/** The terms to accept, or a second factor to set up. */
export type RequiredStep = 'terms' | 'second_factor'

/** Who stands behind a credential. `scopes` is null where the credential is the whole account. */
export interface Identity {
  readonly kind: CredentialKind
  readonly user: User
  readonly scopes: readonly Scope[] | null
  /** Of a session: until that is done, nothing else opens. */
  readonly requiredStep?: RequiredStep
  /** Id of the token's row, where it has one. */
  readonly tokenId?: number
}

export interface Caller {
  readonly identity: Identity | null
  readonly address: string
}

/** A secret as it was shown, before anyone looked it up. */
export interface PresentedCredential {
  readonly as: 'private_token' | 'bearer' | 'job_token' | 'session'
  readonly secret: string
}

/** In the contract's order; an empty value shows nothing. */
export function presentedCredential(
  { headers }: { headers: IncomingHttpHeaders },
  parameters: Record<string, unknown>,
): PresentedCredential | null {
  const parameter = (name: string) => (typeof parameters[name] === 'string' && parameters[name]) || null
  const privateToken = parameter('private_token') ?? headers['private-token']
  if (typeof privateToken === 'string' && privateToken) return { as: 'private_token', secret: privateToken }

  const bearer = parameter('access_token') ?? bearerOf(headers.authorization) ?? parameter('bearer_token')
  if (bearer) return { as: 'bearer', secret: bearer }

  const jobToken = parameter('job_token') ?? headers['job-token']
  if (typeof jobToken === 'string' && jobToken) return { as: 'job_token', secret: jobToken }

  const session = sessionCookie(headers.cookie)
  return session ? { as: 'session', secret: session } : null
}

const bearerOf = (header: string | undefined): string | null => /^bearer +(\S+)\s*$/i.exec(header ?? '')?.[1] ?? null

export const SESSION_COOKIE = '_service_session'

export function sessionCookie(header: string | undefined): string | null {
  if (!header) return null
  for (const part of header.split(';')) {
    const [name, value] = part.trim().split('=', 2)
    if (name === SESSION_COOKIE && value) return value
  }
  return null
}

/** What of an endpoint's declaration says which tokens open it. */
interface Opening {
  readonly method: string
  readonly secret?: boolean
  readonly scopes?: readonly Scope[]
  readonly runners?: unknown
}

/** `api` opens everything, `read_api` every read without secrets; the rest only what an endpoint names. Of runners none is asked. */
export function scopesOf({ method, secret, scopes = [], runners }: Opening): readonly Scope[] {
  if (runners) return SCOPES
  return method === 'GET' && !secret ? ['api', 'read_api', ...scopes] : ['api', ...scopes]
}
