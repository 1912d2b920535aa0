/**
 * Chooses the pending job for a runner. Pending jobs are grouped in buckets (`ci_queue`): if the first job of a bucket
 * fits a runner, all its jobs fit. So a runner checks one job of each bucket, and many jobs that do not fit cost no
 * more than one. If there are very many buckets, one request checks some of them, and the next equal request continues
 * after them. If several runners want the same job, one gets it and the others take the next one. Runners of this
 * process see that the job is reserved; other processes find that its status has changed.
 */
import { setImmediate as immediate } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import type { App } from '../../../context.ts'
import { FeatureDisabled } from '../../../lib/levels.ts'
import { CacheBudget } from '../../../lib/async/cache-budget.ts'
import { Lru } from '../../../lib/async/lru.ts'
import type { Db, Store } from '../../../store/database.ts'
import { areAmong } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { hasUsedUp, monthOf } from '../minutes/service.ts'
import type { Runner } from '../runners/model.ts'

/** Buckets that one query reads. With no more buckets than that, the order of the API contract is exact. */
const WINDOW = 200
/** The maximum of windows per request. The next request continues there. */
const MOST_WINDOWS = 10
/** Jobs of a bucket that one query reads. */
const AHEAD = 50
/** Longer than a scan of the queue takes. */
const TAKEN_MS = 60_000

interface Bucket {
  readonly lane: string
  readonly project_id: number
  /** The first job of the bucket. */
  readonly job_id: number
  readonly fits: boolean
  /** Jobs of the project that run on shared runners. */
  readonly running: number
}

interface Options {
  /** The id of the runner, if it belongs to a project or a group. */
  readonly ofProjects?: number
  readonly ofGroup?: number
  /** For shared runners. */
  readonly month?: string
  readonly protectedOnly?: true
  readonly untagged?: true
  /** As JSON. */
  readonly tags?: string
}

function queueOptionsOf(app: App, { id, runner_type, access_level, run_untagged, tags }: Runner): Options {
  return {
    ...(runner_type === 'project_type' && { ofProjects: id }),
    ...(runner_type === 'group_type' && { ofGroup: id }),
    ...(runner_type === 'instance_type' && { month: monthOf(app) }),
    ...(access_level === 'ref_protected' && { protectedOnly: true as const }),
    ...(run_untagged && { untagged: true as const }),
    ...(tags !== '[]' && { tags }),
  }
}

/** Finds each bucket by the index from the one before it. */
const bucketsAfter = (bucket: string) => sql`
  select min(q.lane), 0, 1 from ci_queue as q where q.lane > ${bucket} union all
  select (select min(q.lane) from ci_queue as q where q.lane > lanes.lane), 0, place + 1 from lanes
  where lanes.lane is not null and place < ${sql.lit(WINDOW)}`

/** Finds all buckets of the runner's projects, without reading the other buckets. */
const bucketsOfProjects = (runner: number) => sql`
  select (select min(q.lane) from ci_queue as q where q.lane > r.project_id || ' ' and q.lane < r.project_id || '!'),
    r.project_id, 1 from runner_projects as r where r.runner_id = ${runner} union all
  select (select min(q.lane) from ci_queue as q where q.lane > lanes.lane and q.lane < lanes.project_id || '!'),
    lanes.project_id, 1 from lanes where lanes.lane is not null`

export const bucketsFor = hotQuery((db, p: Options & { after: string }, given) => {
  const conditions: RawBuilder<unknown>[] = [
    sql`not p.deleting and p.builds_access_level <> ${sql.lit(FeatureDisabled)}`,
    tagsFit(db, p, given('tags'), given('untagged')),
  ]
  if (given('protectedOnly')) conditions.push(sql`q.protected`)
  if (given('ofGroup')) conditions.push(isBelowGroupOf(p.ofGroup!))
  if (given('month')) conditions.push(sql`p.shared_runners_enabled and not ${hasUsedUp('p.namespace_id', p.month!)}`)
  const buckets = given('ofProjects') ? bucketsOfProjects(p.ofProjects!) : bucketsAfter(p.after)
  const found = sql<Omit<Bucket, 'running'>>`(
    with recursive lanes(lane, project_id, place) as (${buckets})
    select q.lane, q.project_id, q.job_id, ${sql.join(conditions, sql` and `)} as fits
    from lanes
    join ci_queue as q on q.id = (select f.id from ci_queue as f where f.lane = lanes.lane order by f.job_id limit 1)
    join projects as p on p.id = q.project_id)`
  const running = given('month') ? sql<number>`case when fits then ${RUNNING} else 0 end` : sql<number>`0`
  return db
    .selectFrom(found.as('found'))
    .select(['lane', 'project_id', 'job_id', 'fits'])
    .select(running.as('running'))
    .orderBy('lane')
})

