/** The scripts of a job: hooks, steps and `after_script`. */
import { isDue } from './caches.ts'
import { durationOf, durationText } from './durations.ts'
import type { OpenExecutor } from './executor.ts'
import { JobFailed, type Job } from './job.ts'
import type { JobLog } from './job-log.ts'
import { NoProgram } from './processes.ts'
import { scriptOf } from './scripts.ts'
import type { Sections } from './sections.ts'
import type { Variables } from './variables.ts'
import type { Workspace } from './workspace.ts'

const AFTER_SCRIPT_MS = 5 * 60_000
export const LONGEST_TIMER = 2 ** 31 - 1

export const tookTooLong = (ms: number) =>
  new JobFailed('job_execution_timeout', `execution took longer than ${durationText(ms)} seconds`)

export interface ScriptsJob {
  readonly job: Job
  readonly variables: Variables
  readonly workspace: Workspace
  readonly executor: OpenExecutor
  readonly sections: Sections
  readonly log: JobLog
  /** Ends the job at once. */
  readonly signal: AbortSignal
  /** Ends only the steps. */
  readonly cancel: AbortSignal | undefined
  /** The wording for an exit code in the log. */
  readonly exitWord: string
}

export class JobScripts {
  readonly #job: Job
  readonly #variables: Variables
  readonly #workspace: Workspace
  readonly #executor: OpenExecutor
  readonly #sections: Sections
  readonly #log: JobLog
  readonly #signal: AbortSignal
  readonly #cancel: AbortSignal | undefined
  readonly #exitWord: string

  constructor(given: ScriptsJob) {
    this.#job = given.job
    this.#variables = given.variables
    this.#workspace = given.workspace
    this.#executor = given.executor
    this.#sections = given.sections
    this.#log = given.log
    this.#signal = given.signal
    this.#cancel = given.cancel
    this.#exitWord = given.exitWord
  }

  async hook(name: string): Promise<void> {
    const hook = this.#job.hooks.find((hook) => hook.name === name)
    if (!hook || hook.script.length === 0) return
    await this.#runScript({ stage: name, commands: hook.script, folder: this.#workspace.seen.builds })
  }

  async steps(): Promise<void> {
    const limit = this.#limitOf('RUNNER_SCRIPT_TIMEOUT')
    const timer = limit === null ? null : AbortSignal.timeout(limit)
    const signals = [this.#signal, ...(timer ? [timer] : []), ...(this.#cancel ? [this.#cancel] : [])]
    const signal = AbortSignal.any(signals)
    let failure: { error: unknown } | null = null
    for (const step of this.#job.steps) {
      if (step.name === 'after_script' || step.script.length === 0) continue
      if (!isDue(step.when, failure === null)) continue
      const stage = `step_${step.name.replace(/\W/g, '_')}`
      try {
        await this.#sections.section(stage, `Executing "${stage}" stage of the job script`, () =>
          this.#runScript({ stage, commands: step.script, folder: this.#workspace.seen.project, signal }),
        )
      } catch (error) {
        if (timer?.aborted && !this.#signal.aborted) throw tookTooLong(limit!)
        if (signal.aborted) throw error
        if (!step.allow_failure) failure ??= { error }
      }
    }
    if (failure) throw failure.error
  }

  async after(isSuccess: boolean): Promise<void> {
    const step = this.#job.steps.find(({ name }) => name === 'after_script')
    if (!step || step.script.length === 0) return
    const isCanceled = this.#cancel?.aborted === true
    this.#variables.set('CI_JOB_STATUS', isSuccess ? 'success' : isCanceled ? 'canceled' : 'failed')
    const signal = AbortSignal.any([
      this.#signal,
      AbortSignal.timeout(this.#limitOf('RUNNER_AFTER_SCRIPT_TIMEOUT') ?? AFTER_SCRIPT_MS),
    ])
    try {
      await this.#sections.section('after_script', 'Running after_script', async () => {
        await this.#sections.say('Running after script...')
        await this.#runScript({
          stage: 'after_script',
          commands: step.script,
          folder: this.#workspace.seen.project,
          signal,
        })
      })
    } catch (error) {
      this.#signal.throwIfAborted()
      if (this.#variables.get('AFTER_SCRIPT_IGNORE_ERRORS') === 'false' && isSuccess) throw error
      const why = signal.aborted ? 'it took too long' : (error as Error).message
      await this.#sections.warn(`after_script failed, but job will continue unaffected: ${why}`)
    }
  }

  #limitOf(variable: string): number | null {
    const text = this.#variables.get(variable)
    const limit = text === '' ? null : durationOf(text)
    return limit !== null && limit > 0 ? Math.min(limit, LONGEST_TIMER) : null
  }

  async #runScript({
    stage,
    commands,
    folder,
    signal = this.#signal,
  }: {
    stage: string
    commands: readonly string[]
    folder: string
    signal?: AbortSignal
  }): Promise<void> {
    const script = scriptOf({
      environment: this.#variables.environment(),
      folder,
      commands,
      isTraced: this.#variables.get('CI_DEBUG_TRACE') === 'true',
    })
    try {
      const code = await this.#executor.run({ script, stage, signal })
      signal.throwIfAborted()
      if (code !== 0) throw new JobFailed('script_failure', `${this.#exitWord} ${code}`, { exitCode: code })
    } catch (error) {
      if (error instanceof NoProgram) throw new JobFailed('runner_system_failure', error.message, { cause: error })
      throw error
    } finally {
      // Flushes held-back output, so that no other line is appended to it.
      await this.#log.flush()
    }
  }
}
