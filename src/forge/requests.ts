import type { Server, ServerResponse } from 'node:http'
import type { ForgeRequest } from './types.ts'

const MOST_KEPT = 10_000

interface RequestContext {
  readonly method: string
  readonly path: string
  /** Its status, once it is written. */
  answer: ServerResponse | number | null
}

/** What a server was asked. */
export class RequestLog {
  #asked: RequestContext[] = []

  constructor(server: Server) {
    // First, as those who answer might change the address.
    server.prependListener('request', ({ method = '', url = '' }, response) => {
      const asked: RequestContext = { method, path: url, answer: response }
      // A client that went away unanswered has no status.
      response.once('close', () => (asked.answer = statusOf(response)))
      this.#asked.push(asked)
      if (this.#asked.length === 2 * MOST_KEPT) this.#asked = this.#asked.slice(-MOST_KEPT)
    })
  }

  list(): ForgeRequest[] {
    return this.#asked.slice(-MOST_KEPT).map(({ method, path, answer }) => ({
      method,
      path,
      // Whoever has its answer may look before the response has closed.
      status: answer !== null && typeof answer === 'object' ? statusOf(answer) : answer,
    }))
  }

  clear(): void {
    this.#asked = []
  }
}

const statusOf = (response: ServerResponse) => (response.headersSent ? response.statusCode : null)