function tagsFit(db: Db, p: Options, hasTags: boolean, takesUntagged: boolean): RawBuilder<unknown> {
  const untagged = sql`q.tags = '[]'`
  if (!hasTags) return takesUntagged ? untagged : sql`false`
  const tagged = sql`(q.tags <> '[]' and ${areAmong(db, 'q.tags', p.tags!)})`
  return takesUntagged ? sql`(${untagged} or ${tagged})` : tagged
}

const isBelowGroupOf = (runner: number) => sql`exists (
  select 1 from namespace_ancestors as a join runner_groups as g on g.group_id = a.ancestor_id
  where a.namespace_id = p.namespace_id and g.runner_id = ${runner})`

const RUNNING = sql`(select count(*) from ci_runs as r where r.shared_project_id = found.project_id)`

const nextInBucket = hotQuery((db, p: { lane: string; after: number }) =>
  db
    .selectFrom('ci_queue')
    .select('job_id')
    .where('lane', '=', p.lane)
    .where('job_id', '>', p.after)
    .orderBy('job_id')
    .limit(sql.lit(AHEAD)),
)

interface JobLock {
  /** Set if a shared runner takes the job. */
  readonly project_id: number | null
  readonly released: Promise<void>
  release(): void
}

/** The state of the queue in this process. */
interface QueueState {
  /** Jobs that this process is about to deliver to a runner. */
  readonly reserved: Map<number, JobLock>
  /**
   * Jobs that this process has delivered or failed, and until when it remembers them. A scan that started earlier still
   * contains them.
   */
  readonly taken: Lru<number>
  /** Scans by request: running ones, and ones that have not started. */
  readonly begun: Map<string, Promise<unknown>>
  readonly next: Map<string, Promise<Look>>
  /** The bucket after which the next window starts, by request. */
  readonly cursors: Lru<string>
}

/** No other cache may displace these: without them, jobs would be delivered late or searched for again. */
const ofOwn = <V>(name: string) => new Lru<V>(name, () => 1, new CacheBudget(10_000))

const states = new WeakMap<Store, QueueState>()

function queueState({ store }: App): QueueState {
  let state = states.get(store)
  if (!state) {
    state = {
      reserved: new Map(),
      taken: ofOwn('jobs handed out'),
      begun: new Map(),
      next: new Map(),
      cursors: ofOwn('cursors of runners'),
    }
    states.set(store, state)
  }
  return state
}

/** The job is not pending any more, whichever runner has it. */
export function removeFromQueue(app: App, job: number): void {
  queueState(app).taken.set(String(job), performance.now() + TAKEN_MS)
}

const isTaken = (app: App, job: number) => (queueState(app).taken.get(String(job)) ?? 0) > performance.now()

/** The job is about to be pending again. */
export function rejoinQueue(app: App, job: number): void {
  queueState(app).taken.delete(String(job))
}

/** The jobs of a bucket, for all runners that share a scan. Each job is offered to one of them. */
class Line {
  readonly bucket: Bucket
  readonly #offered: Set<number>
  #ids: number[]
  #more: Promise<void> | null = null
  #last: number

  constructor(bucket: Bucket, offered: Set<number>) {
    this.bucket = bucket
    this.#offered = offered
    this.#ids = [bucket.job_id]
    this.#last = bucket.job_id
  }

