/**
 * The checks of every request, once and in the order of the contract: route (in the router), read-only mode, credential, scope, sudo,
 * parameters, lookup (404 if not readable), ability (403), child (404), read-only subject (403), precondition, rules of
 * the record; then the handler and the answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App, User } from '../context.ts'
import { Refusal, badParameter, forbidden, invalid, notFound, unauthenticated } from '../errors.ts'
import { eventIn } from '../lib/crypto/event-uuid.ts'
import { limitedCaller } from '../lib/async/limiter.ts'
import { andThen, attempt, type MaybePromise } from '../lib/async/maybe-promise.ts'
import { send, type Answered } from './answers.ts'
import {
  isCallableBy,
  isOfAgent,
  isTokenCredential,
  presentedCredential,
  scopesOf,
  type Caller,
  type Identity,
  type PresentedCredential,
  type TokenCredential,
} from './credentials.ts'
import { handleAudited, type RecordAuditEvent } from './audit.ts'
import { Answer, type AnyResource, type Endpoint } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import {
  KNOWN_BODY,
  STRANGERS_BODY,
  assertPlain,
  assertServed,
  isMultipart,
  parseInput,
  readBody,
  readQuery,
  type Body,
  type BodyLimits,
  type Raw,
} from './input.ts'
import { Json } from './json.ts'
import { withSlot } from './limiters.ts'
import type { Door, RateLimiter } from './limits.ts'
import { LongPage, readPage, shortened } from './long-pages.ts'
import { PageOf, pageHeaders, pageInput, pageRequest, type Page, type PageRequest } from './pages.ts'
import { assertNotReadOnly } from './read-only.ts'
import { hasFaults, type Faults } from './rules.ts'
import { answerList } from './streamed-lists.ts'

/** What the app must tell the API kit about users: the kit itself knows no users. */
export interface Authentication {
  /** Null for a credential that is unknown, expired, revoked or of a blocked user. */
  identify(app: App, shown: PresentedCredential, address: string): MaybePromise<Identity | null>
  /** Whether a request with a session cookie also proves that it comes from our own pages (CSRF protection). */
  provesOrigin(app: App, session: string, csrfToken: string): boolean
  findSudoTarget(app: App, idOrUsername: string): Promise<User | null>
  /** Whether the token of a CI job may access the subject of the endpoint: a project may exclude the jobs of others. */
  jobReaches?(app: App, job: Identity, subject: unknown, isChange: boolean): Promise<boolean>
}

export interface Gateway {
  readonly app: App
  readonly authentication: Authentication
  readonly limiter: RateLimiter
  readonly spool: string
  /** Compares every answer with its declared schema; enabled in tests. */
  readonly checkOutput: boolean
  /** Writes the audit log of administrators. */
  readonly recordAuditEvent?: RecordAuditEvent
}

const hasBody = ({ method }: IncomingMessage) => method !== 'GET' && method !== 'HEAD'

export function run(gateway: Gateway, endpoint: Endpoint, exchange: Exchange, path: Raw): MaybePromise<void> {
  const { request } = exchange
  assertNotReadOnly(gateway.app, endpoint)
  const query = readQuery(request.url!)
  if (isOfAgent(endpoint.by)) return serveAgent(gateway, endpoint, exchange, { path, query })
  const shown = presentedCredential(request, query)
  if (shown || !hasBody(request) || isMultipart(request))
    return enter(gateway, endpoint, exchange, shown, { path, query })
  // A form may contain the credential; files are accepted only from authenticated callers.
  return readBody(request, gateway.spool, STRANGERS_BODY).then((form) =>
    enter(gateway, endpoint, exchange, presentedCredential(request, form.fields), { path, query, form }),
  )
}

/** Only rejected calls are counted. */
async function serveAgent(gateway: Gateway, endpoint: Endpoint, exchange: Exchange, message: Message): Promise<void> {
  const caller = { identity: null, address: exchange.address }
  try {
    await proceed(gateway, endpoint, exchange, caller, message)
  } catch (error) {
    if (error instanceof Refusal) await gateway.limiter.admit(caller, exchange.headers)
    throw error
  }
}

