/** Routes of the API, from the declarations: finds the endpoint, or says what the path knows instead. */
import type { IncomingMessage, RequestListener } from 'node:http'
import FindMyWay, { type HTTPMethod } from 'find-my-way'
import { Refusal, badParameter } from '../errors.ts'
import { UNKNOWN_ROUTE, answerTo, send } from './answers.ts'
import type { Endpoint } from './endpoint.ts'
import { Exchange } from './exchange.ts'
import { run, type Door } from './run.ts'

export const API = '/api/v4'

const METHODS: HTTPMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const EXPOSED =
  'Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, X-Request-Id, RateLimit-Limit, RateLimit-Observed, RateLimit-Remaining, RateLimit-Reset'
const ALLOWED_HEADERS =
  'Authorization, Content-Type, PRIVATE-TOKEN, JOB-TOKEN, SUDO, X-CSRF-Token, If-None-Match, If-Unmodified-Since'

/** Told of every answer. */
type Note = (request: IncomingMessage, id: string, route: string, status: number, ms: number, address: string) => void

export function apiListener(
  door: Door,
  endpoints: readonly Endpoint[],
  addressOf: (request: IncomingMessage) => string,
  note: Note,
): RequestListener {
  const router = FindMyWay({
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: true,
    maxParamLength: 2000,
    querystringParser: () => ({}),
    onBadUrl: () => {}, // then what is found has no endpoint
  })
  for (const endpoint of endpoints) {
    // A declared `(\\d+)` binds the whole segment: `/users/john` is another path, not a bad id.
    const path = API + endpoint.path.replace(/\(([^)]+)\)/g, '(^$1$)')
    router.on(endpoint.method, path, () => {}, { endpoint, route: API + endpoint.path })
  }

  const serve = async (exchange: Exchange): Promise<void> => {
    const { request, headers } = exchange
    if (request.headers.origin) allowOrigin(door.app.url, exchange)
    const method = (request.method === 'HEAD' ? 'GET' : request.method) as HTTPMethod
    const found = router.find(method, request.url!)
    if (!found) {
      const served = METHODS.filter((other) => router.find(other, request.url!))
      if (served.length === 0) return send(exchange, 404, UNKNOWN_ROUTE)
      headers.Allow = [...served, ...(served.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
      return request.method === 'OPTIONS' ? preflight(exchange) : send(exchange, 405, { error: '405 Not Allowed' })
    }
    if (!found.store) throw badParameter('400 Bad Request')
    const { endpoint, route } = found.store as { endpoint: Endpoint; route: string }
    exchange.route = route
    await run(door, endpoint, exchange, found.params)
  }

  return (request, response) => {
    const exchange = new Exchange(request, response, addressOf(request))
    serve(exchange)
      .catch((error: unknown) => refuse(door, exchange, error))
      .finally(() =>
        note(request, exchange.id, exchange.route, response.statusCode, exchange.elapsed, exchange.address),
      )
      // One request that cannot even be refused must not end the process for all.
      .catch((error: unknown) => {
        door.app.log.error({ err: error, part: 'http', reqId: exchange.id }, 'request lost')
        response.destroy()
      })
  }
}

function refuse({ app }: Door, exchange: Exchange, error: unknown): void {
  if (!(error instanceof Refusal)) app.log.error({ err: error, part: 'http', reqId: exchange.id }, 'request failed')
  // Half an answer cannot be taken back; a cut connection at least shows that it is half.
  if (exchange.response.headersSent) return void exchange.response.destroy()
  const { status, body, headers } = answerTo(error)
  Object.assign(exchange.headers, headers)
  send(exchange, status, body)
}

/** Our own pages may bring their cookie; everybody else's may come without. */
function allowOrigin(own: string, { request, headers }: Exchange): void {
  const { origin } = request.headers
  if (origin === new URL(own).origin) headers['Access-Control-Allow-Credentials'] = 'true'
  headers['Access-Control-Allow-Origin'] = origin === new URL(own).origin ? origin : '*'
  headers['Access-Control-Expose-Headers'] = EXPOSED
}

function preflight(exchange: Exchange): void {
  Object.assign(exchange.headers, {
    'Access-Control-Allow-Methods': exchange.headers.Allow,
    'Access-Control-Allow-Headers': ALLOWED_HEADERS,
    'Access-Control-Max-Age': '7200',
  })
  send(exchange, 204, undefined)
}
