/** Headers of content that others wrote: a browser shows or saves it, and never takes it for a page of ours. */

export const SANDBOXED = { 'Content-Security-Policy': "default-src 'none'; sandbox" }

export function disposition(manner: 'inline' | 'attachment', filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\]/g, '_')
  const exact = ascii === filename ? '' : `; filename*=UTF-8''${encodeURIComponent(filename)}`
  return `${manner}; filename="${ascii}"${exact}`
}