/** The parts of a request that were read so far. */
interface Message {
  readonly path: Raw
  readonly query: Raw
  readonly form?: Body
}

function enter(
  gateway: Gateway,
  endpoint: Endpoint,
  exchange: Exchange,
  shown: PresentedCredential | null,
  message: Message,
): MaybePromise<void> {
  return andThen(identify(gateway, endpoint, exchange, shown), (caller) => {
    exchange.user = caller.identity?.user.username ?? null
    return andThen(gateway.limiter.admit(caller, exchange.headers), () => {
      assertMayEnter(endpoint, caller)
      return proceed(gateway, endpoint, exchange, caller, message)
    })
  })
}

async function proceed(
  gateway: Gateway,
  endpoint: Endpoint,
  exchange: Exchange,
  caller: Caller,
  message: Message,
): Promise<void> {
  const { request } = exchange
  const body =
    message.form ??
    (hasBody(request) && !endpoint.readsBody
      ? await readBody(request, gateway.spool, limitsOf(endpoint, caller))
      : null)
  try {
    const raw: Raw = { ...message.query, ...body?.fields, ...message.path }
    const viewer = await actAs(gateway, exchange, caller, raw.sudo ?? request.headers.sudo)
    const { url, method } = request as { url: string; method: string }
    const call: Call = { request, response: exchange.response, url, method, door: 'api' }
    send(exchange, await answer(gateway, endpoint, call, caller, viewer, raw))
  } catch (error) {
    if (endpoint.readsBody && !request.complete) discardRest(request)
    throw error
  } finally {
    await body?.discard()
  }
}

const LEFTOVER_MS = 30_000

/** Most clients read the answer to a rejected upload only after they have sent all of it. Stops after a deadline. */
function discardRest(request: IncomingMessage): void {
  const late = setTimeout(() => request.destroy(), LEFTOVER_MS).unref()
  request.once('close', () => clearTimeout(late))
}

/** A request, and the connection that waits for its answer. */
export interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** With the query, starting at `/api/v4`. */
  readonly url: string
  readonly method: string
  readonly door: Door
}

export async function answer(
  gateway: Gateway,
  endpoint: Endpoint,
  call: Call,
  caller: Caller,
  viewer: User | null,
  raw: Raw,
): Promise<Answered> {
  const { request, method } = call
  assertInPerson(endpoint, caller, viewer)
  const app = { ...inChain(gateway.app, request), caller: limitedCaller(caller.identity?.user.id, caller.address) }
  const { subject, input, faults, page } = await prepare(gateway, endpoint, viewer, raw)
  const credential = isTokenCredential(endpoint.by) ? await findRecord(app, endpoint.by, request, input) : undefined
  if (caller.identity?.kind === 'job') await assertReached(gateway, endpoint, caller.identity, subject)
  assertWritable(endpoint, subject)
  assertUnmodified(endpoint, subject, request)
  if (isCostly(endpoint, input)) await gateway.limiter.admitCostly(caller)
  await admitToEndpoint(gateway, endpoint, call, caller, subject)
  if (hasFaults(faults)) throw invalid(faults)

  const userAgent = (request.headers['user-agent'] ?? '').slice(0, 255)
  const { range } = request.headers
  const isHead = method === 'HEAD'
  const { limiter } = gateway
  const context = { app, viewer, caller, credential, subject, input, isHead, userAgent, range, request, limiter }
  const handle = (page: PageRequest) =>
    withLimiterSlot(gateway, endpoint, call, caller, () =>
      handleAudited(gateway.recordAuditEvent, endpoint, { ...context, page }),
    )
  const result = endpoint.output instanceof PageOf ? await readPage(page, handle) : await handle(page)
  const isToBeDrawn = result instanceof LongPage && call.door === 'web'
  return answerOf(gateway, endpoint, call, isToBeDrawn ? await shortened(result) : result, page)
}

