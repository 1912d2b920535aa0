/**
 * Settings are read once, at the start, into one frozen object. Flags override the environment, and the environment
 * overrides `mortise.config.json` in the data folder. An invalid value stops the start with one clear line.
 */
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { isListable } from './lib/net/address-list.ts'

/** Why the server cannot start, in one line. */
export class CannotStart extends Error {}

export class BadSetting extends CannotStart {}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const LDAP_TLS = ['on', 'unverified', 'off'] as const

export interface Config {
  readonly host: string
  readonly port: number
  /** The URL that users see, without a trailing slash; null: built from the host and the bound port. */
  readonly url: string | null
  readonly data: string
  /** Port of the SSH server; null: no SSH server. */
  readonly sshPort: number | null
  /** Host and port of `ssh_url_to_repo`, if they differ from those of the URL and the SSH port; empty: none. */
  readonly sshUrl: string | null
  /** Repository folders by storage name; `default` always exists. */
  readonly storages: Readonly<Record<string, string>>
  readonly databaseUrl: string | null
  /** Connections of each process to PostgreSQL. */
  readonly databasePool: number
  readonly blobsUrl: string | null
  readonly s3AccessKey: string | null
  readonly s3SecretKey: string | null
  /** Where the server keeps a backup up to date: a folder or `s3://…`; null: no backup. */
  readonly backupUrl: string | null
  /** For how many days moments of that backup are kept. */
  readonly backupKeep: number
  /** Whether the server proves once a day that the backup can be restored. */
  readonly backupVerify: boolean
  readonly rootPassword: string | null
  readonly rootToken: string | null
  readonly rootEmail: string
  readonly secretKey: string | null
  readonly workers: number
  /** Megabytes for the caches of each process. */
  readonly cacheMemory: number
  /** No data changes: writes are refused, and no background work runs. */
  readonly readOnly: boolean
  readonly smtpUrl: string | null
  readonly mailFrom: string | null
  readonly mailReplyTo: string | null
  readonly ldapUrl: string | null
  readonly ldapBase: string | null
  readonly ldapBindDn: string | null
  readonly ldapBindPassword: string | null
  /** `on`: ldaps, or StartTLS on an ldap:// address; `unverified`: the same, with any certificate. */
  readonly ldapTls: (typeof LDAP_TLS)[number]
  readonly ldapUid: string
  readonly ldapFilter: string | null
  readonly ldapGroupBase: string | null
  readonly ldapProvider: string
  /** API requests per minute and caller; 0: no limit. */
  readonly rateLimit: number
  /** Addresses of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[]
  /** The proxy for hooks, integrations and includes. */
  readonly outboundProxy: string | null
  /** Hosts, addresses and networks that are reached without the proxy. */
  readonly outboundNoProxy: readonly string[]
  /** Gives access to `/-/metrics`, and nothing else. */
  readonly metricsToken: string | null
  readonly log: LogLevel
}

interface Setting<T> {
  readonly help: string
  readonly default: T
  /** Shown instead of the default in `--help`. */
  readonly shown?: string
  parse(text: string): T
}

type SettingTable = { readonly [K in keyof Config]: Setting<Config[K]> }

