/**
 * The log of a job without its secrets, in a file. So the agent can send any part again without keeping it in memory.
 */
import { open, type FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { Masker, PrefixMasker } from './masking.ts'

export interface Secrets {
  readonly secrets: Iterable<string>
  readonly prefixes: Iterable<string>
}

/** The default limit of the reference runner. */
const DEFAULT_LOG_LIMIT = 4 * 1024 ** 2

export class JobLog implements AsyncDisposable {
  readonly #file: FileHandle
  readonly #limit: number
  readonly #listener: (() => void) | undefined
  #masks: { push(chunk: Buffer): Buffer; end(): Buffer }[] = []
  #size = 0
  #crc = 0
  #isFull = false
  #writing: Promise<void> = Promise.resolve()

  private constructor(file: FileHandle, limit: number, listener: (() => void) | undefined) {
    this.#file = file
    this.#limit = limit
    this.#listener = listener
  }

  static async open(
    path: string,
    { limit = DEFAULT_LOG_LIMIT, onGrown }: { limit?: number; onGrown?: () => void } = {},
  ): Promise<JobLog> {
    return new JobLog(await open(path, 'w+', 0o600), limit, onGrown)
  }

  get size(): number {
    return this.#size
  }

  /** In the format of the protocol. */
  get checksum(): string {
    return `crc32:${this.#crc.toString(16).padStart(8, '0')}`
  }

  hide({ secrets, prefixes }: Secrets): void {
    this.#masks = [new PrefixMasker(prefixes), new Masker(secrets)]
  }

  /** Resolves when the text is in the file, which slows down jobs that print too fast. */
  write(text: string | Buffer): Promise<void> {
    return this.#queue(() => this.#masks.reduce<Buffer>((chunk, mask) => mask.push(chunk), Buffer.from(text as string)))
  }

  /** Writes the bytes that were held back because a secret might start there. */
  flush(): Promise<void> {
    return this.#queue(() =>
      this.#masks.reduce<Buffer>((chunk, mask) => Buffer.concat([mask.push(chunk), mask.end()]), Buffer.alloc(0)),
    )
  }

  async read(start: number, length: number): Promise<Buffer> {
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(length), 0, length, start)
    return buffer.subarray(0, bytesRead)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing.catch(() => {})
    await this.#file.close()
  }

  #queue(chunkOf: () => Buffer): Promise<void> {
    this.#writing = this.#writing.then(() => this.#append(chunkOf()))
    return this.#writing
  }

  async #append(chunk: Buffer): Promise<void> {
    if (chunk.length === 0 || this.#isFull) return
    if (this.#size + chunk.length > this.#limit) {
      this.#isFull = true
      const rest = chunk.subarray(0, Math.max(0, this.#limit - this.#size))
      const notice = `\n\x1b[33;1mJob's log exceeded limit of ${this.#limit} bytes.\nJob execution will continue but no more output will be collected.\x1b[0;m\n`
      return this.#store(Buffer.concat([rest, Buffer.from(notice)]))
    }
    return this.#store(chunk)
  }

  async #store(chunk: Buffer): Promise<void> {
    await this.#file.writeFile(chunk)
    this.#size += chunk.length
    this.#crc = crc32(chunk, this.#crc)
    this.#listener?.()
  }
}
