/** Routes of the API, built from the declarations: finds the endpoint, or answers 404 or 405. */
import type { IncomingMessage, RequestListener } from 'node:http'
import type { z } from 'zod'
import FindMyWay, { type HTTPMethod } from 'find-my-way'
import { Refusal, badParameter, notFound } from '../errors.ts'
import { andThen, attempt, type MaybePromise } from '../lib/async/maybe-promise.ts'
import { isOrphan } from '../store/dialect.ts'
import { UNKNOWN_ROUTE, answerTo, send } from './answers.ts'
import type { Endpoint } from './endpoint.ts'
import { Exchange } from './exchange.ts'
import { run, type Gateway } from './run.ts'

export const API = '/api/v4'

const METHODS: HTTPMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const EXPOSED =
  'Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, X-Request-Id, RateLimit-Limit, RateLimit-Observed, RateLimit-Remaining, RateLimit-Reset'
const ALLOWED_HEADERS =
  'Authorization, Content-Type, PRIVATE-TOKEN, JOB-TOKEN, SUDO, X-CSRF-Token, If-None-Match, If-Unmodified-Since'

/** Reported for every answer. */
export interface RequestNote {
  readonly request: IncomingMessage
  readonly id: string
  readonly route: string
  readonly status: number
  readonly ms: number
  readonly address: string
  readonly user: string | null
  readonly sudo?: string | null
}

const routers = new WeakMap<readonly Endpoint[], Router>()

/**
 * The same declarations give the same routes, so they are shared by all forges of a process. The routes of a method are
 * built on first use: building all of them takes longer than the rest of a start.
 */
export function routerOf(endpoints: readonly Endpoint[]): Router {
  const known = routers.get(endpoints)
  if (known) return known
  const built = new Map<HTTPMethod, Routes>()
  const routesOf = (method: HTTPMethod): Routes => {
    const known = built.get(method)
    if (known) return known
    const routes = buildRoutes(endpoints.filter((endpoint) => endpoint.method === method))
    built.set(method, routes)
    return routes
  }
  const router: Router = { find: (method, url) => routesOf(method).find(method, url) }
  routers.set(endpoints, router)
  return router
}

function buildRoutes(endpoints: readonly Endpoint[]): Routes {
  const routes = FindMyWay({
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: true,
    maxParamLength: 2000,
    querystringParser: () => ({}),
    onBadUrl: () => {}, // then no endpoint is found
  })
  for (const endpoint of endpoints) {
    // A declared `(\\d+)` matches the whole segment: `/users/john` is another path, not a bad id.
    const path = API + endpoint.path.replace(/\(([^)]+)\)/g, '(^$1$)')
    routes.on(endpoint.method, path, () => {}, { endpoint, route: API + endpoint.path })
  }
  return routes
}

export function apiListener(
  gateway: Gateway,
  endpoints: readonly Endpoint[],
  addressOf: (request: IncomingMessage) => string,
  note: (answered: RequestNote) => void,
): RequestListener {
  const router = routerOf(endpoints)
  const find = rememberingFind(router)

  const serve = (exchange: Exchange): MaybePromise<void> => {
    const { request, headers } = exchange
    if (request.headers.origin) allowOrigin(gateway.app.url, exchange)
    const method = (request.method === 'HEAD' ? 'GET' : request.method) as HTTPMethod
    const found = find(method, request.url!)
    if (!found) {
      const served = METHODS.filter((other) => isPathOf(router.find(other, request.url!)))
      if (served.length === 0) return send(exchange, { status: 404, body: UNKNOWN_ROUTE })
      headers.Allow = [...served, ...(served.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
      if (request.method === 'OPTIONS') return preflight(exchange)
      return send(exchange, { status: 405, body: { error: '405 Not Allowed' } })
    }
    if (!found.store) throw badParameter('400 Bad Request')
    const { endpoint, route } = found.store as { endpoint: Endpoint; route: string }
    exchange.route = route
    return run(gateway, endpoint, exchange, found.params)
  }

  return (request, response) => {
    const exchange = new Exchange(request, response, addressOf(request))
    exchange.onLoss = (error) =>
      gateway.app.log.error({ err: error, part: 'http', reqId: exchange.id, route: exchange.route }, 'answer cut short')
    const tell = () => {
      const { id, route, took: ms, address, user, sudo } = exchange
      note({ request, id, route, status: response.statusCode, ms, address, user, sudo })
    }
    const answering = attempt(() => andThen(serve(exchange), tell))
    if (!(answering instanceof Promise)) return
    answering
      .catch((error: unknown) => {
        refuse(gateway, exchange, error)
        tell()
      })
      // A request that cannot even be answered with an error must not end the process.
      .catch((error: unknown) => {
        gateway.app.log.error({ err: error, part: 'http', reqId: exchange.id }, 'request lost')
        response.destroy()
      })
  }
}

/**
 * Whether a route exists at this path: if a word stands where an id must be, no method has a route. Clients that probe
 * for a newer path must not get 405, which means that only the method is wrong.
 */
function isPathOf(found: ReturnType<Router['find']>): boolean {
  if (!found) return false
  const { on, input } = (found.store as { endpoint: Endpoint }).endpoint
  const shape: Record<string, z.ZodType> = { ...input?.shape, ...on?.params.shape }
  return Object.entries(found.params).every(([name, value]) => shape[name]?.safeParse(value).success ?? true)
}

type Routes = FindMyWay.Instance<FindMyWay.HTTPVersion.V1>
type Router = Pick<Routes, 'find'>

const PATHS_REMEMBERED = 1000
const LONGEST_REMEMBERED = 100

/** Caches lookups of paths that are read often, without their query. */
function rememberingFind(router: Router): (...args: [HTTPMethod, string]) => ReturnType<Router['find']> {
  const known = new Map<string, ReturnType<Router['find']>>()
  return (method, url) => {
    const end = url.indexOf('?')
    const path = end < 0 ? url : url.slice(0, end)
    if (method !== 'GET' || path.length > LONGEST_REMEMBERED) return router.find(method, url)
    let found = known.get(path)
    if (found === undefined) {
      if (known.size >= PATHS_REMEMBERED) known.clear()
      known.set(path, (found = router.find(method, path)))
    }
    return found
  }
}

function refuse({ app }: Gateway, exchange: Exchange, failure: unknown): void {
  // The subject of a request may be deleted while the request runs; then the answer is 404, as for a later request.
  const error = isOrphan(failure) ? notFound() : failure
  const details = { err: failure, part: 'http', reqId: exchange.id }
  if (error !== failure) app.log.warn(details, 'a row to hang on was gone')
  else if (!(error instanceof Refusal)) app.log.error(details, 'request failed')
  // A partly sent answer cannot be replaced; closing the connection shows that it is incomplete.
  if (exchange.response.headersSent) return void exchange.response.destroy()
  send(exchange, answerTo(error))
}

/** Our own pages may send their cookie; pages of other origins only requests without it. */
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
  send(exchange, { status: 204, body: undefined })
}
