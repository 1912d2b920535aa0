import type { App, User } from '../../../context.ts'
import { findNamespaceById, findProjectById, type Project } from './queries.ts'
import { removalOf, removeProject } from './removal.ts'

/**
 * The new project with a first commit in it. One that cannot have it goes again: half of what was wished is nothing.
 */
export async function withReadme(app: App, actor: User, project: Project, author: User): Promise<Project> {
  try {
    await app.writeReadme(app, actor, project, author)
  } catch (error) {
    const namespace = await findNamespaceById(app.db, project.namespace_id)
    await removeProject(app, project, removalOf(project, namespace!))
    throw error
  }
  return (await findProjectById(app.db, project.id))!
}
