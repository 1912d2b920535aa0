import type { App, User } from '../../../context.ts'
import { areInOneNetwork } from '../../projects/forks/queries.ts'
import { findProject, meetProject } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import { repositoryPolicy, type RepositorySubject } from '../repositories/policy.ts'

/**
 * Where a commit starts from: the project itself, or another of its fork network whose code the caller may read. Null
 * does not tell which of all that is wanting.
 */
export async function findStart(
  app: App,
  viewer: User,
  subject: RepositorySubject,
  given: string | null | undefined,
): Promise<RepositorySubject | null> {
  if (!given) return subject
  const project = await findProject(app.db, given)
  if (!project) return null
  if (project.id === subject.project.id) return subject
  const start = { ...(await meetProject(app, project, viewer)), dir: repositoryDir(app, project) }
  const mayStart = repositoryPolicy.download(start) && (await areInOneNetwork(app.db, project.id, subject.project.id))
  return mayStart ? start : null
}
