/** What runs a job's scripts. Everything else of a job is done beside it, on the agent's machine. */
import type { Job } from './job.ts'
import type { Environment } from './processes.ts'
import type { Variables } from './variables.ts'
import type { Workspace } from './workspace.ts'

export interface ExecutorJob {
  readonly job: Job
  readonly variables: Variables
  readonly workspace: Workspace
  /** Of the machine; not the job's variables. */
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
  /** How the log and the protocol tell an exit code. */
  readonly exitWord: string
  /** Where scripts see the folder of the job's slot, if not where it is. */
  readonly mountedAt?: string
  /** Whether what the job left may be trusted by programs that run beside it. */
  readonly isIsolated: boolean
  open(given: ExecutorJob): Promise<OpenExecutor>
}

export interface OpenExecutor {
  prepare(signal: AbortSignal): Promise<void>
  /** The exit code. */
  run(run: ScriptRun): Promise<number>
  /** Removes a folder of the job, whoever owns the files in it. */
  remove(folder: string): Promise<void>
  close(): Promise<void>
}
