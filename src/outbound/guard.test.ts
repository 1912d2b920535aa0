import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { afterEach, expect, test, vi } from 'vitest'
import { AddressRefused, resolvePublic, type GuardOptions, type Lookup } from './guard.ts'

/** Answers each lookup with the next list, and repeats the last one. */
function dns(...answers: string[][]): Lookup & { queries: string[] } {
  const queries: string[] = []
  const lookup: Lookup = async (host) => {
    const addresses = answers[Math.min(queries.push(host), answers.length) - 1] ?? []
    return addresses.map((address) => ({ address }))
  }
  return Object.assign(lookup, { queries })
}

const refusal = async (url: string, options?: GuardOptions) => {
  const error: unknown = await resolvePublic(url, options).then(
    (ip) => ip,
    (thrown: unknown) => thrown,
  )
  return error instanceof AddressRefused ? error.reason : error
}

test('a host is looked up once, and the answer is what to connect to', async () => {
  const lookup = dns(['93.184.215.14'], ['127.0.0.1'])
  expect(await resolvePublic('https://Example.com/hook?x=1', { lookup })).toBe('93.184.215.14')
  expect(lookup.queries).toEqual(['example.com'])
  // A redirect to the same name is resolved again.
  expect(await refusal('https://example.com/', { lookup })).toBe('local')
})

test('an address as such needs no lookup', async () => {
  const lookup = dns()
  expect(await resolvePublic(new URL('http://8.8.8.8/'), { lookup })).toBe('8.8.8.8')
  expect(await resolvePublic('git://[2606:4700::1111]/x', { lookup })).toBe('2606:4700::1111')
  expect(lookup.queries).toEqual([])
})

test('IPv4 is preferred: everyone can reach it', async () => {
  expect(await resolvePublic('https://a.example', { lookup: dns(['2606:4700::1111', '1.1.1.1']) })).toBe('1.1.1.1')
  expect(await resolvePublic('https://a.example', { lookup: dns(['2606:4700::1111']) })).toBe('2606:4700::1111')
})

test.each([
  ['http://127.0.0.1/', 'http://[::1]/', 'http://0.0.0.0/', 'http://[::]/', 'http://localhost/'],
  [
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://0/',
    'http://127.0.0.1./',
  ],
  ['git://0x7f.1/x', 'git://2130706433/x', 'ssh://127.1/x', 'git://LOCALHOST/x'],
  ['http://[::ffff:127.0.0.1]/', 'http://[::ffff:7f00:1]/', 'http://[64:ff9b::7f00:1]/', 'http://[2002:7f00:1::]/'],
  [
    'http://169.254.169.254/latest',
    'http://10.1.2.3/',
    'http://192.168.1.1/',
    'http://[fd00::1]/',
    'http://[fe80::1]/',
  ],
  [
    'http://１２７.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http://127。0。0。1/',
    'http://me@127.0.0.1/',
    'http:\\\\127.0.0.1',
  ],
])('what leads inside is refused, however it is spelt: %s …', async (...urls) => {
  expect(await Promise.all(urls.map((url) => refusal(url)))).toEqual(urls.map(() => 'local'))
})

test('a name that leads inside is refused, also by one of its addresses only', async () => {
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['8.8.8.8', '::1'], ['::ffff:192.168.0.1']])
    expect(await refusal('https://rebind.example/', { lookup: dns(addresses) })).toBe('local')
})

test('an address of this very machine is not outside, though it be public', async () => {
  const lookup = dns(['8.8.8.8'])
  expect(await refusal('http://a.example/', { lookup })).toBe('8.8.8.8')
  const own = { address: '8.8.8.8', family: 'IPv4', netmask: '', mac: '', internal: false, cidr: null } as const
  vi.spyOn(os, 'networkInterfaces').mockReturnValue({ eth0: [own] })
  syncBuiltinESMExports()
  expect(await refusal('http://a.example/', { lookup })).toBe('local')
  expect(await refusal('http://8.8.8.8/')).toBe('local')
})

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

test('where local addresses are allowed they are found, and all else is checked as ever', async () => {
  const allowLocal = true
  expect(await resolvePublic('http://127.0.0.1:3000/', { allowLocal })).toBe('127.0.0.1')
  expect(await resolvePublic('http://intern.example/', { allowLocal, lookup: dns(['10.0.0.1']) })).toBe('10.0.0.1')
  expect(await refusal('http://127.0.0.1:25/', { allowLocal })).toBe('port')
  expect(await refusal('file:///etc/passwd', { allowLocal })).toBe('scheme')
})

test('hosts of our own are refused in any case', async () => {
  const options = { allowLocal: true, ownHosts: ['forge.example', 'localhost:8080'], lookup: dns(['8.8.8.8']) }
  const own = ['https://forge.example/x', 'http://FORGE.example./', 'git://Forge.Example/x', 'http://localhost:8080/']
  expect(await Promise.all(own.map((url) => refusal(url, options)))).toEqual(own.map(() => 'own'))
  expect(await resolvePublic('http://localhost:8081/', options)).toBe('8.8.8.8')
  expect(await resolvePublic('http://notforge.example/', options)).toBe('8.8.8.8')
})

test.each([
  ['https://a.example:22/', null],
  ['https://a.example:80/', null],
  ['http://a.example:443/', null],
  ['http://a.example:1024/', null],
  ['http://a.example:65535/', null],
  ['git://a.example/x', null],
  ['ssh://git@a.example/x', null],
  ['http://a.example:0/', 'port'],
  ['http://a.example:21/', 'port'],
  ['http://a.example:25/', 'port'],
  ['http://a.example:1023/', 'port'],
  ['http://a.example:65536/', 'malformed'],
  ['file:///etc/passwd', 'scheme'],
  ['gopher://a.example/', 'scheme'],
  ['ext::sh -c x', 'scheme'],
  ['javascript:alert(1)', 'scheme'],
  ['git:///x', 'malformed'],
  ['git:x', 'malformed'],
  ['/hook', 'malformed'],
  ['', 'malformed'],
] as const)('%s: %s', async (url, reason) => {
  expect(await refusal(url, { lookup: dns(['8.8.8.8']) })).toBe(reason ?? '8.8.8.8')
})

test('a host that is not found is refused', async () => {
  expect(await refusal('http://a.example/', { lookup: dns([]) })).toBe('unresolved')
  expect(await refusal('http://a.example/', { lookup: () => Promise.reject(new Error('ENOTFOUND')) })).toBe(
    'unresolved',
  )
})
