/** Composes one status from the statuses of several jobs: of a stage, of the needs of a job, or of a pipeline. Pure. */
import type { JobStatus } from '../jobs/model.ts'

export interface Counted {
  readonly status: JobStatus
  readonly allow_failure: boolean
}

/** `warned`: failed or canceled, and allowed to fail. `ignored`: manual and optional. */
type Kind = JobStatus | 'warned' | 'ignored'

function kindOf({ status, allow_failure }: Counted): Kind {
  if (!allow_failure) return status
  if (status === 'failed' || status === 'canceled') return 'warned'
  return status === 'manual' ? 'ignored' : status
}

/** Collects statuses. Composing them takes constant time, however many there are. */
export class Tally {
  readonly #kinds = new Set<Kind>()

  add(job: Counted): this {
    this.#kinds.add(kindOf(job))
    return this
  }

  get hasWarnings(): boolean {
    return this.#kinds.has('warned')
  }

  /** Null without jobs. */
  get status(): JobStatus | null {
    if (this.#kinds.size === 0) return null
    if (this.#only('skipped', 'ignored')) return 'skipped'
    if (this.#only('success', 'skipped', 'warned', 'ignored')) return 'success'
    if (this.#only('created', 'warned', 'ignored')) return 'created'
    if (this.#only('preparing', 'warned', 'ignored')) return 'preparing'
    if (this.#only('canceled', 'success', 'skipped', 'warned', 'ignored')) return 'canceled'
    if (this.#only('pending', 'created', 'skipped', 'warned', 'ignored')) return 'pending'
    if (this.#any('running', 'pending')) return 'running'
    for (const waiting of ['waiting_for_resource', 'manual', 'scheduled', 'preparing'] as const)
      if (this.#any(waiting)) return waiting
    if (this.#any('created')) return 'running'
    return this.#any('canceling') ? 'canceling' : 'failed'
  }

  /**
   * The status for a job that needs exactly these jobs. The job waits until all have ended. If one was skipped, the job
   * is skipped.
   */
  get needed(): JobStatus | null {
    if (this.#any('skipped', 'ignored')) return 'skipped'
    if (this.#kinds.size > 0 && !this.#only('success', 'failed', 'canceled', 'warned')) return 'pending'
    return this.status
  }

  #only(...kinds: Kind[]): boolean {
    for (const kind of this.#kinds) if (!kinds.includes(kind)) return false
    return true
  }

  #any(...kinds: Kind[]): boolean {
    return kinds.some((kind) => this.#kinds.has(kind))
  }
}

export function tallyOf(jobs: Iterable<Counted>): Tally {
  const tally = new Tally()
  for (const job of jobs) tally.add(job)
  return tally
}

/** `jobs`: without jobs that a newer one replaces. */
export const composedStatus = (jobs: Iterable<Counted>): JobStatus | null => tallyOf(jobs).status

export const FINISHED = ['success', 'failed', 'canceled', 'skipped'] as const
export const isFinished = (status: JobStatus): boolean => (FINISHED as readonly string[]).includes(status)

/** Ran to an end or was canceled. These jobs have a duration and can be retried. */
export const ENDED = ['success', 'failed', 'canceled'] as const
export const isEnded = (status: JobStatus): boolean => (ENDED as readonly string[]).includes(status)

/** Statuses that canceling a pipeline ends; manual jobs stay. */
export const CANCELABLE = ['created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'scheduled'] as const
