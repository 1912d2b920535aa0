import type { App, User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { repositoryPolicy } from '../../repository/repositories/policy.ts'
import { subjectsOfUsers } from '../subjects.ts'

/** Of these users, those who may read the project's code. */
export async function codeReadersAmong(app: App, project: Project, ids: readonly number[]): Promise<User[]> {
  // No policy reads the namespace.
  const namespace = null as unknown as Row<'namespaces'>
  return (await subjectsOfUsers(app, { project, namespace }, ids))
    .map((subject) => ({ ...subject, dir: '' }))
    .filter((subject) => repositoryPolicy.read(subject) && repositoryPolicy.download(subject))
    .map(({ viewer }) => viewer)
}
