/** Calls endpoints without a socket: our own pages are clients of the API like any other, but in the same process. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { HTTPMethod } from 'find-my-way'
import { Refusal } from '../errors.ts'
import type { PageReads } from '../lib/async/page-reads.ts'
import { answerTo, UNKNOWN_ROUTE, type Answered } from './answers.ts'
import type { App } from '../context.ts'
import type { Caller } from './credentials.ts'
import type { Endpoint } from './endpoint.ts'
import { readQuery, type Raw } from './input.ts'
import { Json } from './json.ts'
import { API, routerOf } from './router.ts'
import { assertNotReadOnly } from './read-only.ts'
import { answer, assertMayEnter, type Gateway } from './run.ts'

export interface InProcessAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** The caller that a page is rendered for. */
export interface Visitor {
  readonly caller: Caller
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** What the calls of the page have read so far; nothing after a change. */
  readonly pageReads: PageReads
}

/** `path` is relative to `/api/v4` and may have a query. */
export type Ask = (visitor: Visitor, method: string, path: string, fields: Raw) => Promise<InProcessAnswer>

export function inProcess(gateway: Gateway, endpoints: readonly Endpoint[]): Ask {
  const router = routerOf(endpoints)
  return async (visitor, method, path, fields) => {
    const { caller, request, response } = visitor
    const url = API + path
    const found = router.find(method as HTTPMethod, url)
    if (!found?.store) return { status: 404, headers: {}, body: UNKNOWN_ROUTE }
    const { endpoint } = found.store as { endpoint: Endpoint }
    try {
      assertNotReadOnly(gateway.app, endpoint)
      assertMayEnter(endpoint, caller)
      const raw = { ...readQuery(url), ...fields, ...found.params }
      const viewer = caller.identity?.user ?? null
      const call = { request, response, url, method, door: 'web' } as const
      const app = isRead(endpoint) ? readingFor(gateway.app, visitor) : gateway.app
      return await plain(await answer({ ...gateway, app }, endpoint, call, caller, viewer, raw))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return plain(answerTo(error))
    } finally {
      if (!isRead(endpoint)) visitor.pageReads.clear()
    }
  }
}

const isRead = ({ method, readsOnly }: Endpoint) => method === 'GET' || readsOnly === true

/** The app for reads of one page. */
export const readingFor = (app: App, { pageReads }: Pick<Visitor, 'pageReads'>): App => ({ ...app, pageReads })

/** The maximum size of a streamed answer in bytes; larger answers are for other clients. */
const LONGEST = 16 * 1024 * 1024

async function plain({ status, body, headers = {} }: Answered): Promise<InProcessAnswer> {
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return { status, headers: named, body: await valueOf(body, named['content-type']?.startsWith('application/json')) }
}

/** The value of a JSON answer, or the bytes of any other. */
async function valueOf(body: unknown, isJson = false): Promise<unknown> {
  if (body instanceof Json) return body.value as unknown
  const bytes = body instanceof Readable ? await collect(body) : body
  return isJson && bytes instanceof Uint8Array ? (JSON.parse(Buffer.from(bytes).toString()) as unknown) : bytes
}

async function collect(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += (chunk as Buffer).length
    if (size > LONGEST) throw new Refusal('too_large')
    chunks.push(Buffer.from(chunk as Buffer))
  }
  return Buffer.concat(chunks)
}
