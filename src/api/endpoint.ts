/**
 * One declaration is the whole endpoint: its route, who may call it, its input and its output. From it derive the
 * routing, the checks in their order (see `run.ts`), the types of the handler and the OpenAPI document. An endpoint
 * without a declared ability does not compile.
 */
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { App, User } from '../context.ts'
import type { Limiters } from '../lib/async/limiter.ts'
import {
  isTokenCredential,
  type By,
  type Caller,
  type CredentialRecord,
  type Scope,
  type TokenCredential,
} from './credentials.ts'
import type { Json } from './json.ts'
import type { EndpointLimit, RateLimiter } from './limits.ts'
import type { Page, PageOf, PageRequest } from './pages.ts'

export type AnswerLimiter = Exclude<keyof Limiters, 'transport'>

export type Policy<S> = { readonly [ability: string]: (subject: S) => boolean }

/** `policy<Subject>()({ read: …, update: … })`: one line per ability, no I/O. */
export const policy =
  <S>() =>
  <P extends { readonly read: (subject: S) => boolean } & Policy<S>>(abilities: P): P =>
    abilities

/** For resources that everybody may read. */
export const publicPolicy = policy<unknown>()({ read: () => true })

/** What an endpoint acts on: found by its path parameters, and answered with 404 to callers who may not read it. */
export interface Resource<S, P extends Policy<S>, Params = never> {
  /** As in `404 <name> Not Found`; without one, `404 Not found`. */
  readonly name?: string
  /** The text of the 404 if it is neither of these. */
  readonly missing?: string
  /** For a child, this includes the parameters of its parents. */
  readonly params: z.ZodObject
  readonly policy: P & { readonly read: (subject: S) => boolean }
  /**
   * The ability is checked before the parameters, not after. With a name: that ability is checked first, and `allow`
   * after. Applies to children too.
   */
  readonly abilityFirst?: boolean | (keyof P & string)
  /** The limiter of its endpoints. Applies to children too. */
  readonly limiter?: AnswerLimiter
  /**
   * Read-only, such as an archived project: changes are rejected, except deletions and endpoints with `whileReadOnly`.
   * Applies to children too.
   */
  isReadOnly?(subject: S): boolean
  /** The parents of a child, outermost first. */
  readonly parents?: readonly AnyResource[]
  find(app: App, params: Params, viewer: User | null, parent?: never): Promise<S | null | undefined>
}

export type AnyResource = Resource<unknown, Policy<unknown>>

export function resource<S, P extends Policy<S>, Params extends z.ZodObject>(declared: {
  name?: string
  params: Params
  policy: P & { readonly read: (subject: S) => boolean }
  abilityFirst?: boolean | (keyof P & string)
  limiter?: AnswerLimiter
  isReadOnly?(subject: NoInfer<S>): boolean
  find(app: App, params: z.infer<Params>, viewer: User | null): Promise<S | null | undefined>
}): Resource<S, P, z.infer<Params>> {
  return declared
}

export interface Child<S, P extends Policy<S>, K extends keyof S> extends Resource<S, P> {
  readonly key: K
}

type Abilities<A extends string, S> = { readonly [ability in A]: (subject: S) => boolean }
type Override<P, A extends string, S> = {
  readonly [ability in keyof P | A]: ability extends A ? (subject: S) => boolean : P[ability & keyof P]
}
type With<S, K extends string, R> = S & { readonly [key in K]: R }

/**
 * A record below another. The parent is found first, then `find` looks for the record in it; the handler gets it under
 * `key`. Abilities of the parent are checked before the child is looked up, abilities of its own policy after.
 */
export function child<
  S,
  P extends Policy<S>,
  K extends string,
  Params extends z.ZodRawShape,
  R = never, // inferred from `find`, after the policy
  A extends string = never,
