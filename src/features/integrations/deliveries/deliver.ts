import { MINUTE, after } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { backoff } from '../../../jobs/leases.ts'
import { OutgoingFailure } from '../../../outbound/client.ts'
import { hotQuery } from '../../../store/hot.ts'
import { completeMessage } from '../../../store/outbox.ts'
import { countWithin } from '../../identity/throttling/throttle.ts'
import { loadLimits } from '../../instance/plan-limits/queries.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { alertStatusOf, healthAfter } from '../hooks/disabling.ts'
import { kindOf, type Hook } from '../hooks/model.ts'
import { completions } from '../messages/sources.ts'
import { sendToService } from '../services/send.ts'
import { attempt, attemptRow, isFailure, type Outcome } from './attempt.ts'
import { EXPIRES_AFTER, type DeliveryChange, type DeliveryResult } from './queues.ts'
import type { Delivery } from './model.ts'
import { isFilteredOut, requestTo, deliveryContent, type Message } from './request.ts'

const hookById = hotQuery((db, p: { id: number }) => db.selectFrom('hooks').selectAll().where('id', '=', p.id))
const messageById = hotQuery((db, p: { id: number }) =>
  db.selectFrom('event_messages').selectAll().where('id', '=', p.id),
)
const rootOfEvent = hotQuery((db, p: { id: number }) =>
  db.selectFrom('events').select('root_id').where('id', '=', p.id),
)

/** A slower delivery marks its queue as troubled. */
const SLOW_S = 1

export interface Delivered {
  readonly note: DeliveryResult
  readonly isSlow: boolean
  /** The hook is disabled from now on, for a time or for good. */
  readonly isResting: boolean
}

const ended = (delivery: Delivery): Delivered => ({
  note: { delivery, change: { state: 'done' }, attempt: null, hook: null },
  isSlow: false,
  isResting: false,
})

export async function deliver(app: App, delivery: Delivery, signal: AbortSignal): Promise<Delivered> {
  const message = await completed(app, delivery.message_id)
  if (message && delivery.service_id !== null) return sendToServiceNow(app, delivery, message)
  const [hook] = await hookById(app.db, { id: delivery.hook_id! })
  if (!message || !hook || (await isFilteredOut(hook, message))) return ended(delivery)
  const [event] = await rootOfEvent(app.db, { id: message.event_id })
  const made = await requestTo(app, hook, deliveryContent(app, hook, message, event!.root_id))
  const isOver = delivery.attempts === 0 && (await isOverRate(app, hook))
  const request = isOver ? { ...made, fault: new OutgoingFailure('refused', 'Too many calls in a minute') } : made
  const outcome = await attempt(app, hook, request, signal)
  const state = isOver ? hook : healthAfter(hook, isFailure(outcome), app.clock)
  const { hooks_auto_disabled: isOn } = await currentSettings(app)
  return {
    note: {
      delivery,
      change: { attempts: delivery.attempts + 1, ...stateAfter(app, delivery, outcome) },
      attempt: attemptRow(
        app,
        hook,
        { message_id: message.id, trigger: message.switch ?? message.kind },
        request,
        outcome,
      ),
      hook:
        state.failures === hook.failures ? null : { failures: state.failures, disabled_until: state.disabled_until },
    },
    isSlow: !isOver && ('failure' in outcome || outcome.answer.duration > SLOW_S),
    isResting: alertStatusOf({ ...hook, ...state }, { clock: app.clock, isOn }) !== 'executable',
  }
}

/** Answers of services are not stored. */
async function sendToServiceNow(app: App, delivery: Delivery, message: Message): Promise<Delivered> {
  const { service_id, attempts } = delivery
  const service = await app.db.selectFrom('services').selectAll().where('id', '=', service_id).executeTakeFirst()
  if (!service || message.project_id === null) return ended(delivery)
  const { kind, project_id } = message
  const began = performance.now()
  let change: DeliveryChange
  try {
    const answer = await sendToService(app, service, { kind, project_id, body: JSON.parse(message.body) })
    change = answer ? stateAfter(app, delivery, { answer }) : { state: 'done' }
  } catch (error) {
    app.log.warn({ part: 'deliveries', err: error, service: service.slug, project: project_id }, 'service not told')
    const isForGood = error instanceof OutgoingFailure && isFinal(error)
    change = isForGood ? { state: 'given_up' } : later(app, delivery, 0)
  }
  const isSlow = change.state === undefined || performance.now() - began > SLOW_S * 1000
  const note = { delivery, change: { attempts: attempts + 1, ...change }, attempt: null, hook: null }
  return { note, isSlow, isResting: false }
}

/** Null if the message was deleted: events have a retention time. */
async function completed(app: App, id: number): Promise<Message | null> {
  const [message] = await messageById(app.db, { id })
  if (!message || message.complete) return message ?? null
  const complete = completions[message.kind]
  const whole = complete && (await complete(app, { ...message, body: JSON.parse(message.body) as object }))
  const body = whole ? JSON.stringify(whole) : message.body
  await completeMessage(app, id, body)
  return { ...message, body, complete: true }
}

/**
 * The plan may limit webhook calls per minute, summed over one top-level namespace. Calls above the limit are dropped.
 */
async function isOverRate(app: App, hook: Hook): Promise<boolean> {
  if (kindOf(hook) === 'instance') return false
  const { web_hook_calls: most } = await loadLimits(app.db)
  if (most === 0) return false
  const { top } = await app.db
    .selectFrom('namespace_ancestors')
    .$if(hook.project_id !== null, (q) =>
      q.where('namespace_id', '=', (eb) =>
        eb.selectFrom('projects').select('projects.namespace_id').where('projects.id', '=', hook.project_id),
      ),
    )
    .$if(hook.group_id !== null, (q) => q.where('namespace_id', '=', hook.group_id!))
    .orderBy('depth', 'desc')
    .select('ancestor_id as top')
    .executeTakeFirstOrThrow()
  return (await countWithin(app, `hook calls of ${top}`, MINUTE)) > most
}

/**
 * No answer, 5xx and 429: retry later. Any other status ends the delivery. A request that can never be sent is given
 * up.
 */
function stateAfter(app: App, delivery: Delivery, outcome: Outcome): DeliveryChange {
  if ('failure' in outcome) return isFinal(outcome.failure) ? { state: 'given_up' } : later(app, delivery, 0)
  const { status, headers } = outcome.answer
  if (status < 500 && status !== 429) return { state: 'done' }
  return later(app, delivery, retryAfter(headers['retry-after'] ?? '', app.clock.now()))
}

/** A retry would be rejected for the same reason. */
const isFinal = ({ reason }: OutgoingFailure) => reason === 'refused' || reason === 'malformed'

function later(app: App, { created_at, attempts }: Delivery, atLeast: number): DeliveryChange {
  if (created_at <= after(app.clock, -EXPIRES_AFTER)) return { state: 'given_up' }
  return { due_at: after(app.clock, Math.max(backoff(attempts, 5_000), Math.min(atLeast, EXPIRES_AFTER))) }
}

/** Milliseconds, from a `Retry-After` header with seconds or with a date. */
export function retryAfter(header: string, now: Date): number {
  const delay = /^\s*\d{1,9}\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now.getTime()
  return Number.isFinite(delay) ? Math.max(0, delay) : 0
}
