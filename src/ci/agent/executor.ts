/** Runs the scripts of a job. The agent does everything else on its own machine. */
import type { Job } from './job.ts'
import type { Environment } from './processes.ts'
import type { Variables } from './variables.ts'
import type { Workspace } from './workspace.ts'

export interface ExecutorJob {
  readonly job: Job
  readonly variables: Variables
  readonly workspace: Workspace
  /** The environment of the machine, without the job's variables. */
  readonly environment: Environment
  readonly mark: string
  readonly say: (text: string) => Promise<void>
  readonly warn: (text: string) => Promise<void>
  readonly output: (chunk: Buffer) => Promise<void>
}

export interface ScriptRun {
  readonly script: string
  /** `step_script`, `after_script` … */
  readonly stage: string
  readonly signal: AbortSignal
}

export interface Executor {
  readonly name: 'shell' | 'container'
  /** The wording for an exit code in the log and the protocol. */
  readonly exitWord: string
  /** The path of the slot's folder inside the container, if it differs. */
  readonly mountedAt?: string
  /** Whether scripts are isolated. If so, programs on the agent's machine must not trust files that the job wrote. */
  readonly isIsolated: boolean
  open(given: ExecutorJob): Promise<OpenExecutor>
}

export interface OpenExecutor {
  prepare(signal: AbortSignal): Promise<void>
  /** Returns the exit code. */
  run(run: ScriptRun): Promise<number>
  /** Deletes a folder of the job, whatever users own the files in it. */
  remove(folder: string): Promise<void>
  close(): Promise<void>
}
