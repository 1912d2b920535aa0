/** The outgoing client by the settings of this instance: what hooks and services are sent by. */
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
 * An `OutgoingFailure` where nothing came back; whatever the signal was ended with where that ended it. Asked at every
 * request: a switch of an administrator acts on what already waits.
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

/** Whether an address may be kept. What a name leads to is asked when something is sent there. */
export async function isAllowedAddress(app: App, sender: Sender, url: string): Promise<boolean> {
  return checkAddress(url, outboundGuard(app, sender, await currentSettings(app)))
}
