/** The status of the newest pipeline of a commit. */
import type { Db } from '../../../store/database.ts'
import { inTextList, textList } from '../../../store/dialect.ts'
import type { CommitPipeline } from './entity.ts'

/** Null without a pipeline. */
export async function commitPipeline(db: Db, project: number, sha: string): Promise<CommitPipeline | null> {
  return (await commitPipelines(db, project, [sha])).get(sha) ?? null
}

/** The same for several commits by id, in one query. */
export async function commitPipelines(
  db: Db,
  project: number,
  shas: readonly string[],
): Promise<Map<string, CommitPipeline>> {
  const newest = db
    .selectFrom('pipelines')
    .select((eb) => eb.fn.max('id').as('id'))
    .where('project_id', '=', project)
    .where(inTextList(db, 'sha', textList(db, shas)))
    .where('source', '!=', 'parent_pipeline')
    .groupBy('sha')
  const rows = await db.selectFrom('pipelines').selectAll().where('id', 'in', newest).execute()
  return new Map(rows.map((row) => [row.sha, row]))
}
