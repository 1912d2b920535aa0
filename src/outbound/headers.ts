/** Headers of requests and answers, whoever wrote them. */

const MOST_HEADERS = 50
const LONGEST_HEADER = 1024

// Ours to write: they frame the message.
const FRAMING = new Set(
  'host connection content-length transfer-encoding upgrade expect te trailer keep-alive proxy-authorization'.split(
    ' ',
  ),
)

/** Whether a header of users can be sent as it is: it ends where it seems to end, and frames nothing. */
export const isSendableHeader = (name: string, value: string): boolean =>
  /^[\w!#$%&'*+.^`|~-]{1,255}$/.test(name) &&
  !FRAMING.has(name.toLowerCase()) &&
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  !/[\0-\x08\x0a-\x1f\x7f]/.test(value)

/** What another origin may be told; all else may be a secret. */
const HARMLESS = new Set(
  `accept content-type user-agent idempotency-key x-gitlab-event x-gitlab-instance x-gitlab-event-uuid
  x-gitlab-webhook-uuid`.split(/\s+/),
)

export const withoutSecrets = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.has(name)))

export const pairsOf = (raw: readonly (string | Buffer)[]): [string, string][] =>
  raw.flatMap((name, n) => (n % 2 === 0 ? [[String(name).toLowerCase(), String(raw[n + 1])] as [string, string]] : []))

/** As many as are kept of an answer, and as much of each. */
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
