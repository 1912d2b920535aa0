/** One attempt to deliver a message to a webhook, and the row that the log keeps of it. */
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { OutgoingFailure, type OutgoingAnswer } from '../../../outbound/client.ts'
import type { NewRow } from '../../../store/database.ts'
import { kindOf, type Hook } from '../hooks/model.ts'
import { sendOut } from '../outgoing.ts'
import type { HookRequest } from './request.ts'

export type Outcome =
  | { readonly answer: OutgoingAnswer }
  | { readonly failure: OutgoingFailure; readonly duration: number }

export async function attempt(app: App, hook: Hook, request: HookRequest, signal?: AbortSignal): Promise<Outcome> {
  const began = performance.now()
  try {
    if (request.fault) throw request.fault
    const sender = kindOf(hook) === 'instance' ? 'system_hooks' : 'hooks'
    return { answer: await sendOut(app, sender, request.outgoing, signal) }
  } catch (error) {
    if (!(error instanceof OutgoingFailure)) throw error
    return { failure: error, duration: (performance.now() - began) / 1000 }
  }
}

/** Status 400 or higher, or no answer at all. */
export const isFailure = (outcome: Outcome): boolean => 'failure' in outcome || outcome.answer.status >= 400

export const isSuccess = (outcome: Outcome): boolean =>
  'answer' in outcome && outcome.answer.status >= 200 && outcome.answer.status < 300

export function attemptRow(
  app: App,
  hook: Hook,
  about: { readonly message_id: number | null; readonly trigger: string },
  { url, shownHeaders, data }: Pick<HookRequest, 'url' | 'shownHeaders' | 'data'>,
  outcome: Outcome,
): NewRow<'hook_attempts'> {
  const answer = 'answer' in outcome ? outcome.answer : null
  return {
    hook_id: hook.id,
    message_id: about.message_id,
    trigger: about.trigger,
    url,
    request_headers: JSON.stringify(shownHeaders),
    request_data: data,
    response_status: answer?.status ?? null,
    response_headers: JSON.stringify(answer?.headers ?? {}),
    response_body: answer?.body ?? '',
    execution_duration: 'answer' in outcome ? outcome.answer.duration : outcome.duration,
    error: 'failure' in outcome ? outcome.failure.message : null,
    created_at: timestamp(app.clock),
  }
}
