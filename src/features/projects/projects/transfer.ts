import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { isWider } from '../../../lib/levels.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { refreshAuthorizations } from '../../access/authorizations/service.ts'
import { endSharesAround } from '../sharing/service.ts'
import { lockNamespace, lockPath, addRedirect } from '../paths/paths.ts'
import { lockProject, pathWithNamespace, type Namespace, type Project } from './queries.ts'
import { addOwner, assertFree, assertWithinLimit } from './service.ts'
import { fitted, narrowForks } from './visibility.ts'

/** Clients expect the errors as a map inside the text. */
const refusal = (fault: string) =>
  new Refusal('bad_request', `Failed to transfer project {"new_namespace":["${fault}"]}`)

const ALREADY_THERE = 'Transfer failed, please contact an admin.'
const TAKEN = 'Project with same path in target namespace already exists'

/** Moves a project into another namespace and redirects the old path. */
export async function transferProject(
  app: App,
  actor: User,
  { id }: Project,
  { id: target }: Namespace,
): Promise<Project> {
  return transact(app, async (app) => {
    const { db } = app
    const project = await lockProject(app, id)
    if (!project) throw notFound('Project')
    const group = await lockNamespace(app, target)
    if (!group) throw notFound('Group')
    if (project.namespace_id === group.id) throw refusal(ALREADY_THERE)
    await assertWithinLimit(app, group)
    const from = await db
      .selectFrom('namespaces')
      .selectAll()
      .where('id', '=', project.namespace_id)
      .executeTakeFirstOrThrow()
    await lockPath(app, `${group.full_path}/${project.path}`)
    await assertFree(app, group, project).catch((error: unknown) => {
      throw error instanceof Refusal ? refusal(TAKEN) : error
    })
    const moved = await db
      .updateTable('projects')
      .set({
        namespace_id: group.id,
        visibility: fitted(project.visibility, group.visibility),
        updated_at: timestamp(app.clock),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    if (isWider(project.visibility, moved.visibility)) await narrowForks(app, moved)
    await endSharesAround(app, id, group.id)
    const oldPath = pathWithNamespace(project, from)
    await addRedirect(app, oldPath, { project_id: id })
    const isAdded = group.owner_id !== null && (await addOwner(app, moved, group.owner_id))
    await refreshAuthorizations(app, { project: id })
    await emit(app, 'project.transferred', {
      id,
      by: actor.id,
      old_path: oldPath,
      ...(isAdded && { owner_added: true }),
    })
    return moved
  })
}
