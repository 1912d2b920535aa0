import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BadSetting, readConfig } from './config.ts'

const read = (ldap: Record<string, string>) =>
  readConfig({}, Object.fromEntries(Object.entries(ldap).map(([name, value]) => [`MORTISE_LDAP_${name}`, value])))

const LEAST = { URL: 'ldap://ldap.example.com', BASE: 'ou=people,dc=example,dc=org' }

test('a directory needs an address and a base; the rest has defaults, and safe ones', () => {
  expect(read({})).toMatchObject({ ldapUrl: null, ldapTls: 'on' })
  expect(read(LEAST)).toMatchObject({
    ldapUrl: 'ldap://ldap.example.com',
    ldapBase: 'ou=people,dc=example,dc=org',
    ldapBindDn: null,
    ldapBindPassword: null,
    ldapTls: 'on',
    ldapUid: 'uid',
    ldapFilter: null,
    ldapGroupBase: null,
    ldapProvider: 'ldapmain',
  })
  const filter = '(&(objectClass=person)(!(cn=\\28x\\29)))'
  expect(read({ ...LEAST, URL: 'LDAPS://[::1]:636/', FILTER: filter })).toMatchObject({
    ldapUrl: 'ldaps://[::1]:636/',
    ldapFilter: filter,
  })
})

test.each([
  [{ URL: 'ldap.example.com' }, 'URL (--ldap-url) must look like ldap://ldap.example.com:389'],
  [{ URL: 'https://ldap.example.com' }, 'URL (--ldap-url) must look like ldap://ldap.example.com:389'],
  [{ URL: 'ldap://' }, 'URL (--ldap-url) must look like ldap://ldap.example.com:389'],
  [{ URL: 'ldap://me:secret@ldap.example.com' }, 'URL (--ldap-url) must look like ldap://ldap.example.com:389'],
  [{ URL: 'ldap://ldap.example.com/dc=org?uid' }, 'URL (--ldap-url) must look like ldap://ldap.example.com:389'],
  [{ BASE: '' }, 'BASE (--ldap-base) must be set with MORTISE_LDAP_URL'],
  [{ BASE: 'example.org' }, 'BASE (--ldap-base) must look like ou=people,dc=example,dc=org'],
  [{ BIND_DN: 'cn=me,dc=org' }, 'BIND_PASSWORD (--ldap-bind-password) goes together with MORTISE_LDAP_BIND_DN'],
  [{ BIND_PASSWORD: 'secret' }, 'BIND_PASSWORD (--ldap-bind-password) goes together with MORTISE_LDAP_BIND_DN'],
  [{ TLS: 'maybe' }, 'TLS (--ldap-tls) must be one of on, unverified, off'],
  [{ TLS: 'off', URL: 'ldaps://ldap.example.com' }, 'TLS (--ldap-tls) cannot be off with ldaps://'],
  [{ UID: 'uid=*' }, 'UID (--ldap-uid) must be the name of an attribute'],
  [{ PROVIDER: 'the main one' }, 'PROVIDER (--ldap-provider) must be letters, digits, -, _ or .'],
  ...['objectClass=person', '(cn=a', '(cn=a))', '(cn=a)(cn=b)', ')('].map((FILTER): [object, string] => [
    { FILTER },
    'FILTER (--ldap-filter) must be one filter in parentheses, such as (objectClass=person)',
  ]),
])('%j stops the start with one line', (bad, line) => {
  expect(() => read({ ...LEAST, ...bad })).toThrow(new BadSetting(`MORTISE_LDAP_${line}`))
})

test('the file of the documentation is one', async () => {
  const data = await mkdtemp(join(tmpdir(), 'mortise-config-'))
  const example = new URL('../docs/mortise.config.example.json', import.meta.url)
  await copyFile(example, join(data, 'mortise.config.json'))
  try {
    const config = readConfig({ port: '9000' }, { MORTISE_DATA: data, MORTISE_LOG: 'warn' })
    expect(config).toMatchObject({
      port: 9000,
      log: 'warn',
      sshUrl: 'ssh://forge.example.com:22',
      storages: { default: '/srv/mortise/repositories', fast: '/mnt/nvme/repositories' },
      trustedProxies: ['10.0.0.1', '10.0.0.2'],
      rateLimit: 60_000,
    })
  } finally {
    await rm(data, { recursive: true })
  }
})

test.each([
  [{ PROXY: 'proxy.example.com:3128' }, 'PROXY (--outbound-proxy) must look like http://proxy.example.com:3128'],
  [{ PROXY: 'socks5://me:secret@proxy' }, 'PROXY (--outbound-proxy) must look like http://proxy.example.com:3128'],
  [{ PROXY: 'http://proxy/path' }, 'PROXY (--outbound-proxy) must look like http://proxy.example.com:3128'],
  [{ NO_PROXY: '*.example.com' }, 'NO_PROXY (--outbound-no-proxy) must look like intern.example.com,10.0.0.0/8'],
])('%j is no way out', (bad, line) => {
  const given = Object.entries(bad).map(([name, value]) => [`MORTISE_OUTBOUND_${name}`, value])
  expect(() => readConfig({}, Object.fromEntries(given))).toThrow(new BadSetting(`MORTISE_OUTBOUND_${line}`))
})

test('an address for SSH may be none', () => {
  expect(readConfig({}, { MORTISE_SSH_URL: 'off' }).sshUrl).toBe('')
  expect(() => readConfig({}, { MORTISE_SSH_URL: 'none' })).toThrow('must look like ssh://git.example.com:22')
})
