import { child } from '../../../api/endpoint.ts'
import type { Db, Row } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { project } from '../projects/queries.ts'

const ruleOf = hotQuery((db, p: { project_id: number }) =>
  db.selectFrom('push_rules').selectAll().where('project_id', '=', p.project_id),
)

/** A project has at most one push rule. */
export async function findPushRule(db: Db, project: number): Promise<Row<'push_rules'> | null> {
  return (await ruleOf(db, { project_id: project }))[0] ?? null
}

export const pushRule = child(project, {
  name: 'Push Rule',
  key: 'rule',
  params: {},
  find: (app, { project }) => findPushRule(app.db, project.id),
})
