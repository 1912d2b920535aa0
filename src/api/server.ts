/**
 * The HTTP server. The API is served straight from Node's own pair of request and response, because a framework's would
 * cost as much as the answer; everything else (pages, files, health) is served by the framework on the same port.
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
import type { Gateway } from './run.ts'
import { send, sendError } from './web-answers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What logs and figures call a route whose address says too little. */
    name?: string
  }
}

/** For the longest push; bodies of the API have a shorter one (`input.ts`), and whoever falls silent is let go sooner. */
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
    // Lines name their request themselves; a logger for each would cost more than the line.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => requestId(headers),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    return503OnClosing: false,
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: 2000,
      // The query is read where a malformed one can be refused.
      querystringParser: () => ({}),
    },
    frameworkErrors: (_error, request, reply) => void sendError(request, reply, malformed()),
    // Validators and serialisers nobody uses are a fifteenth of the time to start.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    clientErrorHandler: (_error, socket) => refuseConnection(socket),
  })

  server.server.on('connection', (socket: Socket) => gateway.app.stalls.watchReader(socket))
  // Bodies are read by `input.ts`.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _payload, done) => done(null))
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id)
    reply.header('X-Frame-Options', 'SAMEORIGIN')
    reply.header('X-Content-Type-Options', 'nosniff')
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

/** Adds routes outside the API; `about` is what the instance tells of itself. */
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
 * Whether a page or a file is an answer. Browsers say so, `curl`, pictures and link previews accept anything or say
 * nothing; only a program that asks for JSON, and would take nothing else, is answered as the API would.
 */
export const isForPeople = ({ raw, headers: { accept = '' } }: FastifyRequest): boolean =>
  !/^\/+api\b/.test(raw.url!) && (!/\bjson\b/i.test(accept) || /\btext\/html\b|\*\/\*/i.test(accept))

/** Browsers name what they want in answer to a form; whatever else is posted outside the API is for nobody. */
export const isForm = ({ headers: { accept = '' } }: FastifyRequest): boolean => /\btext\/html\b/i.test(accept)

/** Pages for people. Each is null where none stands. */
export interface WebPages {
  show(request: FastifyRequest, reply: FastifyReply): Promise<PageContent | null>
  /** A form of a page was sent. */
  act(request: FastifyRequest, reply: FastifyReply): Promise<PageContent | null>
  /** What people see where there is nothing. */
  missing(request: FastifyRequest, reply: FastifyReply, status: number): Promise<PageContent | null>
}

/** What a page answers with. A reply itself cannot be handed on: awaited, it is sent. */
export interface PageContent {
  /** 200 unless told. */
  readonly status?: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | Readable
}

/** What stands below the address of a project: `/group/project/-/<name>/…`, in older ones without the dash. */
export interface ProjectPage {
  readonly name: string
  /** `rest` follows the name. Null where nothing is there, or nothing for whoever asks. */
  find(
    gateway: Gateway,
    request: FastifyRequest,
    project: { readonly id: number },
    rest: readonly string[],
    response: ServerResponse,
  ): Promise<PageContent | null>
}

/** What stands at an address that begins with a path of somebody's. Null where nothing is there for whoever asks. */
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
 * Whoever asks before sending a body (`Expect: 100-continue`) is told to go on when somebody reads it. One who is
 * refused before keeps it; the connection ends then, as nobody knows whether the body still comes.
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

/** What is not HTTP is refused in the same shape, and the connection closed. */
function refuseConnection(socket: Socket): void {
  if (socket.destroyed) return
  const body = JSON.stringify({ message: '400 Bad Request', error: '400 Bad Request' })
  const head = ['HTTP/1.1 400 Bad Request', 'Content-Type: application/json', `Content-Length: ${body.length}`]
  socket.end([...head, 'Connection: close', '', body].join('\r\n'))
}

const malformed = () => new Refusal('bad_request', '400 Bad Request', { as: 'both' })

/** What the framework itself objects to (a body larger than declared, a bad header) is the caller's fault too. */
function asRefusal(error: unknown): unknown {
  const status = (error as { statusCode?: number }).statusCode
  if (error instanceof Refusal || status === undefined || status >= 500) return error
  return status === 413 ? new Refusal('too_large') : malformed()
}

function noSchemas(): never {
  throw new Error('routes outside the API declare no schemas')
}
