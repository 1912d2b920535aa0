/** One logger, with a child per part; fields, not sentences. Fields with names of secrets are removed here, for all. */
import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino'
import type { LogLevel } from './config.ts'

export type Log = Logger

export const SECRET_PARAMETERS = [
  'private_token',
  'access_token',
  'bearer_token',
  'job_token',
  'feed_token',
  'rss_token',
  'refresh_token',
  'token',
  'password',
  'current_password',
  'password_confirmation',
  'client_secret',
  'secret',
  'code',
  'code_verifier',
  'reset_password_token',
  'confirmation_token',
  'key',
  'authenticity_token',
]

const SECRET_HEADERS = [
  'private-token',
  'job-token',
  'runner-token',
  'deploy-token',
  'authorization',
  'cookie',
  'set-cookie',
  'x-csrf-token',
]

const SECRETS = new Set([...SECRET_PARAMETERS, ...SECRET_HEADERS])
const HIDDEN = '[hidden]'
const DEEPEST = 4

/** Runs for every request, so it copies nothing until it finds a secret (pino's own redaction costs 20 times more). */
function withoutSecrets(fields: Record<string, unknown>, depth = 0): Record<string, unknown> {
  let clean = fields
  for (const name in fields) {
    const value = fields[name]
    const shown = SECRETS.has(name.toLowerCase()) ? HIDDEN : cleaned(value, depth + 1)
    if (shown === value) continue
    if (clean === fields) clean = { ...fields }
    clean[name] = shown
  }
  return clean
}

function cleaned(value: unknown, depth: number): unknown {
  // Errors and requests have their own serializers.
  if (typeof value !== 'object' || value === null || value instanceof Error) return value
  if (depth > DEEPEST) return HIDDEN
  if (Array.isArray(value)) return value.map((one) => cleaned(one, depth + 1))
  return Object.getPrototypeOf(value) === Object.prototype
    ? withoutSecrets(value as Record<string, unknown>, depth)
    : value
}

/** Only fields known to be harmless: an error of the database, for example, may contain the whole row. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, code, cause } = error as NodeJS.ErrnoException & { cause?: unknown }
  return {
    type: name,
    message,
    stack,
    ...(code && { code }),
    ...(cause instanceof Error && { cause: errorFields(cause) }),
  }
}

let stdout: PatientStream | null = null

export async function openLog(level: LogLevel, destination?: DestinationStream): Promise<Log> {
  const options: LoggerOptions = {
    level,
    base: null,
    formatters: { log: withoutSecrets },
    // The framework's own serializer would write the whole URL with its query.
    serializers: { err: errorFields, req: ({ method }: { method?: string }) => ({ method }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  }
  if (destination) return pino(options, destination)
  if (!process.stdout.isTTY) return pino(options, (stdout ??= batching(pino.destination({ fd: 1, sync: true }))))
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ colorize: true, sync: true, singleLine: true }))
}

const LARGEST_BATCH = 32_768
const LONGEST_WAIT_MS = 100

interface PatientStream extends DestinationStream {
  /** Writes within a tenth of a second, and before any later line. */
  scheduleWrite?(line: string): void
}

/**
 * Lines of requests are written in batches: writing them one by one would be a fifth of the cost of a small request.
 */
function batching(stream: DestinationStream): PatientStream {
  let pending = ''
  let timer: NodeJS.Timeout | null = null
  const flush = (line = '') => {
    if (timer) clearTimeout(timer)
    timer = null
    const lines = pending + line
    pending = ''
    if (lines !== '') stream.write(lines)
  }
  process.on('exit', () => flush())
  return {
    write: flush,
    scheduleWrite(line) {
      pending += line
      if (pending.length > LARGEST_BATCH) flush()
      else timer ??= setTimeout(flush, LONGEST_WAIT_MS).unref()
    },
  }
}

export interface RequestLine {
  readonly reqId: string
  readonly method: string
  readonly route: string
  /** With its query, which is not logged. */
  readonly url: string
  readonly status: number
  readonly ms: number
  /** Digits, letters, dots and colons: nothing that JSON would escape. */
  readonly ip: string
  /** The user of the credential, and the user that an administrator acted as. */
  readonly user: string | null
  readonly sudo?: string | null
}

const LONGEST_PATH = 500
const SECRET_SEGMENT = /:(?:secret|token)$/
const UPLOAD = /\/uploads\/[0-9a-f]{32}\//g

/** The positions of secrets in a route, counted in segments. */
const secretsIn = (route: string): number[] =>
  route.split('/').flatMap((segment, i) => (SECRET_SEGMENT.test(segment) ? [i] : []))

/** Catch-all routes. An unknown path there may contain a secret in the wrong place. */
const ANY_ROUTE = ['unknown', '/*']

/** Removes secrets that are part of a URL. */
function pathText(url: string, secrets: readonly number[]): string {
  const path = url.split(/[?#]/, 1)[0]!.slice(0, LONGEST_PATH).replace(UPLOAD, `/uploads/${HIDDEN}/`)
  if (secrets.length === 0) return JSON.stringify(path)
  const segments = path.replace(/\/{2,}/g, '/').split('/')
  return JSON.stringify(segments.map((segment, i) => (secrets.includes(i) ? HIDDEN : segment)).join('/'))
}

let second = NaN
let secondText = ''

/** `2026-11-15T09:30:00.000Z`; the part without the milliseconds is cached for a second. */
function momentText(): string {
  const now = Date.now()
  const ms = now % 1000
  if (now - ms !== second) {
    second = now - ms
    secondText = new Date(second).toISOString().slice(0, -4)
  }
  return `${secondText}${String(ms).padStart(3, '0')}Z`
}

/** Writes the line of each request. Its form can contain no secret, so it bypasses pino except for the stream. */
export function requestLog(log: Log): (line: RequestLine) => void {
  const stream = (log as unknown as Record<symbol, PatientStream>)[pino.symbols.streamSym]!
  const known = new Map<string, { text: string; secrets: number[] }>()
  return ({ reqId, method, route, url, status, ms, ip, user, sudo }) => {
    if (!log.isLevelEnabled('info')) return
    let named = known.get(route)
    if (!named) known.set(route, (named = { text: JSON.stringify(route), secrets: secretsIn(route) }))
    const who = `"user":${user === null ? null : JSON.stringify(user)}${sudo ? `,"sudo":${JSON.stringify(sudo)}` : ''}`
    const line =
      `{"level":30,"time":"${momentText()}","part":"http","reqId":"${reqId}",${who},"method":"${method}",` +
      `"path":${status === 404 && ANY_ROUTE.includes(route) ? null : pathText(url, named.secrets)},"route":${named.text},"status":${status},` +
      `"ms":${Math.round(ms * 1000) / 1000},"ip":"${ip}","msg":"request"}\n`
    if (stream.scheduleWrite) stream.scheduleWrite(line)
    else stream.write(line)
  }
}