export const settings: SettingTable = {
  host: { help: 'address to listen on', default: '127.0.0.1', parse: text },
  port: { help: 'port to listen on; 0 for any free port', default: 8080, parse: integer(0, 65_535) },
  url: { help: 'public URL of the server', default: null, shown: 'http://HOST:PORT', parse: webAddress },
  data: { help: 'data folder', default: './data', parse: text },
  sshPort: { help: 'SSH port for git; off disables SSH', default: 2222, parse: sshPort },
  sshUrl: {
    help: 'public SSH address; off disables SSH',
    default: null,
    shown: 'ssh://HOST:SSH_PORT',
    parse: sshUrl,
  },
  storages: {
    help: 'repository storages as name=folder, comma-separated',
    default: {},
    shown: 'default in the data folder',
    parse: storages,
  },
  databaseUrl: {
    help: 'PostgreSQL URL: postgres://…',
    default: null,
    shown: 'SQLite in the data folder',
    parse: databaseUrl,
  },
  databasePool: { help: 'PostgreSQL connections per process', default: 10, parse: integer(2, 1000) },
  blobsUrl: {
    help: 'S3 object storage: s3://bucket?endpoint=…&region=…',
    default: null,
    shown: 'a folder in the data folder',
    parse: blobsUrl,
  },
  s3AccessKey: { help: 'S3 access key', default: null, shown: 'as in the address', parse: text },
  s3SecretKey: { help: 'S3 secret key', default: null, shown: 'as in the address', parse: text },
  backupUrl: {
    help: 'continuous backup: a folder or s3://bucket/prefix?endpoint=…',
    default: null,
    shown: 'no backup',
    parse: backupUrl,
  },
  backupKeep: { help: 'days for which moments of the backup are kept', default: 30, parse: integer(1, 36_500) },
  backupVerify: { help: 'restore the backup daily as a proof: on, off', default: true, shown: 'on', parse: onOrOff },
  rootPassword: {
    help: 'password of the first administrator',
    default: null,
    shown: 'random, printed once',
    parse: password,
  },
  rootToken: { help: 'private token of the first administrator', default: null, shown: 'none', parse: token },
  rootEmail: { help: 'email of the first administrator', default: 'admin@example.com', parse: email },
  secretKey: {
    help: 'encryption key of stored secrets, 64 hex digits',
    default: null,
    shown: 'a file in the data folder',
    parse: key,
  },
  workers: { help: 'number of HTTP processes; auto for one per core', default: 1, parse: workers },
  cacheMemory: { help: 'megabytes for the caches of each process', default: 64, parse: integer(1, 1_000_000) },
  readOnly: {
    help: 'on: refuse all writes and send nothing; as a flag of serve, without a value',
    default: false,
    shown: 'off',
    parse: onOrOff,
  },
  smtpUrl: {
    help: 'mail server: smtp://user:password@host:port',
    default: null,
    shown: 'none: mail goes to data/mail',
    parse: smtpUrl,
  },
  mailFrom: { help: 'sender address of emails', default: null, shown: 'mortise@HOST', parse: email },
  mailReplyTo: { help: 'Reply-To address of emails', default: null, shown: 'noreply@HOST', parse: email },
  ldapUrl: {
    help: 'LDAP server: ldap://host:port or ldaps://host:port',
    default: null,
    shown: 'no directory',
    parse: ldapUrl,
  },
  ldapBase: { help: 'base DN of LDAP users', default: null, shown: 'none', parse: dn },
  ldapBindDn: { help: 'DN of the LDAP search account', default: null, shown: 'anonymous', parse: dn },
  ldapBindPassword: { help: 'password of the LDAP search account', default: null, shown: 'none', parse: text },
  ldapTls: { help: `${LDAP_TLS.join(', ')}; on is StartTLS on ldap://`, default: 'on', parse: oneOf(LDAP_TLS) },
  ldapUid: { help: 'LDAP attribute of the username', default: 'uid', parse: attribute },
  ldapFilter: { help: 'LDAP filter for users who can sign in', default: null, shown: 'none', parse: ldapFilter },
  ldapGroupBase: { help: 'base DN of LDAP groups', default: null, shown: 'as --ldap-base', parse: dn },
  ldapProvider: { help: 'provider name of LDAP identities', default: 'ldapmain', parse: provider },
  rateLimit: { help: 'API requests per minute and caller; off for no limit', default: 60_000, parse: limit },
  trustedProxies: { help: 'trusted reverse proxies, comma-separated', default: [], shown: 'none', parse: list },
  outboundProxy: {
    help: 'proxy for webhooks: http://user:password@host:port',
    default: null,
    shown: 'none',
    parse: proxyUrl,
  },
  outboundNoProxy: {
    help: 'hosts and networks without proxy, comma-separated',
    default: [],
    shown: 'none',
    parse: addressList,
  },
  metricsToken: {
    help: 'access token for /-/metrics',
    default: null,
    shown: "none: administrators' only",
    parse: token,
  },
  log: { help: LOG_LEVELS.join(', '), default: 'info', parse: oneOf(LOG_LEVELS) },
}

/** databaseUrl → --database-url and MORTISE_DATABASE_URL */
export const flagOf = (name: string): string => name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)
export const variableOf = (name: string): string => `MORTISE_${name.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase()}`

type Input = Record<string, string | undefined>

