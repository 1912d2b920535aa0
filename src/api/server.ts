/**
 * The HTTP server. The API uses the request and response objects of Node directly, because a framework would cost as
 * much as the answer. Everything else (pages, files, health) is served by the framework on the same port.
 */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { Refusal } from '../errors.ts'
import { requestLog } from '../log.ts'
import { UNKNOWN_ROUTE } from './answers.ts'
import type { Endpoint } from './endpoint.ts'
import { addressReader, requestId, userOf } from './exchange.ts'
import type { Metrics } from './metrics.ts'
import type { Families, Webhooks } from './openapi.ts'
import { apiListener, type RequestNote } from './router.ts'
import { assertNotReadOnly } from './read-only.ts'
import type { Gateway } from './run.ts'
import { send, sendError } from './web-answers.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** In read-only mode every page says so. */
    readonly isReadOnly: boolean
  }
  interface FastifyContextConfig {
    /** The name of a route in logs and metrics, if its path says too little. */
    name?: string
    /** Not a GET, but changes nothing by itself or only signs in: also served in read-only mode. */
    readsOnly?: boolean
  }
}

/**
 * For the longest push. Bodies of the API have a shorter limit (`input.ts`), and idle connections are closed sooner.
 */
const REQUEST_TIMEOUT_MS = 6 * 3_600_000
const IDLE_TIMEOUT_MS = 60_000
const KEEP_ALIVE_MS = 72_000

export function createServer(gateway: Gateway, endpoints: readonly Endpoint[], metrics: Metrics): FastifyInstance {
  const log = gateway.app.log.child({ part: 'http' })
  const logRequest = requestLog(log)
  const { trustedProxies } = gateway.app.config
  const addressOf = addressReader(trustedProxies)
  const note = ({ request, id: reqId, route, status, ms, address: ip, user, sudo = null }: RequestNote) => {
    metrics.request(request.method!, route, status, ms / 1000)
    logRequest({ reqId, method: request.method!, route, url: request.url!, status, ms, ip, user, sudo })
  }
  const api = apiListener(gateway, endpoints, addressOf, note)
  const server = Fastify({
    serverFactory: (web) => listen((request, response) => (isApi(request) ? api : web)(request, response)),
    loggerInstance: log as FastifyBaseLogger,
    // Log lines contain the request id themselves; a child logger per request would cost more than the line.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => requestId(headers),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    return503OnClosing: false,
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: 2000,
      // The query is parsed in a place where a malformed one can be rejected.
      querystringParser: () => ({}),
    },
    frameworkErrors: (_error, request, reply) => void sendError(request, reply, malformed()),
    // The unused validators and serializers would take a fifteenth of the start time.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    clientErrorHandler: (_error, socket) => refuseConnection(socket),
  })

  server.decorate('isReadOnly', gateway.app.config.readOnly)
  server.server.on('connection', (socket: Socket) => gateway.app.stalls.watchReader(socket))
  // `input.ts` reads the bodies.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _payload, done) => done(null))
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id)
    reply.header('X-Frame-Options', 'SAMEORIGIN')
    reply.header('X-Content-Type-Options', 'nosniff')
    const { method, routeOptions } = request
    assertNotReadOnly(gateway.app, { method, readsOnly: routeOptions.config.readsOnly })
    done()
  })
  server.addHook('onResponse', (request, reply, done) => {
    const { config, url = 'unknown' } = request.routeOptions
    const route = config.name ?? url
    const { raw, id } = request
    const [ms, address] = [reply.elapsedTime, addressOf(raw)]
    note({ request: raw, id, route, status: reply.raw.statusCode, ms, address, user: userOf(raw) })
    done()
  })
  server.setErrorHandler((error, request, reply) => void sendError(request, reply, asRefusal(error)))
  server.setNotFoundHandler((request, reply) => void send(request, reply, 404, UNKNOWN_ROUTE))
  return server
}

