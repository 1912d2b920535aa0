/**
 * Reports a push to its client: messages on the way, if the client supports side bands, and one line for each ref at
 * the end. A disconnected client does not stop the push.
 */
import type { Writable } from 'node:stream'
import { band, FLUSH, pktLine, type Band } from '../protocol/pkt-line.ts'
import type { PushCommand } from './push-request.ts'
import { ClientDisconnected, send } from '../protocol/sending.ts'

const KEEP_ALIVE_MS = 5000

// Messages may contain text from other users, and end in a terminal.
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/g

export class PushReport implements Disposable {
  /** `ok`, or the reason why the pack was rejected. */
  unpacked = 'ok'
  readonly #output: Writable
  readonly #hasBands: boolean
  readonly #isQuiet: boolean
  readonly #isRequested: boolean
  readonly #timer: NodeJS.Timeout

  constructor(output: Writable, capabilities: ReadonlySet<string>) {
    this.#output = output
    this.#hasBands = capabilities.has('side-band-64k')
    this.#isQuiet = capabilities.has('quiet')
    this.#isRequested = capabilities.has('report-status') || capabilities.has('report-status-v2')
    // Proxies treat a long silence as the end.
    this.#timer = setInterval(() => void this.#tell(2, ''), KEEP_ALIVE_MS)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  async say(messages: readonly string[] | undefined): Promise<void> {
    const text = (messages ?? []).map((message) => `${message.trimEnd().replaceAll(CONTROL, '')}\n`).join('')
    if (text !== '') await this.#tell(2, text)
  }

  /** The output of index-pack: its progress, and its complaints at the end; never local paths. */
  progress(text: string): void {
    const isProgress = /^(Receiving|Resolving|Indexing|Unpacking) /.test(text)
    if (isProgress ? this.#isQuiet : !/^(error|fatal|warning): /.test(text)) return
    const words = text.replaceAll(/(['"]?)\/[^\s'"]+\1/g, '…').replaceAll(/[^\x20-\x7e\r\n]/g, '')
    void this.#tell(2, words)
  }

  async finish(inputs: readonly { command: PushCommand; reason: string | null }[]): Promise<void> {
    clearInterval(this.#timer)
    if (this.#isRequested) {
      const lines = inputs.map(({ command: { name }, reason }) =>
        reason === null
          ? pktLine(Buffer.concat([Buffer.from('ok '), name, Buffer.from('\n')]))
          : pktLine(Buffer.concat([Buffer.from('ng '), name, Buffer.from(` ${reason}\n`)])),
      )
      await this.#tell(1, Buffer.concat([pktLine(`unpack ${this.unpacked}\n`), ...lines, FLUSH]))
    }
    if (this.#hasBands) await this.#write(FLUSH)
  }

  async #tell(number: Band, content: string | Uint8Array): Promise<void> {
    if (this.#hasBands) for (const line of band(number, content)) await this.#write(line)
    else if (number === 1) await this.#write(Buffer.from(content))
  }

  async #write(bytes: Buffer): Promise<void> {
    try {
      await send(this.#output, bytes)
    } catch (error) {
      if (!(error instanceof ClientDisconnected)) throw error
    }
  }
}
