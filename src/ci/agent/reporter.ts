/** Sends the log and the result of a running job to the server, and learns from the server when the job must end. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { JobLog } from './job-log.ts'
import type { Job, JobResult } from './job.ts'
import { CANCELED } from './execute.ts'
import type { RunnerInfo, RunnerServer, TraceAnswer } from './server.ts'

/** In milliseconds. */
export interface Pace {
  /** The pause between two requests that return no job. */
  readonly poll: number
  /** The interval for sending the log, until the server sets another. */
  readonly update: number
  /** Without output, the agent contacts the server at this interval. */
  readonly keepAlive: number
  /** The first pause after a failure. Each further pause doubles. */
  readonly backoff: number
  /** The pause when the server does not know this runner. */
  readonly unknown: number
}

export const DEFAULT_PACE: Pace = {
  poll: 3000,
  update: 3000,
  keepAlive: 30_000,
  backoff: 1000,
  unknown: 60 * 60_000,
}

const LONGEST_PATCH = 1024 ** 2
const FINAL_TRIES = 10
const MOST_WAITS = 100
const LONGEST_BACKOFF_MS = 60 * 60_000

export class Reporter {
  readonly #server: RunnerServer
  readonly #job: Pick<Job, 'id' | 'token'>
  readonly #info: RunnerInfo
  readonly #pace: Pace
  readonly #hard = new AbortController()
  readonly #graceful = new AbortController()
  #sent = 0
  #interval: number
  #lastCall = performance.now()
  readonly #ending = new AbortController()
  #following: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(server: RunnerServer, job: Pick<Job, 'id' | 'token'>, { info, pace }: { info: RunnerInfo; pace: Pace }) {
    this.#server = server
    this.#job = job
    this.#info = info
    this.#pace = pace
    this.#interval = pace.update
  }

  /** Ends the job at once. */
  get hard(): AbortController {
    return this.#hard
  }

  /** Ends the script. The stages after it still run. */
  get graceful(): AbortSignal {
    return this.#graceful.signal
  }

  /** False if the server no longer wants the job. */
  async accept(): Promise<boolean> {
    const { status, jobStatus } = await this.#server.updateJob(this.#job, { state: 'running' }, this.#info)
    return status !== 403 && status !== 404 && jobStatus !== 'canceled' && jobStatus !== 'failed'
  }

  /** Sends new output until the job ends. */
  follow(log: JobLog): void {
    this.#following = this.#follow(log)
  }

  async #follow(log: JobLog): Promise<void> {
    const { signal } = this.#ending
    while (!this.#isOver) {
      await sleep(this.#interval, null, { signal }).catch(() => {})
      if (signal.aborted) return
      try {
        await this.#send(log)
        if (performance.now() - this.#lastCall < this.#pace.keepAlive) continue
        const answer = await this.#server.updateJob(this.#job, { state: 'running' }, this.#info)
        // A 404 ends the job here. For a trace request it would only be a pause.
        this.#hear(answer.status === 404 ? { ...answer, status: 403 } : answer)
      } catch {
        // The server is temporarily unavailable. The file can be sent later.
      }
    }
  }

  /** Sends the rest of the log, then the result. False if the server never accepted it. */
  async finish(log: JobLog, result: JobResult, signal?: AbortSignal): Promise<boolean> {
    this.#ending.abort()
    await this.#following
    for (let attempt = 1, waits = 0; attempt <= FINAL_TRIES && waits < MOST_WAITS; attempt++) {
      const answer = await this.#tryToFinish(log, result)
      if (answer?.status === 200 || answer?.status === 403 || answer?.status === 404) return answer.status === 200
      if (answer && ['canceled', 'failed'].includes(answer.jobStatus)) return false
      // The server has deleted its log and wants the whole log again.
      if (answer?.status === 412) this.#sent = 0
      const isWaiting = answer?.status === 202
      const backoff = Math.min(this.#pace.backoff * 2 ** (attempt - 1), LONGEST_BACKOFF_MS)
      const pause = answer?.status === 412 ? 0 : isWaiting ? this.#interval : backoff
      // Waiting for the server to process the log is not a failed attempt.
      if (isWaiting) {
        attempt--
        waits++
      }
      const isStopped = await sleep(pause, false, signal ? { signal } : {}).catch(() => true)
      if (isStopped) return false
    }
    return false
  }

  async #tryToFinish(log: JobLog, result: JobResult): Promise<TraceAnswer | null> {
    try {
      if (!(await this.#send(log))) return null
      const state = { ...result, checksum: log.checksum, bytesize: log.size }
      const answer = await this.#server.updateJob(this.#job, state, this.#info)
      if (answer.interval !== null) this.#interval = answer.interval
      return answer
    } catch {
      return null
    }
  }

  /** Whether the server has the whole log, or wants no more of it. */
  async #send(log: JobLog): Promise<boolean> {
    let mismatches = 0
    while (this.#sent < log.size) {
      const bytes = await log.read(this.#sent, Math.min(LONGEST_PATCH, log.size - this.#sent))
      const answer = await this.#server.patchTrace(this.#job, this.#sent, bytes)
      this.#hear(answer)
      if (answer.status === 202 && answer.jobStatus !== 'canceled') this.#sent += bytes.length
      else if (answer.status === 202) return true
      else if (answer.status === 416 && answer.size !== null && mismatches++ < 3) {
        // The server may have less than was sent, or more than the log contains.
        this.#sent = Math.min(answer.size, log.size)
      } else return answer.status === 403
    }
    return true
  }

  #hear({ status, jobStatus, interval }: TraceAnswer): void {
    this.#lastCall = performance.now()
    if (interval !== null) this.#interval = interval
    if (status === 403 || jobStatus === 'canceled' || jobStatus === 'failed') {
      this.#isOver = true
      this.#hard.abort(CANCELED)
    } else if (jobStatus === 'canceling') this.#graceful.abort(CANCELED)
  }
}