/** Adds routes outside the API; `about` is information about the instance. */
export type WebRoutes = (
  server: FastifyInstance,
  gateway: Gateway,
  about: {
    metrics: Metrics
    families: Families
    webhooks: () => Promise<Webhooks>
    projectPages: readonly ProjectPage[]
    addressPages: readonly AddressPage[]
    pages: WebPages
  },
) => void

/**
 * Whether the answer should be a page or file. Browsers ask for HTML; `curl`, images and link previews accept anything
 * or send no header. Only a program that asks for JSON, and accepts nothing else, gets the answer of the API.
 */
export const isForPeople = ({ raw, headers: { accept = '' } }: FastifyRequest): boolean =>
  !/^\/+api\b/.test(raw.url!) && (!/\bjson\b/i.test(accept) || /\btext\/html\b|\*\/\*/i.test(accept))

/** Browsers ask for HTML in answer to a form; any other post outside the API has no route. */
export const isForm = ({ headers: { accept = '' } }: FastifyRequest): boolean => /\btext\/html\b/i.test(accept)

/** Pages for people. Each function returns null if there is no page. */
export interface WebPages {
  show(request: FastifyRequest, reply: FastifyReply): Promise<PageContent | null>
  /** Handles a submitted form of a page. */
  act(request: FastifyRequest, reply: FastifyReply): Promise<PageContent | null>
  /** The error page. */
  missing(request: FastifyRequest, reply: FastifyReply, status: number): Promise<PageContent | null>
}

/** The answer of a page. It is not a reply object, because awaiting a reply sends it. */
export interface PageContent {
  /** 200 by default. */
  readonly status?: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | Readable
}

/** A page below the path of a project: `/group/project/-/<name>/…`, in older URLs without the dash. */
export interface ProjectPage {
  readonly name: string
  /** `rest` is the path after the name. Null if nothing is there, or the viewer may not see it. */
  find(
    gateway: Gateway,
    request: FastifyRequest,
    project: { readonly id: number },
    rest: readonly string[],
    response: ServerResponse,
  ): Promise<PageContent | null>
}

/** A page at a path that begins with a namespace. Null if nothing is there, or the viewer may not see it. */
export type AddressPage = (
  gateway: Gateway,
  request: FastifyRequest,
  segments: readonly string[],
) => Promise<PageContent | null>

const isApi = ({ url }: IncomingMessage) => url!.startsWith('/api/v4/') || /^\/+api\/+v4(?:[/?]|$)/.test(url!)

function listen(listener: RequestListener): Server {
  const server = createHttpServer({ requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS }, listener)
  server.setTimeout(IDLE_TIMEOUT_MS)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueOnceRead(request, response)
    listener(request, response)
  })
  return server
}

/**
 * A client that sends `Expect: 100-continue` gets the 100 when the server starts to read the body. If the request is
 * rejected before, the connection is closed, because the body may still come.
 */
function continueOnceRead(request: IncomingMessage, response: ServerResponse): void {
  const read = request._read.bind(request)
  let isReported = false
  response.setHeader('Connection', 'close')
  request._read = (size) => {
    if (!isReported && !response.headersSent) {
      isReported = true
      response.removeHeader('Connection')
      response.writeContinue()
    }
    read(size)
  }
}

/** Input that is not HTTP is rejected in the same form, and the connection closed. */
function refuseConnection(socket: Socket): void {
  if (socket.destroyed) return
  const body = JSON.stringify({ message: '400 Bad Request', error: '400 Bad Request' })
  const head = ['HTTP/1.1 400 Bad Request', 'Content-Type: application/json', `Content-Length: ${body.length}`]
  socket.end([...head, 'Connection: close', '', body].join('\r\n'))
}

const malformed = () => new Refusal('bad_request', '400 Bad Request', { as: 'both' })

/** Errors that the framework reports (a body larger than declared, a bad header) are the caller's fault too. */
function asRefusal(error: unknown): unknown {
  const status = (error as { statusCode?: number }).statusCode
  if (error instanceof Refusal || status === undefined || status >= 500) return error
  return status === 413 ? new Refusal('too_large') : malformed()
}

function noSchemas(): never {
  throw new Error('routes outside the API declare no schemas')
}
