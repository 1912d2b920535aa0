/** Headers of content that others wrote: a browser shows or saves it, and never takes it for a page of ours. */

export const SANDBOXED = { 'Content-Security-Policy': "default-src 'none'; sandbox" }

/**
 * A document that a browser shows by itself, in a frame of our own pages alone. A sandbox would be stricter, but browsers
 * show no PDF in one. By its type nothing in it is taken for a page; what their viewers add is theirs.
 */
export const INLINE_PDF = {
  'Content-Type': 'application/pdf',
  'Content-Security-Policy': "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'",
  'X-Content-Type-Options': 'nosniff',
}

export function disposition(manner: 'inline' | 'attachment', filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\]/g, '_')
  const exact = ascii === filename ? '' : `; filename*=UTF-8''${encodeURIComponent(filename)}`
  return `${manner}; filename="${ascii}"${exact}`
}
