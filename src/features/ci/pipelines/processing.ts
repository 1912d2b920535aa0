/** Computes the next step of each job in a pipeline. Pure and idempotent. Visits every job and every need once. */
import type { JobStatus, JobWhen } from '../jobs/model.ts'
import { CANCELABLE, Tally, isFinished } from './status.ts'

export interface Processed {
  readonly id: number
  readonly kind: 'job' | 'bridge' | 'external'
  readonly name: string
  readonly stage_position: number
  readonly status: JobStatus
  readonly when: JobWhen
  readonly allow_failure: boolean
  /** Names of needed jobs. Null: all jobs of earlier stages. */
  readonly needs: readonly string[] | null
  readonly has_resource_group: boolean
}

export type Step = 'enqueue' | 'wait' | 'actionize' | 'schedule' | 'skip' | 'cancel'
export type Steps = Record<Step, number[]>

/** The status after each step. */
const LEADS_TO = {
  enqueue: 'pending',
  wait: 'waiting_for_resource',
  actionize: 'manual',
  schedule: 'scheduled',
  skip: 'skipped',
  cancel: 'canceled',
} as const satisfies Record<Step, JobStatus>

export interface Processing {
  readonly steps: Steps
  /** The status of the pipeline after the steps. Null without jobs. */
  readonly status: JobStatus | null
}

/** `jobs`: without jobs that a newer one replaces. */
export function processing(
  jobs: readonly Processed[],
  { on_job_failure = 'none' }: { on_job_failure?: 'none' | 'all' } = {},
): Processing {
  return new Pass(jobs).run(on_job_failure === 'all')
}

class Pass {
  readonly #stages: [number, Processed[]][]
  readonly #byName = new Map<string, Processed>()
  readonly #statuses = new Map<number, JobStatus>()
  readonly #steps: Steps = { enqueue: [], wait: [], actionize: [], schedule: [], skip: [], cancel: [] }

  constructor(jobs: readonly Processed[]) {
    this.#stages = [...Map.groupBy(jobs, (job) => job.stage_position)].toSorted(([a], [b]) => a - b)
    for (const job of jobs) {
      this.#statuses.set(job.id, job.status)
      if (job.kind !== 'external' || !this.#byName.has(job.name)) this.#byName.set(job.name, job)
    }
  }

  run(endsWithFailure: boolean): Processing {
    if (endsWithFailure && this.#hasFailed()) this.#cancelAll()
    const all = new Tally()
    for (const [, jobs] of this.#stages) {
      // Must be read before the jobs of this stage are added.
      const before = all.status ?? 'success'
      for (const job of inOrderOfNeeds(jobs, this.#byName)) this.#look(job, before)
      for (const job of jobs) all.add(this.#counted(job))
    }
    return { steps: this.#steps, status: all.status }
  }

  #counted(job: Processed) {
    return { status: this.#statuses.get(job.id)!, allow_failure: job.allow_failure }
  }

  #take(job: Processed, step: Step): void {
    this.#steps[step].push(job.id)
    this.#statuses.set(job.id, LEADS_TO[step])
  }

  #hasFailed(): boolean {
    return this.#stages.some(([, jobs]) => jobs.some((job) => job.status === 'failed' && !job.allow_failure))
  }

  #cancelAll(): void {
    for (const [, jobs] of this.#stages)
      for (const job of jobs)
        if ((CANCELABLE as readonly string[]).includes(job.status) && job.kind !== 'external') this.#take(job, 'cancel')
  }

  #look(job: Processed, before: JobStatus): void {
    if (this.#statuses.get(job.id) !== 'created' || job.kind === 'external') return
    const previous = job.needs === null ? before : this.#statusOfNeeds(job.needs)
    if (isFinished(previous)) this.#take(job, stepAfter(job, previous))
  }

  #statusOfNeeds(needs: readonly string[]): JobStatus {
    const tally = new Tally()
    for (const name of needs) {
      const needed = this.#byName.get(name)
      if (needed) tally.add(this.#counted(needed))
    }
    return tally.needed ?? 'success'
  }
}

function stepAfter(job: Processed, previous: JobStatus): Step {
  if (!accepts(job, previous)) return 'skip'
  if (job.when === 'manual') return 'actionize'
  if (job.when === 'delayed') return 'schedule'
  return job.has_resource_group ? 'wait' : 'enqueue'
}

function accepts({ when, needs }: Processed, previous: JobStatus): boolean {
  if (when === 'always') return previous !== 'canceled'
  if (when === 'on_failure') return previous === 'failed'
  return previous === 'success' || (previous === 'skipped' && needs === null)
}

/**
 * Orders the jobs of one stage so that needed jobs come first. Iterative, so that deep chains do not overflow the
 * stack.
 */
function inOrderOfNeeds(jobs: readonly Processed[], byName: ReadonlyMap<string, Processed>): Iterable<Processed> {
  if (jobs.every(({ needs }) => !needs?.length)) return jobs
  const ordered = new Set<Processed>()
  const opened = new Set<Processed>()
  for (const first of jobs) {
    const stack = [first]
    for (let job = stack.at(-1); job; job = stack.at(-1)) {
      if (ordered.has(job) || opened.has(job)) {
        ordered.add(job)
        stack.pop()
        continue
      }
      opened.add(job)
      for (const name of job.needs ?? []) {
        const needed = byName.get(name)
        if (needed && needed.stage_position === job.stage_position && !opened.has(needed)) stack.push(needed)
      }
    }
  }
  return ordered
}
