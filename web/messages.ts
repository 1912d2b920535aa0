/** Broadcast messages: which ones a page shows, and which ones a browser has dismissed. */
import { levelOf } from './levels.ts'
import type { Records } from './api.ts'

type Message = Records['BroadcastMessage']

const DISMISSED = /(?:^|;\s*)hide_broadcast_message_(\d+)=/g
const KEPT_SECONDS = 30 * 86_400

export const dismissedIn = (cookies: string): Set<number> =>
  new Set(Array.from(cookies.matchAll(DISMISSED), ([, id]) => Number(id)))

export function dismiss({ id }: Message): void {
  document.cookie = `hide_broadcast_message_${id}=1; path=/; max-age=${KEPT_SECONDS}; samesite=lax`
}

/** The viewer's level in the project or group of the page, which may show none. */
function levelIn(data: object): number | null {
  if ('project' in data && data.project) return levelOf(data.project as Parameters<typeof levelOf>[0])
  return 'groupLevel' in data ? (data.groupLevel as number) : null
}

export function messagesFor(
  { messages, address }: { readonly messages: readonly Message[]; readonly address: string },
  data: object,
): readonly Message[] {
  if (messages.length === 0) return messages
  const [path = ''] = address.split('?', 1)
  const level = levelIn(data)
  return messages.filter(
    ({ target_path, target_access_levels: levels }) =>
      (!target_path || isAt(target_path, path)) && (levels.length === 0 || (level !== null && levels.includes(level))),
  )
}

/** A star matches anything. */
function isAt(pattern: string, path: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return path === pattern
  if (!path.startsWith(first)) return false
  const last = rest.pop()!
  let at = first.length
  for (const part of rest) {
    const found = path.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return path.length >= at + last.length && path.endsWith(last)
}
