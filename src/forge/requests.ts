import type { Server, ServerResponse } from 'node:http'
import type { ForgeRequest } from './types.ts'

const MOST_KEPT = 10_000

interface RequestContext {
  readonly method: string
  readonly path: string
  /** The status, once it is sent. */
  answer: ServerResponse | number | null
}

/** The requests that a server got. */
export class RequestLog {
  #requests: RequestContext[] = []

  constructor(server: Server) {
    // First, because other listeners might change the URL.
    server.prependListener('request', ({ method = '', url = '' }, response) => {
      const entry: RequestContext = { method, path: url, answer: response }
      // A request without an answer has no status.
      response.once('close', () => (entry.answer = statusOf(response)))
      this.#requests.push(entry)
      if (this.#requests.length === 2 * MOST_KEPT) this.#requests = this.#requests.slice(-MOST_KEPT)
    })
  }

  list(): ForgeRequest[] {
    return this.#requests.slice(-MOST_KEPT).map(({ method, path, answer }) => ({
      method,
      path,
      // The caller may look after the answer but before the response has closed.
      status: answer !== null && typeof answer === 'object' ? statusOf(answer) : answer,
    }))
  }

  clear(): void {
    this.#requests = []
  }
}

const statusOf = (response: ServerResponse) => (response.headersSent ? response.statusCode : null)
