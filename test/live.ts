/** Reads server-sent events as browsers do. */
export interface LiveEvent {
  readonly id: number
  readonly event: string
  // oxlint-disable-next-line no-explicit-any -- a test reads it as it expects it
  readonly data: any
}

export class Listener implements AsyncDisposable {
  readonly status: number
  readonly headers: Headers
  readonly events: LiveEvent[] = []
  /** Resolves when the server has ended the stream, or it was closed here. */
  readonly over: Promise<void>
  lastId: string | null = null
  readonly #abort: AbortController
  readonly #waiting = new Set<() => void>()

  private constructor(answer: Response, abort: AbortController) {
    this.status = answer.status
    this.headers = answer.headers
    this.#abort = abort
    this.over = this.#read(answer)
  }

  static async open(
    url: string,
    { headers = {}, since }: { headers?: Record<string, string>; since?: number | string | null } = {},
  ): Promise<Listener> {
    const abort = new AbortController()
    const last = since === undefined || since === null ? {} : { 'Last-Event-ID': String(since) }
    const answer = await fetch(url, {
      headers: { Accept: 'text/event-stream', ...last, ...headers },
      signal: abort.signal,
    })
    return new Listener(answer, abort)
  }

  /** Waits until there are that many with this name, or with any except `ready`. */
  async until(count: number, name?: string): Promise<LiveEvent[]> {
    const matching = () => this.events.filter(({ event }) => (name === undefined ? event !== 'ready' : event === name))
    const over = Date.now() + 10_000
    while (matching().length < count) {
      if (Date.now() > over) throw new Error(`${count} events did not come: ${JSON.stringify(this.events)}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1000)
        this.#waiting.add(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
    return matching()
  }

  close(): Promise<void> {
    this.#abort.abort()
    return this.over
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #read(answer: Response): Promise<void> {
    let text = ''
    try {
      for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
        text += part
        const blocks = text.split('\n\n')
        text = blocks.pop()!
        for (const block of blocks) this.#take(block)
        for (const tell of this.#waiting) tell()
        this.#waiting.clear()
      }
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error
    }
  }

  #take(block: string): void {
    const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]))
    const id = fields.get('id')
    if (id !== undefined) this.lastId = id
    const data = fields.get('data')
    if (data !== undefined) this.events.push({ id: Number(id), event: fields.get('event')!, data: JSON.parse(data) })
  }
}
