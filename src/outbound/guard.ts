/**
 * Decides which addresses this server may connect to for its users: webhooks, imports, includes. A host is resolved
 * once, and the connection goes to that address, because the same name may point to another machine a moment later.
 * Callers check again at every redirect.
 */
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { hostname as machineName, networkInterfaces } from 'node:os'
import { bareHost, type AddressList } from '../lib/net/address-list.ts'
import { isPublicAddress, localNetworkOf, plainAddress, type LocalNetwork } from '../lib/net/addresses.ts'

const REASONS = {
  malformed: 'The address is invalid',
  scheme: 'Only http, https, git and ssh addresses are allowed',
  port: 'Only ports 22, 80, 443 and 1024 and up are allowed',
  own: 'Requests to this server itself are not allowed',
  unresolved: 'The host cannot be resolved',
  unlisted: 'Requests to hosts and IP addresses not on the allow list are denied',
  local: 'Requests to the local network are not allowed',
} as const

export class AddressRefused extends Error {
  readonly reason: keyof typeof REASONS
  /** The local network that the address belongs to. */
  readonly network: LocalNetwork | 'localhost'

  constructor(reason: keyof typeof REASONS, network: LocalNetwork | 'localhost' = 'local') {
    super(REASONS[reason])
    this.name = 'AddressRefused'
    this.reason = reason
    this.network = network
  }
}

/** All addresses of a host. */
export type Lookup = (host: string) => Promise<readonly { address: string }[]>

export interface GuardOptions {
  /** Whether local addresses are allowed. */
  readonly allowLocal?: boolean
  /** Always allowed, even if local. */
  readonly allowed?: AddressList
  /** Whether only these are allowed. */
  readonly onlyAllowed?: boolean
  /** The web URL of this server, which is always allowed. */
  readonly ownUrl?: string
  /** Hosts of this server as `URL.host` spells them, `forge.example.com` or `localhost:8080`. Always refused. */
  readonly ownHosts?: readonly string[]
  /** The allowed ports; by default those of git hosts. */
  readonly isAllowedPort?: (port: number) => boolean
  readonly lookup?: Lookup
  /** The addresses of this machine. */
  readonly ownAddresses?: () => ReadonlySet<string>
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'git:': 9418, 'ssh:': 22 }

export interface Target {
  readonly url: URL
  /** The host without brackets. */
  readonly host: string
  readonly port: number
}

/** The IP address to connect to. Throws an `AddressRefused`. */
export async function resolvePublic(url: string | URL, options: GuardOptions = {}): Promise<string> {
  const { addresses } = await resolveTarget(url, options)
  // Only one address is pinned, so there is no fallback to the other family. Every machine has IPv4.
  return addresses.find((ip) => isIP(ip) === 4) ?? addresses[0] ?? refuse('unresolved')
}

/** All addresses of a host, each of them checked. Empty if the host is not found. */
export async function resolveTarget(
  url: string | URL,
  options: GuardOptions,
): Promise<Target & { addresses: readonly string[] }> {
  const target = targetOf(url, options)
  const addresses = await addressesOf(target.host, options.lookup ?? allAddresses)
  assertAllowed(target, addresses, options)
  return { ...target, addresses }
}

/** Checks the URL alone, where a proxy resolves the name or it is resolved later. */
export function checkTarget(url: string | URL, options: GuardOptions & { namesPass?: boolean }): Target {
  const target = targetOf(url, options)
  const isName = isIP(target.host) === 0
  if (isName && isNameOfThisMachine(target.host)) assertAllowed(target, ['127.0.0.1'], options)
  else if (!isName || !options.namesPass) assertAllowed(target, isName ? [] : [target.host], options)
  return target
}

function targetOf(given: string | URL, options: GuardOptions): Target {
  const { ownHosts = [], isAllowedPort = isPortOfGitHost } = options
  const url = URL.parse(String(given)) ?? refuse('malformed')
  const port = Number(url.port || (PORTS[url.protocol] ?? refuse('scheme')))
  if (!isHost(bareHost(url.hostname))) refuse('malformed')
  if (!isAllowedPort(port)) refuse('port')
  if (ownHosts.includes(plain(url.host))) refuse('own')
  return { url, host: bareHost(url.hostname), port }
}

function assertAllowed({ url, host, port }: Target, addresses: readonly string[], options: GuardOptions): void {
  const { allowed, allowLocal = false, onlyAllowed = false, ownUrl, ownAddresses = interfaceAddresses } = options
  if (ownUrl !== undefined && plain(url.origin) === plain(new URL(ownUrl).origin)) return
  if (allowed?.hasHost(host, port)) return
  let own: ReadonlySet<string> | undefined
  const isListed = (ip: string) => allowed?.hasAddress(ip, port) ?? false
  if (onlyAllowed && !(addresses.length > 0 && addresses.every(isListed))) refuse('unlisted')
  if (allowLocal) return
  // One forbidden address is enough to refuse: a later connection could pick it by chance.
  for (const ip of addresses) {
    if (isListed(ip)) continue
    own ??= ownAddresses()
    if (own.has(plainAddress(ip))) refuse('local', 'localhost')
    if (!isPublicAddress(ip)) refuse('local', localNetworkOf(ip))
  }
}

function refuse(reason: keyof typeof REASONS, network?: LocalNetwork | 'localhost'): never {
  throw new AddressRefused(reason, network)
}

/** `URL` lower-cases only http and https hosts; a trailing dot changes nothing. */
const plain = (host: string) => host.toLowerCase().replace(/\.(?=:|$)/, '')

const isPortOfGitHost = (port: number) => [22, 80, 443].includes(port) || port >= 1024

/** Ports that browsers block, too, because other protocols could misread an HTTP request. */
const PORTS_OF_OTHERS = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])
export const isPortOfHttp = (port: number) => port > 0 && !PORTS_OF_OTHERS.has(port)

export const allAddresses: Lookup = (host) => systemLookup(host, { all: true })

async function addressesOf(host: string, lookup: Lookup): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  const found = await lookup(host).catch(() => [])
  return found.map(({ address }) => address)
}

/** Names for the machine and its network in `/etc/hosts` of common systems. */
const LOCAL_NAMES = /(^|[.-])local(host|domain)$|^(ip6-)?(loopback|localnet|mcastprefix|allnodes|allrouters|allhosts)$/

const isNameOfThisMachine = (host: string) => LOCAL_NAMES.test(host) || host === machineName().toLowerCase()

/** Labels of letters, digits, underscores and inner hyphens. No other name goes to a resolver. */
const isHost = (host: string) =>
  isIP(host) !== 0 || (host.length <= 253 && /^(?!-)[\w-]{1,63}(?<!-)(\.(?!-)[\w-]{1,63}(?<!-))*$/.test(host))

/** A public address of this machine leads to internal services, too, just like loopback. */
export const interfaceAddresses = (): ReadonlySet<string> =>
  new Set([
    '0.0.0.0',
    '::',
    ...Object.values(networkInterfaces()).flatMap((all) => all?.map((one) => one.address) ?? []),
  ])
