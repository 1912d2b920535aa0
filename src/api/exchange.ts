/** One API request and its answer: the objects of Node, and what is known about them so far. */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { BlockList, isIP, isIPv4 } from 'node:net'

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly id: string
  readonly address: string
  readonly startedAt = performance.now()
  /** The user of the credential, for the log. */
  user: string | null = null
  /** The user that an administrator acts as. */
  sudo: string | null = null
  /** The declared path of the endpoint, for the log and the metrics. */
  route = 'unknown'
  /** Milliseconds until it was answered. */
  took = 0
  /** Called for an answer that failed halfway, when no other answer is possible any more. */
  onLoss: (error: unknown) => void = () => {}
  /** Headers of the answer. */
  readonly headers: OutgoingHttpHeaders

  constructor(request: IncomingMessage, response: ServerResponse, address: string) {
    this.request = request
    this.response = response
    this.address = address
    this.id = requestId(request.headers)
    this.headers = {
      'X-Request-Id': this.id,
      'X-Frame-Options': 'SAMEORIGIN',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Origin',
    }
  }
}

const users = new WeakMap<IncomingMessage, string>()

/** For routes outside the API: records the user of a request, for the log. */
export const noteUser = (request: IncomingMessage, user: { username: string } | null): void =>
  void (user && users.set(request, user.username))

export const userOf = (request: IncomingMessage): string | null => users.get(request) ?? null

/** The id that the caller sent, sanitised, or a new one. */
export function requestId(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id']
  const clean = typeof given === 'string' ? given.replace(/[^\w-]/g, '').slice(0, 255) : ''
  return clean || randomUUID()
}

/** The address of the caller: the last one that is not a trusted proxy. */
export function addressReader(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? ''
  const trusted = new BlockList()
  for (const proxy of trustedProxies) {
    const [address, bits] = proxy.split('/') as [string, string | undefined]
    if (isIP(address)) trusted.addSubnet(address, Number(bits ?? (isIPv4(address) ? 32 : 128)), family(address))
  }
  return ({ socket, headers }) => {
    const forwarded = String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((hop) => plain(hop.trim()))
    const hops = [...forwarded.filter((hop) => isIP(hop)), plain(socket.remoteAddress ?? '')]
    while (hops.length > 1 && trusted.check(hops.at(-1)!, family(hops.at(-1)!))) hops.pop()
    return hops.at(-1)!
  }
}

const family = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** Unwraps an IPv4 address that arrived on an IPv6 socket. */
const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '')
