/** The signature of a request, by the Standard Webhooks convention: over its id, its timestamp and its body. */
import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'
const SHORTEST = 24
const LONGEST = 64

export function isSigningToken(token: string): boolean {
  const encoded = token.slice(PREFIX.length)
  if (!token.startsWith(PREFIX) || encoded.length > 2 * LONGEST) return false
  const key = Buffer.from(encoded, 'base64')
  return key.toString('base64') === encoded && key.length >= SHORTEST && key.length <= LONGEST
}

export function signatureHeaders(token: string, id: string, now: Date, body: string): Record<string, string> {
  const seconds = Math.floor(now.getTime() / 1000)
  const key = Buffer.from(token.slice(PREFIX.length), 'base64')
  const digest = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${digest}` }
}
