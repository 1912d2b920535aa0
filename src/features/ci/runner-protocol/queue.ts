/**
 * Which of the waiting jobs a runner gets. They stand in lanes (`ci_queue`): what fits the first of a lane fits all of
 * it, so a runner looks at one job of each, and many that it cannot take cost no more than one. Of several runners that
 * want the same job one gets it, and the others look for the next: those of this process see that it is held, others
 * find that it has gone.
 */
import { setImmediate as immediate } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import type { App } from '../../../context.ts'
import { FeatureDisabled } from '../../../lib/levels.ts'
import type { Db, Store } from '../../../store/database.ts'
import { areAmong } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { hasUsedUp, monthOf } from '../minutes/service.ts'
import type { Runner } from '../runners/model.ts'

const MOST_LANES = 100

interface Lane {
  readonly lane: string
  readonly project_id: number
  /** The first of it that was not tried yet. */
  job_id: number
  /** Of the project, on shared runners. */
  readonly running: number
}

interface Wish {
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

function wishOf(app: App, { id, runner_type, access_level, run_untagged, tags }: Runner): Wish {
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
const allLanes = sql`
  select min(lane), 0 from ci_queue union all
  select (select min(q.lane) from ci_queue as q where q.lane > lanes.lane), 0 from lanes where lanes.lane is not null`

const lanesOfProjects = (runner: number) => sql`
  select (select min(q.lane) from ci_queue as q where q.lane > r.project_id || ' ' and q.lane < r.project_id || '!'),
    r.project_id from runner_projects as r where r.runner_id = ${runner} union all
  select (select min(q.lane) from ci_queue as q where q.lane > lanes.lane and q.lane < lanes.project_id || '!'),
    lanes.project_id from lanes where lanes.lane is not null`

export const lanesFor = hotQuery((db, p: Wish, given) => {
  const conditions: RawBuilder<unknown>[] = [
    sql`not p.deleting and p.builds_access_level <> ${sql.lit(FeatureDisabled)}`,
    tagsFit(db, p, given('tags'), given('untagged')),
  ]
  if (given('protectedOnly')) conditions.push(sql`q.protected`)
  if (given('ofGroup')) conditions.push(isBelowGroupOf(p.ofGroup!))
  if (given('month')) conditions.push(sql`p.shared_runners_enabled and not ${hasUsedUp('p.namespace_id', p.month!)}`)
  const lanes = given('ofProjects') ? lanesOfProjects(p.ofProjects!) : allLanes
  const running = given('month') ? sql`coalesce(busy.running, 0)` : sql`0`
  const found = sql<Lane>`(
    with recursive lanes(lane, project_id) as (${lanes})
    select q.lane, q.project_id, q.job_id, ${running} as running
    from lanes
    join ci_queue as q on q.id = (select f.id from ci_queue as f where f.lane = lanes.lane order by f.job_id limit 1)
    join projects as p on p.id = q.project_id
    ${given('month') ? sql`left join ${BUSY} on busy.project_id = q.project_id` : sql``}
    where ${sql.join(conditions, sql` and `)}
    order by running, q.job_id limit ${sql.lit(MOST_LANES)})`
  return db.selectFrom(found.as('found')).select(['lane', 'project_id', 'job_id', 'running'])
})

function tagsFit(db: Db, p: Wish, hasTags: boolean, takesUntagged: boolean): RawBuilder<unknown> {
  const untagged = sql`q.tags = '[]'`
  if (!hasTags) return takesUntagged ? untagged : sql`false`
  const tagged = sql`(q.tags <> '[]' and ${areAmong(db, 'q.tags', p.tags!)})`
  return takesUntagged ? sql`(${untagged} or ${tagged})` : tagged
}

const isBelowGroupOf = (runner: number) => sql`exists (
  select 1 from namespace_ancestors as a join runner_groups as g on g.group_id = a.ancestor_id
  where a.namespace_id = p.namespace_id and g.runner_id = ${runner})`

const BUSY = sql`(
  select j.project_id, count(*) as running from runners as r join ci_jobs as j on j.runner_id = r.id
  where r.runner_type = 'instance_type' and j.status in ('running', 'canceling') and j.kind = 'job'
  group by j.project_id) as busy`

const scans = new WeakMap<Store, Map<string, Promise<Lane[]>>>()

/** Runners that ask for the same at the same time share one look that begins after they have asked. */
async function scan({ db, store }: App, wish: Wish): Promise<Set<Lane>> {
  const begun = scans.get(store) ?? new Map<string, Promise<Lane[]>>()
  scans.set(store, begun)
  const key = JSON.stringify(wish)
  let found = begun.get(key)
  if (!found) {
    found = immediate().then(() => {
      begun.delete(key)
      return lanesFor(db, wish)
    })
    begun.set(key, found)
  }
  return new Set((await found).map((lane) => ({ ...lane })))
}

const nextInLane = hotQuery((db, p: { lane: string; after: number; most: number }) =>
  db
    .selectFrom('ci_queue')
    .select('job_id')
    .where('lane', '=', p.lane)
    .where('job_id', '>', p.after)
    .orderBy('job_id')
    .limit(p.most),
)

/** Jobs that this process is about to hand to somebody. */
interface Hold {
  /** Where a shared runner takes it. */
  readonly project_id: number | null
  readonly released: Promise<void>
}
type Held = Map<number, Hold>

const heldOf = new WeakMap<Store, Held>()

function heldIn({ store }: App): Held {
  let held = heldOf.get(store)
  if (!held) heldOf.set(store, (held = new Map() as Held))
  return held
}

/**
 * In the order of the contract: shared runners go round the projects, others take what was made first. Each is held
 * until the next is asked for. Where others hold what is left, their end is awaited: they may not get theirs.
 */
export async function* candidates(app: App, runner: Runner): AsyncGenerator<number> {
  const held = heldIn(app)
  const tried = new Set<number>()
  const isShared = runner.runner_type === 'instance_type'
  for (let isBlocked = true; isBlocked;) {
    isBlocked = false
    const lanes = await scan(app, wishOf(app, runner))
    for (let lane = firstOf(lanes, held, isShared); lane; lane = firstOf(lanes, held, isShared)) {
      const { job_id, project_id } = lane
      if (held.has(job_id)) isBlocked = true
      else if (!tried.has(job_id)) {
        tried.add(job_id)
        const { promise: released, resolve: release } = Promise.withResolvers<void>()
        held.set(job_id, { project_id: isShared ? project_id : null, released })
        try {
          yield job_id
        } finally {
          held.delete(job_id)
          release()
        }
      }
      const next = await nextInLane(app.db, { lane: lane.lane, after: job_id, most: held.size + 1 })
      const free = next.find((one) => !held.has(one.job_id))
      if (free) lane.job_id = free.job_id
      else lanes.delete(lane)
      if (next.length > 0 && !free) isBlocked = true
    }
    if (isBlocked) await Promise.all([...held.values()].map(({ released }) => released))
  }
}

/** What is held counts as running. */
function firstOf(lanes: ReadonlySet<Lane>, held: Held, isShared: boolean): Lane | undefined {
  const taken = new Map<number | null, number>()
  for (const { project_id } of held.values()) taken.set(project_id, (taken.get(project_id) ?? 0) + 1)
  const load = ({ running, project_id }: Lane) => (isShared ? running + (taken.get(project_id) ?? 0) : 0)
  let first: Lane | undefined
  for (const lane of lanes) if (!first || (load(lane) - load(first) || lane.job_id - first.job_id) < 0) first = lane
  return first
}