/** Takes the token out of the input. The parameter takes precedence over the header. */
async function findRecord(app: App, by: TokenCredential, { headers }: IncomingMessage, input: Raw): Promise<unknown> {
  const { token } = input
  delete input.token
  const presented = token || (by.header && headers[by.header.toLowerCase()])
  return by.find(app, typeof presented === 'string' ? presented : '', input as never)
}

const isCostly = ({ costly = false }: Endpoint, input: Raw) =>
  typeof costly === 'function' ? costly(input as never) : costly

/** Reads by our own pages do not count: one page reads the same several times. */
function admitToEndpoint(
  { limiter }: Gateway,
  { throttle, throttleScope, method }: Endpoint,
  { door }: Call,
  { identity, address }: Caller,
  subject: unknown,
): MaybePromise<void> {
  if (!throttle || (door === 'web' && method === 'GET')) return
  return limiter.admitTo(throttle, identity?.user ?? null, address, throttleScope?.(subject as never))
}

/**
 * A webhook receiver that calls the API passes on the event's UUID. The chain prevents a hook from triggering itself
 * for ever.
 */
function inChain(app: App, { headers }: IncomingMessage): App {
  const shown = headers['x-gitlab-event-uuid']
  const chain = typeof shown === 'string' ? eventIn(app.vault, shown) : null
  return chain === null ? app : { ...app, chain }
}

function withLimiterSlot(
  { app }: Gateway,
  endpoint: Endpoint,
  { response }: Call,
  { identity, address }: Caller,
  handle: () => Promise<unknown>,
): Promise<unknown> {
  const name = endpoint.limiter ?? endpoint.on?.limiter
  return name ? withSlot(app.limiters[name], limitedCaller(identity?.user.id, address), response, handle) : handle()
}

function limitsOf({ body, upload }: Endpoint, { identity }: Caller): BodyLimits {
  if (!identity) return body && body < STRANGERS_BODY.fields ? { ...STRANGERS_BODY, fields: body } : STRANGERS_BODY
  const { fields, file, deadline } = KNOWN_BODY
  return { fields: body ?? fields, file: upload ?? file, deadline }
}

function identify(
  gateway: Gateway,
  endpoint: Endpoint,
  exchange: Exchange,
  shown: PresentedCredential | null,
): MaybePromise<Caller> {
  const { address, request } = exchange
  if (!shown) return { identity: null, address }
  if (shown.as === 'session' && endpoint.method !== 'GET') {
    const proof = request.headers['x-csrf-token']
    const proven = typeof proof === 'string' && gateway.authentication.provesOrigin(gateway.app, shown.secret, proof)
    if (!proven) return { identity: null, address }
  }
  const found = attempt(() => gateway.authentication.identify(gateway.app, shown, address))
  return andThen(found instanceof Promise ? found.catch(refuse) : found, (identity) => {
    // A cookie outlives its session; every other credential was sent on purpose and must be valid.
    return identity || shown.as === 'session' ? { identity, address } : refuse(unauthenticated())
  })

  /** A caller with a wrong credential is counted too, by address. */
  function refuse(refusal: unknown): MaybePromise<never> {
    return andThen(gateway.limiter.admit({ identity: null, address }, exchange.headers), () => {
      throw refusal
    })
  }
}

export function assertMayEnter(endpoint: Endpoint, { identity }: Caller): void {
  if (!identity) {
    if (isCallableBy(endpoint, 'visitor')) return
    throw unauthenticated()
  }
  if (identity.kind === 'job' && !isCallableBy(endpoint, 'job')) throw unauthenticated()
  if (identity.requiredStep === 'terms') throw forbidden('Accept the terms first')
  if (identity.requiredStep && !endpoint.duringRequiredStep) throw forbidden('Set up a second factor first')
  if (identity.scopes === null) return
  const accepted = scopesOf(endpoint)
  if (identity.scopes.some((scope) => accepted.includes(scope))) return
  throw new Refusal('forbidden', 'insufficient_scope', {
    body: {
      error: 'insufficient_scope',
      error_description: 'The request requires higher privileges than provided by the access token.',
      scope: accepted.join(' '),
    },
  })
}

