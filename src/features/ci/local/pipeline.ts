/**
 * Runs a plan on this machine. The pure functions that the server uses choose the next jobs. The agent's own code runs
 * each job on a copy of the working copy.
 */
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { ArtifactsRefused, type ArtifactDoor } from '../../../ci/agent/artifacts.ts'
import { CANCELED } from '../../../ci/agent/execute.ts'
import type { Executor } from '../../../ci/agent/executor.ts'
import { artifactFolder, runLocally } from '../../../ci/agent/local.ts'
import { compile } from '../../../ci/config/compile.ts'
import type { Fault } from '../../../ci/config/faults.ts'
import { fileVariables, type Plan, type PlannedJob } from '../../../ci/config/plan.ts'
import { Scope, valuesOf, type Variable } from '../../../ci/config/variables.ts'
import { nullIfMissing } from '../../../lib/files/system-errors.ts'
import { openZipFile } from '../../../lib/zip/files.ts'
import { BadZip } from '../../../lib/zip/reader.ts'
import { isAllowedExit, mostRetries } from '../jobs/failures.ts'
import type { JobStatus, JobWhen } from '../jobs/model.ts'
import { processing } from '../pipelines/processing.ts'
import { composedStatus, isEnded, isFinished } from '../pipelines/status.ts'
import { dotenvIn, LARGEST_DOTENV, USUAL_DOTENV } from '../runner-protocol/dotenv.ts'
import { contextOf, predefinedFor, type LocalRunOptions } from './context.ts'
import { jobInput } from './job.ts'
import { LARGEST_FILE } from './server-files.ts'
import type { Slots } from './slots.ts'

/** Children of children are allowed, but nothing deeper. */
const DEEPEST_CHILD = 2

/** Receives the progress of a run. */
export interface Display {
  /** Receives the output of one job while the job runs. */
  openJob(name: string): { write(chunk: Buffer): void; end(): void }
  note(text: string): void
}

export interface RunGround {
  readonly state: string
  readonly executor: Executor
  /** The environment variables of this process. Jobs get only the harmless ones. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly slots: Slots
  readonly display: Display
  readonly signal: AbortSignal
  /** Job ids, unique over all pipelines of the run. */
  nextId(): number
}

export interface RanJob {
  /** False for jobs of a child pipeline, because the job that created the child reports the result. */
  readonly isOwn: boolean
  /** Prefixed with the name of the job that created the pipeline. */
  readonly name: string
  readonly stage: string
  readonly status: JobStatus
  readonly isAllowed: boolean
  readonly seconds: number | null
  readonly note: string
}

/** One job of a local pipeline. A retry is a new attempt with the same row. */
interface Row {
  id: number
  readonly job: PlannedJob
  when: JobWhen
  status: JobStatus
  isAllowed: boolean
  tries: number
  seconds: number | null
  note: string
  archive: string | null
  reported: readonly Variable[]
  readonly stop: AbortController
}

export class LocalPipeline {
  readonly #ground: RunGround
  readonly #plan: Plan
  readonly #options: LocalRunOptions
  readonly #depth: number
  readonly #prefix: string
  readonly #rows: Row[]
  readonly #running = new Map<Row, Promise<void>>()
  readonly #children: { pipeline: LocalPipeline; done: Promise<JobStatus> }[] = []

