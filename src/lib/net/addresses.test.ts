import { expect, test } from 'vitest'
import { isPublicAddress, networkOf } from './addresses.ts'

const words = (text: string) => text.trim().split(/\s+/)

test.each([
  ['this machine', '0.0.0.0 0.1.2.3 127.0.0.1 127.255.255.255 :: ::1 0:0:0:0:0:0:0:1'],
  ['private', '10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 fc00::1 fdff::1 fec0::1'],
  ['link-local', '169.254.169.254 fe80::1 febf::1 fe80::1%eth0'],
  ['carriers', '100.64.0.1 100.127.255.255'],
  ['multicast and broadcast', '224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 ff02::1'],
  ['documentation and benchmarks', '192.0.2.1 198.51.100.1 203.0.113.1 198.18.0.1 198.19.255.255 2001:db8::1 3fff::1'],
  ['protocols', '192.0.0.1 192.88.99.1 2001::1 2001:10::1 2001:1ff::1 100::1 5f00::1 64:ff9b:1::1'],
  ['services of clouds', '168.63.129.16 100.100.100.200 fd00:ec2::254'],
  ['mapped', '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::FFFF:a9fe:a9fe ::ffff:0.0.0.0'],
  ['compatible', '::127.0.0.1 ::10.0.0.1 ::8.8.8.8 ::ffff:0:8.8.8.8'],
  ['translated', '64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe'],
  ['6to4', '2002:7f00:1:: 2002:a00:1::1 2002:c0a8:101::1 2002:a9fe:a9fe::'],
  ['no address', 'localhost 127.1 0x7f000001 2130706433 0177.0.0.1 1.2.3 1.2.3.4.5 [::1] :::1 x'],
])('%s is not public', (_kind, addresses) => {
  expect(words(addresses).filter(isPublicAddress)).toEqual([])
  expect(isPublicAddress('')).toBe(false)
})

test('the open internet is, up to the edges of what is not', () => {
  const open = words(
    `1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
    169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
    223.255.255.255 2000::1 2001:200::1 2001:4860:4860::8888 2606:4700::1111 2001:db9::1 3fff:1000::1 3fff:ffff::1
    ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1`,
  )
  expect(open.filter((ip) => !isPublicAddress(ip))).toEqual([])
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['local', 'local'],
  ['', ''],
])('%s is counted as %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network)
})
