/**
 * Outgoing connections, each to exactly the address that was checked. They stay open for a few seconds, because many
 * events make many requests to one receiver. A connection is reused only for the same address.
 */
import { isIP, type LookupFunction } from 'node:net'
import type { buildConnector, Client } from 'undici'
import { interfaceAddresses, type Target } from './guard.ts'
import { Names } from './names.ts'

export interface Route {
  readonly target: Target
  /** The address to connect to. Null: resolve the name when connecting. */
  readonly address: string | null
  readonly verifyTls: boolean
  /** With a proxy, the proxy resolves the name and connects. */
  readonly proxy: URL | null
}

export interface Connection {
  readonly client: Client
  readonly key: string
  /** Reused, so the other side may just have closed it. */
  readonly isUsed: boolean
}

const MOST_IDLE = 128
const IDLE_MS = 4000
const OWN_ADDRESSES_MS = 1000
const LARGEST_HEAD = 64 * 1024

/** The proxy answered instead of the receiver. */
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
  /** In the order of last use. */
  readonly #idle = new Map<Client, string>()
  #isClosed = false

  /** Cached, because the system takes long to list them. */
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

  /** Call after a complete answer. In any other case destroy the connection. */
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

/** Without the trailing dot of a name: certificates have none. */
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
    // The caller has timers of its own, which received data does not extend.
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
    // TLS adds its error handler only later.
    socket.on('error', () => {})
    if (statusCode === 200) return socket
    socket.destroy()
    throw new ProxyRefused(statusCode)
  } finally {
    // The client no longer owns the socket of a tunnel.
    void client.destroy()
  }
}

export const proxyCredentials = (proxy: URL): Record<string, string> => {
  const authorization = basicOf(proxy)
  return authorization === null ? {} : { 'proxy-authorization': authorization }
}

/** The credentials of a URL as a header. Null: it has none. */
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
