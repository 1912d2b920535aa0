import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { findProjectSubject, loadProjectSubject, type Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import { isArchived } from '../../projects/projects/policy.ts'
import { repositoryPolicy, type RepositorySubject } from './policy.ts'

export async function loadRepositorySubject(
  app: App,
  project: Project,
  viewer: User | null,
): Promise<RepositorySubject> {
  return { ...(await loadProjectSubject(app, project, viewer)), dir: repositoryDir(app, project) }
}

/** By the project's id or path. Whether the viewer may know of it is for the caller to ask. */
export async function findRepositorySubject(
  app: App,
  id: string,
  viewer: User | null,
): Promise<RepositorySubject | null> {
  const subject = await findProjectSubject(app, id, viewer)
  return subject && { ...subject, dir: repositoryDir(app, subject.project) }
}

/**
 * `/projects/:id/repository/…`: the project, and where its repository lies. Whoever may not read the code is refused
 * before anything else is looked at.
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
