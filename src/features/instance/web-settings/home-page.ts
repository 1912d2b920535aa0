/** Where visitors of the front page are led, as a header takes it. Null where that is the front page itself. */
export function homePage(wanted: string | null, forge: string): string | null {
  if (wanted === null) return null
  const { origin, pathname, href } = new URL(wanted)
  return origin === new URL(forge).origin && /^\/+$/.test(pathname) ? null : href
}