/** A CI job that has no access gets 404. */
async function assertReached({ app, authentication }: Gateway, endpoint: Endpoint, job: Identity, subject: unknown) {
  const { on, method } = endpoint
  if (on && !(await authentication.jobReaches?.(app, job, subject, method !== 'GET'))) throw notFound(on.name)
}

async function actAs(gateway: Gateway, exchange: Exchange, { identity }: Caller, sudo: unknown): Promise<User | null> {
  if (!identity) return null
  if (sudo === undefined || sudo === '') return identity.user
  if (typeof sudo !== 'string' && typeof sudo !== 'number') throw badParameter('sudo is invalid')
  if (!identity.user.admin) throw forbidden('Must be admin to use sudo')
  if (identity.kind !== 'private' && !identity.scopes?.includes('sudo')) {
    throw forbidden('Private token must be specified in order to use sudo')
  }
  const sudoUser = String(sudo)
  const target = await gateway.authentication.findSudoTarget(gateway.app, sudoUser)
  if (!target) throw new Refusal('not_found', `404 Not Found: No user id or username for: ${sudoUser}`)
  exchange.sudo = target.username
  return target
}

function assertInPerson({ inPerson }: Endpoint, { identity }: Caller, viewer: User | null): void {
  if (inPerson && identity?.user.id !== viewer?.id) throw forbidden()
}

interface Prepared {
  subject: unknown
  input: Raw
  faults: Faults
  page: PageRequest
}

async function prepare({ app }: Gateway, endpoint: Endpoint, viewer: User | null, raw: Raw): Promise<Prepared> {
  const { on, allow } = endpoint
  const early = endpoint.abilityFirst ?? on?.abilityFirst ?? false
  if (early) assertAdministrator(endpoint, viewer)
  assertPlain(raw)
  if (!early || !on) {
    const parsed = parseAll(endpoint, raw)
    if (!early) assertAdministrator(endpoint, viewer)
    return { ...parsed, subject: on && (await lookUp(app, endpoint, lineOf(on), parsed.params, viewer)) }
  }
  const [root, ...children] = lineOf(on) as [AnyResource, ...AnyResource[]]
  // Ids of children are parsed only for callers who may know of them, which administrators may by now.
  const { parts } = parseInput([allow === 'administrator' ? on.params : root.params], raw)
  const parent = await findAt(app, root, parts[0]!, viewer)
  assertAble(endpoint, root, early === true ? allow : early, parent)
  const parsed = parseAll(endpoint, raw)
  assertAble(endpoint, root, allow, parent)
  return { ...parsed, subject: await lookUp(app, endpoint, children, parsed.params, viewer, parent) }
}

/** The parents of a resource, outermost first, and the resource itself. */
export const lineOf = (on: AnyResource): readonly AnyResource[] => (on.parents ? [...on.parents, on] : [on])

function parseAll({ on, output, input, refuses }: Endpoint, raw: Raw): Omit<Prepared, 'subject'> & { params: Raw } {
  assertServed(refuses, raw)
  const paged = output instanceof PageOf ? pageInput : undefined
  const most = output instanceof PageOf ? output.most : undefined
  const { parts, faults } = parseInput([on?.params, paged, input], raw)
  const [params, paging, parsed] = parts
  return { params: params!, page: pageRequest(paging!, most), input: parsed!, faults }
}

export function assertAdministrator({ allow, deniedWith }: Endpoint, viewer: User | null): void {
  if (allow !== 'administrator' || viewer?.admin) return
  throw typeof deniedWith === 'string' ? new Refusal('forbidden', deniedWith) : forbidden()
}

