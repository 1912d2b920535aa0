/** Uploads and downloads artifacts: streamed, with retries and limits. */
import { createWriteStream } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { ArtifactsRefused, type ArtifactDoor, type Upload } from './artifacts.ts'
import { headerOf, MOST_REDIRECTS, pauseOf, refusalOf, TRIES_WHILE_AWAY, type Connection } from './connection.ts'
import type { Dependency, Job } from './job.ts'

const LONGEST_ARCHIVE = 20 * 1024 ** 3
type NamedRecord = Pick<Job, 'id' | 'token'>

/** Uses the token that the protocol names for each direction. */
export function artifactsOf(connection: Connection, { id, token }: NamedRecord): ArtifactDoor {
  return {
    upload: (upload, signal) => uploadTo(connection, { id, token }, upload, signal),
    download: (dependency, file, signal) =>
      downloadFrom(connection, dependency, dependency.token || token, file, signal),
  }
}

async function uploadTo(
  connection: Connection,
  { id, token }: NamedRecord,
  upload: Upload,
  signal: AbortSignal,
): Promise<void> {
  const query = new URLSearchParams({ artifact_format: upload.format, artifact_type: upload.type })
  if (upload.expireIn) query.set('expire_in', upload.expireIn)
  let base = connection.base
  for (let attempt = 1; ; attempt++) {
    const trying = new AbortController()
    const boundary = `mortise-${randomBytes(16).toString('hex')}`
    const answer = await connection
      .once('POST', new URL(`jobs/${id}/artifacts?${query}`, base), {
        headers: { 'job-token': token, 'content-type': `multipart/form-data; boundary=${boundary}` },
        stream: () => multipart(boundary, upload),
        signal: AbortSignal.any([signal, trying.signal]),
      })
      .catch((error: unknown) => {
        signal.throwIfAborted()
        return error as Error
      })
    if (!(answer instanceof Error)) {
      if (answer.status === 201) {
        answer.body.resume()
        return
      }
      const location = headerOf(answer, 'location')
      const refusal = await refusalOf(answer)
      // The server may have answered before it received everything.
      trying.abort()
      if (answer.status === 307 && location && attempt <= MOST_REDIRECTS) {
        base = `${new URL(location, base).origin}${new URL(connection.base).pathname}`
        continue
      }
      if (attempt >= mostTries(answer.status)) throw new ArtifactsRefused(`uploading artifacts: ${refusal.message}`)
    } else if (attempt >= TRIES_WHILE_AWAY) throw new ArtifactsRefused(`uploading artifacts: ${answer.message}`)
    await sleep(pauseOf(attempt, null), null, { signal })
  }
}

async function downloadFrom(
  connection: Connection,
  { id }: Dependency,
  token: string,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const query = attempt === 1 ? '?direct_download=true' : ''
    try {
      const first = new URL(`jobs/${id}/artifacts${query}`, connection.base)
      const answer = await connection.follow(first, { 'job-token': token }, signal)
      if (answer.status === 200)
        return await pipeline(answer.body, bounded, createWriteStream(file, { mode: 0o600 }), { signal })
      const { message } = await refusalOf(answer)
      const isTemporary = isAway(answer.status)
      if (attempt >= mostTries(answer.status))
        throw new ArtifactsRefused(`downloading artifacts: ${message}`, { isTemporary })
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ArtifactsRefused) throw error
      if (attempt >= TRIES_WHILE_AWAY)
        throw new ArtifactsRefused(`downloading artifacts: ${(error as Error).message}`, { isTemporary: true })
    }
    await sleep(pauseOf(attempt, null), null, { signal })
  }
}

const isAway = (status: number) => [502, 503, 504].includes(status)

/** The number of attempts depends on the status of the answer. */
function mostTries(status: number): number {
  if (isAway(status)) return TRIES_WHILE_AWAY
  return [400, 401, 403, 404, 405, 413].includes(status) ? 1 : 3
}

async function* multipart(boundary: string, { filename, content }: Upload): AsyncGenerator<Uint8Array> {
  const head = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="file"; filename="${filename}"`,
    'Content-Type: application/octet-stream',
    '',
    '',
  ]
  yield Buffer.from(head.join('\r\n'))
  yield* content()
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}

async function* bounded(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > LONGEST_ARCHIVE) throw new ArtifactsRefused('downloading artifacts: the archive is too large')
    yield chunk
  }
}
