/**
 * Pages for people. Their data comes from the API, called in process for the viewer; their templates are in `web/`,
 * built into `dist/web`.
 */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { abilitiesIn, type Abilities } from '../api/abilities.ts'
import { answerTo } from '../api/answers.ts'
import { presentedCredential, type Caller } from '../api/credentials.ts'
import type { Endpoint } from '../api/endpoint.ts'
import { noteUser } from '../api/exchange.ts'
import { inProcess, readingFor, type Ask, type Visitor } from '../api/in-process.ts'
import { STRANGERS_BODY, assertPlain, readBody, readQuery, type BodyLimits, type Raw } from '../api/input.ts'
import type { Gateway } from '../api/run.ts'
import type { PageContent, WebPages } from '../api/server.ts'
import { Refusal } from '../errors.ts'
import { isOfTooManyAddresses } from '../features/identity/addresses/service.ts'
import { formToken, isOwnForm } from '../features/identity/sessions/forms.ts'
import { withReturn } from '../features/identity/sessions/return-address.ts'
import { TERMS } from '../features/identity/terms/service.ts'
import { limitedCaller } from '../lib/async/limiter.ts'
import { decodeSegments } from '../lib/text/segments.ts'
import { drawPage } from './drawing.ts'
import { flashOf } from './flash.ts'
import { loadRenderer, type Answer, type RenderRequest, type Renderer } from './renderer.ts'

const MB = 1024 * 1024
/** For signed-in users: files are edited and uploaded in forms. */
const FORMS: BodyLimits = { fields: 16 * MB, file: 10 * MB, deadline: 300_000 }

const pack = promisify(gzip)
/** Shorter answers are sent uncompressed. */
const SHORT = 1024

/** Only our own scripts and styles, nothing inline, nothing from other hosts. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "connect-src 'self'",
  // Only for documents: our pages cannot be framed.
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function webPages(gateway: Gateway, endpoints: readonly Endpoint[]): WebPages {
  const api: Api = { ask: inProcess(gateway, endpoints), abilities: abilitiesIn(endpoints) }
  return {
    async show(request, reply) {
      const renderer = await loadRenderer()
      const renderRequest = await renderRequestOf(gateway, api, renderer, request, reply)
      const answer =
        renderRequest &&
        ((await insteadFor(renderRequest, renderer)) ?? (await respondOrFail(request, renderer, renderRequest)))
      return answer && contentOf(request, answer)
    },
    async missing(request, reply, status) {
      const renderer = await loadRenderer()
      const renderRequest = await renderRequestOf(gateway, api, renderer, request, reply)
      const answer =
        renderRequest &&
        ((await insteadFor(renderRequest, renderer)) ?? (await renderer.respondMissing(renderRequest, status)))
      return answer && contentOf(request, answer)
    },
    async act(request, reply) {
      const { identity } = await callerOf(gateway, request)
      const body = await readBody(request.raw, gateway.spool, identity ? FORMS : STRANGERS_BODY)
      try {
        assertPlain(body.fields)
        if (!isOwnForm(gateway.app, request, body.fields)) throw new Refusal('forbidden', '403 This form has expired')
        const renderer = await loadRenderer()
        const renderRequest = await renderRequestOf(gateway, api, renderer, request, reply)
        if (!renderRequest) return null
        const form = fieldsOf(body.fields)
        const answer =
          (await insteadFor(renderRequest, renderer)) ??
          (await respondOrFail(request, renderer, { ...renderRequest, form }))
        return answer && (await contentOf(request, answer))
      } finally {
        await body.discard()
      }
    },
  }
}

/** A failure of a page is logged, and answered with the error page; as JSON only if that fails, too. */
async function respondOrFail(
  request: FastifyRequest,
  renderer: Renderer,
  renderRequest: RenderRequest,
): Promise<Answer | null> {
  try {
    return await renderer.respond(renderRequest)
  } catch (error) {
    if (error instanceof Refusal) throw error
    const page = await renderer.respondMissing(renderRequest, answerTo(error).status).catch(() => null)
    if (!page) throw error
    request.log.error({ err: error, reqId: request.id }, 'page failed')
    return page
  }
}

const SECOND_FACTOR = '/-/profile/two_factor_auth'

/**
 * Callers over the rate limit, or from too many addresses, are told to wait. Users who have not accepted the terms, or
 * must set up a second factor, are redirected to the page for that.
 */
