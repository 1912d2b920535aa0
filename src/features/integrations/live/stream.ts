import { Readable } from 'node:stream'

/** What waits for a reader; who is further behind comes again with the id of the last event they have. */
const MOST_WAITING = 256 * 1024

/** Server-sent events on their way to one reader. */
export class EventStream extends Readable {
  #isOver = false

  override _read(): void {}

  tell(block: string): void {
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

/** The text is one line of JSON, so that none of it can be taken for a field. */
export const eventBlock = (event: string, id: number, data: object): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** Nothing happened; whoever comes again begins here. */
export const idleBlock = (id: number): string => `: \nid: ${id}\n\n`
