/** A webhook receiver on loopback that stores deliveries and answers as configured. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line no-explicit-any -- read as the test expects it
  readonly body: any
}

export interface DeliveryReceiver extends AsyncDisposable {
  readonly url: string
  readonly got: Received[]
  /** The answer to the next deliveries. */
  answer: { status: number; headers?: Record<string, string> }
  beforeAnswer: (path: string) => Promise<void>
}

export async function deliveryReceiver(): Promise<DeliveryReceiver> {
  const got: Received[] = []
  async function hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    got.push({ path: request.url!, headers: request.headers, text, body: JSON.parse(text) })
    await receiver.beforeAnswer(request.url!)
    response.writeHead(receiver.answer.status, receiver.answer.headers).end('heard')
  }
  const server = createServer((request, response) => void hear(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: DeliveryReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    answer: { status: 200 },
    beforeAnswer: async () => {},
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}
