/** Internal ids (iids) of records in their project or group: from 1 on, without gaps, never used twice. */
import type { App, TransactionApp } from '../../context.ts'
import { withMutex } from '../../lib/async/mutex.ts'
import type { TransactionDb } from '../../store/database.ts'
import { locksRows } from '../../store/dialect.ts'
import { hotQuery } from '../../store/hot.ts'
import { transact } from '../../store/transact.ts'

declare module '../../store/database.ts' {
  interface Tables {
    iid_counters: { project_id: number | null; group_id: number | null; kind: IidKind; last: number }
  }
}

export type IidKind = 'issues' | 'merge_requests' | 'milestones' | 'pipelines' | 'deployments'

/** The maximum that a client may choose, so that numbers remain for later records. */
export const LARGEST_IID = 2_147_483_647

type Parent = { readonly project_id: number } | { readonly group_id: number }

/**
 * A transaction that takes a number. Within this process only one runs per counter. The others would wait for the row
 * lock anyway, but each with a database connection, and connections are few.
 */
export function transactNumbered<T>(
  app: App,
  parent: Parent,
  kind: IidKind,
  body: (app: TransactionApp) => Promise<T>,
): Promise<T> {
  if (app.db.isTransaction || !locksRows(app.db)) return transact(app, body)
  return withMutex(`iid ${Object.entries(parent).join()} ${kind}`, () => transact(app, body))
}

/**
 * The next number. Call in the transaction that inserts the record: concurrent calls wait, and a rollback returns the
 * number.
 */
export async function nextIid(db: TransactionDb, parent: Parent, kind: IidKind): Promise<number> {
  const [counter] = await countUp(db, { ...parent, kind })
  return counter!.last
}

const countUp = hotQuery((db, p: { project_id?: number; group_id?: number; kind: IidKind }, given) => {
  const column = given('project_id') ? 'project_id' : 'group_id'
  return db
    .insertInto('iid_counters')
    .values({ project_id: null, group_id: null, [column]: p[column]!, kind: p.kind, last: 1 })
    .onConflict((conflict) =>
      conflict.columns([column, 'kind']).doUpdateSet((eb) => ({ last: eb('iid_counters.last', '+', 1) })),
    )
    .returning('last')
})

/** Records a number that the client chose, so that later numbers are larger. */
export async function raiseIid(db: TransactionDb, parent: Parent, kind: IidKind, given: number): Promise<void> {
  await db
    .insertInto('iid_counters')
    .values({ project_id: null, group_id: null, ...parent, kind, last: given })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id' in parent ? 'project_id' : 'group_id', 'kind'])
        .doUpdateSet({ last: given })
        .where('iid_counters.last', '<', given),
    )
    .execute()
}
