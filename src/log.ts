/** One log, a child per part; fields, not sentences. Whatever is named like a secret is left out here, once. */
import { pino, type DestinationStream, type Logger } from 'pino'
import type { LogLevel } from './config.ts'

export type Log = Logger

export const SECRET_PARAMETERS = [
  'private_token',
  'access_token',
  'bearer_token',
  'job_token',
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
  'deploy-token',
  'authorization',
  'cookie',
  'set-cookie',
  'x-csrf-token',
]

const paths = [...SECRET_PARAMETERS, ...SECRET_HEADERS].flatMap((name) => [
  `["${name}"]`,
  `*["${name}"]`,
  `*.*["${name}"]`,
])

export async function openLog(level: LogLevel, destination?: DestinationStream): Promise<Log> {
  const options = { level, base: null, redact: { paths, censor: '[hidden]' }, timestamp: pino.stdTimeFunctions.isoTime }
  if (destination) return pino(options, destination)
  if (!process.stdout.isTTY) return pino(options)
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ colorize: true, sync: true }))
}
