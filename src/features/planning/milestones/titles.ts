import type { App, TransactionApp } from '../../../context.ts'
import { lockName } from '../../../store/dialect.ts'
import type { ScopeRow } from '../scopes.ts'
import type { Milestone } from './model.ts'

/** Titles are unique in a group and its projects. The lock reserves this title until the transaction ends. */
export const lockMilestoneTitle = (app: TransactionApp, title: string) => lockName(app.db, `milestone ${title}`)

/** Milestones with this title in the group and its projects; for a project, in it and its group. */
export async function milestonesTitled(
  { db }: App,
  { project, namespace }: ScopeRow,
  title: string,
): Promise<Milestone[]> {
  return db
    .selectFrom('milestones')
    .selectAll()
    .where('title', '=', title)
    .where((eb) =>
      eb.or([
        eb('group_id', '=', namespace.id),
        project === null
          ? eb('project_id', 'in', eb.selectFrom('projects').select('id').where('namespace_id', '=', namespace.id))
          : eb('project_id', '=', project.id),
      ]),
    )
    .orderBy('id')
    .execute()
}
