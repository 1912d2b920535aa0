import type { Farewell } from '../../../context.ts'
import { forgetStarsOf } from '../stars/service.ts'
import { removeProject } from './removal.ts'

/** Personal projects go with their owner; what they made elsewhere stays and is the heir's. */
export const leaveProjects: Farewell = async (app, user, { heir }) => {
  const { db } = app
  const personal = await db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .selectAll('projects')
    .select('namespaces.full_path')
    .where('namespaces.owner_id', '=', user.id)
    .execute()
  for (const { full_path, ...project } of personal) {
    const news = { path_with_namespace: `${full_path}/${project.path}` }
    await removeProject(app, project, project.deleting ? undefined : news)
  }
  await forgetStarsOf(app, user.id)
  await db
    .updateTable('projects')
    .set({ creator_id: heir?.id ?? null })
    .where('creator_id', '=', user.id)
    .execute()
}
