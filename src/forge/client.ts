/** API clients for tests. */
import type * as door from './types.ts'

type Input = Parameters<door.Client['post']>[1]

export class Client implements door.Client {
  readonly url: string
  readonly headers: Record<string, string>

  constructor(url: string, headers: Record<string, string> = {}) {
    this.url = url
    this.headers = headers
  }

  get(path: string, input?: Record<string, unknown>, headers?: Record<string, string>): Promise<door.Reply> {
    return this.request('GET', path + queryOf(path, input), undefined, headers)
  }
  head(path: string): Promise<door.Reply> {
    return this.request('HEAD', path)
  }
  post(path: string, input?: Input, headers?: Record<string, string>): Promise<door.Reply> {
    return this.request('POST', path, input, headers)
  }
  put(path: string, input?: Input, headers?: Record<string, string>): Promise<door.Reply> {
    return this.request('PUT', path, input, headers)
  }
  delete(path: string, input?: Input, headers?: Record<string, string>): Promise<door.Reply> {
    return this.request('DELETE', path, input, headers)
  }

  async request(
    method: string,
    path: string,
    input?: Input,
    headers: Record<string, string> = {},
  ): Promise<door.Reply> {
    const isForm = input instanceof FormData
    const url = `${this.url}/api/v4${path}`
    const answer = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { ...this.headers, ...(input && !isForm && { 'Content-Type': 'application/json' }), ...headers },
      ...(input && { body: isForm ? input : JSON.stringify(input) }),
    }).catch((error: Error) => {
      // `fetch failed` alone says neither what was requested nor why it failed.
      throw new Error(`${method} ${url}: ${(error.cause as Error | undefined)?.message || error.message}`, {
        cause: error,
      })
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.startsWith('application/json')
    return { status: answer.status, headers: answer.headers, body: isJson && text ? JSON.parse(text) : text }
  }
}

function queryOf(path: string, input: Record<string, unknown> = {}): string {
  const pairs = Object.entries(input).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((one) => [`${name}[]`, String(one)]) : [[name, String(value)]],
  )
  if (pairs.length === 0) return ''
  return (path.includes('?') ? '&' : '?') + new URLSearchParams(pairs as [string, string][])
}

export class Person extends Client implements door.Person {
  readonly id: number
  readonly username: string
  readonly email: string
  readonly token: string

  constructor(url: string, { id, username, email }: Pick<door.Person, 'id' | 'username' | 'email'>, token: string) {
    super(url, { 'PRIVATE-TOKEN': token })
    this.id = id
    this.username = username
    this.email = email
    this.token = token
  }
}
