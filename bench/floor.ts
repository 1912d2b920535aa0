/**
 * The floor, a process of its own: the least a Node server can do for the same bytes. The parent sends the answers, one
 * for each path, as they were captured from us.
 */
import { createServer } from 'node:http'

export interface Captured {
  readonly path: string
  /** Names and values in turn, without those Node adds by itself. */
  readonly headers: string[]
  readonly body: string
}

const answers = new Map<string, Captured>()

process.on('message', (captured: Captured[]) => {
  for (const answer of captured) answers.set(answer.path, answer)
  process.send?.('ready')
})
process.on('disconnect', () => process.exit())

const server = createServer((request, response) => {
  const answer = answers.get(request.url!)
  if (answer) response.writeHead(200, answer.headers).end(answer.body)
  else response.writeHead(200, ['Content-Length', '0']).end()
})
server.listen(Number(process.argv[2]), '127.0.0.1')
