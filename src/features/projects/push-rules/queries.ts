import type { Db, Row } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'

const ruleOf = hotQuery((db, p: { project_id: number }) =>
  db.selectFrom('push_rules').selectAll().where('project_id', '=', p.project_id),
)

/** A project has one or none. */
export async function findPushRule(db: Db, project: number): Promise<Row<'push_rules'> | null> {
  return (await ruleOf(db, { project_id: project }))[0] ?? null
}
