/** The redirect target for visitors of the front page, as a header value. Null if that is the front page itself. */
export function homePage(address: string | null, forge: string): string | null {
  if (address === null) return null
  const { origin, pathname, href } = new URL(address)
  return origin === new URL(forge).origin && /^\/+$/.test(pathname) ? null : href
}
