/**
 * Which of the waiting jobs a runner gets. They stand in lanes (`ci_queue`): what fits the first of a lane fits all of
 * it, so a runner looks at one job of each, and many that it cannot take cost no more than one. Where very many lanes
 * wait, it looks at some of them, and the next that asks for the same at those after them. Of several runners that want
 * the same job one gets it, and the others look for the next: those of this process see that it is held, others find
 * that it has gone.
 */
import { setImmediate as immediate } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import type { App } from '../../../context.ts'
import { FeatureDisabled } from '../../../lib/levels.ts'
import { Lru } from '../../../lib/lru.ts'
import type { Db, Store } from '../../../store/database.ts'
import { areAmong } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { hasUsedUp, monthOf } from '../minutes/service.ts'
import type { Runner } from '../runners/model.ts'

/** Looked at together. While no more wait, that is all of them, and the order of the contract is exact. */
const WINDOW = 200
/** What one request looks through at most; the next goes on from there. */
const MOST_WINDOWS = 10
/** Jobs of a lane that are read together. */
const AHEAD = 50
/** Longer than a look lasts. */
const GONE_MS = 60_000

interface Bucket {
  readonly lane: string
  readonly project_id: number
  /** The first of it. */
  readonly job_id: number
  readonly fits: boolean
  /** Of the project, on shared runners. */
  readonly running: number
}

interface Options {
  /** The runner, where it is of a project or a group. */
  readonly ofProjects?: number
  readonly ofGroup?: number
  /** For shared runners. */
  readonly month?: string
  readonly protectedOnly?: true
  readonly untagged?: true
  /** As JSON. */
  readonly tags?: string
}

function wishOf(app: App, { id, runner_type, access_level, run_untagged, tags }: Runner): Options {
  return {
    ...(runner_type === 'project_type' && { ofProjects: id }),
    ...(runner_type === 'group_type' && { ofGroup: id }),
    ...(runner_type === 'instance_type' && { month: monthOf(app) }),
    ...(access_level === 'ref_protected' && { protectedOnly: true as const }),
    ...(run_untagged && { untagged: true as const }),
    ...(tags !== '[]' && { tags }),
  }
}

/** One after the other: each is found by the index from the one before it. */
const bucketsAfter = (bucket: string) => sql`
  select min(q.lane), 0, 1 from ci_queue as q where q.lane > ${bucket} union all
  select (select min(q.lane) from ci_queue as q where q.lane > lanes.lane), 0, place + 1 from lanes
  where lanes.lane is not null and place < ${sql.lit(WINDOW)}`

/** All of them: however many others wait, they are not looked at. */
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
  /** Where a shared runner takes it. */
  readonly project_id: number | null
  readonly released: Promise<void>
  release(): void
}

/** What this process knows of the queue. */
interface Capacity {
  /** Jobs that it is about to hand to somebody. */
  readonly held: Map<number, JobLock>
  /** Those that it has handed out or failed, and until when that is remembered: a look that began before still has them. */
  readonly gone: Lru<number>
  /** Looks by what is asked for: those that have begun, and those that have not. */
  readonly begun: Map<string, Promise<unknown>>
  readonly next: Map<string, Promise<Look>>
  /** After which lane the next window begins, by wish. */
  readonly places: Lru<string>
}

const rooms = new WeakMap<Store, Capacity>()

function capacityOf({ store }: App): Capacity {
  let room = rooms.get(store)
  if (!room) {
    room = { held: new Map(), gone: new Lru(10_000), begun: new Map(), next: new Map(), places: new Lru(10_000) }
    rooms.set(store, room)
  }
  return room
}

/** It waits no longer, whoever has it. */
export function removeFromQueue(app: App, job: number): void {
  capacityOf(app).gone.set(String(job), performance.now() + GONE_MS)
}

const isGone = (app: App, job: number) => (capacityOf(app).gone.get(String(job)) ?? 0) > performance.now()

/** It is about to wait once more. */
export function rejoinQueue(app: App, job: number): void {
  capacityOf(app).gone.delete(String(job))
}

/** What a lane holds, for all who share a look: each of its jobs is offered to one of them. */
class Line {
  readonly lane: Bucket
  readonly #offered: Set<number>
  #ids: number[]
  #more: Promise<void> | null = null
  #last: number

  constructor(bucket: Bucket, offered: Set<number>) {
    this.lane = bucket
    this.#offered = offered
    this.#ids = [bucket.job_id]
    this.#last = bucket.job_id
  }

