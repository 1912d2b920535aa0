const HERE = 'http://here.invalid'

/**
 * The redirect target after signing in: a path of this instance, or the front page. Parsed as a browser does, because
 * browsers take `/\host`, `/<tab>/host` and `/.//host` for another host.
 */
export function returnAddress(given: string | null): string {
  if (!given?.startsWith('/') || !URL.canParse(given, HERE)) return '/'
  const { origin, pathname, search, hash } = new URL(given, HERE)
  return origin !== HERE || pathname.startsWith('//') ? '/' : pathname + search + hash
}

/** One of our pages, which then redirects to `returnTo`. */
export const withReturn = (page: string, returnTo: string): string =>
  returnTo === '/' ? page : `${page}?${new URLSearchParams({ return_to: returnTo })}`