async function insteadFor(renderRequest: RenderRequest, renderer: Renderer): Promise<Answer | null> {
  const { throttled, requiredStep, isCrowded, segments, address } = renderRequest
  if (isCrowded) return renderer.respondMissing(renderRequest, 403)
  if (throttled) return renderer.respondMissing(renderRequest, 429, throttled)
  if (requiredStep === 'terms') return { location: withReturn(TERMS, address) }
  return requiredStep && `/${segments.join('/')}` !== SECOND_FACTOR ? { location: SECOND_FACTOR } : null
}

/** Without the CSRF code, which was checked by then. */
const fieldsOf = (form: Raw): Raw =>
  Object.fromEntries(Object.entries(form).filter(([name]) => name !== 'authenticity_token'))

/** What pages learn from the API. */
interface Api {
  readonly ask: Ask
  readonly abilities: Abilities
}

async function renderRequestOf(
  gateway: Gateway,
  { ask, abilities }: Api,
  renderer: Renderer,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<RenderRequest | null> {
  // More than one slash would be another host in a redirect to this path.
  const address = request.raw.url!.replace(/^\/+/, '/')
  const segments = decodeSegments(address)
  if (!segments) return null
  const { isCrowded, ...caller } = await callerOf(gateway, request)
  noteUser(request.raw, caller.identity?.user ?? null)
  const throttled = await countedOnce(gateway, caller, request)
  let visitor: Visitor = { caller, request: request.raw, response: reply.raw, pageReads: new Map() }
  return {
    address,
    segments,
    isSignedIn: caller.identity !== null,
    isReadOnly: gateway.app.config.readOnly,
    requiredStep: caller.identity?.requiredStep ?? null,
    isCrowded,
    throttled,
    csrf: formToken(gateway.app, request, reply),
    cookies: request.headers.cookie ?? '',
    flash: flashOf(gateway.app, request, reply, address),
    url: gateway.app.url,
    assets: renderer.assets,
    draw: (drawing) => drawPage(renderer, limitedCaller(caller.identity?.user.id, caller.address), drawing),
    may: (calls, params) => abilities(readingFor(gateway.app, visitor), visitor.caller, calls, params),
    async send(method, path, fields) {
      const answer = await ask(visitor, method, path, fields)
      // The action may have changed the caller: the next page shows the current state.
      if (method !== 'GET') visitor = { ...visitor, caller: await callerOf(gateway, request) }
      return answer
    },
  }
}

/** A request without a page is handled twice: for the page, and for the error page. It is counted once. */
const counted = new WeakMap<FastifyRequest, Promise<RenderRequest['throttled']>>()

function countedOnce(gateway: Gateway, caller: Caller, request: FastifyRequest): Promise<RenderRequest['throttled']> {
  let throttled = counted.get(request)
  if (!throttled) counted.set(request, (throttled = throttledBy(gateway, caller)))
  return throttled
}

async function throttledBy({ limiter }: Gateway, caller: Caller): Promise<RenderRequest['throttled']> {
  try {
    await limiter.admit(caller, {}, 'web')
    return null
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'throttled') return error.facts.headers as Record<string, string>
    throw error
  }
}

async function callerOf(
  { app, authentication }: Gateway,
  request: FastifyRequest,
): Promise<Caller & Pick<RenderRequest, 'isCrowded'>> {
  const shown = presentedCredential(request, readQuery(request.raw.url!))
  const { ip: address } = request
  try {
    const identity = shown ? await authentication.identify(app, shown, address) : null
    // CI jobs have no pages.
    return { identity: identity?.kind === 'job' ? null : identity, address, isCrowded: false }
  } catch (error) {
    if (!isOfTooManyAddresses(error)) throw error
    return { identity: null, address, isCrowded: true }
  }
}

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  Vary: 'Accept, Accept-Encoding, Cookie',
}

async function contentOf(request: FastifyRequest, answer: Answer): Promise<PageContent> {
  if ('location' in answer) return { status: 303, headers: { Location: answer.location }, body: Buffer.alloc(0) }
  const { status, html } = answer
  const headers = { ...HEADERS, ...answer.headers }
  const isPacked = html.length > SHORT && /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  if (!isPacked) return { status, headers, body: Buffer.from(html) }
  return { status, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: await pack(html) }
}
