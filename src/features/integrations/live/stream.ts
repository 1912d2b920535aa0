import { Readable } from 'node:stream'

/** The buffer of one client. A client further behind is disconnected and reconnects with its last event id. */
const MOST_WAITING = 256 * 1024

/** A stream of server-sent events to one client. */
export class EventStream extends Readable {
  #isOver = false

  override _read(): void {}

  /** Bytes are shared by the streams that get them. */
  tell(block: string | Buffer): void {
    if (this.#isOver || this.destroyed) return
    this.push(block)
    if (this.readableLength > MOST_WAITING) this.destroy()
  }

  finish(): void {
    if (this.#isOver || this.destroyed) return
    this.#isOver = true
    this.push(null)
  }
}

/** The data is one line of JSON, so no part of it can be read as another field. */
export const eventBlock = (event: string, id: number, data: object): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** A heartbeat. A client that reconnects continues from this id. */
export const idleBlock = (id: number): string => `: \nid: ${id}\n\n`
