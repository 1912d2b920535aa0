/** Receivers of hooks, in a separate process: `/n` answers at once, `/slow/n` late, `/dead/n` never. */
import { createServer } from 'node:http'

export interface Arrived {
  readonly path: string
  readonly title: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

const SLOW_MS = 500

let arrived: Arrived[] = []

process.on('message', () => {
  process.send?.(arrived)
  arrived = []
})
process.on('disconnect', () => process.exit())

const server = createServer((request, response) => {
  const path = request.url!
  if (path.startsWith('/dead')) return void request.resume()
  let text = ''
  request
    .setEncoding('utf8')
    .on('data', (chunk: string) => (text += chunk))
    .on('end', () => {
      const { object_attributes: attributes } = JSON.parse(text) as { object_attributes: { title: string } }
      arrived.push({ path, title: attributes.title, at: Date.now() })
      setTimeout(() => response.end('ok'), path.startsWith('/slow') ? SLOW_MS : 0)
    })
})
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.([]))
