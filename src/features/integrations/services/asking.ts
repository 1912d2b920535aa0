import type { App } from '../../../context.ts'
import type { OutgoingAnswer, OutgoingRequest } from '../../../outbound/client.ts'
import { sendOut } from '../outgoing.ts'

/** A temporary failure of the receiver: the delivery is retried. */
export class ServiceFailure extends Error {
  readonly answer: OutgoingAnswer
  constructor(answer: OutgoingAnswer) {
    super(`The receiver answered ${answer.status}`)
    this.name = 'ServiceFailure'
    this.answer = answer
  }
}

/** Some answers are parsed, so more of them is read than by default. */
const LIMITS = { body: 256 * 1024 }

/** Sends a request. Any status but 5xx and 429 is a valid answer. */
export async function ask(app: App, request: OutgoingRequest): Promise<OutgoingAnswer> {
  const answer = await sendOut(app, 'hooks', request, undefined, LIMITS)
  if (answer.status >= 500 || answer.status === 429) throw new ServiceFailure(answer)
  return answer
}
