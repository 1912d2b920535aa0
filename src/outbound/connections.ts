/**
 * Connections to others, each to the very address that was checked. They are kept for a few seconds, as many events
 * make many requests to the same receiver; one is used again only for the same address.
 */
import { isIP, type LookupFunction } from 'node:net'
import type { buildConnector, Client } from 'undici'
import { interfaceAddresses, type Target } from './guard.ts'
import { Names } from './names.ts'

export interface Route {
  readonly target: Target
  /** To connect to; null: whatever the name means by then. */
  readonly address: string | null
  readonly verifyTls: boolean
  /** Then the proxy connects, and looks the name up. */
  readonly proxy: URL | null
}

export interface Connection {
  readonly client: Client
  readonly key: string
  /** Others may have closed it a moment ago. */
  readonly isUsed: boolean
}

const MOST_IDLE = 128
const IDLE_MS = 4000
const OWN_ADDRESSES_MS = 1000
export const LARGEST_HEAD = 64 * 1024

/** The proxy answered in place of the receiver. */
export class ProxyRefused extends Error {
  readonly status: number

  constructor(status: number) {
    super(`The proxy answered ${status}`)
    this.status = status
  }
}

export class Connections implements AsyncDisposable {
  readonly names = new Names()
  #own = { addresses: new Set<string>() as ReadonlySet<string>, until: 0 }
  /** The one that was used last is the last. */
  readonly #idle = new Map<Client, string>()
  #isClosed = false

  /** The system takes long to tell them. */
  ownAddresses = (): ReadonlySet<string> => {
    const now = performance.now()
    if (now > this.#own.until) this.#own = { addresses: interfaceAddresses(), until: now + OWN_ADDRESSES_MS }
    return this.#own.addresses
  }

  async take(route: Route, { timeout, fresh }: { timeout: number; fresh: boolean }): Promise<Connection> {
    const key = keyOf(route)
    const found = fresh ? undefined : [...this.#idle].findLast(([, idle]) => idle === key)
    if (found) {
      this.#idle.delete(found[0])
      return { client: found[0], key, isUsed: true }
    }
    const client = await newClient(route, timeout)
    client.on('disconnect', () => {
      if (this.#idle.delete(client)) void client.destroy()
    })
    return { client, key, isUsed: false }
  }

  /** After a whole answer; whatever else happened, the connection is destroyed instead. */
  keep({ client, key }: Connection): void {
    if (this.#isClosed || client.destroyed || !client.stats.connected) return void client.destroy()
    this.#idle.set(client, key)
    const [oldest] = this.#idle.keys()
    if (this.#idle.size <= MOST_IDLE || !oldest) return
    this.#idle.delete(oldest)
    void oldest.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    const clients = [...this.#idle.keys()]
    this.#idle.clear()
    await Promise.all(clients.map((client) => client.destroy()))
  }
}

const isSecure = ({ target }: Route) => target.url.protocol === 'https:'

/** Requests without TLS go to the proxy itself, all over the same connections. */
export const isForwarded = (route: Route): boolean => route.proxy !== null && !isSecure(route)

/** Without the dot that may end a name: certificates have none. */
export function originOf({ url, host, port }: Target): string {
  return new URL(`${url.protocol}//${isIP(host) === 6 ? `[${host}]` : host}:${port}`).origin
}

const keyOf = (route: Route) =>
  isForwarded(route)
    ? `forwarded by ${route.proxy!.href}`
    : [originOf(route.target), route.address, route.verifyTls, route.proxy?.href].join(' ')

/** The library is loaded with the first request. */
async function newClient(route: Route, timeout: number): Promise<Client> {
  const { Client, buildConnector } = await import('undici')
  const options = {
    pipelining: 1,
    // Whoever sends has timers of their own, which nothing that is received prolongs.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: LARGEST_HEAD,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
  }
  if (route.proxy && isForwarded(route))
    return new Client(route.proxy.origin, { ...options, connect: buildConnector({ timeout }) })
  const connect = buildConnector({
    timeout,
    rejectUnauthorized: route.verifyTls,
    ...(route.address !== null && { autoSelectFamily: false, lookup: pinnedTo(route.address) }),
  })
  const through = route.proxy && tunnelThrough(route.proxy, connect, timeout)
  return new Client(originOf(route.target), { ...options, connect: through ?? connect })
}

const pinnedTo =
  (address: string): LookupFunction =>
  (_host, options, found) => {
    const family = isIP(address)
    if (options.all) found(null, [{ address, family }])
    else found(null, address, family)
  }

const tunnelThrough =
  (proxy: URL, connect: buildConnector.connector, timeout: number): buildConnector.connector =>
  (options, connected) => {
    const path = `${options.hostname}:${options.port || 443}`
    tunnel(proxy, path, timeout).then(
      (httpSocket) => connect({ ...options, httpSocket } as buildConnector.Options, connected),
      (error: Error) => connected(error, null),
    )
  }

async function tunnel(proxy: URL, path: string, timeout: number) {
  const { Client } = await import('undici')
  const client = new Client(proxy.origin, {
    connect: { timeout },
    headersTimeout: timeout,
    maxHeaderSize: LARGEST_HEAD,
  })
  try {
    const { statusCode, socket } = await client.connect({ path, headers: proxyCredentials(proxy) })
    // Until TLS listens, too.
    socket.on('error', () => {})
    if (statusCode === 200) return socket
    socket.destroy()
    throw new ProxyRefused(statusCode)
  } finally {
    // The socket of a tunnel is the client's no more.
    void client.destroy()
  }
}

export const proxyCredentials = (proxy: URL): Record<string, string> => {
  const authorization = basicOf(proxy)
  return authorization === null ? {} : { 'proxy-authorization': authorization }
}

/** Credentials of an address as a header; null: it has none. */
export function basicOf({ username, password }: URL): string | null {
  if (username === '' && password === '') return null
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
