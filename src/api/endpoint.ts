/**
 * One declaration is the whole endpoint: its route, who may call it, what it takes, what it answers. From it come the
 * routing, the checks in their order (see `run.ts`), the types of the handler and the OpenAPI document. An endpoint
 * without a declared ability does not compile.
 */
import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import type { App, User } from '../context.ts'
import type { Limiters } from '../lib/async/limiter.ts'
import type { Caller, Scope } from './credentials.ts'
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

/** Of what is hidden from nobody. */
export const publicPolicy = policy<unknown>()({ read: () => true })

/** What an endpoint acts on: found by its path parameters, hidden (404) from whoever may not read it. */
export interface Resource<S, P extends Policy<S>> {
  /** As in `404 <name> Not Found`; without one, `404 Not found`. */
  readonly name?: string
  /** What the 404 says where it is neither. */
  readonly missing?: string
  /** Of a child also those of its parents. */
  readonly params: z.ZodObject
  readonly policy: P & { readonly read: (subject: S) => boolean }
  /** The ability is checked before the parameters, not after; or this one is, and `allow` after. Also for its children. */
  readonly abilityFirst?: boolean | (keyof P & string)
  /** Where its endpoints wait for their turn. Also for its children. */
  readonly limiter?: AnswerLimiter
  /** It is kept to be read: changes are refused, but for deletions and what says `whileReadOnly`. Also for its children. */
  isReadOnly?(subject: S): boolean
  /** Those of a child, outermost first. */
  readonly parents?: readonly AnyResource[]
  find(app: App, params: never, viewer: User | null, parent?: never): Promise<S | null | undefined>
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
}): Resource<S, P> {
  return declared as Resource<S, P>
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
 * A record below another: the parent is found first, then what `find` finds in it, which the handler has under `key`.
 * Abilities of the parent are asked before the child is looked for, those of its own policy once it is found.
 */
export function child<
  S,
  P extends Policy<S>,
  K extends string,
  Params extends z.ZodRawShape,
  R = never, // until `find` has been looked at, which is after the policy
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

/** The same child where the endpoint answers for a missing one itself: the record may be null. */
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

/** Abilities that need no subject; `administrator` is checked before anything is looked up. */
export type CommonAbility = 'anyone' | 'signed_in' | 'administrator'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An answer that is more than a JSON body with the usual status. */
export class Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Record<string, string>
  /** Called when all of it has gone out to the caller's connection, or never will. */
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

/** Visitors without a credential reach only endpoints that say so; everywhere else there is a viewer. */
type Viewer<A, G> = A extends 'anyone' ? User | null : G extends true ? User | null : User

export interface Context<I, S, V> {
  readonly app: App
  readonly viewer: V
  readonly caller: Caller
  readonly subject: S
  readonly input: I
  readonly page: PageRequest
  /** Asked by HEAD, which GET serves too. */
  readonly isHead: boolean
  /** What the caller's program says it is. */
  readonly userAgent: string
  readonly request: IncomingMessage
  /** For endpoints that learn by themselves who acts. */
  readonly limiter: RateLimiter
  /** The part of a file that is asked for, as the header says. */
  readonly range: string | undefined
}

export interface Declaration<
  I extends z.ZodObject,
  O extends Output,
  S,
  P extends Policy<S>,
  A extends CommonAbility | (keyof P & string),
  G extends boolean,
> {
  method: Method
  path: `/${string}`
  summary: string
  on?: Resource<S, P>
  allow: A
  /** Usable without a credential where the subject is public. */
  guest?: G
  /** Token scopes that open this endpoint besides `api` (and `read_api` for reads). */
  scopes?: readonly Scope[]
  /** The answer holds secrets: reading scopes do not open it, only `api`. */
  secret?: boolean
  /** The token of a running job opens it, too. */
  jobToken?: boolean
  /** For runners, whose tokens it looks up itself; `stream`: it reads the body itself as well. */
  runners?: 'fields' | 'stream'
  /** Also for a session that opens nothing else until a second factor is set up. */
  duringRequiredStep?: boolean
  /** Also where what it acts on is kept to be read. */
  whileReadOnly?: boolean
  /** The contract answers 401 instead of 403 here. */
  denied?: 'unauthenticated'
  /** What is said to those who are no administrators, where the contract has words of its own. */
  deniedWith?: string
  /** Where it differs from its resource. */
  abilityFirst?: boolean
  input?: I
  /** Documented parameters of things that do not exist here: 400, where passing them over would answer too much. */
  refuses?: readonly string[]
  /** Null: no body. */
  output: O
  /** 201 for POST, 204 for DELETE without a body, else 200. */
  status?: number
  /** To HEAD, where it differs. */
  headStatus?: number
  /** When the subject last changed, for If-Unmodified-Since. */
  changedAt?: (subject: S) => string
  /** For the log of administration: what there was before a change. */
  before?: (app: App) => Promise<object>
  /** The largest file part it takes, in bytes. */
  upload?: number
  /** Bytes of all its fields together, where that is more than usual. */
  body?: number
  /** Where it differs from its resource. */
  limiter?: AnswerLimiter
  /** Much work, or for some input: visitors without a credential may ask for a few in a while. */
  costly?: boolean | ((input: z.infer<I>) => boolean)
  /** The setting that says how often one person may ask for it. Endpoints that create the same thing count together. */
  throttle?: EndpointLimit
  /** Where it is counted by what is acted on, too. */
  throttleScope?: (subject: S) => string
  handle(context: Context<z.infer<I>, S, Viewer<A, G>>): Promise<Answered<O> | Answer>
}

/** A declaration with its types worn off, as the kit handles it. */
export interface Endpoint {
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly on?: AnyResource
  readonly allow: string
  readonly guest?: boolean
  readonly scopes?: readonly Scope[]
  readonly secret?: boolean
  readonly jobToken?: boolean
  readonly runners?: 'fields' | 'stream'
  readonly duringRequiredStep?: boolean
  readonly whileReadOnly?: boolean
  readonly denied?: 'unauthenticated'
  readonly deniedWith?: string
  readonly abilityFirst?: boolean
  readonly input?: z.ZodObject
  readonly refuses?: readonly string[]
  readonly output: Output
  readonly status?: number
  readonly headStatus?: number
  readonly changedAt?: (subject: never) => string
  readonly before?: (app: App) => Promise<object>
  readonly upload?: number
  readonly body?: number
  readonly limiter?: AnswerLimiter
  readonly costly?: boolean | ((input: never) => boolean)
  readonly throttle?: EndpointLimit
  readonly throttleScope?: (subject: never) => string
  handle(context: Context<never, never, never>): Promise<unknown>
}

/** For administrators, which is settled before anything else is looked at. */
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
  G extends boolean = false,
>(declaration: Declaration<I, O, S, P, A, G>): Endpoint {
  return declaration as unknown as Endpoint
}
