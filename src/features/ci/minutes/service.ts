/** Minutes on shared runners: what each namespace has used in a month, and whether its quota is exhausted. */
import { sql, type RawBuilder } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { hotQuery } from '../../../store/hot.ts'

export const monthOf = (app: Pick<App, 'clock'>) => timestamp(app.clock).slice(0, 7)

const addSeconds = hotQuery((db, p: { project: number; month: string; seconds: number }) =>
  db
    .insertInto('ci_minutes')
    .columns(['namespace_id', 'month', 'seconds'])
    .expression((eb) =>
      eb
        .selectFrom('projects as p')
        .innerJoin('namespace_ancestors as a', 'a.namespace_id', 'p.namespace_id')
        .innerJoin('namespaces as n', 'n.id', 'a.ancestor_id')
        .select(['n.id', sql<string>`cast(${p.month} as text)`.as('month')])
        .select(sql<number>`cast(${p.seconds} as double precision)`.as('seconds'))
        .where('p.id', '=', p.project)
        .where('n.parent_id', 'is', null),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['namespace_id', 'month'])
        .doUpdateSet((eb) => ({ seconds: eb('ci_minutes.seconds', '+', eb.ref('excluded.seconds')) })),
    ),
)

/** Adds to the root namespace. */
export async function countMinutes(app: TransactionApp, project: number, seconds: number): Promise<void> {
  await addSeconds(app.db, { project, month: monthOf(app), seconds })
}

/**
 * Whether the root namespace has used its whole quota. A group has its own limit. A personal namespace has the limit of
 * its owner. No limit, or 0, means unlimited.
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
