import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { findProjectSubject, loadProjectSubject, type Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { isArchived } from '../../projects/projects/policy.ts'
import { repositoryPolicy, type RepositorySubject } from './policy.ts'

export async function loadRepositorySubject(
  app: App,
  project: Project,
  viewer: User | null,
): Promise<RepositorySubject> {
  return { ...(await loadProjectSubject(app, project, viewer)), dir: repositoryDir(app, project) }
}

/** Finds by project id or path. The caller must check whether the viewer may see the project. */
export async function findRepositorySubject(
  app: App,
  id: string,
  viewer: User | null,
): Promise<RepositorySubject | null> {
  const subject = await findProjectSubject(app, id, viewer)
  return subject && { ...subject, dir: repositoryDir(app, subject.project) }
}

/**
 * `/projects/:id/repository/…`: the project with the path of its repository. The permission to read the code is checked
 * before anything else.
 */
export const repository = resource({
  name: 'Project',
  params: z.object({ id: text }),
  policy: repositoryPolicy,
  isReadOnly: isArchived,
  abilityFirst: 'download',
  limiter: 'git',
  find: (app, { id }, viewer) => findRepositorySubject(app, id, viewer),
})
