import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { findProject, meetProject, type Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import { repositoryPolicy, type RepositorySubject } from './policy.ts'

export async function meetRepository(app: App, project: Project, viewer: User | null): Promise<RepositorySubject> {
  return { ...(await meetProject(app, project, viewer)), dir: repositoryDir(app, project) }
}

/** By the project's id or path. Whether the viewer may know of it is for the caller to ask. */
export async function findRepository(app: App, id: string, viewer: User | null): Promise<RepositorySubject | null> {
  const project = await findProject(app.db, id)
  return project && meetRepository(app, project, viewer)
}

/** `/projects/:id/repository/…`: the project, and where its repository lies. */
export const repository = resource({
  name: 'Project',
  params: z.object({ id: text }),
  policy: repositoryPolicy,
  find: (app, { id }, viewer) => findRepository(app, id, viewer),
})
