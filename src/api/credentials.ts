/** The credential of a request, and what its caller may access. */
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { App, User } from '../context.ts'

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

/** The user must accept the terms, or set up a second factor. */
export type RequiredStep = 'terms' | 'second_factor'

/** The user behind a credential. `scopes` is null if the credential has all rights of the account. */
export interface Identity {
  readonly kind: CredentialKind
  readonly user: User
  readonly scopes: readonly Scope[] | null
  /** For a session: until the step is done, the session can open nothing else. */
  readonly requiredStep?: RequiredStep
  /** Id of the token's row, if it has one. */
  readonly tokenId?: number
}

export interface Caller {
  readonly identity: Identity | null
  readonly address: string
}

/** A secret as presented, before it is looked up. */
export interface PresentedCredential {
  readonly as: 'private_token' | 'bearer' | 'job_token' | 'session'
  readonly secret: string
}

/** In the order of the contract; an empty value is no credential. */
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

/** A visitor is a user or a caller without a credential, a job a caller with the token of a running CI job. */
export type CallerKind = 'user' | 'visitor' | 'job'

export type By = CallerKind | readonly CallerKind[] | TokenCredential

export const isTokenCredential = (by: By | undefined): by is TokenCredential => typeof by === 'object' && 'params' in by

export const isCallableBy = ({ by = 'user' }: Pick<Opening, 'by'>, kind: CallerKind): boolean =>
  isTokenCredential(by) ? kind === 'visitor' : typeof by === 'string' ? by === kind : by.includes(kind)

/**
 * A token that belongs to no user, such as that of a runner. It stands in the parameter `token`, or else in the header.
 */
export interface TokenCredential<R = unknown, P = never> {
  /** Its name among the security schemes of the OpenAPI document. */
  readonly name: string
  /** Who calls, for the OpenAPI document. */
  readonly callers: string
  readonly header?: string
  /** The parameter `token`, and others that find the record. */
  readonly params: z.ZodObject
  /**
   * Agents call so often that only rejected calls are counted. Credentials of users in the same request are ignored;
   * for other tokens they are checked first.
   */
  readonly isAgent?: boolean
  /** Statuses of the answers to a missing or a wrong token, for the OpenAPI document. */
  readonly refusals: readonly (401 | 403 | 404)[]
  /** The record of the token. Throws the answer to a missing or a wrong token, which is empty if missing. */
  find(app: App, token: string, params: P): Promise<R>
}

export type CredentialRecord<C> = C extends TokenCredential<infer R> ? R : never

export function tokenCredential<R, Params extends z.ZodRawShape>(declared: {
  name: string
  callers: string
  header?: string
  params: Params & { token: z.ZodType }
  isAgent?: boolean
  refusals: readonly (401 | 403 | 404)[]
  find(app: App, token: string, params: z.infer<z.ZodObject<Params>>): Promise<R>
}): TokenCredential<R> {
  return { ...declared, params: z.object(declared.params) }
}

export const isOfAgent = (by: By | undefined): boolean => isTokenCredential(by) && by.isAgent === true

/** The part of an endpoint's declaration that says which tokens may call it. */
interface Opening {
  readonly method: string
  readonly secret?: boolean
  readonly scopes?: readonly Scope[]
  readonly by?: By
}

/**
 * `api` opens every endpoint, `read_api` every read without secrets; other scopes only the endpoints that name them.
 * Endpoints of agents check no scope.
 */
export function scopesOf({ method, secret, scopes = [], by }: Opening): readonly Scope[] {
  if (isOfAgent(by)) return SCOPES
  return method === 'GET' && !secret ? ['api', 'read_api', ...scopes] : ['api', ...scopes]
}
