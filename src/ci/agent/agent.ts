/**
 * The runner agent: registers with a server, requests jobs and runs them, several in parallel if configured. The agent
 * knows only the runner protocol, nothing else about the server.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import { ServerRefused } from './connection.ts'
import { executeJob, INTERRUPTED } from './execute.ts'
import type { Executor } from './executor.ts'
import type { Job, JobResult } from './job.ts'
import { JobLog } from './job-log.ts'
import { killRunning, sharedEnvironment, sweepLeftovers, type Environment } from './processes.ts'
import { DEFAULT_PACE, Reporter, type Pace } from './reporter.ts'
import { RunnerServer, type JobAnswer, type Registration, type RunnerInfo } from './server.ts'
import { shellExecutor } from './shell.ts'
import {
  digestOf,
  lockFolder,
  makeSystemId,
  readState,
  removeState,
  renewalOf,
  writeState,
  type RunnerState,
} from './state.ts'
import { projectPathOf } from './workspace.ts'

export interface AgentOptions {
  /** The URL of the server. */
  readonly url: string
  /**
   * A registration token, or a `glrt-` token of a runner that was created in advance. Without a token, the agent uses
   * its stored identity.
   */
  readonly token?: string
  /** The folder for builds, caches and the identity of the agent. Only one agent at a time may use it. */
  readonly folder: string
  readonly log: Log
  /** The environment of the agent's own process. Jobs get only the harmless variables. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly executor?: Executor
  /** The number of parallel jobs. */
  readonly concurrent?: number
  readonly registration?: Omit<Registration, 'token'>
  /** The size limit of a job's log in bytes. */
  readonly logLimit?: number
  readonly pace?: Partial<Pace>
}

export interface Agent {
  readonly runnerId: number
  /**
   * Takes no more jobs. Resolves when the running jobs have ended, or were returned to the queue after the grace time.
   */
  stop(options?: { graceMs?: number }): Promise<void>
  /** Stops at once, for when the process itself is about to end. */
  kill(): void
}

const DEFAULT_GRACE_MS = 60_000
/** Time to report the end of a stopped job to the server. */
const LAST_WORDS_MS = 10_000
const MOST_UNKNOWN = 3

export async function startAgent(options: AgentOptions): Promise<Agent> {
  const unlock = await lockFolder(options.folder)
  const { state, server } = await introduce(options).catch(async (error: unknown) => {
    await unlock()
    throw error
  })
  // Ends builds of a killed agent, which would still work in these folders.
  await sweepLeftovers()
  const loop = new Loop(options, server, state)
  loop.start()
  const stopAndUnlock = async (graceMs: number) => {
    try {
      await loop.stop(graceMs)
    } finally {
      await unlock()
    }
  }
  let stopped: Promise<void> | undefined
  return {
    runnerId: state.id,
    stop: ({ graceMs = DEFAULT_GRACE_MS } = {}) => (stopped ??= stopAndUnlock(graceMs)),
    kill: killRunning,
  }
}

/** Unregisters the runner, or only this manager of it, and deletes the local identity. */
export async function unregisterAgent({ folder }: { folder: string }): Promise<boolean> {
  const state = await readState(folder)
  if (!state) return false
  const server = new RunnerServer(state.url, state.system_id)
  try {
    await server.unregister(state.token)
  } catch (error) {
    // The server had already deleted the runner.
    if (!(error instanceof ServerRefused) || ![403, 404].includes(error.status)) throw error
  } finally {
    server.close()
  }
  await removeState(folder)
  return true
}

async function introduce(options: AgentOptions): Promise<{ state: RunnerState; server: RunnerServer }> {
  const { url, token, folder, registration = {} } = options
  const known = await readState(folder)
  const systemId = known?.system_id ?? makeSystemId()
  const server = new RunnerServer(url, systemId)
  const info = infoOf(options)
  const isSame = known?.url === url && (token === undefined || known.registered_with === digestOf(token))
  try {
    if (isSame) {
      await server.verify(known.token, info)
      return { state: known, server }
    }
    if (token === undefined) throw new ServerRefused(0, 'a token is needed: this runner is not registered there')
    const isMade = token.startsWith('glrt-')
    const made = isMade ? await server.verify(token, info) : await server.register({ ...registration, token }, info)
    const shared = { url, system_id: systemId, registered_with: digestOf(token) }
    const state = { ...shared, ...made, token_since: new Date().toISOString() }
    await writeState(folder, state)
    return { state, server }
  } catch (error) {
    server.close()
    throw error
  }
}

