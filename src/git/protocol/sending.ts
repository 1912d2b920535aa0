/** Answers to a client that may read slowly, or not at all any more: written no faster than they are taken. */
import type { Writable } from 'node:stream'
import { MINUTE } from '../../clock.ts'
import { hasCode } from '../../lib/files/system-errors.ts'

/** Nobody is left to answer. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client went away')
    this.name = 'ClientGone'
  }
}

/** What a stream's failure means: a connection that broke is the client's going, anything else is what it is. */
export function lossOr(error: Error): Error {
  const isLoss = hasCode(error, 'ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR')
  return isLoss ? new ClientDisconnected() : error
}

/** Who takes nothing for this long is as good as gone. */
const PATIENCE_MS = 10 * MINUTE

/** Resolves when there is room for more. */
export async function send(output: Writable, chunk: Uint8Array): Promise<void> {
  if (output.destroyed || output.writableEnded) throw new ClientDisconnected()
  if (output.write(chunk)) return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const gone = () => reject(new ClientDisconnected())
  const timer = setTimeout(gone, PATIENCE_MS)
  output.once('drain', resolve).once('close', gone).once('error', gone)
  try {
    await promise
  } finally {
    clearTimeout(timer)
    output.off('drain', resolve).off('close', gone).off('error', gone)
  }
}
