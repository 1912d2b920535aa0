/** Query parameters that commonly contain credentials. */
const SECRET =
  /^(.*[_-])?(access_?key|api_?key|auth|code|credential|key|pass|password|passwd|secret|sig|signature|token)$/i
export const MASK = '[REDACTED]'

/** The URL as users may see it: without a password and without the values of secret parameters. */
export function withoutSecrets(url: string): string {
  const named = url.replace(/^([a-z][a-z\d+.-]{0,30}:\/\/)[^/?#@]*@/i, `$1${MASK}@`)
  const [address, query] = splitAt(named, '?')
  if (query === null) return address
  const [pairs, fragment] = splitAt(query, '#')
  const shown = pairs.split('&').map((pair) => {
    const [name, value] = splitAt(pair, '=')
    return value !== null && SECRET.test(name) ? `${name}=${MASK}` : pair
  })
  return `${address}?${shown.join('&')}${fragment === null ? '' : `#${fragment}`}`
}

function splitAt(text: string, mark: string): [before: string, after: string | null] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)]
}
