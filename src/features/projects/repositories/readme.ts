import type { App, User } from '../../../context.ts'
import { inspectRepository } from './inspection.ts'
import { keepInspected } from '../projects/activity.ts'
import { findNamespaceById, findProjectById, type Project } from '../projects/queries.ts'
import { removalOf, removeProject } from '../projects/removal.ts'
import { repositoryDir } from './repository.ts'

/** Adds a first commit to a new project. If that fails, the project is deleted again. */
export async function withReadme(app: App, actor: User, project: Project, author: User): Promise<Project> {
  try {
    await app.writeReadme(app, actor, project, author)
  } catch (error) {
    const namespace = await findNamespaceById(app.db, project.namespace_id)
    await removeProject(app, project, removalOf(project, namespace!))
    throw error
  }
  const begun = (await findProjectById(app.db, project.id))!
  const inspected = await inspectRepository(repositoryDir(app, begun), begun.default_branch)
  // If a user has pushed already, the later inspection job stores the correct facts.
  return (await keepInspected(app, begun, inspected)) ? { ...begun, ...inspected } : begun
}