export function readConfig(flags: Input, environment: Input): Config {
  const data = resolve(pick('data', flags, environment, {}) ?? settings.data.default)
  const file = readConfigFile(join(data, 'mortise.config.json'))
  const config: Record<string, unknown> = {}
  for (const name of Object.keys(settings) as (keyof Config)[]) {
    config[name] = valueOf(name, pick(name, flags, environment, file))
  }
  assertWholeDirectory(config as unknown as Config)
  const folders = { default: join(data, 'repositories'), ...(config as unknown as Config).storages }
  return Object.freeze({ ...(config as unknown as Config), data, storages: Object.freeze(folders) })
}

function assertWholeDirectory({ ldapUrl, ldapBase, ldapBindDn, ldapBindPassword, ldapTls }: Config): void {
  if (ldapUrl === null) return
  if (ldapBase === null) throw badSetting('ldapBase', `must be set with ${variableOf('ldapUrl')}`)
  if ((ldapBindDn === null) !== (ldapBindPassword === null)) {
    throw badSetting('ldapBindPassword', `goes together with ${variableOf('ldapBindDn')}`)
  }
  if (ldapUrl.startsWith('ldaps:') && ldapTls === 'off') throw badSetting('ldapTls', 'cannot be off with ldaps://')
}

function pick(name: string, flags: Input, environment: Input, file: Input): string | undefined {
  return flags[flagOf(name)] ?? environment[variableOf(name)] ?? file[name]
}

function valueOf<K extends keyof Config>(name: K, given: string | undefined): Config[K] {
  const setting = settings[name]
  if (given === undefined || given === '') return setting.default
  try {
    return setting.parse(given)
  } catch (error) {
    // The value itself may be a secret, so the line only says what it should be.
    throw badSetting(name, (error as Error).message)
  }
}

const badSetting = (name: keyof Config, fault: string) =>
  new BadSetting(`${variableOf(name)} (--${flagOf(name)}) ${fault}`)

function readConfigFile(path: string): Input {
  if (!existsSync(path)) return {}
  let content: unknown
  try {
    content = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    throw new BadSetting(`${path} is not valid JSON`)
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new BadSetting(`${path} must hold one JSON object`)
  }
  const given: Input = {}
  for (const [name, value] of Object.entries(content)) {
    if (!(name in settings)) throw new BadSetting(`${path} names an unknown setting: ${name}`)
    given[name] = Array.isArray(value) ? value.join(',') : String(value)
  }
  return given
}

function text(value: string): string {
  return value
}

function integer(min: number, max: number) {
  return (value: string): number => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) throw new Error(`must be a number from ${min} to ${max}`)
    return number
  }
}

function oneOf<T extends string>(values: readonly T[]) {
  return (value: string): T => {
    if (!(values as readonly string[]).includes(value)) throw new Error(`must be one of ${values.join(', ')}`)
    return value as T
  }
}

function address(protocols: string[], example: string) {
  return (value: string): string => {
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol))
      throw new Error(`must look like ${example}`)
    return value
  }
}

function webAddress(value: string): string {
  const { pathname, search, hash } = new URL(address(['http:', 'https:'], 'https://forge.example.com')(value))
  // Pages, cookies and git use paths from the root.
  if (pathname.length > 1 || search !== '' || hash !== '')
    throw new Error('must have no path: the forge is served at the root of a host or port of its own')
  return value.replace(/\/+$/, '')
}

function sshPort(value: string): number | null {
  return value === 'off' ? null : integer(0, 65_535)(value)
}

function sshUrl(value: string): string {
  if (value === 'off') return ''
  return address(['ssh:'], 'ssh://git.example.com:22')(value).replace(/\/+$/, '')
}

function storages(value: string): Record<string, string> {
  const pairs = list(value).map((pair) => /^([\w-]{1,64})=(.+)$/.exec(pair))
  if (pairs.some((pair) => !pair)) throw new Error('must look like default=/srv/repositories,fast=/mnt/fast')
  return Object.fromEntries(pairs.map((pair) => [pair![1], resolve(pair![2]!)]))
}

/** Otherwise the database is a SQLite file. */
export const usesPostgres = <C extends Pick<Config, 'databaseUrl'>>(config: C): config is C & { databaseUrl: string } =>
  /^postgres(ql)?:/.test(config.databaseUrl ?? '')

