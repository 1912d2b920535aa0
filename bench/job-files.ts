/** The memory of the server while a running job sends a long log and a large archive. */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { text } from 'node:stream/consumers'
import { zipOf } from '../src/lib/zip/writer.ts'
import type { QueueBench } from './queue.ts'
import { ADMINISTRATOR } from './seed.ts'
import { memoryDuring, memoryOutcome } from './servers.ts'
import type { Row } from './table.ts'

const MB = 1024 * 1024
const MOST_GROWTH = 128 * MB
const PATCH = Buffer.from(`${'A line of a log, as long as lines of logs are.'.padEnd(127)}\n`.repeat(8192))
const CHUNK = Buffer.alloc(256 * 1024, 'artifacts')

type Outcome = Omit<Row, 'what' | 'target'>

interface Input {
  readonly id: number
  readonly token: string
}

async function send(
  { server }: QueueBench,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: Readable,
): Promise<string> {
  const outgoing = request({ host: '127.0.0.1', port: server.port, path: `/api/v4${path}`, method, headers })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  await pipeline(body, outgoing)
  const [answer] = await answered
  const status = answer.statusCode!
  const answerText = await text(answer)
  if (status >= 300) throw new Error(`${path} answered ${status}: ${answerText}`)
  return answerText
}

async function takeJob(bench: QueueBench): Promise<Input> {
  await bench.queue(1)
  const body = Readable.from([JSON.stringify({ token: bench.runners[0] })])
  const headers = { 'Content-Type': 'application/json' }
  return JSON.parse(await send(bench, 'POST', '/jobs/request', headers, body)) as Input
}

export async function longLog(bench: QueueBench, megabytes: number): Promise<Outcome> {
  const { id, token } = await takeJob(bench)
  const append = (n: number) => {
    const range = `${n * MB}-${(n + 1) * MB - 1}`
    const headers = { 'JOB-TOKEN': token, 'Content-Range': range, 'Content-Type': 'text/plain' }
    return send(bench, 'PATCH', `/jobs/${id}/trace`, headers, Readable.from([PATCH]))
  }
  await append(0)
  const seen = await memoryDuring(bench.server, async () => {
    for (let n = 1; n < megabytes; n++) await append(n)
  })
  await bench.clear()
  return memoryOutcome(seen, MOST_GROWTH)
}

export async function largeArchive(bench: QueueBench, megabytes: number): Promise<Outcome> {
  const settings = `/application/settings?max_artifacts_size=${megabytes + 1}`
  await send(bench, 'PUT', settings, { 'PRIVATE-TOKEN': ADMINISTRATOR }, Readable.from([]))
  const { id, token } = await takeJob(bench)
  const boundary = 'a-boundary'
  const headers = { 'JOB-TOKEN': token, 'Content-Type': `multipart/form-data; boundary=${boundary}` }
  const seen = await memoryDuring(bench.server, () =>
    send(bench, 'POST', `/jobs/${id}/artifacts`, headers, Readable.from(form(boundary, megabytes * MB))),
  )
  await bench.clear()
  return memoryOutcome(seen, MOST_GROWTH)
}

async function* form(boundary: string, size: number): AsyncGenerator<Buffer> {
  async function* content() {
    for (let left = size; left > 0; left -= CHUNK.length) yield CHUNK
  }
  const part = 'Content-Disposition: form-data; name="file"; filename="artifacts.zip"'
  yield Buffer.from(`--${boundary}\r\n${part}\r\nContent-Type: application/zip\r\n\r\n`)
  yield* zipOf([{ name: 'artifact', mode: 0o100644, mtime: new Date(), size, content }], { level: 0 })
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}
