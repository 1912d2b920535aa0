/**
 * The floor, a separate process: the least a Node server can do for the same bytes. The parent sends the answers, one
 * for each path, as they were captured from our server.
 */
import { createServer } from 'node:http'

export interface Captured {
  readonly path: string
  /** Names and values alternately, without headers that Node adds itself. */
  readonly headers: string[]
  readonly body: string
}

/** From this length on bytes are cheaper to send than text, and the floor uses the cheaper way. */
const LONG = 32_768

const answers = new Map<string, { headers: string[]; body: string | Buffer }>()

process.on('message', (captured: Captured[]) => {
  for (const { path, headers, body } of captured) {
    answers.set(path, { headers, body: Buffer.byteLength(body) < LONG ? body : Buffer.from(body) })
  }
  process.send?.('ready')
})
process.on('disconnect', () => process.exit())

const server = createServer((request, response) => {
  const answer = answers.get(request.url!)
  if (answer) response.writeHead(200, answer.headers).end(answer.body)
  else response.writeHead(200, ['Content-Length', '0']).end()
})
server.listen(Number(process.argv[2]), '127.0.0.1')
