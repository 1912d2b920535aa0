/**
 * One declaration is the whole endpoint: its route, who may call it, what it takes, what it answers. From it come the
 * routing, the checks in their order (see `run.ts`), the types of the handler and the OpenAPI document. An endpoint
 * without a declared ability does not compile.
 */
import type { z } from 'zod'
import type { App, User } from '../context.ts'
import type { Caller, Scope } from './credentials.ts'
import type { Json } from './json.ts'
import type { Page, PageOf, PageWish } from './pages.ts'

export type Policy<S> = { readonly [ability: string]: (subject: S) => boolean }

/** `policy<Subject>()({ read: …, update: … })`: one line per ability, no I/O. */
export const policy =
  <S>() =>
  <P extends { readonly read: (subject: S) => boolean } & Policy<S>>(abilities: P): P =>
    abilities

/**
 * What an endpoint acts on: found by its path parameters, hidden (404) from whoever may not read it. A finder of a child
 * record throws its own `notFound` for a missing parent.
 */
export interface Resource<S, P extends Policy<S>> {
  /** As in `404 <name> Not Found`; without one, `404 Not found`. */
  readonly name?: string
  readonly params: z.ZodObject
  readonly policy: P & { readonly read: (subject: S) => boolean }
  find(app: App, params: never, viewer: User | null): Promise<S | null | undefined>
}

export function resource<S, P extends Policy<S>, Params extends z.ZodObject>(declared: {
  name?: string
  params: Params
  policy: P & { readonly read: (subject: S) => boolean }
  find(app: App, params: z.infer<Params>, viewer: User | null): Promise<S | null | undefined>
}): Resource<S, P> {
  return declared as Resource<S, P>
}

/** Abilities that need no subject; `administrator` is checked before anything is looked up. */
export type CommonAbility = 'anyone' | 'signed_in' | 'administrator'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An answer that is more than a JSON body with the usual status. */
export class Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Record<string, string>
  constructor(status: number, body?: unknown, headers: Record<string, string> = {}) {
    this.status = status
    this.body = body
    this.headers = headers
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
  readonly page: PageWish
  /** Asked by HEAD, which GET serves too. */
  readonly isHead: boolean
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
  /** The contract answers 401 instead of 403 here. */
  denied?: 'unauthenticated'
  /** The ability is checked before the parameters, not after; or this one is, and `allow` after. */
  abilityFirst?: boolean | (keyof P & string)
  input?: I
  /** Null: no body. */
  output: O
  /** 201 for POST, 204 for DELETE without a body, else 200. */
  status?: number
  /** To HEAD, where it differs. */
  headStatus?: number
  /** When the subject last changed, for If-Unmodified-Since. */
  changedAt?: (subject: S) => string
  /** The largest file part it takes, in bytes. */
  upload?: number
  handle(context: Context<z.infer<I>, S, Viewer<A, G>>): Promise<Answered<O> | Answer>
}

/** A declaration with its types worn off, as the kit handles it. */
export interface Endpoint {
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly on?: Resource<unknown, Policy<unknown>>
  readonly allow: string
  readonly guest?: boolean
  readonly scopes?: readonly Scope[]
  readonly secret?: boolean
  readonly denied?: 'unauthenticated'
  readonly abilityFirst?: boolean | string
  readonly input?: z.ZodObject
  readonly output: Output
  readonly status?: number
  readonly headStatus?: number
  readonly changedAt?: (subject: never) => string
  readonly upload?: number
  handle(context: Context<never, never, never>): Promise<unknown>
}

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
