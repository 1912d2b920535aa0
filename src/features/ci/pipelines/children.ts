import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'

/** Ends those of a pipeline: what it does is declared in `jobs.ts`, which stands above this. */
export const CANCEL_CHILDREN = { name: 'ci.cancel_children' }

export interface CancelChildren {
  readonly id: number
  /** The pipeline that has made it needless: each child says itself what becomes of it then. */
  readonly by?: number | undefined
}

/** Pipelines that jobs of these have made for their own project. */
export async function childrenOf(db: Db, pipelines: readonly number[]): Promise<number[]> {
  if (pipelines.length === 0) return []
  const rows = await db
    .selectFrom('pipelines')
    .innerJoin('ci_jobs', 'ci_jobs.id', 'pipelines.bridge_id')
    .select('pipelines.id')
    .where(inIdList(db, 'ci_jobs.pipeline_id', idList(db, pipelines)))
    .where('pipelines.source', '=', 'parent_pipeline')
    .execute()
  return rows.map(({ id }) => id)
}

/** With children of children. */
export async function familyOf(db: Db, root: number): Promise<number[]> {
  const children = await childrenOf(db, [root])
  return [root, ...children, ...(await childrenOf(db, children))]
}
