/**
 * The lock order on PostgreSQL: issues by id, then merge requests by id, and only then the labels and milestones they
 * get. Code that changes or deletes labels and milestones follows it, too.
 */
import { sql } from 'kysely'
import { job, type TransactionApp } from '../../context.ts'
import { enqueue } from '../../jobs/queue.ts'
import { locksRows } from '../../store/dialect.ts'
import { transact } from '../../store/transact.ts'
import { itemKinds } from './items/registry.ts'

type Input = { readonly label: number } | { readonly milestone: number }

/** Locks all items with the label or milestone, before it is deleted in the same transaction. */
export async function lockItemsWith({ db }: TransactionApp, given: Input): Promise<void> {
  if (!locksRows(db)) return
  for (const { table, column, labels } of itemKinds()) {
    const having =
      'label' in given
        ? sql`id in (select ${sql.ref(column)} from ${sql.table(labels)} where label_id = ${given.label})`
        : sql`milestone_id = ${given.milestone}`
    await sql`select count(*) from (
      select 1 from ${sql.table(table)} where ${having} order by id for no key update) as held`.execute(db)
  }
}

/**
 * The date of a milestone or the priority of a label changed, and issues and merge requests have copies of it.
 * Concurrent transactions, which this one cannot see, may just assign it. A job updates their items after they have
 * ended.
 */
export async function settleLater(app: TransactionApp, changed: Changed): Promise<void> {
  if (locksRows(app.db)) await enqueue(app, settle, changed)
}

type Changed = { readonly label: number; readonly project?: number } | { readonly milestone: number }

export const settle = job<Changed>('planning.settle', async (app, changed) => {
  const [table, id] =
    'label' in changed ? (['labels', changed.label] as const) : (['milestones', changed.milestone] as const)
  // Lock the row alone: every transaction that assigned it has then ended, and later ones see the new value.
  await transact(app, ({ db }) => db.selectFrom(table).select('id').where('id', '=', id).forUpdate().execute())
  await transact(app, async ({ db }) => {
    if ('milestone' in changed) await sql`select settle_milestone_due(${id})`.execute(db)
    else if (changed.project !== undefined)
      await sql`select settle_label_priority(${id}, ${changed.project})`.execute(db)
    else
      await sql`select settle_label_priority(label_id, project_id) from label_priorities where label_id = ${id}
        order by project_id`.execute(db)
  })
})
