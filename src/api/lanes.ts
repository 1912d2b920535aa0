/** How a caller comes to their turn where work is limited, and what they are told when there is none to be had. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { Refusal } from '../errors.ts'
import { LaneFull, type Lane, type Leave, type LimitedCaller } from '../lib/lanes.ts'
import { Answer } from './endpoint.ts'

export async function takeTurn(lane: Lane, caller: LimitedCaller, response?: ServerResponse): Promise<Leave> {
  try {
    return await lane.enter(caller, response && (() => goneSignal(response)))
  } catch (error) {
    if (!(error instanceof LaneFull)) throw error
    const headers = { 'Retry-After': String(error.retryAfter) }
    throw new Refusal(error.isOwn ? 'throttled' : 'busy', undefined, { headers })
  }
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}

/** The turn of what is streamed lasts until all of it was read. */
export async function inLane<T>(
  lane: Lane,
  caller: LimitedCaller,
  response: ServerResponse,
  handle: () => Promise<T>,
): Promise<T> {
  const leave = await takeTurn(lane, caller, response)
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
