/**
 * Replaces a label wherever it is used: by the label of the group, or by one of the project after the project has left
 * the group.
 */
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, forbidden, notFound } from '../../../errors.ts'
import { Reporter } from '../../../lib/levels.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { levelInGroup } from '../../access/authorizations/queries.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import { findNamespaceById, findProjectById } from '../../projects/projects/queries.ts'
import { itemKinds } from '../items/registry.ts'
import { columnsAt, groupsAround, isAt, type ScopeSubject } from '../scopes.ts'
import { lockItemsWith, settleLater } from '../settling.ts'
import type { Label } from './model.ts'
import { labelsTitled } from './queries.ts'
import { insertLabel } from './service.ts'
import { lockTitle } from './titles.ts'

/** Merges all labels with this title in projects of the group into one group label. */
export async function promoteLabel(
  app: App,
  actor: User,
  { namespace: group }: ScopeSubject,
  { id, title }: Label,
): Promise<Label> {
  if (group.kind !== 'group') throw new Refusal('bad_request', 'Failed to promote project label to group label')
  if ((await levelInGroup(app.db, actor, group.id)) < Reporter) throw forbidden()
  const above = { project: null, namespace: group }
  return transact(app, async (app) => {
    const { db } = app
    await lockTitle(app, title)
    const ofGroup = await db
      .selectFrom('labels')
      .selectAll()
      .where(isAt(above, 'labels'))
      .where('title', '=', title)
      .executeTakeFirst()
    const promoted =
      ofGroup ??
      (await db
        .updateTable('labels')
        .set({ ...columnsAt(above), updated_at: timestamp(app.clock) })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst())
    if (!promoted) throw notFound('Label') // deleted by another request meanwhile
    const twins = await db
      .selectFrom('labels')
      .innerJoin('projects', 'projects.id', 'labels.project_id')
      .select('labels.id')
      .where('labels.title', '=', title)
      .where('projects.namespace_id', 'in', treeOf(db, group.id))
      .execute()
    for (const twin of twins) {
      await lockItemsWith(app, { label: twin.id })
      await replaceLabel(app, twin.id, promoted.id)
      await db.deleteFrom('labels').where('id', '=', twin.id).execute()
    }
    await emit(app, 'label.updated', { id: promoted.id, project_id: null, group_id: group.id, by: actor.id })
    return promoted
  })
}

/** Labels of former groups become labels of the project. Idempotent. */
export async function keepLabels(app: App, { id, by }: { id: number; by: number }): Promise<void> {
  await transact(app, async (app) => {
    const { db } = app
    const project = await findProjectById(db, id)
    const namespace = project && (await findNamespaceById(db, project.namespace_id))
    if (!namespace) return
    const scope = { project, namespace }
    const lost = await db
      .selectFrom('labels')
      .selectAll()
      .where('group_id', 'is not', null)
      .where('group_id', 'not in', groupsAround(db, namespace.id))
      .where((eb) =>
        eb.or([
          ...itemKinds().map(
            ({ table, column, labels }) => sql<boolean>`id in (select link.label_id from ${sql.table(labels)} link
              join ${sql.table(table)} i on i.id = ${sql.ref(`link.${column}`)} where i.project_id = ${id})`,
          ),
          eb('id', 'in', eb.selectFrom('label_priorities').select('label_id').where('project_id', '=', id)),
          eb(
            'id',
            'in',
            eb
              .selectFrom('board_lists')
              .innerJoin('boards', 'boards.id', 'board_lists.board_id')
              .select('board_lists.label_id')
              .where('boards.project_id', '=', id),
          ),
        ]),
      )
      .orderBy('title')
      .execute()
    for (const { id: from, title, color, description } of lost) {
      await lockTitle(app, title)
      const known = (await labelsTitled(db, scope, [title])).get(title)
      const to = known ?? (await insertLabel(app, scope, { title, color, description }, by))
      await replaceLabel(app, from, to.id, id)
    }
  })
}

/** In one project, or everywhere. */
async function replaceLabel(app: TransactionApp, from: number, to: number, project?: number): Promise<void> {
  const { db } = app
  const inProject = (column: string) => (project === undefined ? sql`true` : sql`${sql.ref(column)} = ${project}`)
  for (const { table, column, labels } of itemKinds()) {
    const [link, item] = [sql.table(labels), sql.ref(column)]
    const isIn =
      project === undefined
        ? sql`true`
        : sql`${item} in (select id from ${sql.table(table)} where project_id = ${project})`
    await sql`insert into ${link} (${item}, label_id)
      select ${item}, ${to} from ${link} where label_id = ${from} and ${isIn} on conflict do nothing`.execute(db)
    await sql`delete from ${link} where label_id = ${from} and ${isIn}`.execute(db)
    await sql`update resource_label_events set label_id = ${to} where label_id = ${from} and ${isIn}`.execute(db)
  }
  await sql`insert into label_priorities (project_id, label_id, priority)
    select project_id, ${to}, priority from label_priorities
    where label_id = ${from} and ${inProject('project_id')} on conflict do nothing`.execute(db)
  await settleLater(app, { label: to, ...(project !== undefined && { project }) })
  await sql`delete from label_priorities where label_id = ${from} and ${inProject('project_id')}`.execute(db)
  await sql`insert into subscriptions (user_id, label_id, project_id, subscribed, created_at)
    select user_id, ${to}, project_id, subscribed, created_at from subscriptions
    where label_id = ${from} and ${inProject('project_id')} on conflict do nothing`.execute(db)
  await sql`delete from subscriptions where label_id = ${from} and ${inProject('project_id')}`.execute(db)
  const boards =
    project === undefined ? sql`true` : sql`board_id in (select id from boards where project_id = ${project})`
  await sql`update board_lists set label_id = ${to} where label_id = ${from} and ${boards}
    and board_id not in (select board_id from board_lists where label_id = ${to})`.execute(db)
  await sql`delete from board_lists where label_id = ${from} and ${boards}`.execute(db)
}
