/** Headers for user content: a browser shows or saves it, and never treats it as a page of ours. */

export const SANDBOXED = { 'Content-Security-Policy': "default-src 'none'; sandbox" }

/**
 * For a PDF that the browser shows in a frame of our own pages only. A sandbox would be stricter, but browsers show no
 * PDF in one. Its type prevents that it is treated as a page; the browser's viewer controls the rest.
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
