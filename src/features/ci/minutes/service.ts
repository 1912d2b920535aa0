/** Minutes of shared runners: what namespaces use of them in a month, and whether they have any left. */
import { sql, type RawBuilder } from 'kysely'
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

export const monthOf = (app: Pick<App, 'clock'>) => timestamp(app.clock).slice(0, 7)

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

/**
 * Whether the namespace at the top has used all it may: a group's own limit, or its owner's where the namespace is a
 * person's; without any, or with 0, there is none.
 */
export function hasUsedUp(namespace: string, month: string): RawBuilder<boolean> {
  const limit = sql`case when n.kind = 'user' then u.shared_runners_minutes_limit
    else n.shared_runners_minutes_limit end`
  return sql<boolean>`exists (
    select 1 from namespace_ancestors as a
    join namespaces as n on n.id = a.ancestor_id and n.parent_id is null
    join ci_minutes as m on m.namespace_id = n.id and m.month = ${month}
    left join users as u on u.id = n.owner_id
    where a.namespace_id = ${sql.ref(namespace)} and ${limit} > 0 and m.seconds >= 60 * ${limit})`
}