async function lookUp(
  app: App,
  endpoint: Endpoint,
  line: readonly AnyResource[],
  params: Raw,
  viewer: User | null,
  parent?: unknown,
): Promise<unknown> {
  let subject = parent
  for (const resource of line) {
    subject = await findAt(app, resource, params, viewer, subject)
    assertAble(endpoint, resource, endpoint.allow, subject)
  }
  return subject
}

async function findAt(app: App, resource: AnyResource, params: Raw, viewer: User | null, parent?: unknown) {
  return readable(resource, await resource.find(app, params as never, viewer, parent as never))
}

export function readable(resource: AnyResource, subject: unknown): unknown {
  if (subject !== null && subject !== undefined && resource.policy.read(subject)) return subject
  throw resource.missing ? new Refusal('not_found', resource.missing) : notFound(resource.name)
}

/**
 * Checks the ability if the policy of this resource has it. An ability of a child's own policy is checked when the
 * child is found.
 */
export function assertAble(
  { on, denied, deniedWith }: Endpoint,
  { policy }: AnyResource,
  ability: string,
  subject: unknown,
): void {
  const may = policy[ability]
  if (!may || may !== on!.policy[ability] || may(subject)) return
  if (denied === 'unauthenticated') throw unauthenticated()
  const text = typeof deniedWith === 'function' ? deniedWith(subject as never) : deniedWith
  throw text === undefined ? forbidden() : new Refusal('forbidden', text)
}

/** Deletions stay allowed. */
export function assertWritable({ on, method, whileReadOnly }: Endpoint, subject: unknown): void {
  if (method === 'GET' || method === 'DELETE' || whileReadOnly) return
  if (on?.isReadOnly?.(subject)) throw forbidden()
}

/** Only for deletions; an unparseable time is no condition. */
function assertUnmodified(endpoint: Endpoint, subject: unknown, request: IncomingMessage): void {
  if (endpoint.method !== 'DELETE' || !endpoint.changedAt) return
  const since = Date.parse(request.headers['if-unmodified-since'] ?? '')
  if (Number.isNaN(since)) return
  // The header has whole seconds.
  const changed = Math.floor(Date.parse(endpoint.changedAt(subject as never)) / 1000) * 1000
  if (changed > since) throw new Refusal('precondition_failed')
}

function whenOver(response: ServerResponse, tell: (isWhole: boolean) => void): void {
  if (response.closed) tell(false)
  else response.once('close', () => tell(response.writableFinished))
}

function answerOf(gateway: Gateway, endpoint: Endpoint, call: Call, result: unknown, page: PageRequest): Answered {
  if (result instanceof Answer) {
    const { status, body, headers, onEnd } = result
    if (onEnd) whenOver(call.response, (isWhole) => onEnd(isWhole && call.response.statusCode === status))
    return { status, body, headers, asBytes: true }
  }
  const { output, method, headStatus } = endpoint
  if (headStatus && call.method === 'HEAD') return { status: headStatus, body: undefined }
  if (output instanceof PageOf) {
    const found = result as Page<unknown> | LongPage
    const [path, query = ''] = call.url.split('?', 2)
    const headers = pageHeaders(page, found, gateway.app.url + path, query)
    const checked = (item: unknown) => {
      if (gateway.checkOutput) output.item.parse(valueOf(item))
      return item
    }
    if (found instanceof LongPage) return answerList(found.items, checked, headers)
    const { items } = found
    for (const item of items) checked(item)
    return { status: 200, body: isWritten(items) ? Json.list(items) : items, headers }
  }
  if (output === null) return { status: endpoint.status ?? (method === 'POST' ? 201 : 204), body: undefined }
  if (gateway.checkOutput) output.parse(valueOf(result))
  return { status: endpoint.status ?? (method === 'POST' ? 201 : 200), body: result }
}

const isWritten = (items: readonly unknown[]): items is Json<unknown>[] => items.length > 0 && items[0] instanceof Json

const valueOf = (result: unknown): unknown => (result instanceof Json ? result.value : result)
