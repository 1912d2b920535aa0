/** The agent's side of the runner protocol: requests, and the meaning of the answers. */
import { arch, platform } from 'node:os'
import { z } from 'zod'
import { VERSION } from '../../version.ts'
import type { ArtifactDoor } from './artifacts.ts'
import { Connection, headerOf, jsonOf, refusalOf, type Answer } from './connection.ts'
import { jobSchema, type Job, type JobResult } from './job.ts'
import { artifactsOf } from './transfers.ts'

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
  /** The number of bytes that the server has. Null if the server does not say. */
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
  readonly #connection: Connection
  readonly #systemId: string

  constructor(url: string, systemId: string) {
    this.#connection = new Connection(url)
    this.#systemId = systemId
  }

  close(): void {
    this.#connection.close()
  }

  async register(
    { token, description, tags = [], ...more }: Registration,
    info: RunnerInfo,
  ): Promise<RunnerCredential> {
    const answer = await this.#connection.send('POST', 'runners', {
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
    const answer = await this.#connection.send('POST', 'runners/verify', {
      json,
      headers: { 'runner-token': token },
      signal,
    })
    return credential.parse(await jsonOf(answer, 200))
  }

  /** Invalidates the old token. */
  async renewToken(old: string, signal: AbortSignal): Promise<RunnerToken> {
    const call = { json: { token: old }, headers: { 'runner-token': old }, signal }
    return token.parse(
      await jsonOf(await this.#connection.send('POST', 'runners/reset_authentication_token', call), 201),
    )
  }

  /** If several agents share the token, only this one is removed. */
  async unregister(token: string): Promise<void> {
    const [path, json] = token.startsWith('glrt-')
      ? ['runners/managers', { token, system_id: this.#systemId }]
      : ['runners', { token }]
    const answer = await this.#connection.send('DELETE', path, { json, headers: { 'runner-token': token } })
    if (answer.status !== 204) throw await refusalOf(answer)
    answer.body.resume()
  }

  async requestJob(
    token: string,
    { lastUpdate, info, signal }: { lastUpdate: string; info: RunnerInfo; signal: AbortSignal },
  ): Promise<JobAnswer> {
    const json = { token, system_id: this.#systemId, last_update: lastUpdate, info: infoOf(info) }
    const answer = await this.#connection.send('POST', 'jobs/request', {
      json,
      headers: { 'runner-token': token },
      signal,
    })
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
    const { failureReason, exitCode, isGivenBack } = state as Partial<JobResult>
    const json = {
      token,
      state: state.state,
      failure_reason: failureReason,
      requeue: isGivenBack,
      exit_code: exitCode || undefined,
      checksum,
      output: checksum === undefined ? undefined : { checksum, bytesize },
      info: infoOf(info),
    }
    return traceAnswer(
      await this.#connection.send('PUT', `jobs/${id}`, { json, headers: { 'job-token': token }, signal }),
    )
  }

  async patchTrace({ id, token }: Pick<Job, 'id' | 'token'>, start: number, bytes: Buffer): Promise<TraceAnswer> {
    const headers = {
      'job-token': token,
      'content-type': 'text/plain',
      'content-range': `${start}-${start + bytes.length - 1}`,
    }
    return traceAnswer(await this.#connection.send('PATCH', `jobs/${id}/trace?debug_trace=false`, { bytes, headers }))
  }

  artifactsOf(job: Pick<Job, 'id' | 'token'>): ArtifactDoor {
    return artifactsOf(this.#connection, job)
  }
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

/** Reports an invalid job to the server, if the job has an id and a token. */
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