const infoOf = ({ executor = shellExecutor }: AgentOptions): RunnerInfo => ({ executor: executor.name, shell: 'bash' })

class Loop {
  readonly #options: AgentOptions
  readonly #server: RunnerServer
  #state: RunnerState
  readonly #pace: Pace
  readonly #info: RunnerInfo
  readonly #log: Log
  readonly #environment: Environment
  readonly #stopping = new AbortController()
  readonly #lastWords = new AbortController()
  readonly #running = new Map<number, { reporter: Reporter | null; done: Promise<void> }>()
  #asking: Promise<void> = Promise.resolve()
  #freed = Promise.withResolvers<void>()
  #lastUpdate = ''

  constructor(options: AgentOptions, server: RunnerServer, state: RunnerState) {
    this.#options = options
    this.#server = server
    this.#state = state
    this.#pace = { ...DEFAULT_PACE, ...options.pace }
    this.#info = infoOf(options)
    this.#log = options.log.child({ part: 'runner' })
    this.#environment = sharedEnvironment(options.environment)
  }

  start(): void {
    this.#asking = this.#ask()
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort()
    this.#freed.resolve()
    await this.#asking
    const all = Promise.all([...this.#running.values()].map(({ done }) => done))
    if (!(await isDoneWithin(all, graceMs))) {
      for (const { reporter } of this.#running.values()) reporter?.hard.abort(INTERRUPTED)
      const timer = setTimeout(() => this.#lastWords.abort(), LAST_WORDS_MS)
      await all
      clearTimeout(timer)
    }
    this.#server.close()
  }

  /** Runs until the agent is stopped. */
  async #ask(): Promise<void> {
    const { concurrent = 1 } = this.#options
    const { signal } = this.#stopping
    let [failures, unknown] = [0, 0]
    let isFresh = false
    while (!signal.aborted) {
      if (this.#running.size >= concurrent) {
        await this.#freed.promise
        continue
      }
      await this.#renewToken(signal)
      const began = performance.now()
      const answer = await this.#request(signal)
      if (!answer) return
      failures = answer.kind === 'failed' ? failures + 1 : 0
      unknown = answer.kind === 'unknown' ? unknown + 1 : 0
      if (answer.kind === 'failed') this.#log.warn({ fault: answer.message }, 'no answer to the request for a job')
      if (answer.kind === 'unknown') this.#log.error({ runner: this.#state.id }, 'the server does not know this runner')
      if (answer.kind === 'job') this.#take(answer.job)
      if (answer.kind === 'broken') await this.#refuse(answer)
      if (answer.kind === 'job' || answer.kind === 'broken') continue

      const isNewEvent = answer.kind === 'none' && answer.lastUpdate !== null && answer.lastUpdate !== this.#lastUpdate
      if (answer.kind === 'none' && answer.lastUpdate !== null) this.#lastUpdate = answer.lastUpdate
      // With the newest value the server holds the next request open, so the agent misses no job. It asks again at once
      // only one time: otherwise a server that sends a new value each time would be asked without end.
      if (isNewEvent && !isFresh) {
        isFresh = true
        continue
      }
      isFresh = false
      const most = this.#pace.unknown
      const backoff = Math.min(this.#pace.backoff * 2 ** Math.min(failures - 1, 20), 60_000)
      const rest = this.#pace.poll - (performance.now() - began)
      const pause = unknown >= MOST_UNKNOWN ? most : failures > 0 ? Math.max(backoff, rest) : rest
      if (pause > 0) await sleep(pause, null, { signal }).catch(() => {})
    }
  }

  async #renewToken(signal: AbortSignal): Promise<void> {
    const due = renewalOf(this.#state)
    if (due === null || Date.now() < due) return
    try {
      const renewed = await this.#server.renewToken(this.#state.token, signal)
      this.#state = { ...this.#state, ...renewed, token_since: new Date().toISOString() }
      await writeState(this.#options.folder, this.#state)
    } catch (error) {
      this.#log.warn({ fault: (error as Error).message }, 'the token cannot be renewed')
    }
  }

  async #request(signal: AbortSignal): Promise<JobAnswer | null> {
    try {
      const input = { lastUpdate: this.#lastUpdate, info: this.#info, signal }
      return await this.#server.requestJob(this.#state.token, input)
    } catch (error) {
      return signal.aborted ? null : { kind: 'failed', message: (error as Error).message }
    }
  }

  #take(job: Job): void {
    let slot = 0
    while (this.#running.has(slot)) slot++
    const entry: { reporter: Reporter | null; done: Promise<void> } = { reporter: null, done: Promise.resolve() }
    entry.reporter = new Reporter(this.#server, job, { info: this.#info, pace: this.#pace })
    this.#running.set(slot, entry)
    entry.done = this.#run(job, slot, entry.reporter)
      .catch((error: unknown) => this.#log.error({ job: job.id, err: error }, 'job cannot be run'))
      .finally(() => {
        this.#running.delete(slot)
        this.#freed.resolve()
        this.#freed = Promise.withResolvers<void>()
      })
  }

  async #run(job: Job, slot: number, reporter: Reporter): Promise<void> {
    const { folder, executor = shellExecutor, logLimit, registration } = this.#options
    // If the server cannot be reached now, it learns about the job later.
    if (!(await reporter.accept().catch(() => true))) return
    const began = performance.now()
    const about = { job: job.id, project: projectPathOf(job.git_info.repo_url) }
    this.#log.info(about, 'job begins')
    const logs = join(folder, 'logs')
    await mkdir(logs, { recursive: true, mode: 0o700 })
    const file = join(logs, `${job.id}.log`)
    const log = await JobLog.open(file, logLimit === undefined ? {} : { limit: logLimit })
    try {
      reporter.follow(log)
      const result = await executeJob(job, {
        executor,
        folder: join(folder, 'slots', String(slot)),
        cacheFolder: join(folder, 'cache', `project-${job.job_info.project_id}`),
        slot,
        log,
        artifacts: this.#server.artifactsOf(job),
        environment: this.#environment,
        signal: reporter.hard.signal,
        cancel: reporter.graceful,
        description: registration?.description ?? 'mortise',
        shortToken: this.#state.token.replace(/^glrt-/, '').slice(0, 8),
      }).catch((error: unknown): JobResult => {
        this.#log.error({ ...about, err: error }, 'job broke the runner')
        return { state: 'failed', failureReason: 'runner_system_failure' }
      })
      const isReported = await reporter.finish(log, result, this.#lastWords.signal)
      this.#log.info({ ...about, ...result, isReported, ms: Math.round(performance.now() - began) }, 'job ended')
    } finally {
      await log[Symbol.asyncDispose]()
      await rm(file, { force: true })
    }
  }

  /** Reports to the server why the job could not run. */
  async #refuse({ id, token, message }: Extract<JobAnswer, { kind: 'broken' }>): Promise<void> {
    this.#log.error({ job: id, fault: message }, 'job is refused')
    try {
      await this.#server.patchTrace({ id, token }, 0, Buffer.from(`ERROR: Job failed: ${message}\n`))
      const result = { state: 'failed', failureReason: 'runner_system_failure' } as const
      await this.#server.updateJob({ id, token }, result, this.#info)
    } catch (error) {
      this.#log.warn({ job: id, fault: (error as Error).message }, 'the server cannot be told')
    }
  }
}

async function isDoneWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController()
  const waiting = sleep(ms, false, { signal: timer.signal }).catch(() => false)
  const isDone = await Promise.race([work.then(() => true), waiting])
  timer.abort()
  return isDone
}
