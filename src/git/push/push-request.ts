/**
 * Parses a push: commands, options, then a pack. Reads it as it arrives, with a limit on the size before the pack and
 * on the silence of the client.
 */
import type { Readable } from 'node:stream'
import { BadPktLine, PktLineDecoder, type Packet } from '../protocol/pkt-line.ts'
import { lossOr } from '../protocol/sending.ts'
import { NO_OBJECT } from '../refs/update.ts'

export interface PushCommand {
  readonly before: string
  readonly after: string
  /** The ref. Null if its name is not valid text. */
  readonly ref: string | null
  /** The name as sent, which the client expects in the answer. */
  readonly name: Buffer
}

export interface PushRequest {
  readonly commands: readonly PushCommand[]
  readonly capabilities: ReadonlySet<string>
  readonly options: readonly string[]
  /** The client does not have the full history of its commits. */
  readonly isShallow: boolean
}

/** Valid pkt-lines, but not a push. */
export class BadPush extends Error {
  constructor(what: string) {
    super(`protocol error: ${what}`)
    this.name = 'BadPush'
  }
}

/** The client was silent for too long. */
export class ClientTooSlow extends Error {
  constructor() {
    super('the client has been silent for too long')
    this.name = 'ClientTooSlow'
  }
}

export class PackTooLarge extends Error {
  constructor() {
    super('the pack is larger than it may be')
    this.name = 'PackTooLarge'
  }
}

export class PushReader {
  readonly #idle: number
  readonly #signal: AbortSignal | undefined
  readonly #chunks: AsyncIterator<Buffer>
  readonly #decoder = new PktLineDecoder()

  constructor(input: Readable, { idle, signal }: { idle: number; signal?: AbortSignal | undefined }) {
    this.#idle = idle
    this.#signal = signal
    // Over HTTP the answer uses the same socket, so destroying the input would lose the answer.
    this.#chunks = input.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  }

  /** Null if there is nothing to push: no byte, or only the `0000` with which a client checks the connection. */
  async request({ maxBytes }: { maxBytes: number }): Promise<PushRequest | null> {
    const commands: PushCommand[] = []
    const capabilities = new Set<string>()
    let isShallow = false
    let allowance = maxBytes
    const spend = (line: Buffer) => {
      if ((allowance -= line.length) < 0) throw new BadPush('too many commands')
      return line
    }

    for await (const line of this.#lines({ mayBeMissing: true })) {
      const text = chomp(spend(line)).toString('latin1')
      if (commands.length === 0 && /^shallow [0-9a-f]{40}$/.test(text)) isShallow = true
      else {
        const { command, capabilities: named } = commandOf(text)
        if (commands.length === 0) for (const name of named) capabilities.add(name)
        commands.push(command)
      }
    }
    if (commands.length === 0) return null
    const format = [...capabilities].find((name) => name.startsWith('object-format='))
    if (format && format !== 'object-format=sha1') throw new BadPush('unknown object format')
    const options: string[] = []
    if (capabilities.has('push-options'))
      for await (const line of this.#lines()) options.push(chomp(spend(line)).toString())
    return { commands, capabilities, options, isShallow }
  }

  /** Everything after the request. */
  async *pack({ maxBytes }: { maxBytes: number }): AsyncGenerator<Buffer> {
    let size = 0
    for (let chunk: Buffer | null = this.#decoder.rest(); chunk !== null; chunk = await this.#chunk()) {
      if ((size += chunk.length) > maxBytes) throw new PackTooLarge()
      if (chunk.length > 0) yield chunk
    }
  }

  /** Stops reading. The owner of the input may discard the rest. */
  release(): void {
    void this.#chunks.return?.()
  }

  /** Reads up to the next flush. A stream that ends before its first byte counts as a flush. */
  async *#lines({ mayBeMissing = false } = {}): AsyncGenerator<Buffer> {
    for (let isFirst = true; ; isFirst = false) {
      const packet = await this.#packet()
      if (packet === 'flush' || (packet === null && isFirst && mayBeMissing)) return
      if (packet === null) throw new BadPktLine('cut off before the end of the commands')
      if (!Buffer.isBuffer(packet)) throw new BadPush(`unexpected ${packet}`)
      yield packet
    }
  }

  async #packet(): Promise<Packet | null> {
    for (;;) {
      const packet = this.#decoder.next()
      if (packet !== null) return packet
      const chunk = await this.#chunk()
      if (chunk === null) {
        this.#decoder.end()
        return null
      }
      this.#decoder.push(chunk)
    }
  }

  async #chunk(): Promise<Buffer | null> {
    this.#signal?.throwIfAborted()
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new ClientTooSlow()), this.#idle)
    const abort = () => reject(this.#signal?.reason as Error)
    this.#signal?.addEventListener('abort', abort)
    const coming = this.#chunks.next().catch((error: Error) => {
      throw lossOr(error)
    })
    try {
      const { done, value } = await Promise.race([coming, promise])
      return done ? null : value
    } finally {
      clearTimeout(timer)
      this.#signal?.removeEventListener('abort', abort)
    }
  }
}

const chomp = (line: Buffer) => (line.at(-1) === 0x0a ? line.subarray(0, -1) : line)

const COMMAND = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\0]+)(?:\0(.*))?$/is

function commandOf(line: string): { command: PushCommand; capabilities: string[] } {
  const [, before, after, latin, capabilities = ''] = COMMAND.exec(line) ?? []
  if (!before || !after || !latin) throw new BadPush('not a command')
  const name = Buffer.from(latin, 'latin1')
  const text = name.toString()
  return {
    command: {
      before: before.toLowerCase(),
      after: after.toLowerCase(),
      ref: Buffer.from(text).equals(name) ? text : null,
      name,
    },
    capabilities: capabilities.split(' ').filter(Boolean),
  }
}

export const isDeletion = ({ after }: { after: string }): boolean => after === NO_OBJECT
