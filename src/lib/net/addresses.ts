/** Classifies IP addresses. No name is resolved here. */
import { BlockList, isIP } from 'node:net'

const blocked = new BlockList()
for (const [net, prefix] of [
  ['0.0.0.0', 8], // this machine
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // an internal service of a cloud provider, although its number is public
  ['169.254.0.0', 16], // link-local, where cloud providers serve credentials to their machines
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocols
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
] as const)
  blocked.addSubnet(net, prefix, 'ipv4')

/** Whether an IP address belongs to the public internet. False for a text that is no address. */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 4) return !blocked.check(ip, 'ipv4')
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  return isIP(ip) === 6 && !ip.includes('%') && isPublicIPv6(groupsOf(ip))
}

function isPublicIPv6(groups: number[]): boolean {
  const carried = carriedIPv4(groups)
  if (carried !== null) return isPublicAddress(carried)
  const [first = 0, second = 0] = groups
  if (first === 0x2001) return second >= 0x200 && second !== 0xdb8 // protocols and tunnels; documentation
  if (first === 0x3fff) return second >= 0x1000 // documentation
  return first >= 0x2000 && first < 0x4000 // all addresses ever assigned
}

/** The IPv4 address that an IPv6 address leads to; null if there is none. */
function carriedIPv4(groups: number[]): string | null {
  const startsWith = (...start: number[]) => start.every((group, n) => groups[n] === group)
  const at = (n: number) => dotted(groups[n]!, groups[n + 1]!)
  if (startsWith(0, 0, 0, 0, 0, 0xffff)) return at(6) // an IPv4-mapped address
  if (startsWith(0x64, 0xff9b, 0, 0, 0, 0)) return at(6) // translated to IPv4 on the way (NAT64)
  return startsWith(0x2002) ? at(1) : null // 6to4
}

/** Converts an IPv6 address that leads to an IPv4 address; all others stay unchanged. */
export function plainAddress(ip: string): string {
  return isIP(ip) === 6 && !ip.includes('%') ? (carriedIPv4(groupsOf(ip)) ?? ip) : ip
}

const NETWORKS = (
  [
    ['loopback', '127.0.0.0', 8],
    ['link_local', '169.254.0.0', 16],
    ['shared', '100.64.0.0', 10],
    ['broadcast', '255.255.255.255', 32],
    ['loopback', '::1', 128],
    ['link_local', 'fe80::', 10],
  ] as const
).map(([name, net, prefix]) => {
  const list = new BlockList()
  list.addSubnet(net, prefix, net.includes(':') ? 'ipv6' : 'ipv4')
  return { name, list }
})

export type LocalNetwork = (typeof NETWORKS)[number]['name'] | 'local'

/** The kind of network of a non-public address, for error messages. */
export function localNetworkOf(ip: string): LocalNetwork {
  const [address = ''] = plainAddress(ip).split('%', 1)
  return NETWORKS.find(({ list }) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'))?.name ?? 'local'
}

/**
 * The key to count one client by: an IPv4 address, or the /64 of an IPv6 address, which is the smallest network that a
 * customer gets.
 */
export function networkOf(ip: string): string {
  const [address = ''] = ip.split('%', 1)
  if (isIP(address) !== 6) return ip
  const groups = groupsOf(address)
  const isMapped = groups.slice(0, 6).join() === '0,0,0,0,0,65535'
  if (isMapped) return dotted(groups[6]!, groups[7]!)
  const network = groups.slice(0, 4).map((group) => group.toString(16))
  return `${network.join(':')}::/64`
}

const dotted = (high: number, low: number) => [high >> 8, high & 255, low >> 8, low & 255].join('.')

/** The eight numbers of an IPv6 address. */
function groupsOf(ip: string): number[] {
  // `URL` writes a dotted suffix as two groups.
  const [head = '', tail] = new URL(`http://[${ip}]`).hostname.slice(1, -1).split('::')
  const read = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  if (tail === undefined) return read(head)
  const [left, right] = [read(head), read(tail)]
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}
