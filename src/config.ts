/**
 * Settings are read once, at the start, into one frozen object: flags win over the environment, the environment over
 * `mortise.config.json` in the data folder. A bad value stops the start with one clear line.
 */
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'

/** Why a forge cannot start, in one line for whoever started it. */
export class CannotStart extends Error {}

export class BadSetting extends CannotStart {}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface Config {
  readonly host: string
  readonly port: number
  /** The address users see, without a slash at its end; null: made from the host and the port that was bound. */
  readonly url: string | null
  readonly data: string
  readonly databaseUrl: string | null
  readonly blobsUrl: string | null
  readonly s3AccessKey: string | null
  readonly s3SecretKey: string | null
  readonly rootPassword: string | null
  readonly rootToken: string | null
  readonly rootEmail: string
  readonly secretKey: string | null
  readonly workers: number
  readonly smtpUrl: string | null
  readonly mailFrom: string | null
  /** API requests a minute and caller; 0: no limit. */
  readonly rateLimit: number
  /** Addresses of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[]
  readonly log: LogLevel
}

interface Setting<T> {
  readonly help: string
  readonly default: T
  /** Said instead of the default in `--help`. */
  readonly shown?: string
  parse(text: string): T
}

type SettingTable = { readonly [K in keyof Config]: Setting<Config[K]> }

export const settings: SettingTable = {
  host: { help: 'address to listen on', default: '127.0.0.1', parse: text },
  port: { help: 'port to listen on; 0 takes a free one', default: 8080, parse: integer(0, 65_535) },
  url: { help: 'the address users see', default: null, shown: 'http://HOST:PORT', parse: webAddress },
  data: { help: 'folder of everything that is kept', default: './data', parse: text },
  databaseUrl: {
    help: 'postgres://… for PostgreSQL',
    default: null,
    shown: 'SQLite in the data folder',
    parse: databaseUrl,
  },
  blobsUrl: {
    help: 's3://bucket?endpoint=…&region=… for any S3',
    default: null,
    shown: 'a folder in the data folder',
    parse: blobsUrl,
  },
  s3AccessKey: { help: 'access key of that S3', default: null, shown: 'as in the address', parse: text },
  s3SecretKey: { help: 'secret key of that S3', default: null, shown: 'as in the address', parse: text },
  rootPassword: {
    help: "the first administrator's password",
    default: null,
    shown: 'random, printed once',
    parse: password,
  },
  rootToken: { help: "the first administrator's private token", default: null, shown: 'none', parse: token },
  rootEmail: { help: "the first administrator's email", default: 'admin@example.com', parse: email },
  secretKey: {
    help: '64 hex digits that seal stored secrets',
    default: null,
    shown: 'a file in the data folder',
    parse: key,
  },
  workers: { help: 'HTTP processes; auto: one a core', default: 1, parse: workers },
  smtpUrl: {
    help: 'smtp://user:password@host:port',
    default: null,
    shown: 'none: mail goes to data/mail',
    parse: smtpUrl,
  },
  mailFrom: { help: 'sender of mail', default: null, shown: 'mortise@HOST', parse: email },
  rateLimit: { help: 'API requests a minute and caller; off for none', default: 60_000, parse: limit },
  trustedProxies: { help: 'addresses of proxies in front, by comma', default: [], shown: 'none', parse: list },
  log: { help: LOG_LEVELS.join(', '), default: 'info', parse: oneOf(LOG_LEVELS) },
}

/** databaseUrl → --database-url and MORTISE_DATABASE_URL */
export const flagOf = (name: string): string => name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)
export const variableOf = (name: string): string => `MORTISE_${name.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase()}`

type Given = Record<string, string | undefined>

export function readConfig(flags: Given, environment: Given): Config {
  const data = resolve(pick('data', flags, environment, {}) ?? settings.data.default)
  const file = readConfigFile(join(data, 'mortise.config.json'))
  const config: Record<string, unknown> = {}
  for (const name of Object.keys(settings) as (keyof Config)[]) {
    config[name] = valueOf(name, pick(name, flags, environment, file))
  }
  return Object.freeze({ ...(config as unknown as Config), data })
}

function pick(name: string, flags: Given, environment: Given, file: Given): string | undefined {
  return flags[flagOf(name)] ?? environment[variableOf(name)] ?? file[name]
}

function valueOf<K extends keyof Config>(name: K, given: string | undefined): Config[K] {
  const setting = settings[name]
  if (given === undefined || given === '') return setting.default
  try {
    return setting.parse(given)
  } catch (error) {
    // The value itself may be a secret, so the line tells only what it should be.
    throw new BadSetting(`${variableOf(name)} (--${flagOf(name)}) ${(error as Error).message}`)
  }
}

function readConfigFile(path: string): Given {
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
  const given: Given = {}
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
  return address(['http:', 'https:'], 'https://forge.example.com')(value).replace(/\/+$/, '')
}

function databaseUrl(value: string): string {
  return address(['postgres:', 'postgresql:', 'sqlite:'], 'postgres://user:password@host:5432/name')(value)
}

function blobsUrl(value: string): string {
  const example = 's3://bucket?endpoint=https://s3.example.com&region=us-east-1'
  const { hostname, pathname, searchParams } = new URL(address(['s3:'], example)(value))
  const isBucket = hostname !== '' && pathname.length < 2
  const isKnown = [...searchParams.keys()].every((name) => name === 'endpoint' || name === 'region')
  const endpoint = searchParams.get('endpoint')
  const isReachable = endpoint === null || (/^https?:/.test(endpoint) && URL.canParse(endpoint))
  if (!isBucket || !isKnown || !isReachable) throw new Error(`must look like ${example}`)
  return value
}

function smtpUrl(value: string): string {
  return address(['smtp:', 'smtps:'], 'smtp://user:password@host:587')(value)
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

/** Where forges of a test suite keep their databases: a PostgreSQL server named by whoever runs the suite, or SQLite. */
export const testDatabaseUrl = (): string | undefined => process.env.MORTISE_TEST_DATABASE_URL
