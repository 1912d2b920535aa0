import { DAY, HOUR } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { reviewWithheld } from '../../../git/objects/withheld.ts'
import { listUndoRefs } from '../../../git/refs/undo-refs.ts'
import { standAlone, useObjectsOf } from '../../../git/storage/alternates.ts'
import { keepUnreachable } from '../../../git/storage/keeping.ts'
import { isUntidy, tidyPool } from '../../../git/storage/pools.ts'
import { diskUse, housekeep, repositoryExists } from '../../../git/storage/repositories.ts'
import { sweepRepository } from '../../../git/storage/sweep.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { transact } from '../../../store/transact.ts'
import { findPool, freshPool, hasMembers, removeIfLast, type Pool } from '../forks/pools.ts'
import { findProjectById, type Project } from '../projects/queries.ts'
import { removeRepositoryLater } from '../projects/removal.ts'
import { repositoryDir } from '../repositories/repository.ts'
import { referencedCommits } from './referenced-commits.ts'
import { keepingUndo } from './undo.ts'

export const tidyRepository = job<{ id: number }>(
  'projects.tidy_repository',
  async (app, { id }, signal) => {
    const project = await findProjectById(app.db, id)
    if (!project) return
    const dir = repositoryDir(app, project)
    if (!(await repositoryExists(dir))) return
    await sweepRepository(dir, { before: new Date(Date.now() - HOUR) })
    await arrangeSharing(app, project, dir, signal)
    await keepUnreachable(dir, referencedCommits(app.db, id), signal)
    await keepingUndo(app, project, dir, () => housekeep(dir, { signal }), signal)
    const repository_size = await diskUse(dir)
    await app.db
      .updateTable('projects')
      .set({ repository_size, pushes_since_housekeeping: 0 })
      .where('id', '=', id)
      .execute()
  },
  { long: true },
)

/** At most one pending job per project, however many pushes request it. */
export async function scheduleTidying(app: App, { id }: { id: number }, { delay = 0 } = {}): Promise<void> {
  await enqueue(app, tidyRepository, { id }, { key: `projects.tidy ${id}${delay > 0 ? ' later' : ''}`, delay })
}

/**
 * Deletes unreachable objects, which clients could still fetch by id. Keeps objects of the last hour, because a push
 * may be about to reference them.
 */
export const pruneRepository = job<{ id: number }>(
  'projects.prune_repository',
  async (app, { id }, signal) => {
    const project = await findProjectById(app.db, id)
    const dir = project && repositoryDir(app, project)
    if (!dir || !(await repositoryExists(dir))) return
    await keepingUndo(app, project, dir, () => housekeep(dir, { signal, prune: '1.hour.ago' }), signal)
    // Objects that are also in a pool stay there. This project does not serve them.
    if (!(await reviewWithheld(dir)) || project.pool_id !== null) return
    // Undo may keep them for months.
    await schedulePrune(app, project, { delay: (await listUndoRefs(dir)).size > 0 ? DAY : undefined })
  },
  { long: true },
)

/** Runs when all current objects are old enough, at most once an hour per project. */
export async function schedulePrune(app: App, { id }: { id: number }, { delay = 2 * HOUR } = {}): Promise<void> {
  const hour = Math.floor((app.clock.now().getTime() + delay) / HOUR)
  await enqueue(app, pruneRepository, { id }, { key: `projects.prune ${id} ${hour}`, delay })
}

/**
 * The source of a pool copies its objects to the pool, where clones of all members find them. The last member leaves
 * the pool.
 */
async function arrangeSharing(app: App, project: Project, dir: string, signal: AbortSignal): Promise<void> {
  const pool = await findPool(app, project.pool_id)
  if (!pool) return
  if (!(await hasMembers(app, pool.id, project))) return releasePool(app, project, pool, dir)
  if (pool.source_id !== project.id) return
  await useObjectsOf(dir, await freshPool(app, pool, signal))
  await schedulePoolTidying(app, pool)
}

async function releasePool(app: App, project: Project, pool: Pool, dir: string): Promise<void> {
  if (!(await standAlone(dir))) return
  const isRemoved = await transact(app, async (app) => {
    const unneeded = await removeIfLast(app, project, pool)
    if (unneeded !== null) await enqueue(app, removeRepositoryLater, { dir: unneeded })
    return unneeded !== null
  })
  // A new member has joined the pool meanwhile.
  if (!isRemoved && (await repositoryExists(repositoryDir(app, pool))))
    await useObjectsOf(dir, repositoryDir(app, pool))
}

export const tidyPoolLater = job<{ id: number }>(
  'projects.tidy_pool',
  async (app, { id }, signal) => {
    const pool = await findPool(app, id)
    if (!pool) return
    const dir = repositoryDir(app, pool)
    await sweepRepository(dir, { before: new Date(Date.now() - HOUR) })
    if (await isUntidy(dir)) await tidyPool(dir, { signal })
  },
  { long: true },
)

export async function schedulePoolTidying(app: App, { id }: Pool): Promise<void> {
  await enqueue(app, tidyPoolLater, { id }, { key: `projects.tidy_pool ${id}` })
}
