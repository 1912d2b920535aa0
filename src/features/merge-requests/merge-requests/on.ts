import { on, type App } from '../../../context.ts'
import { dropRef } from '../../../git/refs/pointing.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { timestamp } from '../../../clock.ts'
import { headRef, mergeRef } from '../versions/refs.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { NO_AUTO_MERGE } from './service.ts'

const MOST_AT_ONCE = 100

/** Closes the open merge requests of a fork that is deleted or no longer a fork. */
async function closeFrom(app: App, source: number, by: number | null): Promise<void> {
  for (;;) {
    const left = await app.db
      .selectFrom('merge_requests')
      .select('id')
      .where('source_project_id', '=', source)
      .where('project_id', '!=', source)
      .where('state', '=', 'opened')
      .limit(MOST_AT_ONCE)
      .execute()
    if (left.length === 0) return
    await transact(app, async (app) => {
      const now = timestamp(app.clock)
      const closed = await app.db
        .updateTable('merge_requests')
        .set({ state: 'closed', closed_at: now, closed_by_id: by, updated_at: now, ...NO_AUTO_MERGE })
        .where(
          'id',
          'in',
          left.map(({ id }) => id),
        )
        .where('state', '=', 'opened')
        .returning(['id', 'project_id'])
        .execute()
      if (by === null) return
      for (const one of closed) {
        const changes = { state: ['opened', 'closed'], closed_at: [null, now] } as const
        await emit(app, 'merge_request.updated', { ...one, by, changes })
        await emit(app, 'merge_request.closed', { ...one, by })
      }
    })
  }
}

/** Closes the requests of former forks in a project that can be restored. Nobody sees them, so there are no events. */
async function closeOfForks(app: App, target: number): Promise<void> {
  const now = timestamp(app.clock)
  await app.db
    .updateTable('merge_requests')
    .set({ state: 'closed', closed_at: now, updated_at: now, ...NO_AUTO_MERGE })
    .where('project_id', '=', target)
    .where((eb) => eb.or([eb('source_project_id', 'is', null), eb('source_project_id', '!=', target)]))
    .where('state', '=', 'opened')
    .execute()
}

export const closeOfDeleted = on('project.deleted', 'merge requests', async (app, { id, by, in_bin }) => {
  await closeFrom(app, id, by ?? null)
  if (in_bin) await closeOfForks(app, id)
})
export const closeOfUnlinked = on('project.unlinked', 'merge requests', (app, { id, by }) => closeFrom(app, id, by))

/** Deletes the refs. The next garbage collection removes the commits, unless other refs keep them. */
export const dropRefs = on('merge_request.deleted', 'merge requests', async (app, { project_id, iid }) => {
  const project = await findProjectById(app.db, project_id)
  if (!project) return
  for (const ref of [headRef(iid), mergeRef(iid)]) await dropRef(repositoryDir(app, project), ref)
})
