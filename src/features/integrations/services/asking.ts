import type { App } from '../../../context.ts'
import type { OutgoingAnswer, OutgoingRequest } from '../../../outbound/client.ts'
import { sendOut } from '../outgoing.ts'

/** The receiver could not take it now: worth another try. */
export class ServiceFailure extends Error {
  readonly answer: OutgoingAnswer
  constructor(answer: OutgoingAnswer) {
    super(`The receiver answered ${answer.status}`)
    this.name = 'ServiceFailure'
    this.answer = answer
  }
}

/** Some answers are read, and are longer than those that are only looked at. */
const LIMITS = { body: 256 * 1024 }

/** Whatever it says of what it was sent is its answer. */
export async function ask(app: App, request: OutgoingRequest): Promise<OutgoingAnswer> {
  const answer = await sendOut(app, 'hooks', request, undefined, LIMITS)
  if (answer.status >= 500 || answer.status === 429) throw new ServiceFailure(answer)
  return answer
}
