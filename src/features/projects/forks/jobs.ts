import { HOUR } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { poolOf, useObjectsOf } from '../../../git/storage/alternates.ts'
import { copyRepository, CopyRefused, type CopyOptions } from '../../../git/storage/copy.ts'
import { removeRepository } from '../../../git/storage/repositories.ts'
import { nullIfMissing } from '../../../lib/files/system-errors.ts'
import { schedulePoolTidying, scheduleTidying } from '../housekeeping/jobs.ts'
import { provisionRepository } from '../repositories/provisioning.ts'
import type { Project } from '../projects/queries.ts'
import { repositoryDir } from '../repositories/repository.ts'
import { mayCopy } from './queries.ts'
import { enterPool, findPool, freshPool, type Pool } from './pools.ts'

/** The payload names the source, because the fork relation may be removed before the repository is copied. */
export const copyRepositoryOf = job<{ id: number; source_id: number }>(
  'projects.fork',
  (app, { id, source_id }, ending) =>
    provisionRepository(app, id, ending, {
      async fill(fork, dir, signal) {
        const source = await findSource(app, source_id)
        // The job may wait for a long time. The user must not get commits that were pushed after they lost access to
        // the source.
        const mayTake = () => mayCopy(app, fork, source_id)
        const pool = await enterPool(app, fork, source.id)
        if (pool) await share(app, source, pool, dir, { mayTake, signal })
        else await copyRepository(repositoryDir(app, source), dir, { mayTake, signal })
      },
      explain,
    }),
  { long: true },
)

/** A user who may not read the source any more gets the same answer as for a deleted source. */
const explain = (error: unknown) =>
  error instanceof CopyRefused ? 'The source project is gone' : 'The repository could not be copied'

/** Includes projects that are being deleted, because the repository is deleted after the row. */
async function findSource(app: App, id: number): Promise<Project> {
  const source = await app.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst()
  if (!source) throw new CopyRefused()
  return source
}

/** Running clones started before the pool existed. No clone takes longer than this. */
const LONGEST_CLONE = 6 * HOUR

type Options = Required<Pick<CopyOptions, 'mayTake'>> & { signal: AbortSignal }

async function share(app: App, source: Project, pool: Pool, dir: string, { mayTake, signal }: Options): Promise<void> {
  try {
    const from = repositoryDir(app, source)
    const shared = await freshPool(app, pool, signal)
    await copyRepository(from, dir, { pool: shared, mayTake, signal })
    await schedulePoolTidying(app, pool)
    if ((await poolOf(from)) !== null) return
    // Housekeeping removes the objects that the source now has twice. If the source is being deleted, the fork is
    // complete without it.
    await useObjectsOf(from, shared).catch(nullIfMissing)
    await scheduleTidying(app, source, { delay: LONGEST_CLONE })
  } finally {
    // If all members have left the pool meanwhile, no other code would delete it.
    if (!(await findPool(app, pool.id))) await removeRepository(repositoryDir(app, pool))
  }
}
