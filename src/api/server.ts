/** The HTTP server: routes from declarations, one line of log and one measurement a request, clean refusals of the rest. */
import { randomUUID } from 'node:crypto'
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type HTTPMethods,
} from 'fastify'
import { Refusal } from '../errors.ts'
import { requestLog } from '../log.ts'
import { UNKNOWN_ROUTE, send, sendError } from './answers.ts'
import type { Endpoint } from './endpoint.ts'
import type { Metrics } from './metrics.ts'
import { run, type Door } from './run.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The declared path of the endpoint, for the log and the metrics. */
    route: string | null
  }
}

export const API = '/api/v4'

const METHODS: HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const HEADERS_EXPOSED =
  'Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, X-Request-Id, RateLimit-Limit, RateLimit-Observed, RateLimit-Remaining, RateLimit-Reset'

export function createServer(door: Door, endpoints: readonly Endpoint[], metrics: Metrics): FastifyInstance {
  const { app } = door
  const log = app.log.child({ part: 'http' })
  const logRequest = requestLog(log)
  const server = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // Lines name their request themselves; a logger for each would cost more than the line.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    trustProxy: app.config.trustedProxies.length > 0 ? [...app.config.trustedProxies] : false,
    requestTimeout: 300_000,
    connectionTimeout: 60_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: 2000,
      // The query is read where a malformed one can be refused.
      querystringParser: () => ({}),
    },
    frameworkErrors: (_error, request, reply) => void sendError(request, reply, malformed()),
    clientErrorHandler(_error, socket) {
      if (socket.destroyed) return
      const body = JSON.stringify({ message: '400 Bad Request', error: '400 Bad Request' })
      socket.end(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      )
    },
  })

  // Bodies are read by `input.ts`, after the credential.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _payload, done) => done(null))

  server.decorateRequest('route', null)
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id)
    reply.header('X-Frame-Options', 'SAMEORIGIN')
    reply.header('X-Content-Type-Options', 'nosniff')
    reply.header('Vary', 'Origin')
    if (request.raw.url!.startsWith('/api/')) allowOrigin(app.url, request, reply)
    done()
  })
  server.addHook('onResponse', (request, reply, done) => {
    const { method, id: reqId, ip } = request
    const { statusCode: status, elapsedTime } = reply
    const route = request.route ?? request.routeOptions.url ?? 'unknown'
    metrics.request(method, route, status, elapsedTime / 1000)
    logRequest({ reqId, method, route, status, ms: elapsedTime, ip })
    done()
  })
  server.setErrorHandler((error, request, reply) => void sendError(request, reply, asRefusal(error)))
  server.setNotFoundHandler((request, reply) => void send(request, reply, 404, UNKNOWN_ROUTE))

  addEndpoints(server, door, endpoints)
  return server
}

function addEndpoints(server: FastifyInstance, door: Door, endpoints: readonly Endpoint[]): void {
  const served = new Map<string, Set<string>>()
  for (const endpoint of endpoints) {
    const url = routeOf(endpoint)
    const shape = url.replace(/:\w+/g, ':')
    served.set(shape, (served.get(shape) ?? new Set()).add(endpoint.method))
    const route = API + endpoint.path
    server.route({
      method: endpoint.method,
      url,
      handler(request, reply) {
        request.route = route
        return run(door, endpoint, request, reply)
      },
    })
  }
  // A known path answers every other method with 405 and the methods it does serve, and OPTIONS for browsers.
  const done = new Set<string>()
  for (const endpoint of endpoints) {
    const url = routeOf(endpoint)
    const shape = url.replace(/:\w+/g, ':')
    if (done.has(shape)) continue
    done.add(shape)
    const methods = served.get(shape)!
    const allow = [...methods, ...(methods.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
    const rest = METHODS.filter((method) => !methods.has(method))
    server.route({ method: 'OPTIONS', url, handler: (_request, reply) => void preflight(reply, allow) })
    if (rest.length > 0) {
      server.route({
        method: rest,
        url,
        exposeHeadRoute: false,
        handler: (request, reply) => send(request, reply.header('Allow', allow), 405, { error: '405 Not Allowed' }),
      })
    }
  }
}

/** A declared `(\\d+)` binds the whole segment: `/users/john` is another path, not a bad id. */
const routeOf = ({ path }: Endpoint) => API + path.replace(/\(([^)]+)\)/g, '(^$1$)')

function allowOrigin(own: string, request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers
  if (!origin) return
  if (origin === new URL(own).origin) {
    reply.header('Access-Control-Allow-Origin', origin).header('Access-Control-Allow-Credentials', 'true')
  } else {
    reply.header('Access-Control-Allow-Origin', '*')
  }
  reply.header('Access-Control-Expose-Headers', HEADERS_EXPOSED)
}

function preflight(reply: FastifyReply, allow: string): void {
  reply
    .code(204)
    .header('Allow', allow)
    .header('Access-Control-Allow-Methods', allow)
    .header(
      'Access-Control-Allow-Headers',
      'Authorization, Content-Type, PRIVATE-TOKEN, JOB-TOKEN, SUDO, X-CSRF-Token, If-None-Match, If-Unmodified-Since',
    )
    .header('Access-Control-Max-Age', '7200')
    .send()
}

const malformed = () => new Refusal('bad_request', '400 Bad Request', { as: 'both' })

/** What the framework itself objects to (a body larger than declared, a bad header) is the caller's fault too. */
function asRefusal(error: unknown): unknown {
  const status = (error as { statusCode?: number }).statusCode
  if (error instanceof Refusal || status === undefined || status >= 500) return error
  return status === 413 ? new Refusal('too_large') : malformed()
}

function requestId({ headers }: { headers: Record<string, string | string[] | undefined> }): string {
  const given = headers['x-request-id']
  const clean = typeof given === 'string' ? given.replace(/[^\w-]/g, '').slice(0, 255) : ''
  return clean || randomUUID()
}
