/** Writes answers to a client only as fast as the client reads, and notices a disconnected client. */
import type { Writable } from 'node:stream'
import { MINUTE } from '../../clock.ts'
import { hasCode } from '../../lib/files/system-errors.ts'

/** The client has disconnected. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client went away')
    this.name = 'ClientGone'
  }
}

/**
 * Maps the failure of a stream: a broken connection means that the client disconnected. Other errors stay as they are.
 */
export function lossOr(error: Error): Error {
  const isLoss = hasCode(error, 'ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR')
  return isLoss ? new ClientDisconnected() : error
}

/** A client that reads nothing for this long counts as disconnected. */
const PATIENCE_MS = 10 * MINUTE

/** Resolves when the stream accepts more. */
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
