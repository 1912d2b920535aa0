/**
 * The only HTTP client for addresses that users name. It checks every address after name resolution and at every
 * redirect. Time, size and the number of redirects are limited, and nothing is decompressed. Error messages contain
 * nothing of the request.
 */
import { bareHost, type AddressList } from '../lib/net/address-list.ts'
import { hasCode } from '../lib/files/system-errors.ts'
import {
  Connections,
  basicOf,
  isForwarded,
  originOf,
  proxyCredentials,
  type Connection,
  type Route,
} from './connections.ts'
import { OutgoingFailure, failureOf, timedOut } from './failures.ts'
import { AddressRefused, checkTarget, isPortOfHttp, resolveTarget, type GuardOptions } from './guard.ts'
import { isSendableHeader, pairsOf, loggedHeaders, withoutSecrets } from './headers.ts'

export { OutgoingFailure }

export interface OutgoingRequest {
  /** The default is POST with a body, else GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly verifyTls?: boolean
}

export interface OutgoingAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Cut at the size limit. */
  readonly body: string
  /** Seconds. */
  readonly duration: number
}

export interface OutgoingOptions {
  readonly guard: OutgoingGuard
  readonly proxy?: OutgoingProxy | null
  /** A pool shared by requests. Without it, each request opens its own connection. */
  readonly connections?: Connections
  /** Aborts the request, with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  readonly limits?: Partial<Limits>
}

export interface OutgoingGuard extends Omit<GuardOptions, 'isAllowedPort'> {
  /** False: connects by name, which may resolve to another address than the one checked. */
  readonly pinned?: boolean
}

export interface OutgoingProxy {
  readonly url: string
  /** Hosts that bypass the proxy. */
  readonly except?: AddressList
}

/** Milliseconds and bytes. */
interface Limits {
  readonly connect: number
  /** The time for the answer, once connected. Without a head the request fails; an incomplete body is cut. */
  readonly read: number
  /** Including redirects. */
  readonly total: number
  readonly body: number
  readonly redirects: number
}

const LIMITS: Limits = { connect: 10_000, read: 10_000, total: 30_000, body: 8 * 1024, redirects: 5 }

export async function send(request: OutgoingRequest, options: OutgoingOptions): Promise<OutgoingAnswer> {
  const began = performance.now()
  const { status, headers, body } = await exchange(request, options)
  return {
    status,
    headers: loggedHeaders(headers),
    body: textOf(body),
    duration: (performance.now() - began) / 1000,
  }
}

export interface RawAnswer {
  readonly status: number
  readonly headers: readonly [name: string, value: string][]
  readonly body: Buffer
  /** False if the body was cut: too long, too slow or interrupted. */
  readonly isWhole: boolean
}

interface Hop {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export async function exchange(request: OutgoingRequest, options: OutgoingOptions): Promise<RawAnswer> {
  const limits = { ...LIMITS, ...options.limits }
  using ending = new Ending(limits.total, options.signal)
  await using ownConnections = options.connections ? null : new Connections()
  const journey: Journey = {
    ...options,
    limits,
    ending,
    verifyTls: request.verifyTls ?? true,
    connections: options.connections ?? ownConnections!,
  }
  let hop = firstHop(request)
  for (let redirects = 0; ; redirects++) {
    const answer = await ask(hop, journey)
    options.signal?.throwIfAborted()
    const next = redirectOf(hop, answer)
    if (next === null) return answer
    if (redirects === limits.redirects) throw new OutgoingFailure('redirects', 'Too many redirects')
    hop = next
  }
}

interface Journey extends OutgoingOptions {
  readonly limits: Limits
  readonly ending: Ending
  readonly verifyTls: boolean
  readonly connections: Connections
}

/** One signal for the timeout and for the caller's abort. */
class Ending implements Disposable {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #caller: AbortSignal | undefined
  readonly #callOff = () => this.#controller.abort(this.#caller?.reason)