>(
  parent: Resource<S, P>,
  declared: {
    name?: string
    missing?: string
    key: K
    params: Params
    policy?: Abilities<A | 'read', NoInfer<With<S, K, R>>>
    find(app: App, parent: S, params: z.infer<z.ZodObject<Params>>): Promise<R | null | undefined>
  },
): Child<With<S, K, R>, Override<P, A, With<S, K, R>>, K> {
  const { key, params, policy, find, ...named } = declared
  return {
    ...named,
    key,
    params: parent.params.extend(params),
    policy: { ...parent.policy, ...policy },
    abilityFirst: parent.abilityFirst,
    limiter: parent.limiter,
    isReadOnly: parent.isReadOnly,
    parents: [...(parent.parents ?? []), parent],
    async find(app: App, given: z.infer<z.ZodObject<Params>>, _viewer: User | null, above: S) {
      const record = await find(app, above, given)
      return record === null || record === undefined ? null : { ...above, [key]: record }
    },
  } as unknown as Child<With<S, K, R>, Override<P, A, With<S, K, R>>, K>
}

/** The same child, but the endpoint handles a missing record itself: the record may be null. */
export function optional<S, P extends Policy<Optional<S, K>>, K extends keyof S>(
  of: Child<S, P, K>,
): Resource<Optional<S, K>, P> {
  return {
    ...of,
    async find(app: App, params: never, viewer: User | null, parent: never) {
      return (await of.find(app, params, viewer, parent)) ?? { ...(parent as object), [of.key]: null }
    },
  } as unknown as Resource<Optional<S, K>, P>
}

type Optional<S, K extends keyof S> = Omit<S, K> & { readonly [key in K]: S[K] | null }

/** Abilities that need no subject; `administrator` is checked before any lookup. */
export type CommonAbility = 'anyone' | 'signed_in' | 'administrator'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An answer with more than a JSON body and the default status. */
export class Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Record<string, string>
  /** Called when the whole answer was sent to the caller's connection, or never will be. */
  readonly onEnd: ((isSent: boolean) => void) | undefined
  constructor(status: number, body?: unknown, headers: Record<string, string> = {}, onEnd?: (isSent: boolean) => void) {
    this.status = status
    this.body = body
    this.headers = headers
    this.onEnd = onEnd
  }
}

export type Output = z.ZodType | PageOf | null

type Answered<O> =
  O extends PageOf<infer T>
    ? Page<z.infer<T>> | Page<Json<z.infer<T>>>
    : O extends z.ZodType
      ? z.infer<O> | Json<z.infer<O>>
      : void

/** Visitors without a credential can call only endpoints that declare it; all others have a viewer. */
type Viewer<B> = B extends TokenCredential
  ? User | null
  : 'visitor' extends (B extends readonly (infer K)[] ? K : B)
    ? User | null
    : User

export interface Context<I, S, V, C = unknown> {
  readonly app: App
  readonly viewer: V
  readonly caller: Caller
  /** The record of the token, if `by` declares a token. */
  readonly credential: C
  readonly subject: S
  readonly input: I
  readonly page: PageRequest
  /** A HEAD request, which GET endpoints serve too. */
  readonly isHead: boolean
  /** The User-Agent header. */
  readonly userAgent: string
  readonly request: IncomingMessage
  /** For endpoints that find out the acting user themselves. */
  readonly limiter: RateLimiter
  /** The Range header. */
  readonly range: string | undefined
}

export interface Declaration<
  I extends z.ZodObject,
  O extends Output,
  S,
  P extends Policy<S>,
  A extends CommonAbility | (keyof P & string),
  B extends By,
