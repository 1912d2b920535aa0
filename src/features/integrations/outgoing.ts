/** The outgoing HTTP client with the settings of this instance, for webhooks and services. */
import type { App } from '../../context.ts'
import {
  OutgoingFailure,
  checkAddress,
  send,
  type OutgoingAnswer,
  type OutgoingOptions,
  type OutgoingRequest,
} from '../../outbound/client.ts'
import { outboundGuard, outboundProxy, type Sender } from '../instance/settings/outbound.ts'
import { currentSettings } from '../instance/settings/queries.ts'

/**
 * Throws an `OutgoingFailure` where no answer came, or the signal's reason where the signal aborted. Reads the settings
 * at every request, so that a change by an administrator also affects pending deliveries.
 */
export async function sendOut(
  app: App,
  sender: Sender,
  request: OutgoingRequest,
  signal?: AbortSignal,
  limits?: OutgoingOptions['limits'],
): Promise<OutgoingAnswer> {
  const settings = await currentSettings(app)
  if (settings.silent_mode_enabled) throw new OutgoingFailure('refused', 'Nothing is sent while silent mode is on')
  return send(request, {
    guard: outboundGuard(app, sender, settings),
    proxy: outboundProxy(app),
    connections: app.outgoing,
    signal,
    ...(limits && { limits }),
  })
}

/** Whether a URL may be saved. The host name is resolved only when something is sent. */
export async function isAllowedAddress(app: App, sender: Sender, url: string): Promise<boolean> {
  return checkAddress(url, outboundGuard(app, sender, await currentSettings(app)))
}
