/** Git over HTTP: `info/refs`, `git-upload-pack` and `git-receive-pack` of a repository. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Transform, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerTo, outageOf } from '../api/answers.ts'
import { noteUser } from '../api/exchange.ts'
import { acquireSlot } from '../api/limiters.ts'
import type { Gateway } from '../api/run.ts'
import { HOUR, MINUTE } from '../clock.ts'
import type { App } from '../context.ts'
import { Refusal } from '../errors.ts'
import { recordActivity } from '../features/identity/activities/service.ts'
import { advertise, type Service } from '../git/fetch/advertisement.ts'
import { BadPktLine } from '../git/protocol/pkt-line.ts'
import { BadPush } from '../git/push/push-request.ts'
import { uploadPack } from '../git/fetch/upload.ts'
import { denialOf, learnFacts, projectNotFound, type Facts } from './access.ts'
import { sendPlain } from './answers.ts'
import { accessDenied, authenticatePrincipal } from './credentials.ts'
import { folderOf } from './folders.ts'
import { callerOf, personOf } from './principal.ts'
import { findRepository, type RepositoryAddress, type RepositoryLocation } from './locations.ts'
import { receivePush } from './push.ts'

/** The limit of a fetch request, which is a list of ids. No client has that many. */
const LARGEST_REQUEST = 64 * 1024 * 1024

interface Connection {
  readonly app: App
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly location: RepositoryLocation
  readonly facts: Facts
  readonly dir: string
  readonly protocol: string | undefined
}

export async function gitRoutes(
  { app }: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  address: RepositoryAddress,
): Promise<FastifyReply> {
  try {
    const service = serviceOf(request, address)
    const pageRequest = await openConnection(app, request, reply, address, service)
    if (isRead(request)) await sendRefs(pageRequest, service!)
    else await limited(pageRequest, service === 'upload-pack' ? sendPack : takePush)
    return reply
  } catch (error) {
    if (!reply.sent) return sendPlain(request, reply, error)
    const isAnswered = reply.raw.headersSent
    if (isGarbled(error) && !isAnswered) return sayInstead(reply, 400, error.message)
    if (!request.raw.socket.destroyed) request.log.warn({ err: error, reqId: request.id }, 'git request ended early')
    if (!isAnswered) {
      const { status } = answerTo(error)
      return sayInstead(reply, status, outageOf(error)?.message ?? 'Internal Server Error')
    }
    if (!reply.raw.writableEnded) reply.raw.destroy()
    return reply
  }
}

const isRead = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD'

/** Null: a path of the old (dumb) protocol, which the server does not support. */
function serviceOf(request: FastifyRequest, { rest }: RepositoryAddress): Service | null {
  const query = new URLSearchParams(request.raw.url!.split('?', 2)[1])
  const isRefs = isRead(request) && rest === 'info/refs'
  const serviceName = isRefs ? query.get('service') : request.method === 'POST' ? rest : null
  const [, service] = /^git-(upload-pack|receive-pack)$/.exec(serviceName ?? '') ?? []
  return (service as Service | undefined) ?? null
}

async function openConnection(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  { path }: RepositoryAddress,
  service: Service | null,
): Promise<Connection> {
  const visitor = { authorization: request.headers.authorization, address: request.ip }
  const principal = await authenticatePrincipal(app, visitor, 'git')
  noteUser(request.raw, principal.user)
  const location = await findRepository(app, path)
  if (!location) throw principal.via === 'nothing' ? accessDenied() : projectNotFound()
  const verb = service === 'receive-pack' ? 'push' : 'fetch'
  const facts = await learnFacts(app, principal, location, { verb, over: 'http' })
  const denial = denialOf(facts)
  if (denial) throw denial
  if (service === null) throw principal.via === 'nothing' ? accessDenied() : noSuchCommand()
  if (request.method === 'POST') assertWrittenByGit(request, service)
  const protocol = request.headers['git-protocol']
  return {
    app,
    request,
    reply,
    location,
    facts,
    dir: await folderOf(app, location, verb),
    protocol: typeof protocol === 'string' ? protocol : undefined,
  }
}

const noSuchCommand = () => new Refusal('forbidden', "The command you're trying to execute is not allowed.")

/** No form of a browser can send this content type. */
function assertWrittenByGit({ headers }: FastifyRequest, service: Service): void {
  if (headers['content-type'] === `application/x-git-${service}-request`) return
  throw new Refusal('unsupported_type', 'Unsupported Media Type')
}

const isGarbled = (error: unknown): error is BadPktLine | BadPush =>
  error instanceof BadPktLine || error instanceof BadPush