  constructor(
    ground: RunGround,
    plan: Plan,
    request: LocalRunOptions,
    { jobs = plan.jobs, played = new Set<string>(), depth = 0, prefix = '' }: LocalShare = {},
  ) {
    this.#ground = ground
    this.#plan = plan
    this.#options = request
    this.#depth = depth
    this.#prefix = prefix
    this.#rows = jobs.map((job) => ({
      id: ground.nextId(),
      job,
      when: played.has(job.name) ? whenPlayed(job.when) : job.when,
      status: 'created',
      isAllowed: job.allow_failure === true,
      tries: 0,
      seconds: null,
      note: '',
      archive: null,
      reported: [],
      stop: new AbortController(),
    }))
  }

  /** Resolves when only manual jobs remain. */
  async run(): Promise<JobStatus> {
    for (;;) {
      this.#process()
      if (this.#running.size === 0) break
      await Promise.race(this.#running.values())
    }
    await Promise.all(this.#children.map(({ done }) => done))
    return composedStatus(this.#rows.map(counted)) ?? 'skipped'
  }

  /** Jobs of a child pipeline follow the job that created the child. */
  get jobs(): RanJob[] {
    const own = this.#rows.map(({ job, status, isAllowed, seconds, note }) => ({
      isOwn: this.#depth === 0,
      name: this.#prefix + job.name,
      stage: job.stage,
      status,
      isAllowed,
      seconds,
      note,
    }))
    return [...own, ...this.#children.flatMap(({ pipeline }) => pipeline.jobs)]
  }

  #process(): void {
    if (this.#ground.signal.aborted) {
      for (const row of this.#rows) if (!isFinished(row.status) && !this.#running.has(row)) row.status = 'canceled'
      return
    }
    const { steps } = processing(this.#rows.map(processed), {
      on_job_failure: this.#plan.auto_cancel.on_job_failure === 'all' ? 'all' : 'none',
    })
    const byId = new Map(this.#rows.map((row) => [row.id, row]))
    const move = (ids: readonly number[], status: JobStatus) => {
      for (const id of ids) byId.get(id)!.status = status
    }
    for (const id of steps.cancel) byId.get(id)!.stop.abort(CANCELED)
    move(steps.cancel, 'canceled')
    move(steps.skip, 'skipped')
    move(steps.actionize, 'manual')
    move(steps.wait, 'waiting_for_resource')
    // No user waits for a delayed job here, so it starts at once.
    move([...steps.schedule, ...steps.enqueue], 'pending')
    for (const row of this.#rows) if (this.#isDue(row)) this.#start(row)
  }

  #isDue(row: Row): boolean {
    if (this.#running.has(row)) return false
    if (row.status !== 'waiting_for_resource') return row.status === 'pending'
    return [...this.#running.keys()].every(({ job }) => job.resource_group !== row.job.resource_group)
  }

  #start(row: Row): void {
    row.status = 'pending'
    const work = row.job.trigger ? this.#runBridge(row) : this.#runJob(row)
    this.#running.set(
      row,
      work.finally(() => this.#running.delete(row)),
    )
  }

  async #runJob(row: Row): Promise<void> {
    const { slots, signal } = this.#ground
    const ended = AbortSignal.any([signal, row.stop.signal])
    const slot = await slots.take(ended)
    if (slot === null) return void (row.status = 'canceled')
    try {
      row.status = 'running'
      await this.#execute(row, slot, ended)
    } finally {
      slots.free(slot)
    }
  }

  async #execute(row: Row, slot: number, signal: AbortSignal): Promise<void> {
    const { state, executor, environment, display } = this.#ground
    const { job } = row
    const began = performance.now()
    const before = this.#before(row)
    const printed = display.openJob(this.#prefix + job.name)
    for (const text of this.#lacks(row)) printed.write(Buffer.from(`${text}\n`))
    const input = await jobInput({
      id: row.id,
      plan: this.#plan,
      job,
      options: this.#options,
      reported: before.flatMap(({ reported }) => reported),
      dependencies: before.flatMap(({ id, job: { name }, archive }) =>
        archive === null ? [] : [{ id, name, archive }],
      ),
    })
    const result = await runLocally(input, this.#options.copy.root, {
      state,
      slot,
      executor,
      environment,
      signal,
      artifacts: this.#doorOf(row, join(state, 'artifacts')),
      output: (chunk) => printed.write(chunk),
    })
    printed.end()
    row.seconds = (performance.now() - began) / 1000
    const { failureReason: reason = 'unknown_failure', exitCode = null } = result
    if (signal.aborted) row.status = 'canceled'
    else if (result.state === 'success') row.status = 'success'
    else if (row.tries < mostRetries(job.retry, { reason, exit_code: exitCode })) {
      display.note(`${this.#prefix}${job.name} is tried again`)
      Object.assign(row, {
        id: this.#ground.nextId(),
        tries: row.tries + 1,
        status: job.resource_group === null ? 'pending' : 'waiting_for_resource',
        archive: null,
        reported: [],
      })
    } else {
      row.status = 'failed'
      row.isAllowed ||= isAllowedExit(job, exitCode)
      row.note = exitCode === null ? reason.replaceAll('_', ' ') : `exit ${exitCode}`
    }
  }

  /** Stores archives in a folder. Reads reported variables with the same code as a server. */
  #doorOf(row: Row, root: string): ArtifactDoor {
    const folder = artifactFolder(root, row.id)
    return {
      download: folder.download,
      async upload(upload, signal) {
        if (upload.type === 'dotenv') {
          const read = await dotenvIn(await startOf(upload.content()), upload.format, USUAL_DOTENV)
          if (typeof read === 'string') throw new ArtifactsRefused(`uploading artifacts: 400 Bad Request - ${read}`)
          row.reported = read
        }
        await folder.upload(upload, signal)
        if (upload.type === 'archive') row.archive = upload.filename
      },
    }
  }

  /** The jobs whose artifacts and variables this job gets: the jobs it names, or all jobs of earlier stages. */
  #before({ job }: Row): Row[] {
    const needed =
      job.dependencies ?? job.needs?.flatMap((need) => (need.kind === 'job' && need.artifacts ? need.job : []))
    return this.#rows
      .filter((one) => isEnded(one.status) && !one.job.trigger)
      .filter((one) => (needed ? needed.includes(one.job.name) : one.job.stage_index < job.stage_index))
      .toSorted((a, b) => a.job.stage_index - b.job.stage_index || a.id - b.id)
  }

  /** Lists artifacts that a server would provide and a local run does not have. */
  *#lacks({ job }: Row): Generator<string> {
    const names = new Set(this.#rows.map((row) => row.job.name))
    for (const need of job.needs ?? []) {
      if (need.kind === 'project') yield `Artifacts of ${need.job} in ${need.project} are not here`
      else if (need.kind === 'pipeline') yield `Artifacts of the pipeline ${need.pipeline} are not here`
      else if (need.artifacts && !names.has(need.job)) yield `Artifacts of ${need.job} are not here: it is not run`
    }
  }

  async #runBridge(row: Row): Promise<void> {
    const { trigger, name } = row.job
    if (!trigger?.include) {
      row.status = 'skipped'
      row.note = `not run: a pipeline of ${trigger?.project}`
      return
    }
    const request = await this.#childOptions(row)
    const text = JSON.stringify({ include: trigger.include })
    const context = await contextOf(request, ({ job, path }) => this.#artifactText(job, path))
    const { plan, errors } = await compile(text, context)
    const why = this.#depth >= DEEPEST_CHILD ? 'children go no deeper' : childFault(plan, errors)
    if (why !== null || !plan) {
      row.status = 'failed'
      row.note = why ?? ''
      return
    }
    const signal = AbortSignal.any([this.#ground.signal, row.stop.signal])
    const child = new LocalPipeline({ ...this.#ground, signal }, plan, request, {
      depth: this.#depth + 1,
      prefix: `${this.#prefix}${name} / `,
    })
    row.status = 'running'
    const done = child.run()
    this.#children.push({ pipeline: child, done })
    const status = trigger.strategy ? await done : 'success'
    row.status = status === 'canceled' || status === 'failed' || status === 'success' ? status : asBridge(status)
  }

  async #childOptions({ job }: Row): Promise<LocalRunOptions> {
    const { forward, inputs } = job.trigger!
    const given = fileVariables(this.#plan, job)
    const scope = new Scope([
      valuesOf(this.#options.variables),
      valuesOf(given),
      valuesOf(await predefinedFor(this.#options)),
    ])
    const ofFile = given.map(({ key, value, expand }) => ({ key, value: expand ? scope.expand(value) : value }))
    return {
      ...this.#options,
      event: 'parent_pipeline',
      inputs,
      variables: [
        ...(forward.yaml_variables ? ofFile : []),
        // Masked variables act like the project settings of a server: all pipelines of the project get them.
        ...this.#options.variables.filter(({ masked }) => forward.pipeline_variables || masked),
      ],
    }
  }

  async #artifactText(name: string, path: string): Promise<string | null> {
    const row = this.#rows.find(({ job }) => job.name === name)
    if (!row?.archive) return null
    const file = join(this.#ground.state, 'artifacts', String(row.id), 'archive', row.archive)
    try {
      await using zip = await openZipFile(file)
      const entry = await zip.find(path)
      if (entry?.type !== 'file' || entry.isEncrypted || entry.size > LARGEST_FILE) return null
      return (await buffer(Readable.from(zip.read(entry)))).toString('utf8')
    } catch (error) {
      if (error instanceof BadZip) return null
      return nullIfMissing(error)
    }
  }
}

/** Reads just enough to detect that the content exceeds the limit. */
async function startOf(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of content) {
    chunks.push(chunk)
    size += chunk.length
    if (size > LARGEST_DOTENV) break
  }
  return Buffer.concat(chunks)
}

export interface LocalShare {
  /** Run only these jobs of the plan. */
  readonly jobs?: readonly PlannedJob[]
  /** Jobs that the user named. They run even if they are manual. */
  readonly played?: ReadonlySet<string>
  readonly depth?: number
  readonly prefix?: string
}

const whenPlayed = (when: JobWhen): JobWhen => (when === 'on_failure' || when === 'always' ? 'always' : 'on_success')

const counted = ({ status, isAllowed }: Row) => ({ status, allow_failure: isAllowed })

const processed = ({ id, job, when, status, isAllowed }: Row) => ({
  id,
  kind: job.trigger ? ('bridge' as const) : ('job' as const),
  name: job.name,
  stage_position: job.stage_index,
  status,
  when,
  allow_failure: isAllowed,
  needs: job.needs?.flatMap((need) => (need.kind === 'job' ? [need.job] : [])) ?? null,
  has_resource_group: job.resource_group !== null,
})

function childFault(plan: Plan | null, errors: readonly Fault[]): string | null {
  if (errors.length > 0) return errors.map(({ message }) => message).join('; ')
  return !plan || plan.is_refused || plan.jobs.length === 0 ? 'its pipeline would have no jobs' : null
}

/** A child that waits for a manual job counts as a success, because no user starts manual jobs here. */
const asBridge = (status: JobStatus): JobStatus => (status === 'skipped' ? 'failed' : 'success')
