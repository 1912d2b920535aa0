/** Takes a slot of a limiter for a caller, and answers if no slot is free in time. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { Refusal } from '../errors.ts'
import { LimiterFull, type Limiter, type Release, type LimitedCaller } from '../lib/async/limiter.ts'
import { Answer } from './endpoint.ts'

export async function acquireSlot(
  limiter: Limiter,
  caller: LimitedCaller,
  response?: ServerResponse,
): Promise<Release> {
  try {
    return await limiter.enter(caller, response && (() => goneSignal(response)))
  } catch (error) {
    if (!(error instanceof LimiterFull)) throw error
    const headers = { 'Retry-After': String(error.retryAfter) }
    throw new Refusal(error.isOwn ? 'throttled' : 'busy', undefined, { headers })
  }
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}

/** The slot of a streamed answer is released when the stream was read to its end. */
export async function withSlot<T>(
  limiter: Limiter,
  caller: LimitedCaller,
  response: ServerResponse,
  handle: () => Promise<T>,
): Promise<T> {
  const leave = await acquireSlot(limiter, caller, response)
  let isStreamed = false
  try {
    const result = await handle()
    isStreamed = result instanceof Answer && result.body instanceof Readable && !response.closed
    return result
  } finally {
    if (isStreamed) response.once('close', leave)
    else leave()
  }
}
