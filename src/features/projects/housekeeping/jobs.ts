import { HOUR } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { housekeep, repositoryExists, sizeOf } from '../../../git/repositories.ts'
import { sweepRepository } from '../../../git/sweep.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { findProjectById } from '../projects/queries.ts'
import { repositoryDir } from '../projects/repository.ts'

export const tidyRepository = job<{ id: number }>(
  'projects.tidy_repository',
  async (app, { id }, signal) => {
    const project = await findProjectById(app.db, id)
    if (!project) return
    const dir = repositoryDir(app, project)
    if (!(await repositoryExists(dir))) return
    await sweepRepository(dir, { before: new Date(app.clock.now().getTime() - HOUR) })
    await housekeep(dir, { signal })
    const repository_size = await sizeOf(dir)
    await app.db
      .updateTable('projects')
      .set({ repository_size, pushes_since_housekeeping: 0 })
      .where('id', '=', id)
      .execute()
  },
  { long: true },
)

/** Once at a time, however many pushes ask for it. */
export async function tidySoon(app: App, { id }: { id: number }): Promise<void> {
  await enqueue(app, tidyRepository, { id }, { key: `projects.tidy ${id}` })
}
