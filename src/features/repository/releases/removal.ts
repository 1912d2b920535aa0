import type { App } from '../../../context.ts'
import { batchesOf } from '../../../lib/batches.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import type { Project } from '../../projects/projects/queries.ts'

/** What goes with tags that are deleted, however they are; not every tag has a release. */
export async function forgetReleases(
  app: App,
  { project, by }: { project: Pick<Project, 'id'>; by: number | null },
  tags: readonly string[],
): Promise<void> {
  for (const some of batchesOf(tags, TAGS_A_QUERY)) {
    await transact(app, async (app) => {
      const gone = await app.db
        .deleteFrom('releases')
        .where('project_id', '=', project.id)
        .where('tag', 'in', some)
        .returning('tag')
        .execute()
      for (const { tag } of gone) await emit(app, 'release.deleted', { project_id: project.id, tag, by })
    })
  }
}

const TAGS_A_QUERY = 500
