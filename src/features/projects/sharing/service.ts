import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, conflict, notFound } from '../../../errors.ts'
import { lockName } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { refreshAuthorizations } from '../../access/authorizations/service.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import type { ProjectSubject } from '../projects/policy.ts'
import { findReadableGroup, isAround, type GroupLink } from './queries.ts'

interface Share {
  group_id: number
  group_access: number
  expires_at?: string | null | undefined
}

/** Gives the members of a group access to the project, at most with the level of the share. */
export async function shareProject(
  app: App,
  actor: User,
  { project, namespace }: ProjectSubject,
  { group_id, group_access, expires_at = null }: Share,
): Promise<GroupLink> {
  if (!(await findReadableGroup(app, actor, group_id))) throw notFound('Group')
  if (namespace.share_with_group_lock) throw new Refusal('bad_request', 'The project sharing with group is disabled')
  if (await isAround(app.db, group_id, namespace.id)) {
    throw conflict('Project cannot be shared with the group it is in or one of its ancestors.')
  }
  return transact(app, async (app) => {
    await lockShares(app, project.id)
    const now = timestamp(app.clock)
    const link = await app.db
      .insertInto('project_shares')
      .values({ project_id: project.id, group_id, group_access, expires_at, created_at: now, updated_at: now })
      .onConflict((c) => c.columns(['project_id', 'group_id']).doNothing())
      .returningAll()
      .executeTakeFirst()
    if (!link) throw conflict('Group already shared with this group')
    await refreshAuthorizations(app, { project: project.id })
    await emit(app, 'project.shared', { project_id: project.id, group_id, group_access, by: actor.id })
    return link
  })
}

/** `by` is absent for an expired share. False if a concurrent request has already deleted the share. */
export async function unshareProject(
  app: App,
  { id, project_id, group_id }: Pick<GroupLink, 'id' | 'project_id' | 'group_id'>,
  by?: User,
): Promise<boolean> {
  return transact(app, async (app) => {
    await lockShares(app, project_id)
    const gone = await app.db.deleteFrom('project_shares').where('id', '=', id).returning('id').executeTakeFirst()
    if (!gone) return false
    await refreshAuthorizations(app, { project: project_id })
    await emit(app, 'project.unshared', { project_id, group_id, ...(by && { by: by.id }) })
    return true
  })
}

/** Runs in the transaction that deletes a group with everything below it. */
export async function endSharesWith(app: TransactionApp, group: number): Promise<void> {
  const ended = await app.db
    .deleteFrom('project_shares')
    .where('group_id', 'in', treeOf(app.db, group))
    .returning('project_id')
    .execute()
  if (ended.length > 0) await refreshAuthorizations(app, { projects: ended.map(({ project_id }) => project_id) })
}

/** Creates the shares of a restored group again. The caller refreshes the authorizations. */
export async function restoreProjectShares(
  app: TransactionApp,
  shares: readonly Pick<GroupLink, 'project_id' | 'group_id' | 'group_access' | 'expires_at' | 'created_at'>[],
): Promise<void> {
  if (shares.length === 0) return
  const updated_at = timestamp(app.clock)
  await app.db
    .insertInto('project_shares')
    .values(shares.map((share) => ({ ...share, updated_at })))
    .onConflict((c) => c.columns(['project_id', 'group_id']).doNothing())
    .execute()
}

/** Deletes shares with groups above the project, because those groups already have access. */
export async function endSharesAround(app: App, project: number, namespace: number): Promise<void> {
  await app.db
    .deleteFrom('project_shares')
    .where('project_id', '=', project)
    .where('group_id', 'in', (eb) =>
      eb.selectFrom('namespace_ancestors').select('ancestor_id').where('namespace_id', '=', namespace),
    )
    .execute()
}

/** The same for every project in or below a group that has moved. */
export async function endSharesInTree(app: App, group: number): Promise<void> {
  await app.db
    .deleteFrom('project_shares')
    .where('project_id', 'in', (eb) =>
      eb.selectFrom('projects').select('id').where('namespace_id', 'in', treeOf(app.db, group)),
    )
    .where('group_id', 'in', (eb) =>
      eb
        .selectFrom('projects as p')
        .innerJoin('namespace_ancestors as above', 'above.namespace_id', 'p.namespace_id')
        .select('above.ancestor_id')
        .whereRef('p.id', '=', 'project_shares.project_id'),
    )
    .execute()
}

/** Serializes changes of a project's shares, because each change recomputes all authorizations of the project. */
const lockShares = (app: TransactionApp, project: number) => lockName(app.db, `authorizations on ${project}`)
