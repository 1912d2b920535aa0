import { timestamp } from '../../../clock.ts'
import type { TransactionApp } from '../../../context.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import type { Project } from '../../projects/projects/queries.ts'
import type { Update } from '../gate/updates.ts'

/** A mirror pushes thousands of refs at once. */
const ROWS_A_QUERY = 500

interface Published {
  readonly project: Pick<Project, 'id'>
  readonly wiki: boolean
  readonly by: number | null
  /** When the change happened, if it is published later. */
  readonly at?: string
}

/** Call in the transaction that publishes the change. Returns the id of the record of each ref. */
export async function recordRefChanges(
  app: TransactionApp,
  { project, wiki, by, at }: Published,
  moved: readonly Update[],
): Promise<Map<string, number>> {
  const created_at = at ?? timestamp(app.clock)
  const common = { project_id: project.id, wiki, user_id: by, created_at }
  const rows = moved.map(({ ref, before, after }) => ({ ...common, ref, before, after }))
  const ids = new Map<string, number>()
  for (const some of batchesOf(rows, ROWS_A_QUERY)) {
    const recorded = await app.db.insertInto('ref_changes').values(some).returning(['id', 'ref']).execute()
    for (const { id, ref } of recorded) ids.set(ref, id)
  }
  return ids
}
