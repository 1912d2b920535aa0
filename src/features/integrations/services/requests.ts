import type { OutgoingRequest } from '../../../outbound/client.ts'
import type { ServiceEvent } from './model.ts'
import { textOf, type ServicePayload } from './payload.ts'

export const postJson = (url: string, body: unknown, headers: Record<string, string> = {}): OutgoingRequest => ({
  method: 'POST',
  url,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

export const postForm = (url: string, form: Record<string, string>): OutgoingRequest => ({
  method: 'POST',
  url,
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: String(new URLSearchParams(form)),
})

/** Posts the message unchanged, as webhooks do. */
export const relay = (payload: ServicePayload, url: string, headers: Record<string, string> = {}): OutgoingRequest => ({
  ...postJson(url, payload.body, {
    'User-Agent': `GitLab/${payload.instance.version}`,
    'X-Gitlab-Event': 'Service Hook',
    'X-Gitlab-Instance': payload.instance.url,
    ...headers,
  }),
  verifyTls: payload.settings.enable_ssl_verification !== false,
})

export const basic = (username: string, password: string): Record<string, string> =>
  username || password
    ? { Authorization: `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}` }
    : {}

/** Appends a path to a URL of the settings, and keeps its query. */
export function below(payload: ServicePayload, name: string, path: string, query: Record<string, string> = {}): string {
  const address = new URL(textOf(payload, name))
  address.pathname = `${address.pathname.replace(/\/+$/, '')}/${path}`
  for (const [key, value] of Object.entries(query)) address.searchParams.set(key, value)
  return address.href
}

const HOOK_NAMES: Partial<Record<ServiceEvent, string>> = {
  push: 'Push Hook',
  tag_push: 'Tag Push Hook',
  merge_request: 'Merge Request Hook',
}

/** The name of the event in webhooks. */
export const hookNameOf = ({ event }: ServicePayload): string => HOOK_NAMES[event] ?? 'Service Hook'
