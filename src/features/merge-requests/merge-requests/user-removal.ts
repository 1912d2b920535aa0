import type { OnUserRemoved } from '../../../context.ts'
import { releaseVersions } from '../versions/release.ts'

/** The successor takes over authored merge requests. Without a successor they are deleted. Merged ones stay merged. */
export const releaseMergeRequests: OnUserRemoved = async (app, { id }, { successor }) => {
  const { db } = app
  if (!successor) {
    const columns = ['id', 'iid', 'project_id', 'source_project_id'] as const
    await releaseVersions(
      app,
      await db.selectFrom('merge_requests').select(columns).where('author_id', '=', id).execute(),
    )
    await db.deleteFrom('merge_requests').where('author_id', '=', id).execute()
    return
  }
  for (const column of ['author_id', 'merge_user_id', 'closed_by_id'] as const) {
    await db
      .updateTable('merge_requests')
      .set({ [column]: successor.id })
      .where(column, '=', id)
      .execute()
  }
}
