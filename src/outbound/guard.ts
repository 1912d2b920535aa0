/**
 * Where this forge may be sent by its users: hooks, imports, includes. A host is looked up once; the address that comes
 * back is the one to connect to, since the same name may mean another machine a moment later. Callers ask again for
 * every redirect.
 */
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isPublicAddress } from '../lib/addresses.ts'

const REASONS = {
  malformed: 'The address is invalid',
  scheme: 'Only http, https, git and ssh addresses are allowed',
  port: 'Only ports 22, 80, 443 and 1024 and up are allowed',
  own: 'Requests to this server itself are not allowed',
  unresolved: 'The host cannot be resolved',
  local: 'Requests to the local network are not allowed',
} as const

export class AddressRefused extends Error {
  readonly reason: keyof typeof REASONS

  constructor(reason: keyof typeof REASONS) {
    super(REASONS[reason])
    this.name = 'AddressRefused'
    this.reason = reason
  }
}

/** All addresses of a host. */
export type Lookup = (host: string) => Promise<readonly { address: string }[]>

export interface GuardOptions {
  /** Whether machines near us may be reached, too. */
  readonly allowLocal?: boolean
  /** Hosts of this forge as `URL.host` spells them, `forge.example.com` or `localhost:8080`; refused in any case. */
  readonly ownHosts?: readonly string[]
  readonly lookup?: Lookup
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'git:': 9418, 'ssh:': 22 }

/** The IP address to connect to, or an `AddressRefused`. */
export async function resolvePublic(url: string | URL, options: GuardOptions = {}): Promise<string> {
  const { allowLocal = false, ownHosts = [], lookup = allAddresses } = options
  const { protocol, host, hostname, port } = URL.parse(String(url)) ?? refuse('malformed')
  const usual = PORTS[protocol] ?? refuse('scheme')
  if (hostname === '') refuse('malformed')
  if (!isAllowedPort(port === '' ? usual : Number(port))) refuse('port')
  if (ownHosts.includes(plain(host))) refuse('own')

  const found = await addressesOf(hostname, lookup)
  // One bad address among good ones is an attempt to be sent there by chance.
  if (!allowLocal && !found.every((ip) => isPublicAddress(ip) && !isOfThisMachine(ip))) refuse('local')
  // Only one is pinned, so nobody falls back to the other family; IPv4 is the one every machine has.
  return found.find((ip) => isIP(ip) === 4) ?? found[0] ?? refuse('unresolved')
}

function refuse(reason: keyof typeof REASONS): never {
  throw new AddressRefused(reason)
}

/** Only for http and https does `URL` lower the case; a dot after the name changes nothing. */
const plain = (host: string) => host.toLowerCase().replace(/\.(?=:|$)/, '')

const isAllowedPort = (port: number) => [22, 80, 443].includes(port) || port >= 1024

const allAddresses: Lookup = (host) => systemLookup(host, { all: true })

async function addressesOf(hostname: string, lookup: Lookup): Promise<string[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0) return [host]
  const found = await lookup(host).catch(() => refuse('unresolved'))
  return found.map(({ address }) => address)
}

/** A public address of ours leads behind our own walls as surely as loopback does. */
const isOfThisMachine = (ip: string) =>
  Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === ip))
