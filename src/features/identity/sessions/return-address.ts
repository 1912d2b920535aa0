const HERE = 'http://here.invalid'

/**
 * Where to go after signing in: a path of this instance, or the front page. Read as a browser reads it, since browsers
 * take `/\host`, `/<tab>/host` and `/.//host` for another host.
 */
export function returnAddress(given: string | null): string {
  if (!given?.startsWith('/') || !URL.canParse(given, HERE)) return '/'
  const { origin, pathname, search, hash } = new URL(given, HERE)
  return origin !== HERE || pathname.startsWith('//') ? '/' : pathname + search + hash
}

/** A page of ours that leads there afterwards. */
export const withReturn = (page: string, returnTo: string): string =>
  returnTo === '/' ? page : `${page}?${new URLSearchParams({ return_to: returnTo })}`
