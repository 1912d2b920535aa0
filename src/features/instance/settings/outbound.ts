/** The settings that limit outgoing requests on behalf of users, as the outgoing client reads them. */
import type { App } from '../../../context.ts'
import { AddressList } from '../../../lib/net/address-list.ts'
import type { OutgoingGuard, OutgoingProxy } from '../../../outbound/client.ts'
import type { Settings } from './model.ts'

/** Integrations, imports and includes have the same limits as hooks of projects and groups. */
export type Sender = 'hooks' | 'system_hooks'

/** Settings are reloaded every second; the list is parsed only then. */
const lists = new WeakMap<readonly string[], AddressList>()

function listOf(entries: readonly string[]): AddressList {
  const list = lists.get(entries) ?? new AddressList(entries)
  lists.set(entries, list)
  return list
}

export function outboundGuard(app: App, sender: Sender, settings: Settings) {
  return {
    allowLocal:
      sender === 'hooks'
        ? settings.allow_local_requests_from_web_hooks_and_services
        : settings.allow_local_requests_from_system_hooks,
    allowed: listOf(settings.outbound_local_requests_whitelist),
    onlyAllowed: settings.deny_all_requests_except_allowed,
    pinned: settings.dns_rebinding_protection_enabled,
    ownUrl: app.url,
  } satisfies OutgoingGuard
}

export const outboundProxy = ({ config }: App): OutgoingProxy | null =>
  config.outboundProxy === null ? null : { url: config.outboundProxy, except: listOf(config.outboundNoProxy) }
