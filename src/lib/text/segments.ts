/**
 * Encodes paths in URLs segment by segment: special characters in a name (`#`, `?`, `%`, `&`) belong to the name, and
 * only an unencoded slash separates segments.
 */

export const encodeSegments = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** For a URL without its host; query and fragment are ignored. Null if it cannot be decoded. */
export function decodeSegments(address: string): string[] | null {
  const [path] = address.split(/[?#]/, 1) as [string]
  try {
    const segments = path.split('/').filter(Boolean).map(decodeURIComponent)
    return segments.some((segment) => segment.includes('/')) ? null : segments
  } catch {
    return null
  }
}
