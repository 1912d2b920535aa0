/** IP addresses by what they lead to. Nothing is looked up here. */
import { BlockList, isIP } from 'node:net'

const blocked = new BlockList()
for (const [net, prefix] of [
  ['0.0.0.0', 8], // this machine
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carriers' own
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // a cloud's service to its guests, in spite of its number
  ['169.254.0.0', 16], // link-local, where clouds keep their guests' secrets
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocols
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // relays of 6to4
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
] as const)
  blocked.addSubnet(net, prefix, 'ipv4')

/** Whether an IP address is one of the open internet. Whatever is not an address at all is not. */
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
  return first >= 0x2000 && first < 0x4000 // all that was ever given out
}

/** The address of IPv4 that one of IPv6 leads to; null: none. */
function carriedIPv4(groups: number[]): string | null {
  const startsWith = (...start: number[]) => start.every((group, n) => groups[n] === group)
  const at = (n: number) => dotted(groups[n]!, groups[n + 1]!)
  if (startsWith(0, 0, 0, 0, 0, 0xffff)) return at(6) // an IPv4 address in new clothes
  if (startsWith(0x64, 0xff9b, 0, 0, 0, 0)) return at(6) // translated to IPv4 on the way
  return startsWith(0x2002) ? at(1) : null // 6to4
}

/** An address of IPv6 that leads to one of IPv4 as the latter; all others as they are. */
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

/** What an address that is not public is a part of, for those who must be told. */
export function localNetworkOf(ip: string): LocalNetwork {
  const [address = ''] = plainAddress(ip).split('%', 1)
  return NETWORKS.find(({ list }) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'))?.name ?? 'local'
}

/** What one client is counted by: an address of IPv4; of IPv6 the /64, which is the least that anybody is given. */
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
  // `URL` writes a dotted end as two groups.
  const [head = '', tail] = new URL(`http://[${ip}]`).hostname.slice(1, -1).split('::')
  const read = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  if (tail === undefined) return read(head)
  const [left, right] = [read(head), read(tail)]
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}
