/**
 * Paths in addresses, segment by segment: whatever stands in a name (`#`, `?`, `%`, `&`) belongs to the name, and only
 * a slash that was written as one parts two of them.
 */

export const encodeSegments = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** Of an address without its host, what is asked for left out. Null where it cannot be decoded. */
export function decodeSegments(address: string): string[] | null {
  const [path] = address.split(/[?#]/, 1) as [string]
  try {
    const segments = path.split('/').filter(Boolean).map(decodeURIComponent)
    return segments.some((segment) => segment.includes('/')) ? null : segments
  } catch {
    return null
  }
}
