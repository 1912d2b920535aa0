import { sql } from 'kysely'
import { DAY, after } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { enqueueAll } from '../../../jobs/queue.ts'
import { transact } from '../../../store/transact.ts'
import { UNDO_DAYS, releaseUndo } from '../../projects/housekeeping/undo.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'

const ROWS_A_QUERY = 1000

/** Deletes changes that can no longer be undone. */
export const purgeRefChanges = job(
  'ref_changes.purge',
  async (app) => {
    for (;;) {
      const isDone = await transact(app, async (app) => {
        const { rows } = await sql<{
          project_id: number
        }>`delete from ref_changes where id in (select id from ref_changes
          where created_at < ${after(app.clock, -UNDO_DAYS * DAY)} order by created_at limit ${ROWS_A_QUERY})
          returning project_id`.execute(app.db)
        const ids = [...new Set(rows.map(({ project_id }) => project_id))]
        await enqueueAll(
          app,
          releaseUndoRefs,
          ids.map((id) => ({ id })),
        )
        return rows.length < ROWS_A_QUERY
      })
      if (isDone) return
    }
  },
  { every: DAY },
)

/** Housekeeping deletes the commits later. */
export const releaseUndoRefs = job<{ id: number }>(
  'ref_changes.release',
  async (app, { id }) => {
    const project = await findProjectById(app.db, id)
    const dir = project && repositoryDir(app, project)
    if (dir && (await repositoryExists(dir))) await releaseUndo(app, project, dir)
  },
  { long: true },
)
