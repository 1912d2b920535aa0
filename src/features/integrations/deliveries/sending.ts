/** Deliveries that users start themselves: tests and resends. */
import { randomUUID } from 'node:crypto'
import { MINUTE, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { transact } from '../../../store/transact.ts'
import { countWithin } from '../../identity/throttling/throttle.ts'
import type { AnySwitch, Hook } from '../hooks/model.ts'
import { attempt, attemptRow, isSuccess, type Outcome } from './attempt.ts'
import { openQueues } from './distribute.ts'
import { writeAttempts } from './queues.ts'
import type { LoggedAttempt } from './log.ts'
import { eventHeader, requestOf, requestTo, type HookRequest } from './request.ts'
import { sampleFor } from './samples.ts'

const MOST_A_MINUTE = 5

async function assertNotTooOften(app: App, what: 'test' | 'resend', viewer: User, hook: Hook): Promise<void> {
  if ((await countWithin(app, `${what} of hook ${hook.id} by ${viewer.id}`, MINUTE)) <= MOST_A_MINUTE) return
  throw new Refusal('throttled', undefined, { headers: { 'Retry-After': String(MINUTE / 1000) } })
}

export async function testHook(app: App, viewer: User, hook: Hook, trigger: AnySwitch): Promise<void> {
  await assertNotTooOften(app, 'test', viewer, hook)
  const { body } = await sampleFor(app, viewer, hook, trigger)
  const outcome = await sendSample(app, hook, trigger, body)
  if ('failure' in outcome) throw new Refusal('unprocessable', outcome.failure.message)
  const { status } = outcome.answer
  if (!isSuccess(outcome)) throw new Refusal('unprocessable', `The receiver answered with ${status}`)
}

/** A made-up project: administrators only check that the message arrives. */
const SYSTEM_SAMPLE = {
  event_name: 'project_create',
  name: 'Ruby',
  path: 'ruby',
  project_id: 1,
  owner_name: 'Someone',
  owner_email: 'example@example.com',
}

export async function testSystemHook(app: App, viewer: User, hook: Hook): Promise<typeof SYSTEM_SAMPLE> {
  await assertNotTooOften(app, 'test', viewer, hook)
  await sendSample(app, hook, SYSTEM_SAMPLE.event_name, SYSTEM_SAMPLE)
  return SYSTEM_SAMPLE
}

async function sendSample(app: App, hook: Hook, trigger: string, body: object): Promise<Outcome> {
  const text = JSON.stringify(body)
  const content = { event: eventHeader(hook, trigger), key: randomUUID(), eventUuid: randomUUID(), body: text }
  const request = await requestTo(app, hook, content)
  const outcome = await attempt(app, hook, request)
  await keep(app, hook, { message_id: null, trigger }, { ...request, data: request.data ?? text }, outcome)
  if (isSuccess(outcome)) await enableHook(app, hook)
  return outcome
}

async function keep(
  app: App,
  hook: Hook,
  about: { readonly message_id: number | null; readonly trigger: string },
  request: HookRequest,
  outcome: Outcome,
): Promise<void> {
  const row = attemptRow(app, hook, about, request, outcome)
  await transact(app, ({ db }) => writeAttempts(db, [row]))
}

/** Pending deliveries of the hook become due. */
async function enableHook(app: App, { id }: Hook): Promise<void> {
  await transact(app, async (app) => {
    await app.db.updateTable('hooks').set({ failures: 0, disabled_until: null }).where('id', '=', id).execute()
    const waiting = await app.db.selectFrom('delivery_lanes').select('id').where('hook_id', '=', id).executeTakeFirst()
    if (waiting) await openQueues(app, 'hook_id', [id], timestamp(app.clock))
    app.onCommit(() => app.deliveries.wake())
  })
}

/** Sends the same content with the same key, with the current settings of the hook. */
export async function resend(app: App, viewer: User, hook: Hook, past: LoggedAttempt): Promise<number> {
  await assertNotTooOften(app, 'resend', viewer, hook)
  if (past.url !== hook.url)
    throw new Refusal('unprocessable', 'The hook URL has changed. This log entry cannot be retried.')
  const headers = JSON.parse(past.request_headers) as Record<string, string>
  const content = {
    event: headers['X-Gitlab-Event']!,
    key: headers['Idempotency-Key']!,
    eventUuid: headers['X-Gitlab-Event-UUID']!,
    body: past.data,
  }
  const request = await requestOf(app, hook, content, past.request_data)
  const outcome = await attempt(app, hook, request)
  await keep(app, hook, past, request, outcome)
  if ('failure' in outcome) throw new Refusal('unprocessable', outcome.failure.message)
  return outcome.answer.status
}
