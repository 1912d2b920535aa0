import type { OnUserRemoved } from '../../../context.ts'
import { releaseItems } from '../../planning/items/users.ts'
import { releaseVersions } from '../versions/release.ts'
import { mergeRequestKind } from './kind.ts'

/** Merged ones stay merged. */
export const releaseMergeRequests: OnUserRemoved = async (app, { id }, { successor }) => {
  if (!successor) {
    const columns = ['id', 'iid', 'project_id', 'source_project_id'] as const
    const authored = app.db.selectFrom('merge_requests').select(columns).where('author_id', '=', id)
    await releaseVersions(app, await authored.execute())
  }
  const columns = ['author_id', 'merge_user_id', 'closed_by_id']
  await releaseItems(app, mergeRequestKind, id, successor?.id ?? null, columns)
}
