/** The HTTP request that a webhook sends (reference: request). */
import { hash, randomUUID } from 'node:crypto'
import type { App } from '../../../context.ts'
import { eventUuid } from '../../../lib/crypto/event-uuid.ts'
import { OutgoingFailure, type OutgoingRequest } from '../../../outbound/client.ts'
import type { Row } from '../../../store/database.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { isRefMatch } from '../hooks/filters.ts'
import { kindOf, type Hook } from '../hooks/model.ts'
import { filledUrl, openPairs } from '../hooks/pairs.ts'
import { signatureHeaders } from '../hooks/signing.ts'
import { TemplateFault, fillTemplate } from './templates.ts'

export type Message = Row<'event_messages'>

const HEADERS: Readonly<Record<string, string>> = {
  push_events: 'Push Hook',
  tag_push_events: 'Tag Push Hook',
  issues_events: 'Issue Hook',
  confidential_issues_events: 'Confidential Issue Hook',
  merge_requests_events: 'Merge Request Hook',
  note_events: 'Note Hook',
  confidential_note_events: 'Confidential Note Hook',
  wiki_page_events: 'Wiki Page Hook',
  pipeline_events: 'Pipeline Hook',
  job_events: 'Job Hook',
  deployment_events: 'Deployment Hook',
  releases_events: 'Release Hook',
  feature_flag_events: 'Feature Flag Hook',
  emoji_events: 'Emoji Hook',
  resource_access_token_events: 'Resource Access Token Hook',
  member_events: 'Member Hook',
  subgroup_events: 'Subgroup Hook',
  project_events: 'Project Hook',
}

export const LARGEST_BODY = 25 * 1024 * 1024
/** The filled body is stored with each attempt, and a template may repeat a value many times. */
const LARGEST_FILLED = 1024 * 1024
const REDACTED = '[REDACTED]'

export interface HookRequest {
  readonly outgoing: OutgoingRequest
  /** As the log shows it, without secrets. */
  readonly url: string
  readonly shownHeaders: Readonly<Record<string, string>>
  /** Null: the message's body is sent unchanged. */
  readonly data: string | null
  /** The reason why the request can never be sent. */
  readonly fault: OutgoingFailure | null
}

/** The content of a delivery, equal for every attempt. */
export interface DeliveryContent {
  /** `X-Gitlab-Event`. */
  readonly event: string
  /** Equal for every retry, resend and replay. */
  readonly key: string
  readonly eventUuid: string
  readonly body: string
}

export const eventHeader = (hook: Hook, trigger: string | null): string =>
  kindOf(hook) === 'instance' ? 'System Hook' : (HEADERS[trigger ?? ''] ?? 'System Hook')

export const deliveryContent = (app: App, hook: Hook, message: Message, rootId: number | null): DeliveryContent => ({
  event: eventHeader(hook, message.switch),
  key: uuidOf(`hook ${hook.id} ${hook.created_at} message ${message.id}`),
  eventUuid: eventUuid(app.vault, rootId ?? message.event_id),
  body: message.body,
})

/** Fills the hook's template, if any, and builds the request. */
export async function requestTo(app: App, hook: Hook, content: DeliveryContent): Promise<HookRequest> {
  const { custom_webhook_template: template } = hook
  if (template === null) return requestOf(app, hook, content, null)
  try {
    const body = fillTemplate(template, JSON.parse(content.body), LARGEST_FILLED)
    return await requestOf(app, hook, { ...content, body }, body)
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error
    return requestOf(app, hook, content, null, error.message)
  }
}

export async function requestOf(
  app: App,
  hook: Hook,
  { event, key, eventUuid, body }: DeliveryContent,
  data: string | null,
  fault?: string,
): Promise<HookRequest> {
  const { reported_version } = await currentSettings(app)
  const own = {
    'Content-Type': 'application/json',
    'User-Agent': `GitLab/${reported_version}`,
    'Idempotency-Key': key,
    'X-Gitlab-Event': event,
    'X-Gitlab-Webhook-UUID': randomUUID(),
    'X-Gitlab-Instance': app.url,
    'X-Gitlab-Event-UUID': eventUuid,
  }
  const token = hook.token_sealed && app.vault.open(hook.token_sealed)
  const signing = hook.signing_token_sealed && app.vault.open(hook.signing_token_sealed)
  const signed = signing ? signatureHeaders(signing, key, app.clock.now(), body) : {}
  const custom = openPairs(app, hook, 'custom_headers')
  const url = filledUrl(hook.url, openPairs(app, hook, 'url_variables'))
  const isLarge = Buffer.byteLength(body) > LARGEST_BODY
  const reason = fault ?? (isLarge ? 'The payload is too large' : url === null ? 'A URL variable is missing' : null)
  return {
    outgoing: {
      method: 'POST',
      url: url ?? hook.url,
      body,
      headers: {
        ...Object.fromEntries(custom.map(({ key, value }) => [key, value])),
        ...own,
        ...signed,
        ...(token && { 'X-Gitlab-Token': token }),
      },
      verifyTls: hook.enable_ssl_verification,
    },
    url: hook.url,
    shownHeaders: {
      ...Object.fromEntries(custom.map(({ key }) => [key, REDACTED])),
      ...own,
      ...signed,
      ...(token && { 'X-Gitlab-Token': REDACTED }),
    },
    data,
    fault: reason === null ? null : new OutgoingFailure('malformed', reason),
  }
}

function uuidOf(text: string): string {
  const digest = hash('sha256', text)
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-')
}

/** Whether the hook's branch filter excludes the branch. */
export const isFilteredOut = async (hook: Hook, { ref, switch: name }: Message): Promise<boolean> =>
  name === 'push_events' && ref !== null && !(await isRefMatch(hook, ref))
