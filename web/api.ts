/**
 * The API for pages: the same calls run in process when a page is rendered on the server, and over HTTP in a browser.
 */
import type { AbilityKind, AbilityParams, Can } from './abilities.ts'
import type { calls, schemas } from './schema.ts'
import * as t from './texts/common.ts'

export type Records = schemas
type Verb = keyof calls
type Params<V extends Verb, P extends keyof calls[V]> = calls[V][P] extends { params: infer T } ? T : never
type Answer<V extends Verb, P extends keyof calls[V]> = calls[V][P] extends { answer: infer T } ? T : never

/** A page of a long list, and links to the others. */
export interface Listed<T> {
  readonly items: T
  readonly page: number
  readonly next: number | null
  readonly previous: number | null
  /** Null if the rows were not counted. */
  readonly total: number | null
  readonly pages: number | null
}

/** The answer of a call: in process the value itself, over HTTP the parsed body. */
export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Sends one call; `fields` go into the query of a read and into the body otherwise. */
export type Send = (method: string, path: string, fields: Record<string, unknown>) => Promise<Answered>

/** Answers what the viewer may do with a record. */
export type AskAbilities = <K extends AbilityKind>(kind: K, params: AbilityParams<K>) => Promise<Can<K>>

export class Refused extends Error {
  readonly status: number
  readonly body: unknown
  readonly headers: Answered['headers']
  constructor({ status, body, headers }: Answered) {
    super(messageOf(body) ?? t.theServerRespondedWithStatus(status))
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** Keys of errors that belong to no single field. */
const OF_THE_WHOLE = new Set(['base', 'error'])

/** The message of an error answer, in the shapes of the contract. */
function messageOf(body: unknown): string | null {
  if (typeof body === 'string') return body
  if (typeof body !== 'object' || body === null) return null
  const { message, error } = body as { message?: unknown; error?: unknown }
  const details = message ?? error
  if (typeof details === 'string') return details.replace(/^\d{3} /, '')
  if (Array.isArray(details)) return details.join(', ')
  if (typeof details === 'object' && details !== null)
    return Object.entries(details)
      .map(
        ([field, faults]) =>
          `${OF_THE_WHOLE.has(field) ? '' : `${field.replaceAll('_', ' ')} `}${[faults].flat().join(', ')}`,
      )
      .join('; ')
  return null
}

/**
 * A page makes several calls at once and may stop at the first rejected one. Nothing awaits the others then, and an
 * unhandled rejection must not end the process.
 */
function withoutUnhandled<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => {})
  return answer
}

export class Api {
  readonly #send: Send
  readonly #ask: AskAbilities
  constructor(send: Send, ask: AskAbilities) {
    this.#send = send
    this.#ask = ask
  }

  /** The record, with what the viewer may do with it. */
  withAbilities<K extends AbilityKind, R extends object>(
    kind: K,
    params: AbilityParams<K>,
    record: Promise<R>,
  ): Promise<R & { can: Can<K> }> {
    return withoutUnhandled(Promise.all([record, this.#ask(kind, params)]).then(([found, can]) => ({ ...found, can })))
  }

  get<P extends keyof calls['get']>(path: P, params: Params<'get', P>): Promise<Answer<'get', P>> {
    return withoutUnhandled(this.#call('GET', path, params).then(({ body }) => body as Answer<'get', P>))
  }

  /** Null if there is nothing, or the viewer may not see it. */
  maybe<P extends keyof calls['get']>(path: P, params: Params<'get', P>): Promise<Answer<'get', P> | null> {
    const found = this.get(path, params).catch((error: unknown) => {
      if (error instanceof Refused && error.status < 500) return null
      throw error
    })
    return withoutUnhandled(found)
  }

  list<P extends keyof calls['get']>(path: P, params: Params<'get', P>): Promise<Listed<Answer<'get', P>>> {
    return withoutUnhandled(this.#list(path, params))
  }

  async #list<P extends keyof calls['get']>(path: P, params: Params<'get', P>): Promise<Listed<Answer<'get', P>>> {
    const { body, headers } = await this.#call('GET', path, params)
    const number = (name: string) => (headers[name] ? Number(headers[name]) : null)
    return {
      items: body as Answer<'get', P>,
      page: number('x-page') ?? 1,
      next: number('x-next-page'),
      previous: number('x-prev-page'),
      total: number('x-total'),
      pages: number('x-total-pages'),
    }
  }

  async post<P extends keyof calls['post']>(path: P, params: Params<'post', P>): Promise<Answer<'post', P>> {
    return (await this.#call('POST', path, params)).body as Answer<'post', P>
  }

  async put<P extends keyof calls['put']>(path: P, params: Params<'put', P>): Promise<Answer<'put', P>> {
    return (await this.#call('PUT', path, params)).body as Answer<'put', P>
  }

  async delete<P extends keyof calls['delete']>(path: P, params: Params<'delete', P>): Promise<void> {
    await this.#call('DELETE', path, params)
  }

  async #call(method: string, path: string, params: unknown): Promise<Answered> {
    const fields: Record<string, unknown> = { ...(params as object) }
    const address = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = encodeURIComponent(String(fields[name]))
      delete fields[name]
      return value
    })
    for (const name in fields) if (fields[name] === undefined) delete fields[name]
    const answered = await this.#send(method, address, fields)
    if (answered.status >= 400) throw new Refused(answered)
    return answered
  }
}
