/** Replaces a milestone: by the one of the group, or by one of the project after the project has left the group. */
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { forbidden, notFound } from '../../../errors.ts'
import { Reporter } from '../../../lib/levels.ts'
import { emit } from '../../../store/outbox.ts'
import { levelInGroup } from '../../access/authorizations/queries.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import { findNamespaceById, findProjectById } from '../../projects/projects/queries.ts'
import { replaceReleaseMilestone } from '../../repository/releases/milestones.ts'
import { nextIid, transactNumbered } from '../iids.ts'
import { itemKinds } from '../items/registry.ts'
import { groupsAround, isAt, isSeenFrom, type ScopeSubject } from '../scopes.ts'
import { lockItemsWith } from '../settling.ts'
import type { Milestone } from './model.ts'
import { insertMilestone } from './service.ts'
import { lockMilestoneTitle } from './titles.ts'

/** Merges all milestones with this title in projects of the group into one group milestone. */
export async function promoteMilestone(
  app: App,
  actor: User,
  { namespace: group }: ScopeSubject,
  { id, title }: Milestone,
): Promise<Milestone> {
  const isAbove = group.kind === 'group' && (await levelInGroup(app.db, actor, group.id)) >= Reporter
  if (!isAbove) throw forbidden()
  return transactNumbered(app, { group_id: group.id }, 'milestones', async (app) => {
    const { db } = app
    await lockMilestoneTitle(app, title)
    // A project may have been transferred here with a milestone of the same title.
    const ofGroup = await db
      .selectFrom('milestones')
      .selectAll()
      .where(isAt({ project: null, namespace: group }, 'milestones'))
      .where('title', '=', title)
      .executeTakeFirst()
    const promoted = ofGroup ?? (await becomeGroups(app, id, group.id))
    if (!promoted) throw notFound() // deleted by another request meanwhile
    const twins = await db
      .selectFrom('milestones')
      .innerJoin('projects', 'projects.id', 'milestones.project_id')
      .select('milestones.id')
      .where('milestones.title', '=', title)
      .where('projects.namespace_id', 'in', treeOf(db, group.id))
      .execute()
    for (const twin of twins) {
      await lockItemsWith(app, { milestone: twin.id })
      await replaceMilestone(app, twin.id, promoted.id)
      await db.deleteFrom('milestones').where('id', '=', twin.id).execute()
    }
    await emit(app, 'milestone.updated', { id: promoted.id, project_id: null, group_id: group.id, by: actor.id })
    return promoted
  })
}

async function becomeGroups(
  { db, clock }: TransactionApp,
  id: number,
  group_id: number,
): Promise<Milestone | undefined> {
  const iid = await nextIid(db, { group_id }, 'milestones')
  return db
    .updateTable('milestones')
    .set({ project_id: null, group_id, iid, updated_at: timestamp(clock) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** Milestones of former groups become milestones of the project. Idempotent. */
export async function keepMilestones(app: App, { id, by }: { id: number; by: number }): Promise<void> {
  await transactNumbered(app, { project_id: id }, 'milestones', async (app) => {
    const { db } = app
    const project = await findProjectById(db, id)
    const namespace = project && (await findNamespaceById(db, project.namespace_id))
    if (!namespace) return
    const scope = { project, namespace }
    const lost = await db
      .selectFrom('milestones')
      .selectAll()
      .where('group_id', 'is not', null)
      .where('group_id', 'not in', groupsAround(db, namespace.id))
      .where((eb) =>
        eb.or([
          ...itemKinds().map(
            ({ table }) => sql<boolean>`id in (select i.milestone_id from ${sql.table(table)} i
              where i.project_id = ${id} and i.milestone_id is not null)`,
          ),
          eb(
            'id',
            'in',
            eb
              .selectFrom('release_milestones')
              .innerJoin('releases', 'releases.id', 'release_milestones.release_id')
              .select('release_milestones.milestone_id')
              .where('releases.project_id', '=', id),
          ),
        ]),
      )
      .orderBy('title')
      .execute()
    for (const { id: from, title, description, start_date, due_date, state } of lost) {
      await lockMilestoneTitle(app, title)
      const known = await db
        .selectFrom('milestones')
        .selectAll()
        .where(isSeenFrom(scope, 'milestones'))
        .where('title', '=', title)
        .orderBy('id')
        .executeTakeFirst()
      const columns = { title, description, start_date, due_date, state }
      const to = known ?? (await insertMilestone(app, scope, columns, by))
      await replaceMilestone(app, from, to.id, id)
    }
  })
}

/** In one project, or everywhere. */
async function replaceMilestone(app: TransactionApp, from: number, to: number, project?: number): Promise<void> {
  const inProject = project === undefined ? sql`true` : sql`project_id = ${project}`
  for (const { table, column } of itemKinds()) {
    const items = sql.table(table)
    const isIn =
      project === undefined ? sql`true` : sql`${sql.ref(column)} in (select id from ${items} where ${inProject})`
    await sql`update ${items} set milestone_id = ${to} where milestone_id = ${from} and ${inProject}`.execute(app.db)
    await sql`update resource_milestone_events set milestone_id = ${to}
      where milestone_id = ${from} and ${isIn}`.execute(app.db)
  }
  await replaceReleaseMilestone(app, from, to, project)
  await app.db
    .updateTable('activities')
    .set({ milestone_id: to })
    .where('milestone_id', '=', from)
    .$if(project !== undefined, (query) => query.where('project_id', '=', project!))
    .execute()
}
