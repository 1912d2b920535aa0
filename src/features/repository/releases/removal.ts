import type { App } from '../../../context.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import { locksRows } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import type { Project } from '../../projects/projects/queries.ts'

/** Deletes the releases of deleted tags, however the tags were deleted. A tag may have no release. */
export async function forgetReleases(
  app: App,
  { project, by }: { project: Pick<Project, 'id'>; by: number | null },
  tags: readonly string[],
): Promise<void> {
  for (const some of batchesOf(tags, TAGS_A_QUERY)) {
    await transact(app, async (app) => {
      const going = await app.db
        .selectFrom('releases')
        .select(['id', 'tag'])
        .where('project_id', '=', project.id)
        .where('tag', 'in', some)
        .orderBy('id')
        .$if(locksRows(app.db), (query) => query.forUpdate())
        .execute()
      if (going.length === 0) return
      // Emits before the deletion, so that subscribers can still read the release.
      for (const { id, tag } of going) await emit(app, 'release.deleted', { id, project_id: project.id, tag, by })
      await app.db
        .deleteFrom('releases')
        .where(
          'id',
          'in',
          going.map(({ id }) => id),
        )
        .execute()
    })
  }
}

const TAGS_A_QUERY = 500
