import { job } from '../../../context.ts'
import { housekeep, repositoryExists, sizeOf } from '../../../git/repositories.ts'
import { findProjectById } from '../projects/queries.ts'
import { repositoryDir } from '../projects/repository.ts'

export const tidyRepository = job<{ id: number }>(
  'projects.tidy_repository',
  async (app, { id }, signal) => {
    const project = await findProjectById(app.db, id)
    if (!project) return
    const dir = repositoryDir(app, project)
    if (!(await repositoryExists(dir))) return
    await housekeep(dir, { signal })
    const repository_size = await sizeOf(dir)
    await app.db.updateTable('projects').set({ repository_size }).where('id', '=', id).execute()
  },
  { long: true },
)