  constructor(ms: number, caller?: AbortSignal) {
    this.#caller = caller
    this.#timer = setTimeout(() => this.#controller.abort(timedOut()), ms)
    if (caller?.aborted) this.#callOff()
    else caller?.addEventListener('abort', this.#callOff, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#caller?.removeEventListener('abort', this.#callOff)
  }
}

function firstHop({ url, headers = {}, body, ...input }: OutgoingRequest): Hop {
  const { method = body === undefined ? 'GET' : 'POST' } = input
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  if (!lowered.every(([name, value]) => isSendableHeader(name, value)))
    throw new OutgoingFailure('malformed', 'A header of the request is invalid')
  return { method, url: parsed(url), headers: Object.fromEntries(lowered), body }
}

function parsed(given: string, base?: URL): URL {
  const url = URL.parse(given, base?.href)
  if (url === null) throw new OutgoingFailure('malformed', 'The address is invalid')
  if (!/^https?:$/.test(url.protocol)) throw new OutgoingFailure('refused', 'Only http and https addresses are allowed')
  return url
}

function redirectOf({ method, url, headers, body }: Hop, { status, headers: answerHeaders }: RawAnswer): Hop | null {
  const location = answerHeaders.find(([name]) => name === 'location')?.[1]
  if (![301, 302, 303, 307, 308].includes(status) || !location) return null
  const next = parsed(location, url)
  // Credentials are not sent to another origin.
  const kept = next.origin === url.origin ? withBasic(url, headers) : withoutSecrets(headers)
  if (status >= 307) return { method, url: next, headers: kept, body }
  const { 'content-type': _, ...others } = kept
  return { method: 'GET', url: next, headers: others, body: undefined }
}

const withBasic = (url: URL, headers: Hop['headers']): Record<string, string> => {
  const authorization = basicOf(url)
  return { ...(authorization !== null && { authorization }), ...headers }
}

async function ask(hop: Hop, journey: Journey): Promise<RawAnswer> {
  try {
    const route = await routeTo(hop.url, journey)
    return await askOver(route, hop, journey)
  } catch (error) {
    const { signal } = journey.ending
    throw signal.aborted ? signal.reason : failureOf(error)
  }
}

async function routeTo(url: URL, journey: Journey): Promise<Route> {
  const { guard, proxy, verifyTls, ending, limits, connections } = journey
  const { names, ownAddresses } = connections
  const checked = { lookup: names.lookup, ownAddresses, ...guard, isAllowedPort: isPortOfHttp }
  if (proxy && !isExcept(proxy, url))
    return { target: checkTarget(url, checked), address: null, verifyTls, proxy: new URL(proxy.url) }
  const { addresses, ...target } = await inTime(resolveTarget(url, checked), limits.connect, ending.signal)
  const address = addresses.find((ip) => !ip.includes(':')) ?? addresses[0]
  if (address === undefined) throw new AddressRefused('unresolved')
  return { target, address: guard.pinned === false ? null : address, verifyTls, proxy: null }
}

function isExcept({ except }: OutgoingProxy, { hostname, port, protocol }: URL): boolean {
  const at = [bareHost(hostname), Number(port || (protocol === 'https:' ? 443 : 80))] as const
  return (except?.hasHost(...at) || except?.hasAddress(...at)) ?? false
}

/** Whether requests to the URL are allowed, as far as the URL itself tells. */
export function checkAddress(url: string, guard: OutgoingGuard): boolean {
  try {
    checkTarget(parsed(url), { ...guard, isAllowedPort: isPortOfHttp, namesPass: true })
    return true
  } catch (error) {
    if (error instanceof AddressRefused || error instanceof OutgoingFailure) return false
    throw error
  }
}

/** The system's name resolution cannot be cancelled; callers wait no longer than this. */
async function inTime<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(timedOut()), ms)
  const end = () => reject(signal.reason as Error)
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

async function askOver(route: Route, hop: Hop, journey: Journey, fresh = false): Promise<RawAnswer> {
  const { connections, limits } = journey
  const connection = await connections.take(route, { timeout: limits.connect, fresh })
  try {
    const answer = await askOn(connection, route, hop, journey)
    if (answer.isWhole) connections.keep(connection)
    else void connection.client.destroy()
    return answer
  } catch (error) {
    void connection.client.destroy()
    // The other side may close an idle connection just when it is reused.
    if (connection.isUsed && !fresh && isCutOff(error)) return askOver(route, hop, journey, true)
    throw error
  }
}

const isCutOff = (error: unknown) =>
  hasCode(error, 'UND_ERR_SOCKET') || hasCode(error, 'ECONNRESET') || hasCode(error, 'EPIPE')

async function askOn({ client, isUsed }: Connection, route: Route, hop: Hop, journey: Journey): Promise<RawAnswer> {
  const { ending, limits } = journey
  const reading = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const startTimer = () => (timer ??= setTimeout(() => reading.abort(timedOut()), limits.read))
  const end = () => reading.abort(ending.signal.reason)
  if (ending.signal.aborted) end()
  ending.signal.addEventListener('abort', end, { once: true })
  if (isUsed) startTimer()
  else client.once('connect', startTimer)
  try {
    const { statusCode, headers, body } = await client.request({
      method: hop.method as 'GET',
      path: isForwarded(route)
        ? `${originOf(route.target)}${hop.url.pathname}${hop.url.search}`
        : hop.url.pathname + hop.url.search,
      headers: sentHeaders(route, hop),
      body: hop.body ?? null,
      signal: reading.signal,
      responseHeaders: 'raw',
    })
    const pairs = pairsOf(headers as unknown as string[])
    return { status: statusCode, headers: pairs, ...(await readBody(body, limits.body)) }
  } catch (error) {
    throw reading.signal.aborted ? reading.signal.reason : error
  } finally {
    clearTimeout(timer)
    ending.signal.removeEventListener('abort', end)
  }
}

function sentHeaders(route: Route, { url, headers }: Hop): Record<string, string> {
  const own = isForwarded(route)
    ? { host: new URL(originOf(route.target)).host, ...proxyCredentials(route.proxy!) }
    : {}
  const all: [string, string][] = Object.entries({ ...withBasic(url, headers), ...own })
  // UTF-8: the library writes one byte per character.
  return Object.fromEntries(all.map(([name, value]) => [name, Buffer.from(value, 'utf8').toString('latin1')]))
}

/** A head is enough for an answer. A body that breaks off counts as cut. */
async function readBody(stream: AsyncIterable<Buffer>, limit: number): Promise<Pick<RawAnswer, 'body' | 'isWhole'>> {
  const chunks: Buffer[] = []
  let size = 0
  let isWhole = true
  try {
    for await (const chunk of stream) {
      chunks.push(chunk.subarray(0, limit - size))
      size += chunk.length
      // Leaving the loop closes the connection.
      if (size > limit) {
        isWhole = false
        break
      }
    }
  } catch {
    isWhole = false
  }
  return { body: Buffer.concat(chunks), isWhole }
}

/** Drops half a character at the end, and replaces NUL, which databases reject. */
const textOf = (body: Buffer) => new TextDecoder().decode(body, { stream: true }).replaceAll('\0', '\ufffd')
