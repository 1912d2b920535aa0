import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'

/**
 * The background job that cancels the children of a pipeline. `jobs.ts` declares its handler, and imports this file.
 */
export const CANCEL_CHILDREN = { name: 'ci.cancel_children' }

export interface CancelChildren {
  readonly id: number
  /** The pipeline that made the parent redundant. Each child applies its own `on_new_commit` then. */
  readonly by?: number | undefined
}

/** Pipelines that jobs of these pipelines have created in the same project. */
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

/** The pipeline with its children and their children. */
export async function familyOf(db: Db, root: number): Promise<number[]> {
  const children = await childrenOf(db, [root])
  return [root, ...children, ...(await childrenOf(db, children))]
}