  /** Reserves the next job for the caller. Null at the end. */
  async take(app: App, isEligible: (id: number) => boolean, project_id: number | null): Promise<number | null> {
    const { reserved } = queueState(app)
    for (;;) {
      for (let id = this.#ids.shift(); id !== undefined; id = this.#ids.shift()) {
        this.#offered.add(id)
        if (reserved.has(id) || isTaken(app, id) || !isEligible(id)) continue
        const { promise: released, resolve: release } = Promise.withResolvers<void>()
        reserved.set(id, { project_id, released, release })
        return id
      }
      if (this.#last === Infinity) return null
      this.#more ??= this.#read(app)
      await this.#more
    }
  }

  async #read({ db }: App): Promise<void> {
    const rows = await nextInBucket(db, { lane: this.bucket.lane, after: this.#last })
    this.#ids.push(...rows.map(({ job_id }) => job_id))
    this.#last = rows.length < AHEAD ? Infinity : this.#ids.at(-1)!
    this.#more = null
  }
}

/** A window of buckets as one query read it, and the jobs offered from it since. */
class Look {
  readonly lines: Set<Line>
  readonly offered = new Set<number>()
  /** The bucket after which the next window starts. Null if this window was the last. */
  readonly end: string | null
  readonly #given = new Map<number, number>()

  constructor(buckets: readonly Bucket[], isWhole: boolean) {
    this.lines = new Set(buckets.filter(({ fits }) => fits).map((bucket) => new Line(bucket, this.offered)))
    this.end = isWhole || buckets.length < WINDOW ? null : buckets.at(-1)!.lane
  }

  noteGiven({ project_id }: Bucket): void {
    this.#given.set(project_id, (this.#given.get(project_id) ?? 0) + 1)
  }

  /** Reserved jobs, and jobs delivered since the scan, count as running. */
  first({ reserved }: QueueState, isShared: boolean): Line | undefined {
    const taken = new Map(this.#given)
    for (const { project_id } of reserved.values())
      if (project_id !== null) taken.set(project_id, (taken.get(project_id) ?? 0) + 1)
    const load = ({ running, project_id }: Bucket) => (isShared ? running + (taken.get(project_id) ?? 0) : 0)
    let first: Line | undefined
    for (const line of this.lines)
      if (!first || (load(line.bucket) - load(first.bucket) || line.bucket.job_id - first.bucket.job_id) < 0)
        first = line
    return first
  }
}

/** Runners with equal requests share scans. One scan runs at a time, and it starts after all requests that share it. */
function look(app: App, input: Options, after: string): Promise<Look> {
  const { begun, next } = queueState(app)
  const key = JSON.stringify([input, after])
  let found = next.get(key)
  if (!found) {
    found = Promise.allSettled([immediate(), begun.get(key)]).then(async () => {
      next.delete(key)
      const buckets = Promise.resolve(bucketsFor(app.db, { ...input, after }))
      begun.set(key, buckets)
      try {
        return new Look(await buckets, input.ofProjects !== undefined)
      } finally {
        if (begun.get(key) === buckets) begun.delete(key)
      }
    })
    next.set(key, found)
  }
  return found
}

/** Yields one window after the other, starting where the last equal request ended. */
async function* windows(app: App, input: Options): AsyncGenerator<Look> {
  const { cursors } = queueState(app)
  const key = JSON.stringify(input)
  const start = cursors.get(key) ?? ''
  let isRound = false
  for (let after = start; ;) {
    const found = await look(app, input, after)
    after = found.end ?? ''
    cursors.set(key, after)
    yield found
    if (found.end === null ? isRound || start === '' : isRound && after >= start) return
    isRound ||= found.end === null
  }
}

/**
 * Yields jobs in the order of the API contract: shared runners alternate between projects, other runners take the
 * oldest job. Each job is reserved until the caller asks for the next one. If other callers have reserved the remaining
 * jobs, the generator waits for them, because they may release a job. Null: more jobs are pending than one request
 * checks.
 */
export async function* candidates(app: App, runner: Runner): AsyncGenerator<number | null> {
  const state = queueState(app)
  const { reserved } = state
  const tried = new Set<number>()
  const isNew = (id: number) => !tried.has(id)
  const isShared = runner.runner_type === 'instance_type'
  for (let isBlocked = true; isBlocked;) {
    isBlocked = false
    let left = MOST_WINDOWS
    for await (const seen of windows(app, queueOptionsOf(app, runner))) {
      for (let line = seen.first(state, isShared); line; line = seen.first(state, isShared)) {
        const id = await line.take(app, isNew, isShared ? line.bucket.project_id : null)
        if (id === null) {
          seen.lines.delete(line)
          continue
        }
        tried.add(id)
        try {
          yield id
        } finally {
          reserved.get(id)!.release()
          reserved.delete(id)
          if (isTaken(app, id)) seen.noteGiven(line.bucket)
        }
      }
      if ([...seen.offered].some((id) => isNew(id) && !isTaken(app, id))) isBlocked = true
      if (--left === 0) return yield null
    }
    if (isBlocked) await Promise.all([...reserved.values()].map(({ released }) => released))
  }
}