/** Only while no answer has started. */
function sayInstead(reply: FastifyReply, status: number, message: string): FastifyReply {
  reply.raw.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' }).end(`${message}\n`)
  return reply
}

/** From here on, git writes the answer. */
function begin({ reply, request }: Connection, type: string): void {
  // The server closes silent connections, but git may compute for longer than any page. Keep-alive detects clients that
  // have disappeared.
  request.raw.socket.setTimeout(HOUR).setKeepAlive(true, MINUTE)
  reply.hijack()
  const headers = {
    ...(reply.getHeaders() as Record<string, string>),
    'Content-Type': `application/x-git-${type}`,
    'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  }
  for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value)
}

async function limited(pageRequest: Connection, work: (pageRequest: Connection) => Promise<void>): Promise<void> {
  const { app, facts, request, reply } = pageRequest
  const leave = await acquireSlot(app.limiters.transport, callerOf(facts.principal, request.ip), reply.raw)
  const unwatch = app.stalls.watchSender(senderOf(request.raw))
  await work(pageRequest).finally(() => {
    unwatch()
    leave()
  })
}

/** Detects a client that has started a request and does not continue while the server waits for the rest. */
const senderOf = (request: IncomingMessage) => ({
  isDue: () => !request.complete && request.readableLength === 0,
  moved: () => request.socket.bytesRead,
  end: () => request.socket.destroy(),
})

async function sendRefs(pageRequest: Connection, service: Service): Promise<void> {
  const { dir, protocol, reply } = pageRequest
  begin(pageRequest, `${service}-advertisement`)
  await advertise(dir, service, { protocol, output: reply.raw })
  reply.raw.end()
}

async function sendPack(pageRequest: Connection): Promise<void> {
  const { app, dir, protocol, reply, request, facts } = pageRequest
  const input = await bodyOf(request, LARGEST_REQUEST)
  begin(pageRequest, 'upload-pack-result')
  const { code } = await uploadPack(dir, { stateless: true, protocol, input, output: reply.raw })
  // Git answers every valid request, even if only with an error.
  if (code !== 0 && !reply.raw.headersSent) throw new BadPktLine('not a request to fetch')
  reply.raw.end()
  const person = personOf(facts.principal)
  if (person) await recordActivity(app, person)
}

async function takePush(pageRequest: Connection): Promise<void> {
  const { app, dir, protocol, reply, request, facts, location } = pageRequest
  const input = await bodyOf(request)
  begin(pageRequest, 'receive-pack-result')
  // A client that gets an early answer would go on sending, unless the connection is going to be closed.
  reply.raw.setHeader('Connection', 'close')
  const length = request.headers['content-length']
  const size = length === undefined || request.headers['content-encoding'] ? undefined : Number(length)
  try {
    await receivePush(app, facts, location, dir, { stateless: true, protocol, input, size, output: reply.raw })
  } finally {
    if (!request.raw.complete) hangUpLater(request.raw)
    // The report has already named the failure. Git itself knows whether the answer is complete.
    if (reply.raw.headersSent) reply.raw.end()
  }
  reply.raw.end()
}

const PARTING_MS = 5000

/** Discards the rest of the request for a while, because a reset could overtake the answer. */
function hangUpLater(request: IncomingMessage): void {
  const { socket } = request
  request.resume()
  socket.destroySoon = () => {
    const parting = setTimeout(() => socket.destroy(), PARTING_MS)
    socket.once('close', () => clearTimeout(parting)).end()
  }
}

/** The body as git wrote it, without content encoding. */
async function bodyOf({ raw }: FastifyRequest, most = Infinity): Promise<Readable> {
  const encoding = raw.headers['content-encoding']
  const isPacked = encoding === 'gzip' || encoding === 'x-gzip'
  const plain = isPacked ? raw.pipe(createGunzip()) : raw
  raw.once('error', (error) => plain.destroy(error))
  if (isPacked) await assertUnpacks(plain, raw)
  if (most === Infinity) return plain
  let taken = 0
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      taken += chunk.length
      done(taken > most ? new Refusal('too_large') : null, chunk)
    },
  })
  plain.once('error', (error) => bounded.destroy(error))
  return plain.pipe(bounded)
}

/** Waits for the first bytes: a body that is not gzip is detected while the server can still answer. */
async function assertUnpacks(plain: Readable, packed: Readable): Promise<void> {
  try {
    await once(plain, 'readable')
  } catch {
    packed.resume()
    throw new Refusal('bad_request', 'The body does not match its Content-Encoding.')
  }
}