> {
  method: Method
  path: `/${string}`
  summary: string
  on?: Resource<S, P>
  /** Users with any of their credentials, if nothing else is declared. */
  by?: B
  allow: A
  /** Token scopes that may call this endpoint besides `api` (and `read_api` for reads). */
  scopes?: readonly Scope[]
  /** The answer contains secrets: read scopes may not call it, only `api`. */
  secret?: boolean
  /** The endpoint reads the body itself; its input is in the path and the query. */
  readsBody?: boolean
  /** Also callable by a session that must first set up a second factor. */
  duringRequiredStep?: boolean
  /** Not callable by administrators who act as another user (`sudo`). */
  inPerson?: boolean
  /** Also callable if the subject is read-only. */
  whileReadOnly?: boolean
  /** Not a GET, but only computes or signs in: also callable while the whole instance is read-only. */
  readsOnly?: boolean
  /** The contract answers 401 instead of 403 here. */
  denied?: 'unauthenticated'
  /** The text for callers without the ability, if the contract has its own. */
  deniedWith?: string | ((subject: S) => string)
  /**
   * Rights that a service asks for besides `allow`, because they depend on the input or on records that change
   * meanwhile. For readers of the declaration and of the OpenAPI document.
   */
  alsoAsks?: readonly string[]
  /** If it differs from the resource. */
  abilityFirst?: boolean
  input?: I
  /**
   * Documented parameters of features that do not exist here. They are answered with 400, because ignoring them would
   * return too much.
   */
  refuses?: readonly string[]
  /** Null: no body. */
  output: O
  /** The default is 201 for POST, 204 for DELETE without a body, else 200. */
  status?: number
  /** The status for HEAD, if it differs. */
  headStatus?: number
  /** When the subject last changed, for If-Unmodified-Since. */
  changedAt?: (subject: S) => string
  /** The audit log has every such call, not only those of administrators. */
  audited?: true
  /** For the audit log: the values before a change. */
  before?: (app: App) => Promise<object>
  /** The maximum size of a file part, in bytes. */
  upload?: number
  /** The maximum size of all fields together in bytes. Callers without an account never get more than the default. */
  body?: number
  /** If it differs from the resource. */
  limiter?: AnswerLimiter
  /** An expensive endpoint, always or for some input: visitors without a credential have a low rate limit. */
  costly?: boolean | ((input: z.infer<I>) => boolean)
  /** The setting with the rate limit per user. Endpoints that create the same kind of record are counted together. */
  throttle?: EndpointLimit
  /** Set if requests are also counted per subject. */
  throttleScope?: (subject: S) => string
  handle(context: Context<z.infer<I>, S, Viewer<B>, CredentialRecord<B>>): Promise<Answered<O> | Answer>
}

/** A declaration without its type parameters, as the API kit handles it. */
export interface Endpoint {
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly on?: AnyResource
  readonly by?: By
  readonly allow: string
  readonly scopes?: readonly Scope[]
  readonly secret?: boolean
  readonly readsBody?: boolean
  readonly duringRequiredStep?: boolean
  readonly inPerson?: boolean
  readonly whileReadOnly?: boolean
  readonly readsOnly?: boolean
  readonly denied?: 'unauthenticated'
  readonly deniedWith?: string | ((subject: never) => string)
  readonly alsoAsks?: readonly string[]
  readonly abilityFirst?: boolean
  readonly input?: z.ZodObject
  readonly refuses?: readonly string[]
  readonly output: Output
  readonly status?: number
  readonly headStatus?: number
  readonly changedAt?: (subject: never) => string
  readonly audited?: true
  readonly before?: (app: App) => Promise<object>
  readonly upload?: number
  readonly body?: number
  readonly limiter?: AnswerLimiter
  readonly costly?: boolean | ((input: never) => boolean)
  readonly throttle?: EndpointLimit
  readonly throttleScope?: (subject: never) => string
  handle(context: Context<never, never, never>): Promise<unknown>
}

/** For administrators, checked before everything else. */
export const administratorsFirst = { allow: 'administrator', abilityFirst: true } as const

// oxlint-disable-next-line no-empty-object-type
type Nothing = z.ZodObject<{}>

export function endpoint<
  O extends Output,
  A extends CommonAbility | (keyof P & string),
  I extends z.ZodObject = Nothing,
  S = undefined,
  // oxlint-disable-next-line no-empty-object-type
  P extends Policy<S> = {},
  const B extends By = 'user',
>(declaration: Declaration<I, O, S, P, A, B>): Endpoint {
  const declared = declaration as unknown as Endpoint
  return isTokenCredential(declared.by) ? { ...declared, input: withParams(declared.by, declared.input) } : declared
}

/** The handler's input does not have the token. */
function withParams({ params }: TokenCredential, input: z.ZodObject = z.object({})): z.ZodObject {
  const merged = z.object({ ...params.shape, ...input.shape })
  return input.def.catchall ? merged.catchall(input.def.catchall) : merged
}
