/** Error messages of failed requests, which contain nothing of the request. */
import { ProxyRefused } from './connections.ts'
import { AddressRefused } from './guard.ts'

/** No answer came; the message gives the reason for the webhook log. */
export class OutgoingFailure extends Error {
  readonly reason: 'refused' | 'timeout' | 'unreachable' | 'tls' | 'redirects' | 'malformed'

  constructor(reason: OutgoingFailure['reason'], message: string) {
    super(message)
    this.name = 'OutgoingFailure'
    this.reason = reason
  }
}

export const timedOut = () => new OutgoingFailure('timeout', 'The request timed out')

const NETWORKS = {
  localhost: 'Requests to localhost are not allowed',
  loopback: 'Requests to loopback addresses are not allowed',
  local: 'Requests to the local network are not allowed',
  link_local: 'Requests to the link local network are not allowed',
  shared: 'Requests to the shared address space are not allowed',
  broadcast: 'Requests to the limited broadcast address are not allowed',
} as const

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused',
  ECONNRESET: 'The connection was closed',
  EPIPE: 'The connection was closed',
  UND_ERR_SOCKET: 'The connection was closed',
  EHOSTUNREACH: 'The host cannot be reached',
  ENETUNREACH: 'The host cannot be reached',
  ENOTFOUND: 'The host cannot be resolved',
  EAI_AGAIN: 'The host cannot be resolved',
}

const MALFORMED = ['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']

export function failureOf(error: unknown): OutgoingFailure {
  if (error instanceof OutgoingFailure) return error
  if (error instanceof AddressRefused) return refusalOf(error)
  if (error instanceof ProxyRefused) return new OutgoingFailure('unreachable', error.message)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'ETIMEDOUT')
    return timedOut()
  if (UNREACHABLE[code]) return new OutgoingFailure('unreachable', UNREACHABLE[code])
  if (MALFORMED.includes(code) || (error as Error).name === 'HTTPParserError')
    return new OutgoingFailure('malformed', 'The answer is not valid HTTP')
  if (/^(ERR_TLS|ERR_SSL|EPROTO|CERT_|CRL_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|INVALID_CA|HOSTNAME_)/.test(code))
    return new OutgoingFailure('tls', `TLS failed (${code})`)
  return new OutgoingFailure('unreachable', 'The request failed')
}

function refusalOf({ reason, network, message }: AddressRefused): OutgoingFailure {
  if (reason === 'unresolved') return new OutgoingFailure('unreachable', message)
  if (reason === 'malformed') return new OutgoingFailure('malformed', message)
  if (reason === 'port') return new OutgoingFailure('refused', 'The port is not one for HTTP')
  return new OutgoingFailure('refused', reason === 'local' ? NETWORKS[network] : message)
}
