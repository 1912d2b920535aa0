/** Minutes of shared runners: what namespaces use of them in a month, and whether they have any left. */
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { Job } from '../jobs/model.ts'

interface Place {
  readonly namespace_id: number
}

async function rootOf({ db }: App, { namespace_id }: Place): Promise<number> {
  const top = await db
    .selectFrom('namespace_ancestors')
    .select('ancestor_id')
    .where('namespace_id', '=', namespace_id)
    .orderBy('depth', 'desc')
    .limit(1)
    .executeTakeFirst()
  return top?.ancestor_id ?? namespace_id
}

const monthOf = (app: App) => timestamp(app.clock).slice(0, 7)

/** In the transaction that ended the job. */
export async function countMinutes(app: App, job: Job): Promise<void> {
  if (job.runner_id === null || job.started_at === null || job.finished_at === null) return
  const seconds = Math.max(0, (Date.parse(job.finished_at) - Date.parse(job.started_at)) / 1000)
  const at = await app.db
    .selectFrom('runners')
    .innerJoin('projects', (join) => join.on('projects.id', '=', job.project_id))
    .select(['runners.runner_type', 'projects.namespace_id'])
    .where('runners.id', '=', job.runner_id)
    .executeTakeFirst()
  if (at?.runner_type !== 'instance_type') return
  await app.db
    .insertInto('ci_minutes')
    .values({ namespace_id: await rootOf(app, at), month: monthOf(app), seconds })
    .onConflict((conflict) =>
      conflict
        .columns(['namespace_id', 'month'])
        .doUpdateSet((eb) => ({ seconds: eb('ci_minutes.seconds', '+', seconds) })),
    )
    .execute()
}

/** A group's own limit, or its owner's where the namespace is a person's; without any, or with 0, there is none. */
export async function hasMinutesLeft(app: App, place: Place): Promise<boolean> {
  const { db } = app
  const root = await db
    .selectFrom('namespaces')
    .leftJoin('users', 'users.id', 'namespaces.owner_id')
    .select([
      'namespaces.id',
      'namespaces.kind',
      'namespaces.shared_runners_minutes_limit as ofGroup',
      'users.shared_runners_minutes_limit as ofUser',
    ])
    .where('namespaces.id', '=', await rootOf(app, place))
    .executeTakeFirst()
  const limit = root?.kind === 'user' ? root.ofUser : root?.ofGroup
  if (!root || !limit) return true
  const used = await db
    .selectFrom('ci_minutes')
    .select('seconds')
    .where('namespace_id', '=', root.id)
    .where('month', '=', monthOf(app))
    .executeTakeFirst()
  return (used?.seconds ?? 0) < limit * 60
}
