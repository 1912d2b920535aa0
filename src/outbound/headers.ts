/** Headers of requests and answers from untrusted sources. */

const MOST_HEADERS = 50
const LONGEST_HEADER = 1024

// Headers that frame the message: only the client itself sets them.
const FRAMING = new Set(
  'host connection content-length transfer-encoding upgrade expect te trailer keep-alive proxy-authorization'.split(
    ' ',
  ),
)

/** Whether a user's header can be sent: it cannot end early, and does not frame the message. */
export const isSendableHeader = (name: string, value: string): boolean =>
  /^[\w!#$%&'*+.^`|~-]{1,255}$/.test(name) &&
  !FRAMING.has(name.toLowerCase()) &&
  // oxlint-disable-next-line no-control-regex -- the pattern matches control characters
  !/[\0-\x08\x0a-\x1f\x7f]/.test(value)

/** Headers that may go to another origin; any other may be a secret. */
const HARMLESS = new Set(
  `accept content-type user-agent idempotency-key x-gitlab-event x-gitlab-instance x-gitlab-event-uuid
  x-gitlab-webhook-uuid`.split(/\s+/),
)

export const withoutSecrets = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.has(name)))

export const pairsOf = (raw: readonly (string | Buffer)[]): [string, string][] =>
  raw.flatMap((name, n) => (n % 2 === 0 ? [[String(name).toLowerCase(), String(raw[n + 1])] as [string, string]] : []))

/** The headers of an answer for the log, limited in number and length. */
export function loggedHeaders(pairs: readonly [name: string, value: string][]): Record<string, string> {
  const shown = new Map<string, string>()
  for (const [name, value] of pairs) {
    const known = shown.get(name)
    if (known === undefined && shown.size === MOST_HEADERS) continue
    const whole = known === undefined ? value : `${known}, ${value}`
    shown.set(name.slice(0, LONGEST_HEADER), whole.slice(0, LONGEST_HEADER).toWellFormed().replaceAll('\0', '\ufffd'))
  }
  return Object.fromEntries(shown)
}
