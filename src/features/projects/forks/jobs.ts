import { HOUR } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { poolOf, useObjectsOf } from '../../../git/storage/alternates.ts'
import { copyRepository, CopyRefused, type CopyOptions } from '../../../git/storage/copy.ts'
import { removeRepository } from '../../../git/storage/repositories.ts'
import { nullIfMissing } from '../../../lib/system-errors.ts'
import { schedulePoolTidying, scheduleTidying } from '../housekeeping/jobs.ts'
import { provisionRepository } from '../projects/provisioning.ts'
import type { Project } from '../projects/queries.ts'
import { repositoryDir } from '../projects/repository.ts'
import { mayCopy } from './queries.ts'
import { enterPool, findPool, freshPool, type Pool } from './pools.ts'

/** The source is in the payload: the fork's own relation may be removed before its repository is there. */
export const copyRepositoryOf = job<{ id: number; source_id: number }>(
  'projects.fork',
  (app, { id, source_id }, ending) =>
    provisionRepository(app, id, ending, {
      async fill(fork, dir, signal) {
        const source = await findSource(app, source_id)
        // A queue may be long: what came in after the source was closed to whoever forks it is not theirs.
        const mayTake = () => mayCopy(app, fork, source_id)
        const pool = await enterPool(app, fork, source.id)
        if (pool) await share(app, source, pool, dir, { mayTake, signal })
        else await copyRepository(repositoryDir(app, source), dir, { mayTake, signal })
      },
      explain,
    }),
  { long: true },
)

/** To whoever may not see the source any more it is gone. */
const explain = (error: unknown) =>
  error instanceof CopyRefused ? 'The source project is gone' : 'The repository could not be copied'

/** Also one that is being deleted: its repository goes after its row. */
async function findSource(app: App, id: number): Promise<Project> {
  const source = await app.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst()
  if (!source) throw new CopyRefused()
  return source
}

/** Clones under way have looked for objects before there was a pool; none takes longer. */
const LONGEST_CLONE = 6 * HOUR

type Options = Required<Pick<CopyOptions, 'mayTake'>> & { signal: AbortSignal }

async function share(app: App, source: Project, pool: Pool, dir: string, { mayTake, signal }: Options): Promise<void> {
  try {
    const from = repositoryDir(app, source)
    const shared = await freshPool(app, pool, signal)
    await copyRepository(from, dir, { pool: shared, mayTake, signal })
    await schedulePoolTidying(app, pool)
    if ((await poolOf(from)) !== null) return
    // What it has twice now, it drops when it is tidied. Were it being removed: the fork is whole without it.
    await useObjectsOf(from, shared).catch(nullIfMissing)
    await scheduleTidying(app, source, { delay: LONGEST_CLONE })
  } finally {
    // Everyone may have left meanwhile: then nobody would ever remove it.
    if (!(await findPool(app, pool.id))) await removeRepository(repositoryDir(app, pool))
  }
}