function databaseUrl(value: string): string {
  return address(['postgres:', 'postgresql:', 'sqlite:'], 'postgres://user:password@host:5432/name')(value)
}

function blobsUrl(value: string): string {
  const example = 's3://bucket?endpoint=https://s3.example.com&region=us-east-1'
  const { hostname, pathname, searchParams } = new URL(address(['s3:'], example)(value))
  if (hostname === '' || pathname.length > 1 || !areBucketOptions(searchParams))
    throw new Error(`must look like ${example}`)
  return value
}

export function backupUrl(value: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return resolve(value)
  const example = '/srv/backup or s3://bucket/prefix?endpoint=https://s3.example.com&region=us-east-1'
  const { hostname, searchParams } = new URL(address(['s3:'], example)(value))
  if (hostname === '' || !areBucketOptions(searchParams)) throw new Error(`must look like ${example}`)
  return value
}

function areBucketOptions(options: URLSearchParams): boolean {
  const isKnown = [...options.keys()].every((name) => ['endpoint', 'region', 'timeout'].includes(name))
  const endpoint = options.get('endpoint')
  const isReachable = endpoint === null || (/^https?:/.test(endpoint) && URL.canParse(endpoint))
  return isKnown && isReachable && /^[1-9]\d{0,3}$/.test(options.get('timeout') ?? '60')
}

function smtpUrl(value: string): string {
  return address(['smtp:', 'smtps:'], 'smtp://user:password@host:587')(value)
}

function proxyUrl(value: string): string {
  const example = 'http://proxy.example.com:3128'
  const { pathname, search } = new URL(address(['http:', 'https:'], example)(value))
  if (pathname.length > 1 || search !== '') throw new Error(`must look like ${example}`)
  return value
}

function addressList(value: string): string[] {
  const entries = list(value)
  if (!entries.every(isListable)) throw new Error('must look like intern.example.com,10.0.0.0/8')
  return entries
}

function ldapUrl(value: string): string {
  const example = 'ldap://ldap.example.com:389'
  const { hostname, pathname, search, username, href } = new URL(address(['ldap:', 'ldaps:'], example)(value))
  if (hostname === '' || pathname.length > 1 || search !== '' || username !== '') {
    throw new Error(`must look like ${example}`)
  }
  return href
}

function dn(value: string): string {
  if (!/^\s*[\w.-]+\s*=./.test(value)) throw new Error('must look like ou=people,dc=example,dc=org')
  return value
}

function attribute(value: string): string {
  if (!/^[a-z][a-z0-9-]*$/i.test(value)) throw new Error('must be the name of an attribute')
  return value
}

function ldapFilter(value: string): string {
  let inside = value.slice(1, -1)
  for (let before = ''; before !== inside;) {
    before = inside
    inside = inside.replace(/\([^()]+\)/g, '.')
  }
  if (!/^\(.+\)$/s.test(value) || /[()]/.test(inside)) {
    throw new Error('must be one filter in parentheses, such as (objectClass=person)')
  }
  return value
}

function provider(value: string): string {
  if (!/^\w[\w.-]{0,254}$/.test(value)) throw new Error('must be letters, digits, -, _ or .')
  return value
}

function password(value: string): string {
  if (value.length < 8 || value.length > 128) throw new Error('must have 8 to 128 characters')
  return value
}

function token(value: string): string {
  if (!/^[\w-]{8,128}$/.test(value)) throw new Error('must have 8 to 128 letters, digits, - or _')
  return value
}

function email(value: string): string {
  if (!/^[^@\s]+@[^@\s]+$/.test(value)) throw new Error('must be an email address')
  return value
}

function key(value: string): string {
  if (!/^[0-9a-f]{64}$/i.test(value)) throw new Error('must be 64 hex digits')
  return value
}

function onOrOff(value: string): boolean {
  return oneOf(['on', 'off'])(value) === 'on'
}

function workers(value: string): number {
  return value === 'auto' ? availableParallelism() : integer(1, 256)(value)
}

function limit(value: string): number {
  return value === 'off' ? 0 : integer(1, 1_000_000_000)(value)
}

function list(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
}

/** The database of test forges: a PostgreSQL server from the environment, or SQLite. */
export const testDatabaseUrl = (): string | undefined => process.env.MORTISE_TEST_DATABASE_URL
