/** A list of hosts, addresses and networks, each with an optional port. Pure: no name is resolved. */
import { BlockList, isIP } from 'node:net'
import { plainAddress } from './addresses.ts'

interface Entry {
  /** A host name, or an address or network with the length of its prefix. */
  readonly host: string
  readonly prefix: number | null
  readonly port: number | null
}

const SPELLINGS = [
  /^(?<host>[^:/[\]@?#\\]+)(?:\/(?<prefix>\d{1,3}))?(?::(?<port>\d{1,5}))?$/,
  /^(?<host>[\da-f]*:[\da-f:.]+)(?:\/(?<prefix>\d{1,3}))?$/i,
  /^\[(?<host>[\da-f]*:[\da-f:.]+)(?:\/(?<prefix>\d{1,3}))?\](?::(?<port>\d{1,5}))?$/i,
]
const NAME = /^[a-z\d_]([a-z\d_-]*[a-z\d_])?(\.[a-z\d_]([a-z\d_-]*[a-z\d_])?)*$/

/** `example.com`, `10.0.0.0/8`, `[fd00::1]:8080` and the like; null if the text is none of these. */
function entryOf(text: string): Entry | null {
  const found = SPELLINGS.map((spelling) => spelling.exec(text)).find((match) => match !== null)?.groups
  const host = normalHost(found?.host ?? '')
  if (!found || host === null) return null
  const port = found.port === undefined ? null : Number(found.port)
  const family = isIP(host)
  if (port === 0 || (port ?? 0) > 65_535) return null
  if (family === 0) return found.prefix === undefined && NAME.test(host) ? { host, prefix: null, port } : null
  const bits = family === 4 ? 32 : 128
  const prefix = Number(found.prefix ?? bits)
  return prefix <= bits ? { host, prefix, port } : null
}

/** In the form of `URL`, without brackets and trailing dot. */
function normalHost(host: string): string | null {
  const hostname = host && URL.parse(`http://${host.includes(':') ? `[${host}]` : host}/`)?.hostname
  return hostname ? bareHost(hostname) : null
}

/** `[::1]` → `::1`, `Example.com.` → `example.com` */
export const bareHost = (hostname: string): string =>
  hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')

export const isListable = (text: string): boolean => entryOf(text) !== null

export class AddressList {
  readonly #hosts = new Set<string>()
  readonly #networks = new Map<number | null, BlockList>()

  /** Unreadable entries are left out. */
  constructor(entries: readonly string[]) {
    for (const entry of entries.map(entryOf)) {
      if (entry === null) continue
      const { host, prefix, port } = entry
      if (prefix === null) this.#hosts.add(keyOf(host, port))
      else this.#networkAt(port).addSubnet(host, prefix, isIP(host) === 6 ? 'ipv6' : 'ipv4')
    }
  }

  #networkAt(port: number | null): BlockList {
    const list = this.#networks.get(port) ?? new BlockList()
    this.#networks.set(port, list)
    return list
  }

  /** Compares the name itself, not the addresses it resolves to. */
  hasHost(host: string, port: number): boolean {
    return this.#hosts.has(host) || this.#hosts.has(keyOf(host, port))
  }

  hasAddress(ip: string, port: number): boolean {
    // A zone (`fe80::1%eth0`) belongs to an interface, and is on no list.
    const forms = isIP(ip) === 0 || ip.includes('%') ? [] : [ip, plainAddress(ip)]
    const lists = [this.#networks.get(null), this.#networks.get(port)]
    return forms.some((form) => lists.some((list) => list?.check(form, isIP(form) === 6 ? 'ipv6' : 'ipv4')))
  }
}

const keyOf = (host: string, port: number | null) => (port === null ? host : `${host} ${port}`)