  /** Held for whoever asks; null at the end. */
  async take(app: App, isWanted: (id: number) => boolean, project_id: number | null): Promise<number | null> {
    const { held } = capacityOf(app)
    for (;;) {
      for (let id = this.#ids.shift(); id !== undefined; id = this.#ids.shift()) {
        this.#offered.add(id)
        if (held.has(id) || isGone(app, id) || !isWanted(id)) continue
        const { promise: released, resolve: release } = Promise.withResolvers<void>()
        held.set(id, { project_id, released, release })
        return id
      }
      if (this.#last === Infinity) return null
      this.#more ??= this.#read(app)
      await this.#more
    }
  }

  async #read({ db }: App): Promise<void> {
    const rows = await nextInBucket(db, { lane: this.lane.lane, after: this.#last })
    this.#ids.push(...rows.map(({ job_id }) => job_id))
    this.#last = rows.length < AHEAD ? Infinity : this.#ids.at(-1)!
    this.#more = null
  }
}

/** A window of lanes as it was, and what has been offered of it since. */
class Look {
  readonly lines: Set<Line>
  readonly offered = new Set<number>()
  /** After which lane the next window begins; null where this was the last. */
  readonly end: string | null
  readonly #given = new Map<number, number>()

  constructor(buckets: readonly Bucket[], isWhole: boolean) {
    this.lines = new Set(buckets.filter(({ fits }) => fits).map((bucket) => new Line(bucket, this.offered)))
    this.end = isWhole || buckets.length < WINDOW ? null : buckets.at(-1)!.lane
  }

  noteGiven({ project_id }: Bucket): void {
    this.#given.set(project_id, (this.#given.get(project_id) ?? 0) + 1)
  }

  /** What is held or was given out since counts as running. */
  first({ held }: Capacity, isShared: boolean): Line | undefined {
    const taken = new Map(this.#given)
    for (const { project_id } of held.values())
      if (project_id !== null) taken.set(project_id, (taken.get(project_id) ?? 0) + 1)
    const load = ({ running, project_id }: Bucket) => (isShared ? running + (taken.get(project_id) ?? 0) : 0)
    let first: Line | undefined
    for (const line of this.lines)
      if (!first || (load(line.lane) - load(first.lane) || line.lane.job_id - first.lane.job_id) < 0) first = line
    return first
  }
}

/** Runners that ask for the same share looks: one at a time, each beginning after those who share it have asked. */
function look(app: App, input: Options, after: string): Promise<Look> {
  const { begun, next } = capacityOf(app)
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

/** A window after the other, from where the last request for the same has ended. */
async function* windows(app: App, input: Options): AsyncGenerator<Look> {
  const { places } = capacityOf(app)
  const key = JSON.stringify(input)
  const start = places.get(key) ?? ''
  let isRound = false
  for (let after = start; ;) {
    const found = await look(app, input, after)
    after = found.end ?? ''
    places.set(key, after)
    yield found
    if (found.end === null ? isRound || start === '' : isRound && after >= start) return
    isRound ||= found.end === null
  }
}

/**
 * In the order of the contract: shared runners go round the projects, others take what was made first. Each is held
 * until the next is asked for. Where others hold what is left, their end is awaited: they may not get theirs. Null:
 * more wait than one request looks through.
 */
export async function* candidates(app: App, runner: Runner): AsyncGenerator<number | null> {
  const room = capacityOf(app)
  const { held } = room
  const tried = new Set<number>()
  const isNew = (id: number) => !tried.has(id)
  const isShared = runner.runner_type === 'instance_type'
  for (let isBlocked = true; isBlocked;) {
    isBlocked = false
    let left = MOST_WINDOWS
    for await (const seen of windows(app, wishOf(app, runner))) {
      for (let line = seen.first(room, isShared); line; line = seen.first(room, isShared)) {
        const id = await line.take(app, isNew, isShared ? line.lane.project_id : null)
        if (id === null) {
          seen.lines.delete(line)
          continue
        }
        tried.add(id)
        try {
          yield id
        } finally {
          held.get(id)!.release()
          held.delete(id)
          if (isGone(app, id)) seen.noteGiven(line.lane)
        }
      }
      if ([...seen.offered].some((id) => isNew(id) && !isGone(app, id))) isBlocked = true
      if (--left === 0) return yield null
    }
    if (isBlocked) await Promise.all([...held.values()].map(({ released }) => released))
  }
}
