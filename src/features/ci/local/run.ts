/** Runs the whole pipeline of a working copy on this machine. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Executor } from '../../../ci/agent/executor.ts'
import { sweepLeftovers } from '../../../ci/agent/processes.ts'
import { removeFolder } from '../../../ci/agent/shell.ts'
import { lockFolder } from '../../../ci/agent/state.ts'
import type { Plan, PlannedJob } from '../../../ci/config/plan.ts'
import type { JobStatus } from '../jobs/model.ts'
import type { LocalRunOptions } from './context.ts'
import { LocalPipeline } from './pipeline.ts'
import { closingLines, Console, whyOf } from './showing.ts'
import { Slots } from './slots.ts'

/** The run could not start. */
export class NotRun extends Error {
  override name = 'NotRun'
}

export interface RunOptions {
  /** Empty: all jobs. */
  readonly named: readonly string[]
  readonly withNeeds: boolean
  readonly concurrent: number
  readonly executor: Executor
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly print: (text: string | Buffer) => void
  readonly isColoured: boolean
}

export interface Ran {
  readonly status: JobStatus
  /** A job failed that is not allowed to fail, even if the pipeline waits for a manual job. */
  readonly hasFailed: boolean
}

export async function runHere(plan: Plan, input: LocalRunOptions, how: RunOptions): Promise<Ran> {
  if (plan.jobs.length === 0) throw new NotRun('the pipeline has no jobs, see mortise ci check')
  const { jobs, played } = chosenOf(plan, how)
  const { state } = input.copy
  const unlock = await lockFolder(state).catch((error: unknown) => {
    throw new NotRun((error as Error).message, { cause: error })
  })
  const { executor, environment, signal, print, isColoured } = how
  try {
    await sweepLeftovers()
    await rm(join(state, 'artifacts'), { recursive: true, force: true })
    const display = new Console(print, { isPrefixed: how.concurrent > 1 && jobs.length > 1, isColoured })
    let last = 0
    const nextId = () => ++last
    const slots = new Slots(how.concurrent)
    const ground = { state, executor, environment, slots, display, signal, nextId }
    const pipeline = new LocalPipeline(ground, plan, input, { jobs, played })
    const status = await pipeline.run()
    print(`${closingLines(pipeline.jobs, status).join('\n')}\n`)
    return { status, hasFailed: pipeline.jobs.some((job) => job.status === 'failed' && !job.isAllowed && job.isOwn) }
  } finally {
    // Keeps caches and artifacts and deletes builds, which are as large as the working copy. Files that belong to a
    // container's users stay until the next container deletes them.
    await removeFolder(join(state, 'slots')).catch(() => {})
    await unlock()
  }
}

/** Selects the named jobs and the jobs they need. A name is a job's own name or the name that parallel jobs share. */
function chosenOf(plan: Plan, { named, withNeeds }: RunOptions): { jobs: readonly PlannedJob[]; played: Set<string> } {
  if (named.length === 0) return { jobs: plan.jobs, played: new Set() }
  const meant = named.flatMap((name) => {
    const found = plan.jobs.filter((job) => job.name === name || job.group === name)
    if (found.length > 0) return found
    const n = plan.left_out.indexOf(name)
    throw new NotRun(n < 0 ? `there is no job ${name}` : `${name} is not in this pipeline: ${whyOf(plan, n)}`)
  })
  const played = new Set(meant.map(({ name }) => name))
  const selected = new Set(meant)
  if (withNeeds) {
    const byName = new Map(plan.jobs.map((job) => [job.name, job]))
    // The loop adds jobs to the set while it iterates.
    for (const { needs, stage_index } of selected) {
      const before = needs === null ? plan.jobs.filter((job) => job.stage_index < stage_index) : []
      for (const job of before) selected.add(job)
      for (const need of needs ?? []) {
        const job = need.kind === 'job' ? byName.get(need.job) : undefined
        if (!job) continue
        selected.add(job)
        played.add(job.name)
      }
    }
  }
  return { jobs: plan.jobs.filter((job) => selected.has(job)), played }
}
