/** The runner protocol from the agent's side: calls, their repeats, and what the answers mean. */
import { createWriteStream } from 'node:fs'
import { randomBytes, randomUUID } from 'node:crypto'
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { arch, platform } from 'node:os'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { VERSION } from '../../version.ts'
import { ArtifactsRefused, type ArtifactDoor, type Upload } from './artifacts.ts'
import { jobSchema, type Dependency, type Job, type JobResult } from './job.ts'

const HEADERS_TIMEOUT_MS = 10 * 60_000
const REPEATS = 5
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 60_000
const MOST_REDIRECTS = 5
/** More than any job needs. */
const LONGEST_ANSWER = 32 * 1024 ** 2
const LONGEST_REASON = 64 * 1024
const LONGEST_ARCHIVE = 20 * 1024 ** 3

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: IncomingMessage
}

interface Call {
  readonly headers?: Record<string, string>
  readonly json?: unknown
  readonly bytes?: Buffer
  /** Sent in chunks as it comes; never repeated by itself. */
  readonly stream?: () => AsyncIterable<Uint8Array>
  readonly signal?: AbortSignal | undefined
}

/** The server has understood and says no. */
export class ServerRefused extends Error {
  override name = 'ServerRefused'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface RunnerInfo {
  readonly executor: string
  readonly shell?: string
}

export interface Registration {
  readonly token: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly runUntagged?: boolean
  readonly locked?: boolean
  readonly maximumTimeout?: number
}

const token = z.object({
  token: z.string().min(1),
  token_expires_at: z
    .string()
    .nullish()
    .transform((time) => time ?? null),
})
const credential = token.extend({ id: z.int().positive() })
export type RunnerCredential = z.output<typeof credential>
export type RunnerToken = z.output<typeof token>

export type JobAnswer =
  | { kind: 'job'; job: Job }
  | { kind: 'broken'; id: number; token: string; message: string }
  | { kind: 'none'; lastUpdate: string | null }
  | { kind: 'unknown' }
  | { kind: 'failed'; message: string }

export interface TraceAnswer {
  readonly status: number
  readonly jobStatus: string
  /** How many bytes the server has; null where it does not tell. */
  readonly size: number | null
  /** In milliseconds. */
  readonly interval: number | null
}

const FEATURES = {
  variables: true,
  image: true,
  services: true,
  artifacts: true,
  cache: true,
  fallback_cache_keys: true,
  upload_multiple_artifacts: true,
  upload_raw_artifacts: true,
  refspecs: true,
  masking: true,
  raw_variables: true,
  artifacts_exclude: true,
  multi_build_steps: true,
  trace_reset: true,
  trace_checksum: true,
  trace_size: true,
  cancelable: true,
  return_exit_code: true,
  service_variables: true,
  service_multiple_aliases: true,
  cancel_gracefully: true,
} as const

export class RunnerServer {
  readonly #base: string
  readonly #agent: HttpAgent
  readonly #systemId: string

  constructor(url: string, systemId: string) {
    this.#base = `${url.replace(/\/+$/, '').replace(/\/ci$/, '')}/api/v4/`
    const options = { keepAlive: true, maxSockets: 64 }
    this.#agent = new URL(this.#base).protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
    this.#systemId = systemId
  }

  close(): void {
    this.#agent.destroy()
  }

