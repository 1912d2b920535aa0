import type { App, User } from '../../../context.ts'
import { areInOneNetwork } from '../../projects/forks/queries.ts'
import { repositoryPolicy, type RepositorySubject } from '../repositories/policy.ts'
import { findRepositorySubject } from '../repositories/queries.ts'

/**
 * Finds the project that a commit starts from: the project itself, or another one of its fork network whose code the
 * caller may read. Null does not reveal which condition failed.
 */
export async function findStart(
  app: App,
  viewer: User,
  subject: RepositorySubject,
  given: string | null | undefined,
): Promise<RepositorySubject | null> {
  if (!given) return subject
  const start = await findRepositorySubject(app, given, viewer)
  if (!start) return null
  const [own, other] = [subject.project.id, start.project.id]
  if (own === other) return subject
  return repositoryPolicy.download(start) && (await areInOneNetwork(app.db, own, other)) ? start : null
}
