/**
 * A minimal third-party server for the runner protocol: it hands out jobs, takes logs by ranges, results and artifacts,
 * and records violations of the protocol by an agent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { Busboy } from '@fastify/busboy'
import type { JobInput } from '../src/ci/agent/job.ts'
import type { MaybePromise } from '../src/lib/async/maybe-promise.ts'

export interface ReceivedJob {
  trace: Buffer
  state: string
  readonly states: Record<string, unknown>[]
  readonly patches: { start: number; length: number }[]
  readonly uploads: { query: Record<string, string>; filename: string; bytes: number; head: Buffer }[]
}

type Reply = { status: number; headers?: Record<string, string>; body?: unknown }

export interface Receiver extends AsyncDisposable {
  readonly url: string
  /** Violations of the protocol. */
  readonly faults: string[]
  readonly calls: string[]
  readonly jobs: Map<number, ReceivedJob>
  readonly registrations: Record<string, unknown>[]
  /** Archives of earlier jobs, by id. */
  readonly archives: Map<number, Buffer>
  queue(job: JobInput): void
  ended(id: number): Promise<ReceivedJob>
  /** Overrides the server's answer if it returns one; the server answers when it has. */
  answer: ((call: string, body: Buffer, request: IncomingMessage) => MaybePromise<Reply | undefined>) | null
  /** Sent with every answer about a job. */
  jobStatus: string
  interval: string
  /** How long a request for a job is held open. */
  lockMs: number
}

const RUNNER_TOKEN = 'runner-token-1'

