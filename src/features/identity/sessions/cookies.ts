import type { App } from '../../../context.ts'

/**
 * Not readable by scripts and not sent with posts from other sites. `maxAge` is in seconds; without it the cookie lasts
 * until the browser closes.
 */
export function cookie(app: App, name: string, value: string, maxAge?: number): string {
  const parts = [`${name}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax']
  if (maxAge !== undefined) parts.push(`Max-Age=${maxAge}`)
  if (app.url.startsWith('https:')) parts.push('Secure')
  return parts.join('; ')
}

export function cookieOf(header: string | undefined, name: string): string | null {
  const found = header?.split(';').find((part) => part.trim().startsWith(`${name}=`))
  return found?.trim().slice(name.length + 1) || null
}