  async register(
    { token, description, tags = [], ...more }: Registration,
    info: RunnerInfo,
  ): Promise<RunnerCredential> {
    const answer = await this.#send('POST', 'runners', {
      json: {
        token,
        description,
        tag_list: tags.join(','),
        run_untagged: more.runUntagged ?? tags.length === 0,
        locked: more.locked ?? true,
        maximum_timeout: more.maximumTimeout,
        info: infoOf(info),
      },
    })
    return credential.parse(await jsonOf(answer, 201))
  }

  async verify(token: string, info: RunnerInfo, signal?: AbortSignal): Promise<RunnerCredential> {
    const json = { token, system_id: this.#systemId, info: infoOf(info) }
    const answer = await this.#send('POST', 'runners/verify', { json, headers: { 'runner-token': token }, signal })
    return credential.parse(await jsonOf(answer, 200))
  }

  /** The old token ends with this. */
  async renewToken(old: string, signal: AbortSignal): Promise<RunnerToken> {
    const call = { json: { token: old }, headers: { 'runner-token': old }, signal }
    return token.parse(await jsonOf(await this.#send('POST', 'runners/reset_authentication_token', call), 201))
  }

  /** Of a token that was made for several agents, only this one goes. */
  async unregister(token: string): Promise<void> {
    const [path, json] = token.startsWith('glrt-')
      ? ['runners/managers', { token, system_id: this.#systemId }]
      : ['runners', { token }]
    const answer = await this.#send('DELETE', path, { json, headers: { 'runner-token': token } })
    if (answer.status !== 204) throw await refusalOf(answer)
    answer.body.resume()
  }

  async requestJob(
    token: string,
    { lastUpdate, info, signal }: { lastUpdate: string; info: RunnerInfo; signal: AbortSignal },
  ): Promise<JobAnswer> {
    const json = { token, system_id: this.#systemId, last_update: lastUpdate, info: infoOf(info) }
    const answer = await this.#send('POST', 'jobs/request', { json, headers: { 'runner-token': token }, signal })
    if (answer.status === 201) return jobOf(await jsonOf(answer, 201))
    const { message } = await refusalOf(answer)
    if (answer.status === 204) return { kind: 'none', lastUpdate: headerOf(answer, 'x-gitlab-last-update') }
    if (answer.status === 403) return { kind: 'unknown' }
    return { kind: 'failed', message }
  }

  async updateJob(
    { id, token }: Pick<Job, 'id' | 'token'>,
    state: { state: 'running' } | (JobResult & { checksum?: string; bytesize?: number }),
    info: RunnerInfo,
    signal?: AbortSignal,
  ): Promise<TraceAnswer> {
    const { checksum, bytesize } = state as { checksum?: string; bytesize?: number }
    const { failureReason, exitCode } = state as Partial<JobResult>
    const json = {
      token,
      state: state.state,
      failure_reason: failureReason,
      exit_code: exitCode || undefined,
      checksum,
      output: checksum === undefined ? undefined : { checksum, bytesize },
      info: infoOf(info),
    }
    return traceAnswer(await this.#send('PUT', `jobs/${id}`, { json, headers: { 'job-token': token }, signal }))
  }

  async patchTrace({ id, token }: Pick<Job, 'id' | 'token'>, start: number, bytes: Buffer): Promise<TraceAnswer> {
    const headers = {
      'job-token': token,
      'content-type': 'text/plain',
      'content-range': `${start}-${start + bytes.length - 1}`,
    }
    return traceAnswer(await this.#send('PATCH', `jobs/${id}/trace?debug_trace=false`, { bytes, headers }))
  }

  /** Artifacts of a job, by the tokens that the protocol names for each direction. */
  artifactsOf({ id, token }: Pick<Job, 'id' | 'token'>): ArtifactDoor {
    return {
      upload: (upload, signal) => this.#upload({ id, token }, upload, signal),
      download: (dependency, file, signal) => this.#download(dependency, dependency.token || token, file, signal),
    }
  }

  async #upload({ id, token }: Pick<Job, 'id' | 'token'>, upload: Upload, signal: AbortSignal): Promise<void> {
    const query = new URLSearchParams({ artifact_format: upload.format, artifact_type: upload.type })
    if (upload.expireIn) query.set('expire_in', upload.expireIn)
    let base = this.#base
    for (let attempt = 1; ; attempt++) {
      const trying = new AbortController()
      const boundary = `mortise-${randomBytes(16).toString('hex')}`
      const answer = await this.#once('POST', new URL(`jobs/${id}/artifacts?${query}`, base), {
        headers: { 'job-token': token, 'content-type': `multipart/form-data; boundary=${boundary}` },
        stream: () => multipart(boundary, upload),
        signal: AbortSignal.any([signal, trying.signal]),
      }).catch((error: unknown) => {
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
        // It may have answered before it heard all.
        trying.abort()
        if (answer.status === 307 && location && attempt <= MOST_REDIRECTS) {
          base = `${new URL(location, base).origin}${new URL(this.#base).pathname}`
          continue
        }
        const most = answer.status === 503 ? 6 : [400, 401, 403, 404, 405, 413].includes(answer.status) ? 1 : 3
        if (attempt >= most) throw new ArtifactsRefused(`uploading artifacts: ${refusal.message}`)
      } else if (attempt >= 3) throw new ArtifactsRefused(`uploading artifacts: ${answer.message}`)
      await sleep(pauseOf(attempt, null), null, { signal })
    }
  }

  async #download({ id }: Dependency, token: string, file: string, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const query = attempt === 1 ? '?direct_download=true' : ''
      try {
        const first = new URL(`jobs/${id}/artifacts${query}`, this.#base)
        const answer = await this.#follow(first, { 'job-token': token }, signal)
        if (answer.status === 200)
          return await pipeline(answer.body, bounded, createWriteStream(file, { mode: 0o600 }), { signal })
        const { message } = await refusalOf(answer)
        const isFinal = [401, 403, 404].includes(answer.status)
        if (isFinal || attempt >= 3) throw new ArtifactsRefused(`downloading artifacts: ${message}`)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof ArtifactsRefused) throw error
        if (attempt >= 3) throw new ArtifactsRefused(`downloading artifacts: ${(error as Error).message}`)
      }
      await sleep(pauseOf(attempt, null), null, { signal })
    }
  }

  /** The token stays with the server that it is for. */
  async #follow(first: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Answer> {
    let url = first
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#once('GET', url, { headers: url.origin === first.origin ? headers : {}, signal })
      const location = headerOf(answer, 'location')
      if (![301, 302, 303, 307, 308].includes(answer.status) || !location || redirects === MOST_REDIRECTS) return answer
      answer.body.resume()
      url = new URL(location, url)
    }
  }

  /** Repeated where the server is busy or away for a moment. */
  async #send(method: string, path: string, call: Call): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#once(method, new URL(path, this.#base), call)
      const isTemporary = [408, 429, 500, 502, 503, 504].includes(answer.status) || answer.status >= 512
      if (!isTemporary || attempt === REPEATS) return answer
      answer.body.resume()
      await sleep(pauseOf(attempt, answer), null, call.signal ? { signal: call.signal } : {})
    }
  }

  #once(method: string, url: URL, { headers = {}, json, bytes, stream, signal }: Call): Promise<Answer> {
    const body = json === undefined ? bytes : Buffer.from(JSON.stringify(json))
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const isHttps = url.protocol === 'https:'
    const isOurs = url.href.startsWith(this.#base)
    const request = (isHttps ? httpsRequest : httpRequest)(url, {
      method,
      ...(isOurs ? { agent: this.#agent } : {}),
      ...(signal ? { signal } : {}),
      headers: {
        'user-agent': `mortise-runner ${VERSION} (${platform()}/${arch()})`,
        'x-request-id': randomUUID(),
        ...(json === undefined ? {} : { 'content-type': 'application/json', accept: 'application/json' }),
        ...(body ? { 'content-length': body.length } : {}),
        ...headers,
      },
    })
    const timer = setTimeout(() => request.destroy(new Error('no answer')), HEADERS_TIMEOUT_MS)
    request.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    request.once('response', (body) => {
      clearTimeout(timer)
      // Nobody listens between two reads; what reads it is told.
      body.on('error', () => {})
      resolve({ status: body.statusCode ?? 0, headers: body.headers, body })
    })
    if (!stream) request.end(body)
    else {
      // A server that refuses before the end is heard all the same.
      pipeline(Readable.from(stream(), { objectMode: false }), request).catch((error: unknown) =>
        reject(error as Error),
      )
      // A long upload has its time; the limit is for the answer.
      timer.refresh()
      request.on('drain', () => timer.refresh())
    }
    return promise
  }
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

/** In milliseconds: as long as the server says, else longer with each attempt. */
function pauseOf(attempt: number, answer: Answer | null): number {
  const seconds = Number(answer ? headerOf(answer, 'retry-after') : Number.NaN)
  const reset = Date.parse((answer && headerOf(answer, 'ratelimit-resettime')) ?? '') - Date.now()
  const wished = seconds > 0 ? seconds * 1000 : reset > 0 ? reset : FIRST_PAUSE_MS * 2 ** (attempt - 1)
  return Math.min(wished, LONGEST_PAUSE_MS)
}

function infoOf({ executor, shell }: RunnerInfo) {
  return {
    name: 'mortise-runner',
    version: VERSION,
    revision: VERSION,
    platform: platform(),
    architecture: arch() === 'x64' ? 'amd64' : arch(),
    executor,
    shell,
    features: FEATURES,
  }
}

function headerOf({ headers }: Answer, name: string): string | null {
  const value = headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? null
}

async function bytesOf(answer: Answer, most: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) {
      answer.body.destroy()
      throw new ServerRefused(answer.status, 'the answer is too long')
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function jsonOf(answer: Answer, status: number): Promise<unknown> {
  if (answer.status !== status) throw await refusalOf(answer)
  const bytes = await bytesOf(answer, LONGEST_ANSWER)
  if (!/^application\/json\b/.test(headerOf(answer, 'content-type') ?? ''))
    throw new ServerRefused(answer.status, 'the answer is not JSON')
  return JSON.parse(bytes.toString('utf8')) as unknown
}

async function refusalOf(answer: Answer): Promise<ServerRefused> {
  const text = await bytesOf(answer, LONGEST_REASON).then(String, () => '')
  let said = ''
  try {
    const { message, error } = JSON.parse(text) as { message?: unknown; error?: unknown }
    const words = message ?? error ?? ''
    said = typeof words === 'string' ? words : JSON.stringify(words)
  } catch {
    // Proxies answer with pages.
  }
  // Some say their status themselves.
  const words = said.startsWith(`${answer.status} `) ? said : `${answer.status} ${said}`
  return new ServerRefused(answer.status, words.trim().slice(0, 500))
}

/** A job that cannot be understood is told to the server, if at least it can be named. */
function jobOf(json: unknown): JobAnswer {
  const parsed = jobSchema.safeParse(json)
  if (parsed.success) return { kind: 'job', job: parsed.data }
  const named = z.object({ id: z.int().positive(), token: z.string().min(1) }).safeParse(json)
  const [issue] = parsed.error.issues
  const message = `the job cannot be understood: ${issue?.path.join('.')}: ${issue?.message}`
  return named.success ? { kind: 'broken', ...named.data, message } : { kind: 'failed', message }
}

const LONGEST_INTERVAL_MS = 15 * 60_000

function traceAnswer(answer: Answer): TraceAnswer {
  answer.body.resume()
  const size = /^0-(\d{1,15})$/.exec(headerOf(answer, 'range') ?? '')?.[1]
  const seconds = Number(headerOf(answer, 'x-gitlab-trace-update-interval') ?? Number.NaN)
  return {
    status: answer.status,
    jobStatus: headerOf(answer, 'job-status') ?? '',
    size: size === undefined ? null : Number(size),
    interval: seconds > 0 ? Math.min(seconds * 1000, LONGEST_INTERVAL_MS) : null,
  }
}