export async function startReceiver(): Promise<Receiver> {
  const waiting: JobInput[] = []
  const wakes = new Set<() => void>()
  const endings = new Map<number, PromiseWithResolvers<ReceivedJob>>()
  let version = 1

  const server = createServer((request, response) => {
    void take(request, response).catch((error: unknown) => {
      receiver.faults.push(String(error))
      response.destroy()
    })
  })
  const receiver: Receiver = {
    url: '',
    faults: [],
    calls: [],
    jobs: new Map(),
    registrations: [],
    archives: new Map(),
    answer: null,
    jobStatus: 'running',
    interval: '0.05',
    lockMs: 2000,
    queue(job) {
      waiting.push(job)
      version++
      for (const wake of wakes) wake()
    },
    ended(id) {
      const ending = endings.get(id) ?? Promise.withResolvers<ReceivedJob>()
      endings.set(id, ending)
      return ending.promise
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  const check = (isRight: unknown, fault: string) => {
    if (!isRight) receiver.faults.push(fault)
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, 'http://receiver')
    const path = pathname.replace('/api/v4/', '')
    const call = `${request.method} ${path}`
    receiver.calls.push(call)
    check(pathname.startsWith('/api/v4/'), `path ${pathname}`)
    check(/^mortise-runner \S+ \(/.test(request.headers['user-agent'] ?? ''), `${call}: user-agent`)
    check(request.headers['x-request-id'], `${call}: x-request-id`)
    const isUpload = /^POST jobs\/\d+\/artifacts$/.test(call)
    const body = isUpload ? Buffer.alloc(0) : await buffer(request)
    const instead = await receiver.answer?.(call, body, request)
    const reply = instead ?? (await answerTo(call, body, { request, response, searchParams }))
    if (!reply) return
    if (isUpload && instead) request.resume()
    const isJson = reply.body !== undefined && !Buffer.isBuffer(reply.body)
    response.writeHead(reply.status, { ...(isJson ? { 'content-type': 'application/json' } : {}), ...reply.headers })
    response.end(isJson ? JSON.stringify(reply.body) : (reply.body as Buffer | undefined))
  }

  async function answerTo(
    call: string,
    body: Buffer,
    {
      request,
      response,
      searchParams,
    }: { request: IncomingMessage; response: ServerResponse; searchParams: URLSearchParams },
  ): Promise<Reply | null> {
    const { headers } = request
    const [, id, rest = ''] = /^\w+ jobs\/(\d+)(\/.*)?$/.exec(call) ?? []
    if (id !== undefined) return aboutJob(Number(id), `${request.method}${rest}`, { request, body, searchParams })
    check(headers['content-type'] === 'application/json', `${call}: content-type`)
    check(headers.accept === 'application/json', `${call}: accept`)
    const json = JSON.parse(body.toString()) as Record<string, unknown>
    check(typeof json.token === 'string', `${call}: token`)
    switch (call) {
      case 'POST runners': {
        check(typeof json.tag_list === 'string', 'tag_list is one text')
        for (const key of ['run_untagged', 'locked']) check(typeof json[key] === 'boolean', `${key} is a boolean`)
        receiver.registrations.push(json)
        return json.token === 'registration-token'
          ? { status: 201, body: { id: 7, token: RUNNER_TOKEN, token_expires_at: null } }
          : { status: 403, body: { message: '403 Forbidden' } }
      }
      case 'POST runners/verify':
        check(typeof json.system_id === 'string', 'verify: system_id')
        return json.token === RUNNER_TOKEN || json.token === 'glrt-made'
          ? { status: 200, body: { id: 7, token: json.token, token_expires_at: null } }
          : { status: 403, body: { message: '403 Forbidden' } }
      case 'DELETE runners':
        return { status: 204 }
      case 'DELETE runners/managers':
        check(typeof json.system_id === 'string', 'managers: system_id')
        return { status: 204 }
      case 'POST jobs/request':
        return giveJob(json, response)
      default:
        check(false, `unknown call ${call}`)
        return { status: 404 }
    }
  }

  async function giveJob(json: Record<string, unknown>, response: ServerResponse): Promise<Reply | null> {
    const info = json.info as { executor: unknown; features: Record<string, unknown> }
    check(/^s_\w+$/.test(String(json.system_id)), 'request: system_id')
    check(typeof json.last_update === 'string', 'request: last_update')
    check(typeof info.executor === 'string' && info.features.refspecs === true, 'request: info')
    check(JSON.stringify(json).length < 32 * 1024, 'request: body too long')
    if (json.last_update === String(version) && waiting.length === 0) {
      await new Promise<void>((resolve) => {
        wakes.add(resolve)
        setTimeout(resolve, receiver.lockMs)
        response.once('close', resolve)
      })
      wakes.clear()
    }
    if (response.destroyed) return null
    const job = waiting.shift()
    if (!job) return { status: 204, headers: { 'x-gitlab-last-update': String(version) } }
    receiver.jobs.set(job.id, { trace: Buffer.alloc(0), state: 'running', states: [], patches: [], uploads: [] })
    return { status: 201, body: job }
  }

  async function aboutJob(
    id: number,
    what: string,
    { request, body, searchParams }: { request: IncomingMessage; body: Buffer; searchParams: URLSearchParams },
  ): Promise<Reply> {
    const { headers } = request
    const job = receiver.jobs.get(id)
    check(headers['job-token'], `${what}: job-token`)
    const pace = { 'job-status': receiver.jobStatus, 'x-gitlab-trace-update-interval': receiver.interval }
    if (what === 'GET/artifacts') {
      const archive = receiver.archives.get(id)
      return archive ? { status: 200, body: archive } : { status: 404, body: { message: '404 Not found' } }
    }
    if (!job) return { status: 403, body: { message: '403 Forbidden' } }
    if (what === 'PATCH/trace') {
      const [, first, last] = /^(\d+)-(\d+)$/.exec(headers['content-range'] ?? '') ?? []
      check(first !== undefined, 'content-range')
      check(headers['content-type'] === 'text/plain', 'patch: content-type')
      check(Number(last) - Number(first) + 1 === body.length, 'content-range and length')
      check(body.length > 0 && body.length <= 1024 ** 2, 'patch: length')
      check(searchParams.get('debug_trace') === 'false', 'debug_trace')
      job.patches.push({ start: Number(first), length: body.length })
      if (Number(first) !== job.trace.length)
        return { status: 416, headers: { ...pace, range: `0-${job.trace.length}` } }
      job.trace = Buffer.concat([job.trace, body])
      return { status: 202, headers: { ...pace, range: `0-${job.trace.length}` } }
    }
    if (what === 'PUT') {
      const json = JSON.parse(body.toString()) as Record<string, unknown>
      check(headers['content-type'] === 'application/json', 'put: content-type')
      check(typeof json.token === 'string', 'put: token')
      check(['running', 'success', 'failed'].includes(String(json.state)), 'put: state')
      check(json.exit_code === undefined || (Number.isInteger(json.exit_code) && json.exit_code !== 0), 'exit_code')
      job.states.push(json)
      if (json.state !== 'running') {
        job.state = String(json.state)
        const sum = `crc32:${crc32(job.trace).toString(16).padStart(8, '0')}`
        check((json.output as { checksum: string } | undefined)?.checksum === sum, 'put: checksum')
        check((json.output as { bytesize: number } | undefined)?.bytesize === job.trace.length, 'put: bytesize')
        void receiver.ended(id)
        endings.get(id)!.resolve(job)
      }
      return { status: 200, headers: pace }
    }
    check(what === 'POST/artifacts', `unknown call ${what}`)
    check(headers['transfer-encoding'] === 'chunked' && headers['content-length'] === undefined, 'upload: chunked')
    job.uploads.push(await uploadOf(request, Object.fromEntries(searchParams)))
    return { status: 201 }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(receiver, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

function uploadOf(request: IncomingMessage, query: Record<string, string>) {
  return new Promise<ReceivedJob['uploads'][number]>((resolve, reject) => {
    const parser = new Busboy({ headers: request.headers as { 'content-type': string } })
    let found: ReceivedJob['uploads'][number] | null = null
    parser.on('file', (field, stream, filename) => {
      const upload = { query, filename, bytes: 0, head: Buffer.alloc(0) }
      if (field === 'file') found = upload
      stream.on('data', (chunk: Buffer) => {
        upload.bytes += chunk.length
        if (upload.head.length < 64 * 1024) upload.head = Buffer.concat([upload.head, chunk])
      })
    })
    parser.once('finish', () => (found ? resolve(found) : reject(new Error('no part named file'))))
    parser.once('error', reject)
    request.pipe(parser)
  })
}
