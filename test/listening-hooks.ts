/** A webhook receiver on loopback, and hooks of every kind that send to it. */
import { timestamp } from '../src/clock.ts'
import {
  GROUP_SWITCHES,
  HOOK_SWITCHES,
  SYSTEM_SWITCHES,
  type AnySwitch,
} from '../src/features/integrations/hooks/model.ts'
import type { TestForge } from '../src/forge.ts'
import { deliveryReceiver } from './delivery-receiver.ts'

// oxlint-disable-next-line no-explicit-any -- read as the test expects it
type Json = any

export interface Received {
  /** The hook that sent it. */
  readonly path: string
  readonly header: string
  readonly body: Json
}

export const ALL_SWITCHES: readonly AnySwitch[] = [...HOOK_SWITCHES, ...GROUP_SWITCHES, ...SYSTEM_SWITCHES]

interface HookOptions {
  readonly project_id?: number
  readonly group_id?: number
  /** All by default. */
  readonly on?: readonly AnySwitch[]
}

export interface HookReceiver extends AsyncDisposable {
  readonly url: string
  hook(path: string, input?: HookOptions): Promise<void>
  unhook(path: string): Promise<void>
  /** Everything since the last call, once all deliveries were sent. */
  take(): Promise<Received[]>
}

export async function hookReceiver(forge: TestForge): Promise<HookReceiver> {
  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
  const receiver = await deliveryReceiver()
  const { url } = receiver
  return {
    url,
    async hook(path, { project_id, group_id, on = ALL_SWITCHES } = {}) {
      const now = timestamp(forge.app.clock)
      await forge.app.db
        .insertInto('hooks')
        .values({
          project_id: project_id ?? null,
          group_id: group_id ?? null,
          url: `${url}/${path}`,
          name: null,
          description: null,
          token_sealed: null,
          signing_token_sealed: null,
          url_variables_sealed: null,
          custom_headers_sealed: null,
          custom_webhook_template: null,
          enable_ssl_verification: true,
          push_events_branch_filter: '',
          branch_filter_strategy: 'wildcard',
          created_at: now,
          updated_at: now,
          ...Object.fromEntries(ALL_SWITCHES.map((name) => [name, on.includes(name)])),
        })
        .execute()
    },
    async unhook(path) {
      await forge.app.db.deleteFrom('hooks').where('url', '=', `${url}/${path}`).execute()
    },
    async take() {
      await forge.settle()
      const some = receiver.got.splice(0)
      return some.map(({ path, headers, body }) => ({
        path: path.slice(1),
        header: String(headers['x-gitlab-event']),
        body,
      }))
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  }
}
